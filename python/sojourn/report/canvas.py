"""Axes, lines, points and texts as SVG, without matplotlib.

Importing matplotlib and drawing the figures of a comparison takes longer than many comparisons run.
The colours are variables of the page, so that a drawing follows its light and dark theme.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.report.keys import Key

FONT = 12.0
_NUMBERS = 11.0
INK, MUTED, GRID = "var(--ink)", "var(--muted)", "var(--grid)"
_LETTER, _BOLD = 0.56, 0.64
"""Mean width of a letter of a sans-serif font, in font sizes."""
_DIVISIONS = (1.0, 2.0, 5.0)

Floats = NDArray[np.float64]


def text_width(text: str, size: float = FONT) -> float:
    """The approximate width of a text."""
    return _LETTER * size * len(text)


def colour(key: Key) -> str:
    """The colour of an AQM in the page."""
    return f"var(--series-{key.colour})"


@dataclass(frozen=True)
class AxisScale:
    """Maps values to positions.

    Attributes:
        low: the least value.
        high: the largest value; more than `low`.
        is_log: whether the scale is logarithmic.
        start: position of `low`.
        end: position of `high`; less than `start` if the scale is reversed.
    """

    low: float
    high: float
    is_log: bool = False
    start: float = 0.0
    end: float = 1.0

    def between(self, start: float, end: float) -> AxisScale:
        """The same scale at other positions."""
        return replace(self, start=start, end=end)

    def at(self, values: ArrayLike) -> Floats:
        """The positions of values, same shape."""
        found = np.asarray(values, np.float64)
        if self.is_log:
            share = np.log(found / self.low) / math.log(self.high / self.low)
        else:
            share = (found - self.low) / (self.high - self.low)
        return np.asarray(self.start + share * (self.end - self.start))

    def ticks(self, most: int = 6) -> list[float]:
        """Values that get a number: 1, 2, 5 up to three decades, else decades; evenly if linear.

        Within a factor of four, where these are too few, a logarithmic scale is evenly divided too.
        """
        if self.is_log and self.high / self.low >= 4.0:
            few = self.high / self.low < 1000.0
            return self._inside(_DIVISIONS if few else (1.0,))
        rough = (self.high - self.low) / most
        decade = 10.0 ** math.floor(math.log10(rough))
        step = next(each * decade for each in (*_DIVISIONS, 10.0) if each * decade >= rough)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [float(f"{i * step:.12g}") for i in range(first, last + 1)]

    def _inside(self, factors: Sequence[float]) -> list[float]:
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found = (float(f"{each * 10.0**decade:.3g}") for decade in decades for each in factors)
        return [value for value in found if self.low <= value <= self.high]


@dataclass(frozen=True)
class Box:
    """The area between the axes.

    Attributes:
        left: its left edge, in units of the drawing.
        top: its upper edge.
        right: its right edge.
        bottom: its lower edge.
    """

    left: float
    top: float
    right: float
    bottom: float


class Canvas:
    """An SVG drawing.

    Args:
        width: width in pixels of a page at its usual size.
        height: the same.
        title: written above, and read by screen readers.
    """

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._parts: list[str] = []
        self.text(0, 15, title, size=13.5, weight="bold", most=width)

    def line(
        self, x: Floats, y: Floats, stroke: str, width: float = 1.6, dash: str = "none"
    ) -> None:
        """A line through positions, interrupted at positions that are not finite."""
        dashed = "" if dash == "none" else f' stroke-dasharray="{dash}"'
        self._parts.append(
            f'<path d="{_path(x, y)}" fill="none" stroke="{stroke}" stroke-width="{width:g}" '
            f'stroke-linejoin="round"{dashed}/>'
        )

    def area(self, x: Floats, y: Floats, fill: str, opacity: float) -> None:
        """A filled outline."""
        self._parts.append(f'<path d="{_path(x, y)}z" fill="{fill}" fill-opacity="{opacity:g}"/>')

    def markers(
        self, x: Floats, y: Floats, key: Key, *, scale: float = 1.0, opacity: float = 1.0
    ) -> None:
        """The marker of an AQM at each position."""
        shapes = (
            f'<path d="{key.shape}" transform="translate({each_x:.1f} {each_y:.1f})'
            f' scale({scale:g})"/>'
            for each_x, each_y in zip(x, y, strict=True)
        )
        self._parts.append(
            f'<g fill="{colour(key)}" fill-opacity="{opacity:g}">{"".join(shapes)}</g>'
        )

    def segments(self, lines: Iterable[tuple[float, float, float, float]], stroke: str,
                 width: float) -> None:  # fmt: skip
        """Straight lines, each from (x, y) to (x, y)."""
        path = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in lines)
        if path:
            self._parts.append(f'<path d="{path}" stroke="{stroke}" stroke-width="{width:g}"/>')

    def text(
        self, x: float, y: float, text: str, *, size: float = FONT, anchor: str = "start",
        fill: str = INK, weight: str = "normal", style: str = "normal", turned: bool = False,
        most: float = math.inf,
    ) -> None:  # fmt: skip
        """A text; `y` is that of its base line. A rotated text runs upwards.

        A text that would be wider than `most` is drawn smaller.
        """
        letter = _BOLD if weight == "bold" else _LETTER
        size = min(size, most / (letter * max(1, len(text))))
        place = f'x="{x:.1f}" y="{y:.1f}"'
        if turned:
            place = f'transform="translate({x:.1f} {y:.1f}) rotate(-90)"'
        self._parts.append(
            f'<text {place} font-size="{size:.3g}" text-anchor="{anchor}" fill="{fill}" '
            f'font-weight="{weight}" font-style="{style}">{html.escape(text)}</text>'
        )

    def axes(
        self, box: Box, x: AxisScale, y: AxisScale | None, *, most_y: float | None = None,
        shown_x: bool = True, shown_y: bool = True,
    ) -> None:  # fmt: skip
        """Grid, numbers and lines of the axes around a box.

        Args:
            box: the area.
            x: the horizontal scale.
            y: the vertical one; None for an axis without numbers.
            most_y: larger numbers are left out of the vertical axis.
            shown_x: whether the numbers of the horizontal axis are written.
            shown_y: the same for the vertical axis.
        """
        lines = []
        last = math.inf
        for value in y.ticks() if y is not None else ():
            if y is not None and (most_y is None or value <= most_y):
                at = float(y.at(value))
                lines.append((box.left, at, box.right, at))
                if shown_y and at < last - _NUMBERS:
                    self.text(box.left - 6, at + 4, f"{value:g}", anchor="end", size=_NUMBERS)
                    last = at
        last = -math.inf
        for value in sorted(x.ticks(), key=lambda each: float(x.at(each))):
            at, half = float(x.at(value)), text_width(f"{value:g}", _NUMBERS) / 2
            lines.append((at, box.top, at, box.bottom))
            if shown_x and at - half > last + 4 and at + half < box.right + 10:
                self.text(at, box.bottom + 15, f"{value:g}", anchor="middle", size=_NUMBERS)
                last = at + half
        self.segments(lines, GRID, 1.0)
        below, left = (box.left, box.bottom, box.right), (box.left, box.top, box.left)
        self.segments([(*below, box.bottom), (*left, box.bottom)], MUTED, 1.0)

    def svg(self) -> str:
        """The drawing as an element of an HTML page."""
        return (
            f'<svg role="img" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'font-family="inherit"><title>{html.escape(self.title)}</title>'
            f"{''.join(self._parts)}</svg>"
        )


def number_width(scale: AxisScale) -> float:
    """The width that the numbers of a vertical axis need."""
    return max((text_width(f"{value:g}", _NUMBERS) for value in scale.ticks()), default=0.0)


def _path(x: Floats, y: Floats) -> str:
    parts, pen = [], "M"
    for each_x, each_y in zip(x.tolist(), y.tolist(), strict=True):
        if math.isfinite(each_x) and math.isfinite(each_y):
            parts.append(f"{pen}{each_x:.1f} {each_y:.1f}")
            pen = "L"
        else:
            pen = "M"
    return "".join(parts)
