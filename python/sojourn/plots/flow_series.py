"""A quantity of flows over time: one panel per AQM, one line per flow."""

from __future__ import annotations

import math

from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sojourn.errors import NothingToPlot
from sojourn.plots import flow_lines, style
from sojourn.plots.excerpt import Results


def drawn(results: Results, kind: str) -> Figure:
    """Draw a quantity of the flows of the first run of every AQM; all panels share their scales.

    Args:
        results: per AQM one result per seed; the first is drawn.
        kind: a key of `flow_lines.QUANTITIES`.

    Raises:
        NothingToPlot: no run recorded its flows.
    """
    found = flow_lines.lines(results, kind)
    if not found:
        raise NothingToPlot("the flows were not recorded; set record.flows = true")
    columns = 1 if len(found) == 1 else 2
    rows = math.ceil(len(found) / columns)
    title = flow_lines.title(results, kind)
    drawing, panels = style.new(0.9 + 1.55 * rows, title, rows, columns)
    colours = style.colours(results)
    for axes, (aqm, of_flows) in zip(panels, found.items(), strict=False):
        for t_s, values in of_flows:
            axes.plot(t_s, values, color=colours[aqm], lw=0.8, alpha=0.6)
        axes.set_title(aqm, color=colours[aqm], pad=3)
        axes.set_xlim(0, max(t_s[-1] for t_s, _ in of_flows))
        # A number at the right end would touch the first one of the next panel.
        axes.xaxis.set_major_locator(MaxNLocator(6, prune="upper"))
    for axes in panels[: len(found)]:
        axes.set_ylim(0, flow_lines.highest(found))
    for axes in panels[len(found) :]:
        axes.set_visible(False)
    for axes in panels[max(0, len(found) - columns) : len(found)]:
        axes.tick_params(labelbottom=True)
    size = rcParams["axes.labelsize"]
    drawing.supylabel(flow_lines.QUANTITIES[kind].label, fontsize=size)
    drawing.supxlabel("time [s]", fontsize=size)
    style.lay_out_grid(drawing, panels, rows, columns)
    return drawing
