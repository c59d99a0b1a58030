"""Runs a program in one process group that ends with whoever started it.

Started as ``python -I -S supervise.py PROGRAM ARGUMENT...`` in a session of its own, with a pipe as
standard input. However the other end of the pipe closes (the parent returns, is interrupted,
crashes, is killed), the whole group is killed. Should this process itself be killed, the kernel
kills the program.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(command: list[str]) -> None:
    """Run the command; when it or the parent ends, end the group, this process with it."""
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == 1:
            os._exit(127)  # the parent died before that was set
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execv(command[0], command)
    select.select([sys.stdin.fileno(), os.pidfd_open(child)], [], [])
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
