"""Smoothed round trip over time, one panel per AQM, one line per flow."""

from __future__ import annotations

from matplotlib.figure import Figure

from sojourn.plots import flow_series, style
from sojourn.plots.data import Results


@style.figure
def rtt_time(results: Results, link: str) -> Figure:
    """Draw the smoothed round trip of flows over time, in the first run of every AQM.

    Args:
        results: per AQM one result per seed; the first is drawn.
        link: not used: flows may pass several links.

    Raises:
        NothingToPlot: no run recorded its flows.
    """
    return flow_series.drawn(results, "rtt_time")
