"""Numbers with units as people read them: ms, Mbit/s, percent, as many digits as are known."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_MINUS = "−"


@dataclass(frozen=True)
class Scale:
    """A unit for display: shown value = value * factor."""

    unit: str
    factor: float


_COUNTS = {"arrived", "sent", "waiting", "flows", "transfers", "events", "packets"}
# Numbers without a unit that are no fractions.
_SCORES = {"jain", "voice_r", "voice_mos"}
MILLISECONDS = Scale("ms", 1e3)
_SCALES = {
    "s": MILLISECONDS,
    "bit/s": Scale("Mbit/s", 1e-6),
    "1": Scale("%", 100.0),
}


def counted(number: float, noun: str) -> str:
    """A number and its noun: ``1 run``, ``1,000 runs``.

    Args:
        number: how many; thousands are separated.
        noun: in the singular; its plural ends in s.
    """
    text = f"{number:,}" if isinstance(number, int) else f"{number:g}"
    return f"{text} {noun}{'' if number == 1 else 's'}"


def scale_of(metric: str, unit: str, values: Iterable[float] = ()) -> Scale:
    """The unit a metric is shown in.

    Args:
        metric: its name, such as ``delay_p95``.
        unit: its unit in the tables.
        values: what will be shown in one row: completion times from a second on are in seconds,
            rates below 1 Mbit/s in kbit/s.
    """
    if metric in _SCORES:
        return Scale("", 1.0)
    largest = max(map(abs, values), default=0.0)
    if metric.startswith("completion") and largest >= 1.0:
        return Scale("s", 1.0)
    if unit == "bit/s" and 0 < largest < 1e6:
        return Scale("kbit/s", 1e-3)
    return _SCALES.get(unit, Scale(unit, 1.0))


def decimals_for(half_width: float, value: float) -> int:
    """Decimals for a value: what its half-width justifies, at most four digits in all.

    Two digits of the half-width are shown, or one where two would make the value longer than four
    digits. Without a half-width the value gets three digits.

    Args:
        half_width: in the unit of display; NaN or zero if unknown.
        value: in the unit of display.
    """
    if not abs(value) > 0:
        return 0
    leading = math.floor(math.log10(abs(value)))
    if not half_width > 0:
        return min(4, max(0, 2 - leading))
    of_half = -math.floor(math.log10(half_width))
    return min(4, max(0, of_half, min(of_half + 1, 3 - max(leading, 0))))


def show(value: float, decimals: int, *, sign: bool = False) -> str:
    """A number with so many decimals and a true minus sign; a dash where there is none."""
    if math.isnan(value):
        return "–"
    text = f"{value:+.{decimals}f}" if sign else f"{value:.{decimals}f}"
    is_zero = not float(text)
    return (text.lstrip("+-") if is_zero else text).replace("-", _MINUS)


def show_value(metric: str, value: float, unit: str) -> str:
    """One number of a run with its unit, three digits or more."""
    if metric in _COUNTS:
        return f"{value:,.0f}".replace(",", " ")
    scale = scale_of(metric, unit, [value])
    shown = value * scale.factor
    return f"{show(shown, decimals_for(math.nan, shown))} {scale.unit}".strip()


def about(seconds: float) -> str:
    """A time in the unit that people would say: ``less than 1 s``, ``about 5.2 h``."""
    if seconds < 1.0:
        return "less than 1 s"
    units = (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0))
    unit, each = next((unit for unit in units if seconds >= 2 * unit[1]), ("s", 1.0))
    count = seconds / each
    return f"about {count:,.{1 if count < 10 and unit != 's' else 0}f} {unit}"
