"""Checks of arguments that calls have in common: one error names argument, value and remedy."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

from sojourn.errors import InputError


def whole(name: str, value: object, least: int = 0, *, remedy: str = "") -> int:
    """A whole number as Python's `int`; numpy's integers are accepted, `True` is not.

    Args:
        name: the argument, for the message.
        value: the given value.
        least: the smallest number that is legal.
        remedy: what to give, after the semicolon; by default a number from `least` on.

    Raises:
        InputError: it is not a whole number, or too small.
    """
    remedy = remedy or f"give a whole number from {least} on"
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise InputError(f"{name}: {value!r} is not a whole number; {remedy}")
    if number < least:
        raise InputError(f"{name}: {number} is below {least}; {remedy}")
    return number


def optional(name: str, value: object, least: int = 1) -> int | None:
    """Like `whole`, but None stays None."""
    return None if value is None else whole(name, value, least)


def in_order(name: str, value: object, remedy: str) -> list[Any]:
    """The items of an argument whose order counts.

    Raises:
        InputError: it is a set, whose order differs between processes, or not a list.
    """
    if isinstance(value, set | frozenset):
        raise InputError(f"{name}: {value!r} is a set, which has no order; {remedy}")
    if not isinstance(value, Iterable) or isinstance(value, Mapping | bytes | str):
        raise InputError(f"{name}: {value!r} is not a list; {remedy}")
    return list(value)
