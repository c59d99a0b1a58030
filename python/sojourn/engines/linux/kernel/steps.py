"""The programs of a kernel build, run one after the other."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from sojourn import ending
from sojourn.errors import InputError

# Makes builds identical: the version text feeds the kernel's random pool.
_FIXED = {
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
    "KBUILD_BUILD_USER": "sojourn",
    "KBUILD_BUILD_HOST": "sojourn",
    "KBUILD_BUILD_VERSION": "1",
}


def run(command: list[str], folder: Path, remedy: str = "") -> None:
    """Run a program to its end; errors are those of `lines`."""
    for _line in lines(command, folder, remedy):
        pass


def lines(command: list[str], folder: Path, remedy: str = "") -> Iterator[str]:
    """The output of a program by lines; it is killed when we end, and errors quote its last lines.

    The error has a remedy, by default to continue or to start again.
    """
    environment = os.environ | _FIXED
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process, ending.before_end(process.kill):  # fmt: skip
        last: list[str] = []
        try:
            assert process.stdout is not None, "it is piped"
            for line in process.stdout:
                last = [*last[-9:], line.rstrip()]
                yield line
        except BaseException:
            process.kill()
            raise
        if process.wait() != 0:
            said = " | ".join(last[-5:])
            usual = f"run the command again to continue, or remove {folder} to start again"
            raise InputError(
                f"kernel build: `{' '.join(command)}` failed: {said}; {remedy or usual}"
            )
