"""Work in the core that Ctrl-C can stop."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sojourn import _core
from sojourn.errors import Interrupted
from sojourn.running.memory import bounded

T = TypeVar("T")


def interruptible(work: Callable[[_core.Cancel], T], memory: str | None = None) -> T:
    """Do work in a separate thread, so that Ctrl-C takes effect at once.

    Args:
        work: called with the switch that ends it.
        memory: a size such as ``8GB`` that the work may take, instead of what the machine has free.

    Raises:
        Interrupted: Ctrl-C.
        MemoryError: the work took more memory.
    """
    switch = bounded(memory)
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(work, switch).result()
        except KeyboardInterrupt:
            switch.cancel()
            raise Interrupted([], 1) from None
