"""Boxes side by side in groups: whiskers at 5 and 95 % or 10 and 90 %, box 25 to 75 %, median."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.plots import style

# Lower whisker, lower end of the box, median, upper end of the box, upper whisker.
Five = tuple[float, float, float, float, float]


@dataclass(frozen=True)
class BoxPanel:
    """One pair of axes.

    Attributes:
        title: the text above the axes.
        groups: names along the horizontal axis, in order.
        boxes: per series, per group, five quantiles; a group without values may be left out.
        x_label: label of the groups.
        y_label: label with the unit.
        y_lim: ends of the vertical axis; from the data if None.
        log_y: whether the vertical axis is logarithmic.
        level: a horizontal reference line.
    """

    title: str
    groups: Sequence[str]
    boxes: Mapping[str, Mapping[str, Five]]
    x_label: str
    y_label: str
    y_lim: tuple[float | None, float | None] | None = None
    log_y: bool = False
    level: float | None = None


@style.figure
def boxes(
    title: str,
    panels: Sequence[BoxPanel],
    colours: Mapping[str, str],
    columns: int = 1,
    height_in: float = 2.6,
) -> Figure:
    """Draw panels row by row with one legend for all.

    Args:
        title: title of the figure.
        panels: the panels, at least one.
        colours: keyed by series.
        columns: panels in a row.
        height_in: height of a row in inches.
    """
    drawing, grid = style.panels(title, len(panels), columns, height_in)
    for axes, panel in zip(grid, panels, strict=True):
        _draw(axes, panel, colours)
    style.shared(drawing, grid)
    return drawing


def shift_of(place: int, count: int) -> float:
    """Offset of a series' box from the middle of its group of `count` series."""
    return (place - (count - 1) / 2) * 0.8 / count


def _draw(axes: Axes, panel: BoxPanel, colours: Mapping[str, str]) -> None:
    axes.set_title(panel.title)
    if panel.log_y:
        axes.set_yscale("log")
    width = 0.8 / max(len(panel.boxes), 1)
    for place, (name, by_group) in enumerate(panel.boxes.items()):
        shift = shift_of(place, len(panel.boxes))
        stats = [
            dict(zip(("whislo", "q1", "med", "q3", "whishi"), by_group[group], strict=True))
            for group in panel.groups
            if group in by_group
        ]
        where = [i + shift for i, group in enumerate(panel.groups) if group in by_group]
        line = {"color": colours[name], "lw": 1.1}
        axes.bxp(
            [each | {"fliers": []} for each in stats], positions=where, widths=0.8 * width,
            showfliers=False, patch_artist=True, manage_ticks=False,
            boxprops={"facecolor": colours[name], "alpha": 0.45, "edgecolor": colours[name]},
            medianprops=line | {"lw": 1.8}, whiskerprops=line, capprops=line,
        )  # fmt: skip
        axes.plot([], [], color=colours[name], lw=6, alpha=0.55, label=name)
    if panel.level is not None:
        axes.axhline(panel.level, color=style.MUTED, lw=0.9, linestyle=(0, (4, 2)))
    axes.set_xticks(range(len(panel.groups)), list(panel.groups))
    axes.set_xlim(-0.6, len(panel.groups) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.y_lim:
        axes.set_ylim(*panel.y_lim)
