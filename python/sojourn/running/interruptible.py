"""Work in the core that Ctrl-C can stop."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sojourn import _core
from sojourn.errors import Interrupted

T = TypeVar("T")


def interruptible(work: Callable[[_core.Cancel], T]) -> T:
    """Do work in a thread of its own, so that Ctrl-C takes effect at once.

    Raises:
        Interrupted: Ctrl-C.
    """
    switch = _core.Cancel()
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(work, switch).result()
        except KeyboardInterrupt:
            switch.cancel()
            raise Interrupted([], 1) from None
