"""Crosses with a box: two quantities of a run at once, each with five quantiles.

As in Kuhn and Ros 2016, Fig. 6: lines from 5 to 95 % that cross at the medians, a box from 25 to 75
%.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from sojourn.plots import style
from sojourn.plots.boxes import Five


@dataclass(frozen=True)
class CrossPanel:
    """One pair of axes: the quantiles along the horizontal and the vertical axis, by name."""

    title: str
    crosses: Mapping[str, tuple[Five, Five]]
    x_label: str
    y_label: str
    x_lim: tuple[float | None, float | None] | None = None
    y_lim: tuple[float | None, float | None] | None = None


@style.figure
def cross(
    title: str,
    panels: Sequence[CrossPanel],
    colours: Mapping[str, str],
    columns: int = 3,
    height_in: float = 2.9,
) -> Figure:
    """Draw panels row by row with one legend for all.

    Args:
        title: title of the figure.
        panels: the panels, at least one.
        colours: keyed by name of a cross.
        columns: panels in a row.
        height_in: height of a row in inches.
    """
    drawing, grid = style.panels(title, len(panels), columns, height_in)
    for axes, panel in zip(grid, panels, strict=True):
        _draw(axes, panel, colours)
    style.shared(drawing, grid)
    return drawing


def _draw(axes: Axes, panel: CrossPanel, colours: Mapping[str, str]) -> None:
    axes.set_title(panel.title)
    for name, (x, y) in panel.crosses.items():
        colour = colours[name]
        axes.plot([x[0], x[4]], [y[2], y[2]], color=colour, lw=1.4, label=name)
        axes.plot([x[2], x[2]], [y[0], y[4]], color=colour, lw=1.4)
        axes.add_patch(
            Rectangle(
                (x[1], y[1]), x[3] - x[1], y[3] - y[1], facecolor=colour, alpha=0.3,
                edgecolor=colour,
            )
        )  # fmt: skip
        axes.plot([x[2]], [y[2]], "o", color=colour, ms=3)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.x_lim:
        axes.set_xlim(*panel.x_lim)
    if panel.y_lim:
        axes.set_ylim(*panel.y_lim)
