"""Draws quantities of a file and of a run as panels over the same time."""

from __future__ import annotations

import numpy as np

from sojourn.importing.simulated import ImportedRun, ImportedSeries
from sojourn.plots.excerpt import Floats
from sojourn.report.canvas import (
    TOP,
    AxisScale,
    Box,
    Canvas,
    colour,
    number_width,
    text_width,
)
from sojourn.report.charts import WIDTHS
from sojourn.report.keys import Key, keys

_LEGEND, _EACH, _HEADING, _BELOW = 24.0, 136.0, 22.0, 40.0
_MARKERS = 12
"""Markers of a line; those of the two lines alternate."""
_NAMES = ("read", "simulated")


def unit_of(one: ImportedSeries) -> tuple[str, float]:
    """The unit that a quantity is shown in, and the factor that gives it."""
    if one.kind == "time":
        return "ms", 1e3
    if one.kind == "share":
        return "%", 1e2
    return ("Mbit/s", 1e-6) if _most(one) >= 1e6 else ("kbit/s", 1e-3)


def picture(found: ImportedRun, size: str) -> str:
    """The panels, as SVG for one of `WIDTHS`."""
    width, of = WIDTHS[size], keys(_NAMES)
    height = TOP + _LEGEND + _EACH * len(found.found) + _BELOW
    canvas = Canvas(width, height, "Read from the file, and simulated")
    scales = [_scale(one) for one in found.found]
    left = 12.0 + max(number_width(scale) for scale in scales)
    x = AxisScale(0.0, found.length_s, False, left, width - 12.0)
    _legend(canvas, of)
    top = canvas.top + _LEGEND
    for one, scale in zip(found.found, scales, strict=True):
        box = Box(left, top + _HEADING, width - 12.0, top + _EACH - 8.0)
        y = scale.between(box.bottom, box.top)
        name = " ".join(filter(None, (one.name, one.way)))
        canvas.text(left, top + 16, f"{name} [{unit_of(one)[0]}]", weight="bold", most=width - left)
        canvas.axes(box, x, y, shown_x=one is found.found[-1])
        for place, values in enumerate((one.read, one.simulated)):
            _curve(canvas, one.edges_s, values * unit_of(one)[1], (x, y), of[_NAMES[place]], place)
        top += _EACH
    canvas.text((left + width - 12.0) / 2, canvas.height - 6, "time [s]", anchor="middle")
    return canvas.svg()


def _most(one: ImportedSeries) -> float:
    return float(np.nanmax(np.concatenate([one.read, one.simulated, [0.0]])))


def _scale(one: ImportedSeries) -> AxisScale:
    """From zero, or logarithmic for times, which a queue may lengthen a hundredfold."""
    factor = unit_of(one)[1]
    values = np.concatenate([one.read, one.simulated]) * factor
    above = values[np.isfinite(values) & (values > 0)]
    if one.kind == "time" and len(above):
        return AxisScale(float(above.min()) / 1.15, float(above.max()) * 1.15, is_log=True)
    return AxisScale(0.0, float(above.max()) * 1.06 if len(above) else 1.0)


def _curve(
    canvas: Canvas, edges_s: Floats, values: Floats, axes: tuple[AxisScale, AxisScale], key: Key,
    place: int,
) -> None:  # fmt: skip
    """A line of steps with markers."""
    x, y = axes
    shown = np.where(values >= y.low, values, np.nan) if y.is_log else values
    at_y = np.full(len(shown), np.nan)
    known = np.isfinite(shown)
    at_y[known] = y.at(shown[known])
    at_x = x.at(np.repeat(edges_s, 2)[1:-1])
    canvas.line(at_x, np.repeat(at_y, 2), colour(key), 2.0 - 0.5 * place, key.dash_array)
    every = max(1, len(shown) // _MARKERS)
    marked = np.arange(every // 4 + place * every // 2, len(shown), every)
    marked = marked[known[marked]]
    middles = x.at((edges_s[marked] + edges_s[marked + 1]) / 2)
    canvas.markers(middles, at_y[marked], key)


def _legend(canvas: Canvas, of: dict[str, Key]) -> None:
    left, y = 12.0, canvas.top + 10.0
    for name, key in of.items():
        ends, at = np.array([left, left + 40.0]), np.array([y - 4.0, y - 4.0])
        canvas.line(ends, at, colour(key), 2.0, key.dash_array)
        canvas.markers(ends[:1] + 20.0, at[:1], key)
        canvas.text(left + 46.0, y, name)
        left += 70.0 + text_width(name)
