"""Proportions of causes against the delay at which they occurred, as bars of percentiles.

The form of Kuhn and Ros 2016, Fig. 4: a mark at the median of the delay, a bar from 5 to 95 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from sojourn.plots import style


@dataclass(frozen=True)
class Share:
    """One mark.

    Attributes:
        label: in the legend.
        proportion: 0 to 1, the vertical place.
        delay_ms: 5th, 50th and 95th percentile, the horizontal extent.
        colour: of `style`.
        marker: a marker of matplotlib.
    """

    label: str
    proportion: float
    delay_ms: tuple[float, float, float]
    colour: str
    marker: str


@style.figure
def shares(title: str, marks: Sequence[Share]) -> Figure:
    """Draw all marks on one pair of axes.

    Args:
        title: of the figure.
        marks: in the order of the legend.
    """
    drawing, (axes,) = style.panels(title, 1, 1, 3.4)
    for mark in marks:
        low, middle, high = mark.delay_ms
        axes.errorbar(
            [middle], [mark.proportion], xerr=[[middle - low], [high - middle]], fmt=mark.marker,
            color=mark.colour, capsize=4, ms=6, lw=1.4, label=mark.label,
        )  # fmt: skip
    axes.set_ylim(-0.04, 1.06)
    axes.set_xlim(left=0)
    axes.set_xlabel("queuing delay at the drop [ms]: 5th, 50th, 95th percentile")
    axes.set_ylabel("proportion of all drops")
    style.shared_legend(drawing, [axes])
    return drawing
