"""Runs commands as if this were Windows: ``python elsewhere.py ARGUMENT... [--then ARGUMENT...]``.

Hides from `sojourn`'s modules the parts of Python that exist on Linux only, and libraries that `pip
install sojourn` does not install; other libraries are imported first. Opening a file as text
without an encoding is an error, because Windows has another default encoding.
"""

import concurrent.futures.process
import ctypes
import importlib
import multiprocessing.connection
import os
import platform
import signal
import socket
import sys
import types
import warnings

ABSENT_MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix")
NOT_INSTALLED = ("pyarrow", "scipy")
ABSENT_IN_OS = (
    "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_PATH", "fork", "geteuid", "getpgid", "getuid",
    "killpg", "memfd_create", "pidfd_open", "pipe2", "sched_getaffinity", "setsid", "sysconf",
    "uname", "wait4",
)  # fmt: skip
ABSENT_IN_SIGNAL = ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "pthread_kill", "setitimer")
LIBRARIES = (
    "asyncio", "click.shell_completion", "http.server", "importlib.metadata", "jinja2",
    "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "matplotlib.figure",
    "numpy.random", "rich.console", "rich.markdown",
    "rich.progress", "rich.table", "subprocess", "tempfile", "tomllib",
    "webbrowser", "html",
)  # fmt: skip


def locking(descriptor, mode, count):
    """Windows' lock by Linux's, of the bytes at the file's position."""
    FCNTL.lockf(descriptor, FCNTL.LOCK_EX | FCNTL.LOCK_NB, count, 0, os.SEEK_CUR)


def is_alive(process):
    """Answers as the Windows kernel does in `sojourn.platforms`, by a signal."""
    try:
        KILL(process, 0)
    except ProcessLookupError:
        return False
    return True


def refused(process, number):
    raise AssertionError(f"os.kill({process}, {number}) would end the process on Windows")


def main(arguments):
    warnings.simplefilter("ignore", EncodingWarning)
    for name in LIBRARIES:
        importlib.import_module(name)
    matplotlib = sys.modules["matplotlib"]
    matplotlib.font_manager.findfont("DejaVu Sans")
    for name in (*ABSENT_MODULES, *NOT_INSTALLED):
        sys.modules[name] = None
    for module, names in ((os, ABSENT_IN_OS), (signal, ABSENT_IN_SIGNAL)):
        for name in names:
            delattr(module, name)
    sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
    sys.platform, platform.system = "win32", lambda: "Windows"
    os.kill = refused
    memory = types.SimpleNamespace(GlobalMemoryStatusEx=memory_status)
    ctypes.windll = types.SimpleNamespace(kernel32=memory)
    from sojourn import platforms

    assert platforms.IS_WINDOWS
    platforms._is_alive_on_windows = is_alive
    warnings.filterwarnings("error", category=EncodingWarning, module="sojourn")
    from sojourn.cli import commands

    for entry in commands.COMMANDS.values():
        importlib.import_module(f"sojourn.cli.{entry.module}")
    from sojourn.__main__ import main as command

    code = 0
    while arguments:
        end = arguments.index("--then") if "--then" in arguments else len(arguments)
        sys.argv, arguments = ["sojourn", *arguments[:end]], arguments[end + 1 :]
        code = max(code, command())
    return code


def memory_status(status):
    assert status[0] & 0xFFFFFFFF == 64
    status[2] = 8 << 30
    return 1


FCNTL, KILL = importlib.import_module("fcntl"), os.kill
USED = (concurrent.futures.process, multiprocessing.connection, socket)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
