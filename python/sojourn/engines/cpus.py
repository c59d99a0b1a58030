"""CPUs of this machine, each for one guest at a time.

A guest's kernel and its programs run in turns: each wakes the other and waits for it. On one CPU
that is a switch between two processes; on two it wakes an idle CPU each time, which made guests
three times slower on an idle machine.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import product

# Guests of one CPU; further ones run anywhere.
_MOST = 8


@contextmanager
def reserved() -> Iterator[int | None]:
    """The CPU with the fewest guests of all processes; None if unknown.

    An abstract Unix socket (unix(7)) named by the CPU counts its guests: the name disappears with
    its process, however that ends.
    """
    with socket.socket(socket.AF_UNIX) as name:
        places = product(range(_MOST), _allowed())
        yield next((cpu for nth, cpu in places if _bind(name, f"guest {nth} of CPU {cpu}")), None)


def _bind(name: socket.socket, what: str) -> bool:
    """Whether no other socket has this name."""
    with suppress(OSError):
        name.bind(f"\0sojourn: {what}")
        return True
    return False


def _allowed() -> list[int]:
    """The CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
