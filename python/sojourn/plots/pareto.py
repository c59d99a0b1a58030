"""The plane of queue delay p95 and utilisation: up and to the right is better.

The line joins the Pareto front of the means: AQMs that no other beats in both. Whether one
dominates another beyond the noise of the seeds is in `sojourn.comparing.dominance`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.comparing.dominance import PAIR
from sojourn.comparing.statistics import estimate, share_estimate
from sojourn.describing.formatting import axis_label
from sojourn.describing.metrics import row_of
from sojourn.errors import NothingToPlot
from sojourn.plots import clouds, data, style
from sojourn.plots.excerpt import Floats, Results


@style.figure
def pareto(results: Results, link: str) -> Figure:
    """Draw queue delay p95 against utilisation: a dot per seed, means with their intervals.

    Args:
        results: per AQM one result per seed.
        link: whose queue.

    Raises:
        NothingToPlot: no run has both a queue delay and a utilisation.
    """
    found = data.delay_and_utilisation(results, link)
    if not found:
        raise NothingToPlot(f"no run has both a delay of queue {link} and a utilisation")
    title = f"Delay and utilisation of {link}, judged together"
    drawing, axes, colours = clouds.begin(found, results, title)
    markers = style.markers(results)
    for aqm, cloud in found.items():
        _cross(axes, cloud, colours[aqm], markers[aqm])
    _front(axes, {aqm: cloud.mean(0) for aqm, cloud in found.items()})
    bottom, top = axes.get_ylim()
    axes.set_yticks([tick for tick in axes.get_yticks() if bottom <= tick <= min(top, 100.0)])
    delay, share = (axis_label(row_of(name)) for name in PAIR)
    axes.set_xlabel(f"{delay}  (to the left: longer)")
    axes.set_ylabel(share)
    clouds.finish(drawing, axes, found, colours)
    return drawing


def _cross(axes: Axes, cloud: Floats, colour: str, marker: str) -> None:
    """The mean with its 95 % intervals; on a logarithmic axis one may reach zero."""
    delay, share = estimate(cloud[:, 0].tolist()), share_estimate((cloud[:, 1] / 100).tolist())
    reach = min(delay.half_width, delay.mean - data.FLOOR_MS)
    ends = [[100 * (share.mean - share.low)], [100 * (share.high - share.mean)]]
    axes.errorbar(
        [delay.mean], [100 * share.mean],
        xerr=None if len(cloud) < 2 else [[reach], [delay.half_width]],
        yerr=None if len(cloud) < 2 else ends,
        fmt=marker, ms=6, color=colour, elinewidth=1.4, zorder=3,
    )  # fmt: skip


def _front(axes: Axes, means: Mapping[str, Floats]) -> None:
    """A line through the means that no other beats in both, shortest delay first."""
    front: list[Floats] = []
    for point in sorted(means.values(), key=lambda mean: (mean[0], -mean[1])):
        if not front or point[1] > front[-1][1]:
            front.append(point)
    if len(front) > 1:
        axes.plot(*np.array(front).T, color=style.MUTED, lw=0.9, ls=(0, (4, 2)), zorder=1)
