"""Quantities of flows over time, for figures in files and in reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.plots.excerpt import Floats, FlowSeries, Results, flows

MOST_FLOWS = 10
"""More lines than this hide each other."""
_GOODPUT_BINS = 100
"""Goodput in bins of a sample shows single packets and repaired losses."""

Line = tuple[Floats, Floats]
"""Seconds and values, each of shape ``(n_samples,)``; NaN before the first value."""


@dataclass(frozen=True)
class FlowQuantity:
    """A quantity of table ``flows``.

    Attributes:
        column: its column; goodput is computed from ``delivered``.
        title: what a figure shows.
        label: its name with its unit.
        scale: factor to that unit.
    """

    column: str
    title: str
    label: str
    scale: float


QUANTITIES = {
    "window_time": FlowQuantity(
        "cwnd_bytes", "Congestion window over time", "congestion window [kB]", 1e-3
    ),
    "rtt_time": FlowQuantity(
        "srtt_ns", "Smoothed round trip over time", "smoothed round trip [ms]", 1e-6
    ),
    "goodput_time": FlowQuantity("goodput_bps", "Goodput over time", "goodput [Mbit/s]", 1e-6),
}
"""Keyed by kind of figure."""


def lines(results: Results, kind: str) -> dict[str, list[Line]]:
    """The first flows of the first run of every AQM that recorded its flows, in the figure's unit.

    Args:
        results: per AQM one result per seed.
        kind: a key of `QUANTITIES`.
    """
    quantity = QUANTITIES[kind]
    found = {aqm: list(flows(rs[0]).values())[:MOST_FLOWS] for aqm, rs in results.items() if rs}
    return {
        aqm: [_line(series, quantity) for series in of_flows]
        for aqm, of_flows in found.items() if of_flows
    }  # fmt: skip


def title(results: Results, kind: str) -> str:
    """The title of a figure, which says if flows are left out."""
    count = max((len(flows(rs[0])) for rs in results.values() if rs), default=0)
    more = f", the first {MOST_FLOWS} of {count} flows" if count > MOST_FLOWS else ""
    return QUANTITIES[kind].title + more


def highest(found: dict[str, list[Line]]) -> float:
    """The end of the vertical axis."""
    values = [values for of_flows in found.values() for _, values in of_flows]
    return 1.05 * max(float(np.nanmax(each, initial=0.0)) for each in values) or 1.0


def _line(series: FlowSeries, quantity: FlowQuantity) -> Line:
    """Goodput is the mean of each hundredth of the run."""
    t_s = series["t_s"]
    if quantity.column == "goodput_bps":
        edges = np.linspace(0.0, t_s[-1], _GOODPUT_BINS + 1)
        delivered = np.interp(edges, np.append(0.0, t_s), np.append(0.0, series["delivered"]))
        return edges[1:], quantity.scale * 8 * np.diff(delivered) / np.diff(edges)
    # Before the first round trip, zero means unknown.
    values = series[quantity.column]
    return t_s, np.where(values > 0, quantity.scale * values, np.nan)
