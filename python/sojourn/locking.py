"""Locks on folders: one process at a time writes its results there."""

from __future__ import annotations

import contextlib
import datetime
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from sojourn import ending, platforms
from sojourn.errors import InputError

LOCK = ".sojourn.lock"

# The folders that this process has locked, by their real path, with the thread.
_held: dict[Path, int] = {}
_guard = threading.Lock()


@contextlib.contextmanager
def locked(folder: Path, what: str) -> Iterator[None]:
    """Hold the lock on a folder; the same thread may hold it several times.

    The system releases it when the process ends, however it ends.

    Args:
        folder: an existing folder.
        what: names the folder in the message.

    Raises:
        InputError: another process holds it; the message says which, and since when.
    """
    real = folder.resolve()
    with _guard:
        if _held.get(real) == threading.get_ident():
            inner = True
        elif real in _held:
            raise InputError(_refusal(what, "another thread of this process writes there"))
        else:
            inner = False
            descriptor = _acquire(real / LOCK, what)
            _held[real] = threading.get_ident()
    if inner:
        yield
        return
    try:
        with ending.before_end(lambda: _release(real / LOCK, descriptor)):
            yield
    finally:
        with _guard:
            del _held[real]
            _release(real / LOCK, descriptor)


def _release(path: Path, descriptor: int) -> None:
    if platforms.IS_WINDOWS:
        # Windows removes no open file, not even one that another process has opened since.
        os.close(descriptor)
        with contextlib.suppress(PermissionError):
            path.unlink(missing_ok=True)
    else:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _acquire(path: Path, what: str) -> int:
    """The descriptor of the lock file, locked, with this process's name in it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | platforms.OPEN_SAFELY, 0o666)
        if not platforms.try_lock(descriptor):
            holder = os.read(descriptor, 500).decode(errors="replace").strip()
            os.close(descriptor)
            raise InputError(_refusal(what, f"{holder or 'another process'} writes there"))
        # The previous holder may have removed the file since then.
        if _is(path, descriptor):
            try:
                os.ftruncate(descriptor, 0)
                os.write(descriptor, _own_name().encode())
            except OSError as error:  # the disk is full, or files may not grow
                path.unlink(missing_ok=True)
                os.close(descriptor)
                raise OSError(error.errno, error.strerror, str(path.parent)) from error
            return descriptor
        os.close(descriptor)


def _is(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _own_name() -> str:
    now = datetime.datetime.now(datetime.UTC)
    with contextlib.suppress(ValueError, OverflowError):  # TZ may name an invalid zone
        now = now.astimezone()
    since = now.isoformat(" ", "seconds")
    return f"process {os.getpid()} on {platforms.host_name()}, since {since},\n"


def _refusal(what: str, why: str) -> str:
    return f"{what}: {why.rstrip(',')}; wait for its end, or give another folder"
