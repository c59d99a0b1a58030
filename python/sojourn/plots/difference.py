"""Queue delay over time of two AQMs on the same arrivals, the first difference marked."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from sojourn.comparing.diff import Difference
from sojourn.plots import style
from sojourn.plots.data import Floats
from sojourn.running.result import Result

_BINS = 600


@style.figure
def difference(found: Difference) -> Figure:
    """Draw both delays, as means over 1/600 of the time between first and last packet.

    Args:
        found: a result of `sojourn.diff`.
    """
    drawing, panels = style.new(
        2.6, f"{found.link}: {found.aqms[0]} and {found.aqms[1]} on the same arrivals", 1, 1
    )
    axes = panels[0]
    colours = style.colours(["first", "second"])
    styles = (("first", "-"), ("second", "--"))
    for aqm, result, (key, line) in zip(found.aqms, found.results, styles, strict=True):
        t_s, delay_s = _delays(result)
        axes.plot(t_s, delay_s * 1e3, line, color=colours[key], lw=0.9, label=aqm)
    if found.first is not None:
        axes.axvline(found.first["t_ns"] / 1e9, color="black", lw=0.8, ls=":",
                     label="first difference")  # fmt: skip
    axes.set_xlabel("time [s]")
    axes.set_ylabel("queue delay [ms]")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper right", fontsize=7)
    return drawing


def _delays(result: Result) -> tuple[Floats, Floats]:
    """Mean sojourn time in seconds of the packets that left within each bin, with its middle."""
    table = result.columns("packets")
    sent = np.asarray(table["fate"]) == "sent"
    arrived = np.array(table["arrived_ns"], float)[sent] * 1e-9
    left = np.array(table["left_ns"], float)[sent] * 1e-9
    if not len(left):
        return np.empty(0), np.empty(0)
    edges = np.linspace(left.min(), max(left.max(), left.min() + 1e-9), _BINS + 1)
    place = np.clip(np.searchsorted(edges, left, side="right") - 1, 0, _BINS - 1)
    packets = np.bincount(place, minlength=_BINS)
    waited = np.bincount(place, weights=left - arrived, minlength=_BINS)
    with np.errstate(invalid="ignore"):
        return (edges[:-1] + edges[1:]) / 2, waited / packets
