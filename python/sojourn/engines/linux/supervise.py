"""Runs a program in one process group that ends with whoever started it.

Started as ``python -I -S supervise.py PROGRAM ARGUMENT...`` in a session of its own, with a pipe as
standard input; this process becomes the program, and a child of it watches. However the other end
of the pipe closes (the parent returns, is interrupted, crashes, is killed), or when the program
ends, the whole group is killed. The program leads the group, so that it cannot leave it for a
session of its own, as a User-Mode Linux kernel tries. Should the watcher be killed, the kernel
kills the program with its parent.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(command: list[str]) -> None:
    """Become the command; when it or the parent ends, its group ends."""
    program = os.pidfd_open(os.getpid())
    if os.fork() == 0:
        select.select([sys.stdin.fileno(), program], [], [])
        os.killpg(0, signal.SIGKILL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
