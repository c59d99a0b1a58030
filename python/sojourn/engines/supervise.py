"""Runs a program in a process group that ends with its parent and can open only some files.

Started as ``python -I -S supervise.py SIGHT CPU PROGRAM ARGUMENT...`` in a separate session, with a
pipe as standard input; this process becomes the program, and its child watches. The whole group is
killed when the program ends or the other end of the pipe closes for any reason (the parent returns,
is interrupted, crashes, is killed). The program leads the group, so it cannot leave it for a new
session, as a User-Mode Linux kernel tries. If the watcher is killed, the kernel kills the program
with its parent.

The program's addresses are not randomised: the memory of a User-Mode Linux kernel depends on where
its heap begins, and the kernel sizes tables by it.

SIGHT is empty, or lists in JSON the files that the program may open: `{"read": [...], "write":
[...]}`. Landlock, if available, denies it all others, and all TCP. CPU is empty, or the number of
the CPU that the group shares.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import stat
import sys
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
# Linux include/uapi/linux/personality.h, and the argument of personality(2) that only queries.
_ADDR_NO_RANDOMIZE, _ASK_PERSONALITY = 0x0040000, 0xFFFFFFFF
# Linux include/uapi/linux/landlock.h; the numbers of the calls are the same on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
# Number of file rights of each version; later ones add rights that are not used here.
_RIGHTS_OF_VERSION = {1: 13, 2: 14}
_RIGHTS = 15
# Rights from version 4 on: binding and connecting TCP.
_TCP, _VERSION_OF_TCP = 0b11, 4
# The guest's memory is an unnamed file in this folder, which gives access to no other file.
_MEMORY = "/dev/shm"


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def landlock_version() -> int:
    """The version of Landlock that this machine's kernel has; 0 if none."""
    if not sys.platform.startswith("linux"):
        return 0
    version: int = _libc().syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    return max(0, version)


def can_fix_addresses() -> bool:
    """Whether address randomisation can be disabled; some containers refuse it."""
    if not sys.platform.startswith("linux"):
        return False
    before = _personality(_ASK_PERSONALITY)
    works = _fix_addresses()
    _personality(before)
    return works


def main(sight: str, cpu: str, command: list[str]) -> None:
    """Become the command; when it or the parent ends, its group is killed."""
    if cpu:
        with suppress(OSError):
            os.sched_setaffinity(0, {int(cpu)})
    program = os.pidfd_open(os.getpid())
    memory = _memory() if sight else None
    if os.fork() == 0:
        select.select([sys.stdin.fileno(), program], [], [])
        if memory:
            with suppress(OSError):
                memory.rmdir()
        os.killpg(0, signal.SIGKILL)
    _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if sight:
        paths = json.loads(sight)
        _confine(paths["read"], [*paths["write"], *([str(memory)] if memory else [])])
    _fix_addresses()
    environment = os.environ | ({"TMPDIR": str(memory)} if memory else {})
    os.execve(command[0], command, environment)


def _fix_addresses() -> bool:
    """Disable address randomisation for the programs that this process becomes."""
    return _personality(_personality(_ASK_PERSONALITY) | _ADDR_NO_RANDOMIZE) != -1


def _personality(persona: int) -> int:
    before: int = _libc().personality(ctypes.c_ulong(persona))
    return before


def _memory() -> Path | None:
    """A new folder for the guest's memory; None if the machine has no suitable place."""
    folder = Path(_MEMORY, f"sojourn-{os.getpid()}-{os.urandom(8).hex()}")
    with suppress(OSError):
        folder.mkdir(0o700)
        return folder
    return None


def remove_memory(group: int) -> None:
    """Remove the folder for the memory of a group whose processes were killed, the watcher too."""
    for folder in Path(_MEMORY).glob(f"sojourn-{group}-*"):
        with suppress(OSError):
            folder.rmdir()


def _confine(readable: list[str], writable: list[str]) -> None:
    version = landlock_version()
    if version == 0:
        return
    known = (1 << _RIGHTS_OF_VERSION.get(version, _RIGHTS)) - 1
    rules = _Ruleset(known, _TCP if version >= _VERSION_OF_TCP else 0)
    ruleset = _call(_CREATE_RULESET, ctypes.byref(rules), ctypes.sizeof(rules), 0)
    for paths, rights in ((readable, _READ), (writable, known)):
        for path in paths:
            _allow(ruleset, path, rights & known)
    _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Allow access to a path and everything beneath it; missing paths are skipped."""
    with suppress(FileNotFoundError):
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            rights &= _OF_FILES
        rule = _Beneath(rights, folder)
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
        os.close(folder)


def _call(number: int, *arguments: object) -> int:
    result: int = _libc().syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"system call {number} of Landlock")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
