"""Expectations of scenarios as tests: read, decided over seeds, reported.

`assert_metric`, `mbit`, `ms` and `NotDecided` are for tests in Python.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sojourn.testing.assertions import NotDecided, assert_metric, mbit, ms

__all__ = ["NotDecided", "assert_metric", "mbit", "ms"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module("sojourn.testing.assertions"), name)
    return value
