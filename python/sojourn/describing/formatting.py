"""Numbers with units for people: ms, Mbit/s, percent, with the digits that are known."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sojourn.describing.metric_table import MetricRow
from sojourn.describing.metrics import row_of

_MINUS = "−"


@dataclass(frozen=True)
class Scale:
    """A unit for display: shown value = value * factor."""

    unit: str
    factor: float


MILLISECONDS = Scale("ms", 1e3)


def counted(number: float, noun: str) -> str:
    """A number and its noun: ``1 run``, ``1,000 runs``.

    Args:
        number: the number; thousands are separated.
        noun: noun in the singular; its plural ends in s.
    """
    text = f"{number:,}" if isinstance(number, int) else f"{number:g}"
    return f"{text} {noun}{'' if number == 1 else 's'}"


def scale_of(row: MetricRow, values: Iterable[float] = ()) -> Scale:
    """The unit a metric is shown in.

    Args:
        row: the metric.
        values: the values of one row: times from a second on are in seconds, rates below 1 Mbit/s
            in kbit/s.
    """
    largest = max(map(abs, values), default=0.0)
    if row.kind == "time":
        return Scale("s", 1.0) if row.is_long and largest >= 1.0 else MILLISECONDS
    if row.kind == "rate":
        return Scale("kbit/s", 1e-3) if 0 < largest < 1e6 else Scale("Mbit/s", 1e-6)
    if row.kind == "share":
        return Scale("%", 100.0)
    return Scale("" if row.unit == "1" else row.unit, 1.0)


def axis_label(row: MetricRow) -> str:
    """The name of a metric on an axis: ``queue delay p95 [ms]``."""
    unit = scale_of(row).unit
    return f"{row.label} [{unit}]" if unit else row.label


def decimals_for(half_width: float, value: float) -> int:
    """Decimals for a value: as its half-width justifies, at most four digits in total.

    Two digits of the half-width are shown, or one where two would make the value longer than four
    digits. Without a half-width the value gets three digits.

    Args:
        half_width: half-width in the unit of display; NaN or zero if unknown.
        value: value in the unit of display.
    """
    if not abs(value) > 0:
        return 0
    leading = math.floor(math.log10(abs(value)))
    if not half_width > 0:
        return min(4, max(0, 2 - leading))
    of_half = -math.floor(math.log10(half_width))
    return min(4, max(0, of_half, min(of_half + 1, 3 - max(leading, 0))))


def show(value: float, decimals: int, *, sign: bool = False) -> str:
    """A number with `decimals` decimals and a true minus sign; a dash for NaN."""
    if math.isnan(value):
        return "–"
    text = f"{value:+.{decimals}f}" if sign else f"{value:.{decimals}f}"
    is_zero = not float(text)
    return (text.lstrip("+-") if is_zero else text).replace("-", _MINUS)


def show_value(metric: str, value: float, unit: str) -> str:
    """One number of a run with its unit, three digits or more."""
    row = row_of(metric, unit)
    if row.kind == "count":
        return f"{value:,.0f}".replace(",", " ")
    scale = scale_of(row, [value])
    shown = value * scale.factor
    return f"{show(shown, decimals_for(math.nan, shown))} {scale.unit}".strip()


def about(seconds: float) -> str:
    """A duration in the unit that people would use: ``less than 1 s``, ``about 5.2 h``."""
    if seconds < 1.0:
        return "less than 1 s"
    units = (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0))
    unit, each = next((unit for unit in units if seconds >= 2 * unit[1]), ("s", 1.0))
    count = seconds / each
    return f"about {count:,.{1 if count < 10 and unit != 's' else 0}f} {unit}"
