"""Runs programs of this machine, such as compilers, to completion."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sojourn import ending


def run(
    command: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to completion; it is killed if this process ends.

    Args:
        command: the program and its arguments.
        cwd: its working folder; this process's by default.
        env: its environment; that of this process by default.

    Returns:
        Exit code, output and messages.

    Raises:
        OSError: it cannot be started.
    """
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace",
    ) as process, ending.before_end(process.kill):  # fmt: skip
        try:
            said, reported = process.communicate()
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, said, reported)
