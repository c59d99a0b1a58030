"""Common parts of the planes: a cloud per AQM, with a dot per seed, over queue delay."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.plots import style
from sojourn.plots.data import Floats, Results

_HALF_LETTER = 3.2  # line height in points of 9-point bold type
# A name at least this many lines from its cloud is joined to it by a line.
_FAR = 1.7
# Factor by which the delay axis extends beyond the points at each end.
_ROOM = 1.35

Clouds = Mapping[str, Floats]
"""Per AQM milliseconds of delay and another value, shape ``(n_seeds, 2)``."""


def begin(clouds: Clouds, results: Results, title: str) -> tuple[Figure, Axes, dict[str, str]]:
    """A figure with the dots, its axes, and the colours of all AQMs.

    Args:
        clouds: one or more points of each AQM.
        results: all AQMs, which determine the colours.
        title: of the figure.
    """
    drawing, (axes,) = style.new(3.9, title)
    colours = style.colours(results)
    every = np.vstack(list(clouds.values()))
    axes.set_xscale("log")
    markers = style.markers(results)
    for aqm, cloud in clouds.items():
        axes.plot(*cloud.T, markers[aqm], color=colours[aqm], ms=3, alpha=0.55, mew=0)
    _limit(axes, every)
    return drawing, axes, colours


def finish(drawing: Figure, axes: Axes, clouds: Clouds, colours: Mapping[str, str]) -> None:
    """Compute the final layout, and name the clouds where there is room."""
    style.lay_out(drawing)
    _name(axes, clouds, colours)


def _limit(axes: Axes, every: Floats) -> None:
    """Margins around all points; the axis of delay is inverted."""
    low, high = every.min(0), every.max(0)
    ends = high[0] * _ROOM, low[0] / _ROOM
    axes.set_xlim(*ends)
    style.plain_log(axes.xaxis, ends[1], ends[0])
    margin = max(0.12 * (high[1] - low[1]), 0.004 * high[1])
    axes.set_ylim(low[1] - margin, high[1] + 1.6 * margin)


def _name(axes: Axes, points: Clouds, colours: Mapping[str, str]) -> None:
    """Write every AQM above or below its points, within the axes, without overlaps."""
    point = axes.figure.dpi / 72.0
    line = 13.0 * point
    dots = {aqm: axes.transData.transform(cloud) for aqm, cloud in points.items()}
    taken = np.vstack([[x, y, 0.0, line / 4] for cloud in dots.values() for x, y in cloud])
    for aqm in sorted(points, key=lambda aqm: float(np.median(dots[aqm][:, 0]))):
        cloud = dots[aqm]
        half = len(aqm) * _HALF_LETTER * point
        ends = (float(cloud[:, 1].min()), float(cloud[:, 1].max()))
        middle = float(np.median(cloud[:, 0]))
        x, y = _free((middle, half, line), ends, axes, taken)
        taken = np.vstack([taken, [x, y, half, line / 2]])
        to_data = axes.transData.inverted().transform
        name_x, name_y = to_data((x, y))
        colour = colours[aqm]
        axes.text(name_x, name_y, aqm, ha="center", va="center", color=colour, fontweight="bold")
        end = ends[1] if y > ends[1] else ends[0]
        if abs(y - end) > _FAR * line or abs(x - middle) > half:
            edge = y - np.sign(y - end) * line / 2
            axes.plot(*to_data([(x, edge), (middle, end)]).T, color=colour, lw=0.6, zorder=1)


def _free(
    name: tuple[float, float, float], ends: tuple[float, float], axes: Axes, taken: Floats
) -> tuple[float, float]:
    """The nearest position, in pixels, at which a name overlaps nothing and is within the axes.

    Above or below its cloud if there is room, else also to its sides.

    Args:
        name: its middle over the cloud, half of its width, and the height of a line.
        ends: lower and upper end of the cloud.
        axes: where it is written.
        taken: occupied boxes as middle (x, y) and half (width, height), shape ``(n, 4)``.
    """
    middle, half, line = name
    low, high = axes.bbox.x0 + half, axes.bbox.x1 - half
    inside = axes.bbox.y0 + line / 2, axes.bbox.y1 - line / 2

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
