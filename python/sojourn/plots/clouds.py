"""Common parts of the planes: a cloud per AQM, with a dot per seed, over queue delay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.plots import shapes, style
from sojourn.plots.data import Floats, Results
from sojourn.plots.naming import Area, Segment, placed

_HALF_LETTER = 3.2  # line height in points of 9-point bold type

Clouds = Mapping[str, Floats]
"""Per AQM milliseconds of delay and another value, shape ``(n_seeds, 2)``."""


def begin(clouds: Clouds, results: Results, title: str) -> tuple[Figure, Axes, dict[str, str]]:
    """A figure with the dots, its axes, and the colours of all AQMs.

    Args:
        clouds: one or more points of each AQM.
        results: all AQMs, which determine the colours.
        title: title of the figure.
    """
    drawing, (axes,) = style.new(3.9, title)
    colours = style.colours(results)
    every = np.vstack(list(clouds.values()))
    axes.set_xscale("log")
    markers = style.markers(results)
    for aqm, cloud in clouds.items():
        size, alpha = (3.0, 0.55) if shapes.is_spread(cloud) else (5.0, 1.0)
        axes.plot(*cloud.T, markers[aqm], color=colours[aqm], ms=size, alpha=alpha, mew=0)
    _limit(axes, every)
    return drawing, axes, colours


def finish(
    drawing: Figure, axes: Axes, clouds: Clouds, colours: Mapping[str, str],
    lines: Sequence[Segment] = (),
) -> None:  # fmt: skip
    """Compute the final layout, and name the clouds where there is room.

    Args:
        drawing: the figure.
        axes: its axes.
        clouds: what is named.
        colours: of all AQMs.
        lines: lines, in data coordinates, that names should not cross.
    """
    style.lay_out(drawing)
    _name(axes, clouds, colours, lines)


def _limit(axes: Axes, every: Floats) -> None:
    """Margins around all points; the axis of delay is inverted."""
    (low, high), ends = shapes.cloud_limits(every)
    axes.set_xlim(high, low)
    style.plain_log(axes.xaxis, low, high)
    axes.set_ylim(*ends)


def _name(axes: Axes, points: Clouds, colours: Mapping[str, str], lines: Sequence[Segment]) -> None:
    """Write every AQM next to its points."""
    point = axes.figure.dpi / 72.0
    dots = {aqm: axes.transData.transform(cloud) for aqm, cloud in points.items()}
    halves = {aqm: len(aqm) * _HALF_LETTER * point for aqm in points}
    area = Area(axes.bbox.x0, axes.bbox.y0, axes.bbox.x1, axes.bbox.y1)
    to_data = axes.transData.inverted().transform
    shown = np.reshape(lines, (-1, 2))
    drawn = [tuple(one) for one in axes.transData.transform(shown).reshape(-1, 4)]
    for each in placed(dots, halves, 13.0 * point, area, drawn):
        x, y = to_data(each.at)
        colour = colours[each.name]
        axes.text(x, y, each.name, ha="center", va="center", color=colour, fontweight="bold")
        if each.leader is not None:
            axes.plot(*to_data(each.leader).T, color=colour, lw=0.6, zorder=1)
