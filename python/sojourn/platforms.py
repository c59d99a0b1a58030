"""Functions that differ between Linux, macOS and Windows: locks, limits, other processes.

No other module imports `fcntl`, `msvcrt` or `resource`, which not every system has.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.errors import InputError

if TYPE_CHECKING:
    import subprocess

IS_WINDOWS = sys.platform == "win32"

OPEN_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
"""Flags of `os.open`: follow no link, and leave the file to no child process."""

OPEN_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
"""Flags of `os.open` for a folder; Windows refuses to open one."""

# Windows keeps other processes from reading locked bytes, so we lock a byte that no file has.
_LOCKED_BYTE = 0x7FFF_FFFE
# Windows: winbase.h, and the code of a process that has not ended.
_QUERY, _STILL_ACTIVE, _ACCESS_DENIED = 0x1000, 259, 5


def try_lock(descriptor: int) -> bool:
    """Lock an open file for this process; closing the file releases the lock.

    Returns:
        False if another process holds the lock.
    """
    if IS_WINDOWS:
        return _try_lock_on_windows(descriptor)
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_on_windows(descriptor: int) -> bool:
    import msvcrt

    at = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    finally:
        os.lseek(descriptor, at, os.SEEK_SET)
    return True


def lock(descriptor: int) -> None:
    """Wait until this process holds the lock of an open file; see `try_lock`."""
    if not IS_WINDOWS:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    import time

    while not try_lock(descriptor):
        time.sleep(0.05)


def address_space_bytes() -> int | None:
    """The limit of `ulimit -v` of this process; None if there is no limit."""
    if IS_WINDOWS:
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def memory_bytes() -> float | None:
    """The memory of this machine; on Windows its free memory. None if the system hides it."""
    if IS_WINDOWS:
        return _free_bytes_on_windows()
    with contextlib.suppress(OSError, ValueError):
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return None


def _free_bytes_on_windows() -> float | None:
    import ctypes

    # sysinfoapi.h, MEMORYSTATUSEX: two 32-bit numbers, then seven of 64 bits, the second
    # of which is the free physical memory.
    status = (ctypes.c_uint64 * 8)(8 * 8)
    kernel: ctypes.CDLL = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    return float(status[2]) if kernel.GlobalMemoryStatusEx(status) else None


def peak_memory_bytes() -> int:
    """Largest resident size of this process so far; always 0 on Windows."""
    if IS_WINDOWS:
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def host_name() -> str:
    """The name of this machine in its network; empty if it has none."""
    if not IS_WINDOWS:
        return os.uname().nodename
    import platform

    return platform.node()


def is_ours(path: Path) -> bool:
    """Whether a file belongs to this user; on Windows every file that this user can see does."""
    return IS_WINDOWS or path.lstat().st_uid == os.getuid()


def is_alive(process: int) -> bool:
    """Whether a process of this machine still exists."""
    if IS_WINDOWS:
        return _is_alive_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _is_alive_on_windows(process: int) -> bool:
    # os.kill would end the process here, or send Ctrl-C to its group.
    import ctypes

    kernel: ctypes.CDLL = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    opened = kernel.OpenProcess(_QUERY, 0, process)
    if not opened:
        return bool(kernel.GetLastError() == _ACCESS_DENIED)
    code = ctypes.c_ulong()
    kernel.GetExitCodeProcess(opened, ctypes.byref(code))
    kernel.CloseHandle(opened)
    return code.value == _STILL_ACTIVE


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process started in its own session, and the processes that it has started."""
    with contextlib.suppress(ProcessLookupError):
        if IS_WINDOWS:
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def require_linux(what: str) -> None:
    """Refuse a feature that only Linux has.

    Args:
        what: begins the message, such as ``engine linux``.

    Raises:
        InputError: this is another system.
    """
    if not sys.platform.startswith("linux"):
        import platform

        raise InputError(
            f"{what}: needs Linux, and this is {platform.system()}; use a Linux machine, as "
            "only the simulator (--engine sim) runs everywhere"
        )
