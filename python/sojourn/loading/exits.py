"""Keeps custom code from ending the process silently with any status, as `os._exit` would do."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import NoReturn

from sojourn import _core

_end = os._exit
_process = os.getpid()
_inside = threading.local()


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """While this block runs custom code, `os._exit` raises `SystemExit` in this thread."""
    guard()
    depth = getattr(_inside, "depth", 0)
    _inside.depth = depth + 1
    try:
        yield
    finally:
        _inside.depth = depth


def guard() -> None:
    """Make `os._exit` raise `SystemExit` in blocks of `refused` and in methods that the core calls.

    Elsewhere, and in other processes, it ends the process as before.
    """
    os._exit = _exit


def _exit(status: int) -> NoReturn:
    is_inside = getattr(_inside, "depth", 0) or _core.is_in_own_code()
    if is_inside and os.getpid() == _process:
        raise SystemExit(f"it called os._exit({status})")
    _end(status)
