"""Programs of this machine that are waited for, such as compilers."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sojourn import ending


def run(
    command: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; it ends with this process.

    Args:
        command: the program and its arguments.
        cwd: where; the working folder by default.
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
