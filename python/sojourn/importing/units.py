"""Units of columns and values in other tools' files."""

from __future__ import annotations

import re

from sojourn.errors import InputError

_PREFIXES = {
    "": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "kilo": 1e3, "mega": 1e6, "giga": 1e9,
    "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30,
}  # fmt: skip
_PREFIX = "(" + "|".join(sorted(_PREFIXES, key=len, reverse=True)) + ")"
_PER_SECOND = "(?:ps|(?:/|_|[_ ]?per[_ ]?)s(?:ec(?:ond)?)?)"
_BIT_RATE = re.compile(rf"{_PREFIX}(?:bits?{_PER_SECOND}?|b{_PER_SECOND})", re.IGNORECASE)
_BYTE_RATE = re.compile(rf"{_PREFIX}bytes?{_PER_SECOND}?", re.IGNORECASE)
# `B/s` and `Bps` differ from bits by their case.
_SHORT_BYTE_RATE = re.compile(rf"(?i:{_PREFIX})B(?:{_PER_SECOND})?")
# Names in capitals do not tell bits from bytes.
_CAPITALS = re.compile(r"[KMGT]?B(?:PS|/S)")

TIMES = {
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3,
    "us": 1e-6, "usec": 1e-6, "microsecond": 1e-6, "microseconds": 1e-6,
    "ns": 1e-9, "nsec": 1e-9, "nanosecond": 1e-9, "nanoseconds": 1e-9,
}  # fmt: skip
"""Seconds per unit."""

CLOCKS = {**TIMES, "min": 60.0, "minutes": 60.0, "h": 3600.0, "hours": 3600.0}
"""Seconds per unit of a column of times; `rtt_min` is a minimum."""

SHARES = {"%": 0.01, "percent": 0.01, "pct": 0.01, "share": 1.0, "ratio": 1.0, "fraction": 1.0}


def rate_factor(unit: str) -> float | None:
    """bit/s per unit, such as ``Mbit/s``, ``kbps`` or ``MB/s``; None otherwise, as for ``MBPS``."""
    unit = unit.strip()
    if _CAPITALS.fullmatch(unit):
        return None
    if found := _SHORT_BYTE_RATE.fullmatch(unit) or _BYTE_RATE.fullmatch(unit):
        return 8 * _PREFIXES[found[1].lower()]
    found = _BIT_RATE.fullmatch(unit)
    return _PREFIXES[found[1].lower()] if found else None


def rate_bps(text: str) -> float:
    """A rate with its unit, such as ``12Mbps`` or ``1Gbps 500Mbps``, in bit/s.

    Raises:
        InputError: it is not such a value.
    """
    parts = re.findall(r"([0-9.]+)\s*([A-Za-z/]+)\s*", text)
    factors = [rate_factor(unit) for _, unit in parts]
    is_number = all(re.fullmatch(r"\d+(\.\d*)?|\.\d+", number) for number, _ in parts)
    rest = re.sub(r"[0-9.]+\s*[A-Za-z/]+\s*", "", text).strip()
    if not parts or rest or not is_number or None in factors:
        raise InputError(f"`{text}` is not a rate with its unit, such as 12Mbit/s")
    return sum(
        float(number) * (factor or 0) for (number, _), factor in zip(parts, factors, strict=True)
    )


def seconds(text: str) -> float:
    """A time such as ``1s``, ``250ms`` or ``1m 30s``, in seconds.

    Raises:
        InputError: it is not such a value.
    """
    units = {**TIMES, "m": 60.0, "min": 60.0, "h": 3600.0}
    parts = re.findall(r"([0-9.]+)\s*([a-z]+)\s*", text)
    if not parts or re.sub(r"[0-9.]+\s*[a-z]+\s*", "", text).strip():
        raise InputError(f"`{text}` is not a time with its unit, such as 250ms")
    total = 0.0
    for number, unit in parts:
        if unit not in units or number.count(".") > 1 or number == ".":
            raise InputError(f"`{text}` is not a time with its unit, such as 250ms")
        total += float(number) * units[unit]
    return total


def epoch_scale(value: float) -> float | None:
    """Seconds per unit of a time since 1970, by its magnitude; None if it is too small."""
    for least, scale in ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3), (5e8, 1.0)):
        if value >= least:
            return scale
    return None
