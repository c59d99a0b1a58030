"""Queue delay over time, one panel per AQM, with drops and marks as ticks."""

from __future__ import annotations

import math

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from sojourn.errors import NothingToPlot
from sojourn.plots import data, shapes, style
from sojourn.plots.data import Results, Run


@style.figure
def delay_time(results: Results, link: str) -> Figure:
    """Draw the delay of the first run of every AQM; all panels share their scales.

    The line is the mean delay of the packets that left within a sample interval. A tick at the
    lower edge is an interval with at least one drop, at the upper edge one with at least one mark.

    Args:
        results: per AQM one result per seed; the first is drawn.
        link: the link whose queue is shown.

    Raises:
        NothingToPlot: no run recorded the state of this queue.
    """
    delays = {aqm: data.series(rs[0], link, "delay_mean") for aqm, rs in results.items() if rs}
    delays = {aqm: d for aqm, d in delays.items() if np.isfinite(d[1]).any()}
    if not delays:
        raise NothingToPlot(f"the state of queue {link} was not recorded; set record.states = true")
    columns = 1 if len(delays) == 1 else 2
    rows = math.ceil(len(delays) / columns)
    drawing, panels = style.new(
        0.9 + 1.55 * rows, f"Queue delay over time at {link}", rows, columns
    )
    colours = style.colours(results)
    low_ms, high_ms = shapes.delay_limits(list(delays.values()))
    for axes, (aqm, (t_s, delay_s)) in zip(panels, delays.items(), strict=False):
        axes.plot(t_s, np.maximum(delay_s * 1e3, low_ms), color=colours[aqm], lw=0.9)
        _rugs(axes, results[aqm][0], link)
        axes.set_title(aqm, color=colours[aqm], pad=3)
        axes.set_xlim(0, t_s[-1])
        # A number at the right end would touch the first one of the next panel.
        axes.xaxis.set_major_locator(MaxNLocator(6, prune="upper"))
        axes.set_yscale("log")
        style.plain_log(axes.yaxis, low_ms, high_ms)
        axes.set_ylim(low_ms, high_ms)
    for axes in panels[len(delays) :]:
        axes.set_visible(False)
    for axes in panels[max(0, len(delays) - columns) : len(delays)]:
        axes.tick_params(labelbottom=True)
    size = rcParams["axes.labelsize"]
    drawing.supylabel("queue delay [ms]", fontsize=size)
    if _legend(drawing).endswith("upper right"):
        drawing.supxlabel("time [s]", fontsize=size)
    else:  # the legend is on the right, below the panels
        drawing.supxlabel("time [s]", x=0.13, ha="left", fontsize=size)
    style.lay_out_grid(drawing, panels, rows, columns)
    return drawing


def _rugs(axes: Axes, result: Run, link: str) -> None:
    """One path per edge, because thousands of single ticks would make a large file."""
    for var, colour, edge in (("drops", style.LOSS, (0.0, 0.05)), ("marks", style.MARK, (0.95, 1))):
        t_s, counts = data.series(result, link, var)
        ticks_s = np.repeat(t_s[counts > 0], 3)
        heights = np.tile([*edge, np.nan], len(ticks_s) // 3)
        to_edge = axes.get_xaxis_transform()
        axes.plot(ticks_s, heights, transform=to_edge, color=colour, lw=0.7, solid_capstyle="butt")


def _legend(drawing: Figure) -> str:
    """Write what the ticks mean; return the position."""
    place = style.legend_place()
    handles = [
        Line2D([], [], color=style.LOSS, marker="|", ls="", label="drops, below"),
        Line2D([], [], color=style.MARK, marker="|", ls="", label="marks, above"),
    ]
    size = rcParams["legend.fontsize"]
    drawing.legend(handles=handles, loc=place, ncols=2, fontsize=size, handletextpad=0)
    return place
