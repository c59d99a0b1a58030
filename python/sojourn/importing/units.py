"""Units of columns and values in other tools' files."""

from __future__ import annotations

import re

from sojourn.errors import InputError

_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}

RATES = {
    f"{prefix}{unit}": factor * scale
    for prefix, factor in _PREFIXES.items()
    for unit, scale in {
        "bps": 1.0, "bit": 1.0, "bits": 1.0, "bit/s": 1.0, "bits/s": 1.0, "b/s": 1.0, "bit_s": 1.0,
        "bitps": 1.0, "byte/s": 8.0, "bytes/s": 8.0, "bytes_s": 8.0, "byteps": 8.0,
    }.items()
}  # fmt: skip
"""bit/s per unit, in lower case; `B/s` and `Bps` differ from bits by their case."""

TIMES = {
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3,
    "us": 1e-6, "usec": 1e-6, "microseconds": 1e-6,
    "ns": 1e-9, "nsec": 1e-9, "nanoseconds": 1e-9,
}  # fmt: skip
"""Seconds per unit."""

SHARES = {"%": 0.01, "percent": 0.01, "pct": 0.01, "share": 1.0, "ratio": 1.0, "fraction": 1.0}

_BYTE_RATE = re.compile(r"([kKmMgG]?)(B/s|Bps|B)")


def rate_factor(unit: str) -> float | None:
    """bit/s per unit, such as ``Mbit/s``, ``kbps`` or ``MB/s``; None if it is not such a unit."""
    if found := _BYTE_RATE.fullmatch(unit):
        return 8 * _PREFIXES[found[1].lower()]
    return RATES.get(unit.lower())


def rate_bps(text: str) -> float:
    """A rate with its unit, such as ``12Mbps``, in bit/s.

    Raises:
        InputError: it is not such a value.
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z/]+)\s*", text)
    factor = rate_factor(found[2]) if found else None
    if not found or factor is None or found[1].count(".") > 1 or found[1] == ".":
        raise InputError(f"`{text}` is not a rate with its unit, such as 12Mbit/s")
    return float(found[1]) * factor


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
