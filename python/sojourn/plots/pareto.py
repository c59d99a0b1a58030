"""The plane of queue delay p95 and utilisation: up and to the right is better.

The line joins the Pareto front of the means: AQMs that no other beats in both. Whether one
dominates another beyond the noise of the seeds is in `sojourn.comparing.dominance`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.comparing.dominance import PAIR
from sojourn.describing.formatting import axis_label
from sojourn.describing.metrics import row_of
from sojourn.errors import NothingToPlot
from sojourn.plots import clouds, data, shapes, style
from sojourn.plots.excerpt import Floats, Results
from sojourn.plots.naming import Segment


@style.figure
def pareto(results: Results, link: str) -> Figure:
    """Draw queue delay p95 against utilisation: a dot per seed, means with their intervals.

    Args:
        results: per AQM one result per seed.
        link: the link of the queue.

    Raises:
        NothingToPlot: no run has both a queue delay and a utilisation.
    """
    found = data.delay_and_utilisation(results, link)
    if not found:
        raise NothingToPlot(f"no run has both a delay of queue {link} and a utilisation")
    title = f"Delay and utilisation of {link}, judged together"
    drawing, axes, colours = clouds.begin(found, results, title)
    markers = style.markers(results)
    lines: list[Segment] = []
    for aqm, cloud in found.items():
        lines += _cross(axes, cloud, colours[aqm], markers[aqm])
    lines += _front(axes, {aqm: cloud.mean(0) for aqm, cloud in found.items()})
    bottom, top = axes.get_ylim()
    axes.set_yticks([tick for tick in axes.get_yticks() if bottom <= tick <= min(top, 100.0)])
    delay, share = (axis_label(row_of(name)) for name in PAIR)
    axes.set_xlabel(f"{delay}  (to the left: longer)")
    axes.set_ylabel(share)
    clouds.finish(drawing, axes, found, colours, lines)
    return drawing


def _cross(axes: Axes, cloud: Floats, colour: str, marker: str) -> list[Segment]:
    """The mean and its intervals; returns the lines."""
    found = shapes.cross(cloud)
    (x, y), has_ends = found.mean, len(cloud) > 1
    axes.errorbar(
        [x], [y],
        xerr=[[x - found.x[0]], [found.x[1] - x]] if has_ends else None,
        yerr=[[y - found.y[0]], [found.y[1] - y]] if has_ends else None,
        fmt=marker, ms=6, color=colour, elinewidth=1.4, zorder=3,
    )  # fmt: skip
    return [(found.x[0], y, found.x[1], y), (x, found.y[0], x, found.y[1])]


def _front(axes: Axes, means: Mapping[str, Floats]) -> list[Segment]:
    """A line through the means that no other beats in both; returns its segments."""
    front = shapes.front(means.values())
    if len(front) > 1:
        axes.plot(*np.array(front).T, color=style.MUTED, lw=0.9, ls=(0, (4, 2)), zorder=1)
    return [(*one.tolist(), *other.tolist()) for one, other in itertools.pairwise(front)]
