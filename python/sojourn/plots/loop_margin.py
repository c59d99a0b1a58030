"""Figures of open loops: Bode plots, margins over a parameter, a surface of margins over gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from sojourn.plots import style
from sojourn.plots.data import Floats


@dataclass(frozen=True)
class LoopCurve:
    """One loop over frequency.

    Attributes:
        label: name of the loop.
        frequency_rad_per_s: shape ``(n,)``.
        gain_db: same shape.
        phase_deg: unwrapped, same shape.
        crossover_rad_per_s: where the gain is 1; NaN if nowhere.
        phase_margin_deg: phase margin at that frequency.
        note: text in the legend after the margin.
    """

    label: str
    frequency_rad_per_s: Floats
    gain_db: Floats
    phase_deg: Floats
    crossover_rad_per_s: float
    phase_margin_deg: float
    note: str = ""


@style.figure
def bode(panels: Mapping[str, Sequence[LoopCurve]], title: str) -> Figure:
    """Draw gain above phase, a dot where the gain is 1; one column per panel."""
    drawing = Figure(figsize=(style.WIDTH_IN, 5.4), layout="constrained")
    drawing.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", color=style.INK)
    axes = drawing.subplots(2, len(panels), sharex=True, sharey="row", squeeze=False)
    for column, (name, curves) in enumerate(panels.items()):
        colours, dashes = style.curves(curve.label for curve in curves)
        for curve in curves:
            look = {"color": colours[curve.label], "ls": dashes[curve.label]}
            _curve(axes[0, column], axes[1, column], curve, look)
        for panel, level in ((axes[0, column], 0.0), (axes[1, column], -180.0)):
            panel.axhline(level, color=style.INK, lw=0.8, ls=(0, (4, 2)), zorder=1)
        axes[0, column].set_title(name)
        axes[1, column].set_xlabel("frequency [rad/s]")
        # Below the axes: the curves leave no corner that is free in every panel.
        axes[1, column].legend(fontsize=7.5, loc="upper left", bbox_to_anchor=(0, -0.22))
    axes[0, 0].set_ylabel("gain [dB]")
    axes[1, 0].set_ylabel("phase [°]")
    axes[1, 0].set_ylim(-380, -60)
    axes[1, 0].set_yticks(range(-360, -59, 60))
    return drawing


def _curve(above: Axes, below: Axes, curve: LoopCurve, look: Mapping[str, Any]) -> None:
    at, colour = curve.crossover_rad_per_s, look["color"]
    margin = f"{curve.label}: {curve.phase_margin_deg:.0f}°{curve.note}".replace("-", "−")
    above.semilogx(curve.frequency_rad_per_s, curve.gain_db, **look)
    below.semilogx(curve.frequency_rad_per_s, curve.phase_deg, label=margin, **look)
    above.plot(at, 0.0, "o", color=colour, ms=5)
    below.plot(at, curve.phase_margin_deg - 180.0, "o", color=colour, ms=5)


@style.figure
def lines(
    panels: Mapping[str, Mapping[str, tuple[Floats, Floats]]],
    title: str,
    x: str,
    y: str,
    *,
    floor: float | None = 0.0,
    limits: tuple[float, float] | None = None,
    log: str = "",
) -> Figure:
    """Draw values over a parameter, one line per name, one panel per reading.

    Args:
        panels: per title, per name x and y values of shape ``(n,)``.
        title: title of the figure.
        x: label with unit.
        y: label with unit.
        floor: a level to mark, such as a margin of zero.
        limits: limits of the y axis.
        log: which axes are logarithmic: any of ``x`` and ``y``.
    """
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    drawing, axes = style.new(1.0 + 2.2 * rows, title, rows, columns)
    for panel, (name, curves) in zip(axes, panels.items(), strict=False):
        colours, dashes = style.curves(curves)
        for label, (xs, ys) in curves.items():
            panel.plot(xs, ys, color=colours[label], ls=dashes[label], label=label)
        if floor is not None:
            panel.axhline(floor, color=style.INK, lw=0.8, ls=(0, (4, 2)), zorder=1)
        panel.set_title(name)
    every = np.concatenate([xs for curves in panels.values() for xs, _ in curves.values()])
    for axis in log:
        getattr(axes[0], f"set_{axis}scale")("log")
    if "x" in log:
        style.plain_log(axes[0].xaxis, every.min(), every.max())
    if "y" in log:
        tall = np.concatenate([ys for curves in panels.values() for _, ys in curves.values()])
        style.plain_log(axes[0].yaxis, np.nanmin(tall), np.nanmax(tall))
    axes[0].set_xlim(every.min(), every.max())
    if limits:
        axes[0].set_ylim(*limits)
    for panel in axes[len(panels) :]:
        panel.set_visible(False)
    for panel in axes[max(0, len(panels) - columns) : len(panels)]:
        panel.set_xlabel(x)
        panel.tick_params(labelbottom=True)
    drawing.supylabel(y, fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)))
    return drawing


@style.figure
def surface(
    panels: Mapping[str, Floats],
    x: Floats,
    y: Floats,
    title: str,
    labels: tuple[str, str, str],
    marked: tuple[float, float],
    at_mark: Mapping[str, float],
) -> Figure:
    """Draw phase margins over two gains as filled contours, the line of zero in black.

    Args:
        panels: per reading, degrees of shape ``(len(x), len(y))``.
        x: positive, increasing.
        y: positive, increasing.
        title: title of the figure.
        labels: labels of x, y and colour, with units.
        marked: a pair to mark.
        at_mark: the phase margin there, per reading.
    """
    rows = -(-len(panels) // 2)
    drawing, axes = style.new(1.0 + 2.4 * rows, title, rows, min(2, len(panels)))
    levels = np.arange(-180.0, 91.0, 15.0)
    shade = None
    for panel, (name, margin) in zip(axes, panels.items(), strict=False):
        shade = panel.contourf(
            x, y, margin.T, levels, cmap="RdBu", vmin=-90.0, vmax=90.0, extend="both"
        )
        panel.contour(x, y, margin.T, [0.0], colors=style.INK, linewidths=1.2)
        panel.plot(*marked, "o", color=style.INK, ms=5)
        note = f"{at_mark[name]:.0f}°".replace("-", "−")
        panel.annotate(note, marked, (6, -3), textcoords="offset points", fontweight="bold")
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(name)
    for axis in (axes[0].xaxis, axes[0].yaxis):
        axis.set_major_locator(LogLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    drawing.supxlabel(labels[0], fontsize=9)
    drawing.supylabel(labels[1], fontsize=9)
    assert shade is not None, "there is at least one panel"
    drawing.colorbar(shade, ax=axes, label=labels[2], ticks=range(-180, 91, 45))
    return drawing
