"""Axes of a grid in text form: ``5..100``, ``20ms,50ms,100ms``, ``10mbit``."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.arrays import Floats
from sojourn.stability.model import parameters


def times_s(option: str, text: str, count: int) -> Floats:
    """Times in seconds: a list, or a range of ``count`` values with equal ratios."""
    return _axis(option, text, parameters.seconds, count)


def rates_bps(option: str, text: str, count: int) -> Floats:
    """Rates in bits per second: a list, or a range of ``count`` values with equal ratios."""
    return _axis(option, text, parameters.rate_bps, count)


def counts(option: str, text: str, count: int) -> Floats:
    """Integers, in the same form; a range has each of them once."""
    return np.unique(_axis(option, text, _whole, count).round())


def _whole(text: str) -> float:
    if not re.fullmatch(r"0*[1-9][0-9]{0,8}", text):
        raise InputError(f"`{text}` is not a number of flows; give one from 1 to 999999999")
    return float(text)


def _axis(option: str, text: str, read: Callable[[str], float], count: int) -> Floats:
    low, dots, high = text.partition("..")
    try:
        if not dots:
            return np.asarray([_positive(read, item) for item in text.split(",")])
        ends = _positive(read, low), _positive(read, high)
    except InputError as error:
        raise InputError(f"{option} {text}: {error}") from None
    if ends[0] == ends[1]:
        raise InputError(f"{option} {text}: the range has one value; write {low} alone")
    if not ends[0] < ends[1]:
        raise InputError(f"{option} {text}: the range must rise, such as {high}..{low}")
    return np.geomspace(*ends, count)


def _positive(read: Callable[[str], float], text: str) -> float:
    value = read(text.strip())
    if not value > 0.0:
        raise InputError(f"`{text.strip()}` must be positive")
    return value
