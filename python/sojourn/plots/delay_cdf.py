"""Cumulative distribution of the queue delay."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.errors import NothingToPlot
from sojourn.plots import data, style
from sojourn.plots.data import Floats, Results

# Curves with markers have one at every 75th point.
_MARKED = 75


@style.figure
def delay_cdf(results: Results, link: str) -> Figure:
    """Draw one line per AQM, packets of all seeds pooled; a band spans the seeds.

    Args:
        results: per AQM one result per seed.
        link: the link whose queue is shown.

    Raises:
        NothingToPlot: no run has delays of this queue.
    """
    pooled = {a: data.distribution(rs, "queue", link, "delay") for a, rs in results.items()}
    pooled = {aqm: found for aqm, found in pooled.items() if found}
    if not pooled:
        raise NothingToPlot(f"no packet left queue {link}")
    drawing, (axes,) = style.new(3.9, f"Queue delay at {link}")
    x_s = data.delay_grid(list(pooled.values()))
    colours, dashes = style.colours(results), style.dashes(results)
    markers = style.markers_of_curves(results)
    for aqm, found in pooled.items():
        each = [data.distribution([r], "queue", link, "delay") for r in results[aqm]]
        shares = np.array([one.share_below(x_s) for one in each if one])
        colour = colours[aqm]
        axes.fill_between(x_s * 1e3, shares.min(0), shares.max(0), color=colour, alpha=0.18, lw=0)
        axes.plot(
            x_s * 1e3, found.share_below(x_s), color=colour, linestyle=dashes[aqm], label=aqm,
            marker=markers[aqm], ms=4, markevery=_MARKED,
        )  # fmt: skip
    _label(axes, x_s)
    style.legend(drawing, list(pooled))
    return drawing


def _label(axes: Axes, x_s: Floats) -> None:
    axes.set_xscale("log")
    style.plain_log(axes.xaxis, x_s[0], x_s[-1])
    axes.set_xlim(x_s[0] * 1e3, x_s[-1] * 1e3)
    axes.set_ylim(0, 1.01)
    axes.set_xlabel("queue delay [ms]")
    axes.set_ylabel("fraction of packets at or below")
