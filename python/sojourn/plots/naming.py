"""Names of clouds of points, written where they overlap nothing; in pixels, `y` upwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sojourn.plots.excerpt import Floats

# A name at least this many text lines from its cloud gets a leader line.
_FAR = 1.7


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
    dots: Mapping[str, Floats], halves: Mapping[str, float], line: float, area: Area
) -> Iterator[PlacedName]:
    """A position of every name above or below its points, within the axes, without overlaps.

    Args:
        dots: the points of each, shape ``(n, 2)``.
        halves: half of the width of each name.
        line: the height of a line.
        area: area of the axes.
    """
    taken = np.vstack([[x, y, 0.0, line / 4] for cloud in dots.values() for x, y in cloud])
    for name in sorted(dots, key=lambda name: float(np.median(dots[name][:, 0]))):
        cloud, half = dots[name], halves[name]
        ends = (float(cloud[:, 1].min()), float(cloud[:, 1].max()))
        middle = float(np.median(cloud[:, 0]))
        x, y = _free((middle, half, line), ends, area, taken)
        taken = np.vstack([taken, [x, y, half, line / 2]])
        end = ends[1] if y > ends[1] else ends[0]
        leader = None
        if abs(y - end) > _FAR * line or abs(x - middle) > half:
            leader = (x, float(y - np.sign(y - end) * line / 2)), (middle, end)
        yield PlacedName(name, (x, y), leader)


def _free(
    name: tuple[float, float, float], ends: tuple[float, float], area: Area, taken: Floats
) -> tuple[float, float]:
    """The nearest position at which a name overlaps nothing and is within the axes.

    Above or below its cloud if there is room, else also to its sides.

    Args:
        name: its middle over the cloud, half of its width, and the height of a line.
        ends: lower and upper end of the cloud.
        area: where it is written.
        taken: occupied boxes as middle (x, y) and half (width, height), shape ``(n, 4)``.
    """
    middle, half, line = name
    low, high = area.x0 + half, area.x1 - half
    inside = area.y0 + line / 2, area.y1 - line / 2

    def within(x: float) -> float:
        return float(np.clip(x, low, max(low, high)))

    for shifts, most in (((0.0,), 4.0), ((-1.0, 1.0, -2.0, 2.0, -3.0, 3.0), 9.0)):
        for step in np.arange(0.9, most, 0.2) * line:
            for shift in shifts:
                x = within(middle + shift * half)
                for y in (ends[1] + step, ends[0] - step):
                    is_near = (abs(taken[:, 0] - x) < taken[:, 2] + half) & (
                        abs(taken[:, 1] - y) < taken[:, 3] + line / 2
                    )
                    if inside[0] < y < inside[1] and not is_near.any():
                        return x, float(y)
    return within(middle), ends[1] + 0.9 * line
