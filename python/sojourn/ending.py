"""The end of this process at once: nobody is waited for, and nothing half-written is left.

A command that is interrupted ends a tenth of a second later, whatever its threads compute or write.
What they would remove at their own end, files under temporary names, folders, locks, processes, is
registered here and removed then.
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
# Held while files appear or get their names, and for ever once the process ends.
_changing = threading.RLock()
_orderly = 0
_reason: BaseException | None = None


@contextlib.contextmanager
def before_end(action: Callable[[], object]) -> Iterator[None]:
    """While this block runs, the end of the process is preceded by an action.

    Args:
        action: what the block does at its own end too, in this or another thread; so it may happen
            twice, and what it raises is dropped.
    """
    key = object()
    _actions[key] = action
    try:
        yield
    finally:
        _actions.pop(key, None)


@contextlib.contextmanager
def changing() -> Iterator[None]:
    """A short step that the end of the process does not cut, and that does not begin after it."""
    with _changing:
        yield


@contextlib.contextmanager
def orderly() -> Iterator[None]:
    """While this block runs, an interrupt does not end the process: the block hears it itself."""
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
    """Say what will be raised when the threads have ended, should the process end before that."""
    global _reason  # noqa: PLW0603
    _reason = error


def reason() -> BaseException | None:
    """What `expect` was given last."""
    return _reason


def end(code: int) -> None:
    """Do what is registered, the latest first, and end this process; does not return."""
    _changing.acquire(timeout=_PATIENCE_S)
    for action in reversed(list(_actions.values())):
        with contextlib.suppress(Exception):
            action()
    _remove_semaphores()
    os._exit(code)


def remove_tree(folder: Path) -> None:
    """Remove a folder in which a process that is being killed may still make files."""
    import shutil

    for _ in range(_TIMES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(_AGAIN_S)


def _remove_semaphores() -> None:
    """Those of pools of processes, of which `multiprocessing` would complain else."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        # A finalizer that blocks on a thread there is not waited for.
        finish = threading.Thread(target=util._run_finalizers, daemon=True)
        finish.start()
        finish.join(5 * _AGAIN_S)
