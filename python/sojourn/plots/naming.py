"""Names of clouds of points, written where they overlap nothing; in pixels, `y` upwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.plots.excerpt import Floats

# A name at least this many text lines from its cloud gets a leader line.
_FAR = 1.7

Segment = tuple[float, float, float, float]
"""A straight line from (x, y) to (x, y)."""


@dataclass(frozen=True)
class Area:
    """The area in which names may be placed: the edges of the axes."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True)
class PlacedName:
    """A name, centred at a position.

    Attributes:
        name: the text.
        at: its centre.
        leader: both ends of a line that joins it to its cloud; None if it is near.
    """

    name: str
    at: tuple[float, float]
    leader: tuple[tuple[float, float], tuple[float, float]] | None


def placed(
    dots: Mapping[str, Floats], halves: Mapping[str, float], line: float, area: Area,
    lines: Sequence[Segment] = (),
) -> Iterator[PlacedName]:  # fmt: skip
    """A position of every name above or below its points, within the axes, without overlaps.

    A name crosses a line only where there is no other room.

    Args:
        dots: the points of each, shape ``(n, 2)``.
        halves: half of the width of each name.
        line: the height of a line.
        area: area of the axes.
        lines: what is drawn in addition to the points.
    """
    drawn = _along(lines, line / 4)
    taken = np.vstack([[x, y, 0.0, line / 4] for cloud in dots.values() for x, y in cloud])
    for name in sorted(dots, key=lambda name: float(np.median(dots[name][:, 0]))):
        cloud, half = dots[name], halves[name]
        ends = (float(cloud[:, 1].min()), float(cloud[:, 1].max()))
        middle = float(np.median(cloud[:, 0]))
        asked = (middle, half, line), ends, area
        x, y = (
            _free(*asked, np.vstack([taken, drawn]))
            or _free(*asked, taken)
            or (_within(middle, half, area), ends[1] + 0.9 * line)
        )
        taken = np.vstack([taken, [x, y, half, line / 2]])
        edge = y - np.sign(y - (ends[1] if y > ends[1] else ends[0])) * line / 2
        leader = None
        if min(abs(y - end) for end in ends) > _FAR * line or abs(x - middle) > half:
            nearest = cloud[np.argmin(np.hypot(cloud[:, 0] - x, cloud[:, 1] - edge))]
            leader = (x, float(edge)), (float(nearest[0]), float(nearest[1]))
        yield PlacedName(name, (x, y), leader)


def _along(lines: Sequence[Segment], step: float) -> Floats:
    """Small boxes along lines: middle (x, y) and half (width, height), shape ``(n, 4)``."""
    found = [np.empty((0, 4))]
    for x1, y1, x2, y2 in lines:
        n = 2 + int(np.hypot(x2 - x1, y2 - y1) / step)
        found.append(
            np.column_stack([np.linspace(x1, x2, n), np.linspace(y1, y2, n), *np.ones((2, n))])
        )
    return np.vstack(found)


def _within(x: float, half: float, area: Area) -> float:
    """The position nearest to `x` at which a name is between the sides of the area."""
    low = area.x0 + half
    return float(np.clip(x, low, max(low, area.x1 - half)))


def _free(
    name: tuple[float, float, float], ends: tuple[float, float], area: Area, taken: Floats
) -> tuple[float, float] | None:
    """The nearest position at which a name overlaps nothing and is within the axes.

    Above or below its cloud if there is room, else also to its sides.

    Args:
        name: its middle over the cloud, half of its width, and the height of a line.
        ends: lower and upper end of the cloud.
        area: where it is written.
        taken: occupied boxes as middle (x, y) and half (width, height), shape ``(n, 4)``.
    """
    middle, half, line = name
    inside = area.y0 + line / 2, area.y1 - line / 2
    for shifts, most in (((0.0,), 4.0), ((-1.1, 1.1, -2.0, 2.0, -3.0, 3.0), 9.0)):
        for step in np.arange(0.9, most, 0.2) * line:
            for shift in shifts:
                x = _within(middle + shift * half, half, area)
                for y in (ends[1] + step, ends[0] - step):
                    is_near = (abs(taken[:, 0] - x) < taken[:, 2] + half) & (
                        abs(taken[:, 1] - y) < taken[:, 3] + line / 2
                    )
                    if inside[0] < y < inside[1] and not is_near.any():
                        return x, float(y)
    return None
