"""Proportions of causes against the delay at which they occurred, as bars of percentiles.

As in Kuhn and Ros 2016, Fig. 4: a mark at the median of the delay, a bar from 5 to 95 %.
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
        label: text in the legend.
        proportion: 0 to 1, the vertical position.
        delay_ms: 5th, 50th and 95th percentile, the horizontal extent.
        colour: a colour of `style`.
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
        title: title of the figure.
        marks: shares in the order of the legend.
    """
    drawing, (axes,) = style.panels(title, 1, 1, 3.4)
    for mark, place in zip(marks, spread([mark.proportion for mark in marks]), strict=True):
        low, middle, high = mark.delay_ms
        axes.errorbar(
            [middle], [place], xerr=[[middle - low], [high - middle]], fmt=mark.marker,
            color=mark.colour, capsize=4, ms=6, lw=1.4, label=mark.label,
        )  # fmt: skip
    axes.set_ylim(-0.04, 1.06)
    axes.set_xlim(left=0)
    axes.set_xlabel("queuing delay at the drop [ms]: 5th, 50th, 95th percentile")
    axes.set_ylabel("proportion of all drops")
    style.shared_legend(drawing, [axes])
    return drawing


def spread(places: Sequence[float], gap: float = 0.03) -> list[float]:
    """Positions at least `gap` from each other; closer ones are spread around their mean."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[list[int]] = []
    for i in order:
        groups.append([i])
        while len(groups) > 1 and _overlap(groups[-2], groups[-1], places, gap):
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = list(places)
    for group in groups:
        for rank, i in enumerate(group):
            moved[i] = _low(group, places, gap) + rank * gap
    return moved


def _low(group: Sequence[int], places: Sequence[float], gap: float) -> float:
    """The lowest position of a group that is spread around its mean."""
    middle = sum(places[i] for i in group) / len(group)
    return middle - (len(group) - 1) * gap / 2


def _overlap(
    lower: Sequence[int], upper: Sequence[int], places: Sequence[float], gap: float
) -> bool:
    top = _low(lower, places, gap) + (len(lower) - 1) * gap
    return _low(upper, places, gap) - top < gap
