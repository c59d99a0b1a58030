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
# Widths of letters of DejaVu Sans, the widest of the usual sans-serif fonts, in font sizes.
_NARROW, _WIDE, _LETTER, _BOLDER = 0.38, 0.97, 0.63, 1.12
_NARROW_LETTERS, _WIDE_LETTERS = frozenset("fijlrtI .,:;'!|()[]/-"), frozenset("mwMW@%=")
TOP, _TITLE, _TITLE_LINE = 28.0, 13.5, 16.0
"""Space for the title above the axes; its font size, and the height of a second line."""
_DIVISIONS = (1.0, 2.0, 5.0)

Floats = NDArray[np.float64]


def text_width(text: str, size: float = FONT, *, is_bold: bool = False) -> float:
    """The width of a text in a wide font; in most fonts it is narrower."""
    narrow = sum(letter in _NARROW_LETTERS for letter in text)
    wide = sum(letter in _WIDE_LETTERS for letter in text)
    width = _NARROW * narrow + _WIDE * wide + _LETTER * (len(text) - narrow - wide)
    return size * width * (_BOLDER if is_bold else 1.0)


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
    """An SVG drawing. Its title takes two lines if it is too long for one.

    Args:
        width: width in pixels of a page at its usual size.
        height: the same, with a title of one line.
        title: written above, and read by screen readers.

    Attributes:
        top: the upper edge of what is drawn below the title.
    """

    def __init__(self, width: float, height: float, title: str) -> None:
        lines = _title_lines(title, width)
        more = _TITLE_LINE * (len(lines) - 1)
        self.width, self.height, self.title, self.top = width, height + more, title, TOP + more
        self._parts: list[str] = []
        for i, line in enumerate(lines):
            self.text(0, 15 + _TITLE_LINE * i, line, size=_TITLE, weight="bold", most=width)

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
        size = min(size, most / max(0.1, text_width(text, 1.0, is_bold=weight == "bold")))
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


def _title_lines(title: str, width: float) -> list[str]:
    """The title, in two lines of about the same length if it is wider than the drawing."""
    if text_width(title, _TITLE, is_bold=True) <= width or " " not in title:
        return [title]
    spaces = [at for at, letter in enumerate(title) if letter == " "]
    middle = min(spaces, key=lambda at: abs(2 * at - len(title)))
    return [title[:middle], title[middle + 1 :]]


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
