"""A place where the real kernel could run, as `sojourn doctor` shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """A place where the real kernel could run.

    Attributes:
        name: which.
        works: whether it does on this machine.
        note: what it is, or why not.
        remedy: the one command that helps; empty if none is needed.
    """

    name: str
    works: bool
    note: str
    remedy: str = ""
