"""Curves in one or several panels: time series with loss marks, distributions, sweeps, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from sojourn.plots import style
from sojourn.plots.data import Distribution, thinned


@dataclass(frozen=True)
class Curve:
    """A line.

    Attributes:
        label: text in the legend; empty for none. Equal labels share an entry.
        x: values along the horizontal axis.
        y: the same number of values.
        colour: a colour of `style`.
        dash: a line style of matplotlib.
        marker: a marker of matplotlib; empty for none.
        steps: whether it keeps its value until the next point.
        width: width of the line in points.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    colour: str
    dash: object = "solid"
    marker: str = ""
    steps: bool = False
    width: float = 1.3

    @classmethod
    def of_intervals(cls, label: str, ends: ArrayLike, values: ArrayLike, colour: str) -> Curve:
        """A line of values that hold for intervals, the first of which begins at 0.

        Args:
            label: text in the legend.
            ends: the end of each interval.
            values: the same number of values.
            colour: a colour of `style`.
        """
        x, y = np.asarray(ends), np.asarray(values)
        return cls(label, np.append(0.0, x), np.append(y, y[-1:]), colour, steps=True)


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        title: the text above the axes.
        curves: drawn in order.
        x_label: label with the unit.
        y_label: label with the unit.
        x_lim: ends of the horizontal axis; from the data if None.
        y_lim: the same for the vertical axis.
        log_x: whether the horizontal axis is logarithmic.
        log_y: whether the vertical axis is logarithmic.
        levels: horizontal reference lines: value and label.
        losses: times at which thin vertical lines mark a loss.
        diagonal: whether to draw y = x.
    """

    title: str
    curves: Sequence[Curve]
    x_label: str
    y_label: str
    x_lim: tuple[float | None, float | None] | None = None
    y_lim: tuple[float | None, float | None] | None = None
    log_x: bool = False
    log_y: bool = False
    levels: Sequence[tuple[float, str]] = field(default=())
    losses: Sequence[float] | None = None
    diagonal: bool = False


@style.figure
def curves(title: str, panels: Sequence[Panel], columns: int = 2, height_in: float = 2.5) -> Figure:
    """Draw panels row by row with one legend for all.

    Args:
        title: title of the figure.
        panels: the panels, at least one.
        columns: panels in a row.
        height_in: height of a row in inches.
    """
    drawing, grid = style.panels(title, len(panels), columns, height_in)
    dashes = _dashes(panels)
    for axes, panel in zip(grid, panels, strict=True):
        _draw(axes, panel, dashes)
    style.shared(drawing, grid)
    return drawing


def _dashes(panels: Sequence[Panel]) -> dict[str, object]:
    """Line styles by label, if curves otherwise differ by colours alone."""
    drawn = [curve for panel in panels for curve in panel.curves]
    if any(curve.dash != "solid" or curve.marker for curve in drawn):
        return {}
    if all(len({curve.label for curve in panel.curves}) < 2 for panel in panels):
        return {}
    return style.dashes(dict.fromkeys(curve.label for curve in drawn))


def distribution_curve(
    label: str,
    found: Distribution,
    colour: str,
    dash: object = "solid",
    *,
    complement: bool = False,
) -> Curve:
    """The CDF of a distribution in ms, or its complement."""
    top = found.quantile_s(1.0)
    x_s = np.concatenate([np.linspace(0.0, top, 700), found.upper_s[-20:]])
    x_s = np.unique(x_s)
    share = found.share_below(x_s)
    y = 1.0 - share if complement else share
    return Curve(label, x_s * 1e3, np.where(y > 0, y, np.nan), colour, dash)


def _draw(axes: Axes, panel: Panel, dashes: Mapping[str, object]) -> None:
    axes.set_title(panel.title)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    if panel.losses is not None and len(panel.losses):
        axes.vlines(
            panel.losses, 0, 1, transform=axes.get_xaxis_transform(), color=style.LOSS,
            lw=0.5, alpha=0.55, zorder=1,
        )  # fmt: skip
    for curve in panel.curves:
        x, y = thinned(np.asarray(curve.x, float), np.asarray(curve.y, float))
        axes.plot(
            x, y, color=curve.colour, linestyle=dashes.get(curve.label, curve.dash),
            lw=curve.width, label=curve.label or None, marker=curve.marker, ms=3.5,
            drawstyle="steps-post" if curve.steps else "default",
        )  # fmt: skip
    for level, label in panel.levels:
        axes.axhline(level, color=style.MUTED, lw=0.9, linestyle=(0, (4, 2)), label=label or None)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.x_lim:
        axes.set_xlim(*panel.x_lim)
    if panel.y_lim:
        axes.set_ylim(*panel.y_lim)
    if panel.diagonal:
        ends = np.array(axes.get_xlim())
        axes.plot(ends, ends, color=style.MUTED, lw=0.9, linestyle=(0, (4, 2)))
