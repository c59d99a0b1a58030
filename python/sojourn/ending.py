"""Ends this process at once, without waiting for threads or leaving half-written files.

An interrupted command ends within 0.1 s, whatever its threads compute or write. Temporary files,
folders, locks and processes are registered here and removed then.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_PATIENCE_S = 1.0
_AGAIN_S, _TIMES = 0.01, 3

_actions: dict[object, Callable[[], object]] = {}
# Held while files are created or renamed, and never released once the process ends.
_changing = threading.RLock()
_orderly = 0
_reason: BaseException | None = None


@contextlib.contextmanager
def before_end(action: Callable[[], object]) -> Iterator[None]:
    """Run an action before the process ends, if it ends within this block.

    Args:
        action: also run by the block at its own end, in this or another thread; it may run twice,
            and its exceptions are dropped.
    """
    key = object()
    _actions[key] = action
    try:
        yield
    finally:
        _actions.pop(key, None)


@contextlib.contextmanager
def changing() -> Iterator[None]:
    """A short step that an ending process still completes; no further step starts then."""
    with _changing:
        yield


@contextlib.contextmanager
def orderly() -> Iterator[None]:
    """While this block runs, an interrupt does not end the process; the block handles it."""
    global _orderly  # noqa: PLW0603
    _orderly += 1
    try:
        yield
    finally:
        _orderly -= 1


def is_orderly() -> bool:
    """Whether a block of `orderly` is running."""
    return _orderly > 0


def expect(error: BaseException) -> None:
    """Announce the exception that will be raised when the threads have ended."""
    global _reason  # noqa: PLW0603
    _reason = error


def reason() -> BaseException | None:
    """The last argument of `expect`."""
    return _reason


def end(code: int) -> None:
    """Run the registered actions, the latest first, and end this process; does not return."""
    _changing.acquire(timeout=_PATIENCE_S)
    for action in reversed(list(_actions.values())):
        with contextlib.suppress(Exception):
            action()
    _remove_semaphores()
    os._exit(code)


def remove_tree(folder: Path) -> None:
    """Remove a folder in which a process that is being killed may still create files."""
    import shutil

    for _ in range(_TIMES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(_AGAIN_S)


def _remove_semaphores() -> None:
    """Semaphores of process pools, about which `multiprocessing` would complain otherwise."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        # We do not wait for a finalizer that blocks on a thread.
        finish = threading.Thread(target=util._run_finalizers, daemon=True)
        finish.start()
        finish.join(5 * _AGAIN_S)
