"""A quantity of flows over time: one panel per AQM, one line per flow."""

from __future__ import annotations

import math

import numpy as np
from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sojourn.errors import NothingToPlot
from sojourn.plots import style
from sojourn.plots.excerpt import FlowSeries, Results, flows

_MOST_FLOWS = 10
"""More lines than this hide each other."""
_GOODPUT_BINS = 100
"""Goodput in bins of a sample shows single packets and repaired losses."""


def drawn(results: Results, quantity: str, title: str, label: str, scale: float) -> Figure:
    """Draw a quantity of the flows of the first run of every AQM; all panels share their scales.

    Args:
        results: per AQM one result per seed; the first is drawn.
        quantity: ``cwnd_bytes``, ``srtt_ns`` or ``goodput_bps``.
        title: what is shown.
        label: the quantity with its unit.
        scale: factor to that unit.

    Raises:
        NothingToPlot: no run recorded its flows.
    """
    found = {aqm: flows(rs[0]) for aqm, rs in results.items() if rs}
    found = {aqm: known for aqm, known in found.items() if known}
    if not found:
        raise NothingToPlot("the flows were not recorded; set record.flows = true")
    columns = 1 if len(found) == 1 else 2
    rows = math.ceil(len(found) / columns)
    count = max(map(len, found.values()))
    more = f", the first {_MOST_FLOWS} of {count} flows" if count > _MOST_FLOWS else ""
    drawing, panels = style.new(0.9 + 1.55 * rows, title + more, rows, columns)
    colours = style.colours(results)
    most = 0.0
    for axes, (aqm, of_flows) in zip(panels, found.items(), strict=False):
        shown = list(of_flows.values())[:_MOST_FLOWS]
        for series in shown:
            t_s, values = _line(series, quantity)
            axes.plot(t_s, scale * values, color=colours[aqm], lw=0.8, alpha=0.6)
            most = max(most, scale * float(np.nanmax(values, initial=0.0)))
        axes.set_title(aqm, color=colours[aqm], pad=3)
        axes.set_xlim(0, max(series["t_s"][-1] for series in shown))
        # A number at the right end would touch the first one of the next panel.
        axes.xaxis.set_major_locator(MaxNLocator(6, prune="upper"))
    for axes in panels[: len(found)]:
        axes.set_ylim(0, 1.05 * most or 1.0)
    for axes in panels[len(found) :]:
        axes.set_visible(False)
    for axes in panels[max(0, len(found) - columns) : len(found)]:
        axes.tick_params(labelbottom=True)
    size = rcParams["axes.labelsize"]
    drawing.supylabel(label, fontsize=size)
    drawing.supxlabel("time [s]", fontsize=size)
    style.lay_out_grid(drawing, panels, rows, columns)
    return drawing


def _line(series: FlowSeries, quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """Seconds and values; goodput is the mean of each hundredth of the run."""
    t_s = series["t_s"]
    if quantity == "goodput_bps":
        edges = np.linspace(0.0, t_s[-1], _GOODPUT_BINS + 1)
        delivered = np.interp(edges, np.append(0.0, t_s), np.append(0.0, series["delivered"]))
        return edges[1:], 8 * np.diff(delivered) / np.diff(edges)
    # Both are zero until the first round trip.
    values = series[quantity]
    return t_s, np.where(values > 0, values, np.nan)
