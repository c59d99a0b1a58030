"""Predicted margins over RTT and flows as colour, observations of the simulator as dots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from sojourn.plots import style
from sojourn.plots.data import Floats

if TYPE_CHECKING:
    from sojourn.stability.study.grid import MarginGrid, Point

_COLOURS = "RdBu"
_LIMIT_DEG = 90.0
_DOTS = "cividis_r"
# Black in both themes of a page, as the map has the same colours in both.
_BORDER = "#000000"


@style.figure
def stability_map(of: MarginGrid, links: Sequence[str] = ()) -> Figure:
    """Draw phase margins as colour, one panel per rate, and observed variation as dots.

    Blue is stable, red is not, grey has no equilibrium; the black line is a margin of zero. Area
    and shade of a dot grow with the coefficient of variation of the queue delay.

    Args:
        of: the map.
        links: the link of each observed point's dot in SVG, if any.
    """
    panels = len(of.rate_bps)
    columns = min(2, panels)
    rows = -(-panels // columns)
    title = f"Phase margin of {of.predicted.aqm} ({of.predicted.cc}, {of.predicted.variant})"
    drawing, axes = style.new(1.0 + 2.7 * rows, title, rows, columns)
    norm = Normalize(0.0, max([1.0, *(_variation(point) for point in of.observed)]))
    shade: ScalarMappable | None = None
    dots: ScalarMappable | None = None
    for i, panel in enumerate(axes[:panels]):
        shade = _margins(panel, of, i)
        here = [
            (point, link)
            for point, link in zip(of.observed, links or [""] * len(of.observed), strict=True)
            if point.rate_bps == of.rate_bps[i]
        ]
        dots = _observed(panel, here, norm) or dots
        panel.set_title(f"{of.rate_bps[i] * 1e-6:g} Mbit/s")
        panel.set_facecolor("#d9d9d9")
        panel.grid(visible=False)
    _scales(axes[0], of)
    if len(of.rtt_s) == 1:
        drawing.set_figheight(2.6)
    for panel in axes[panels:]:
        panel.set_visible(False)
    drawing.supxlabel("flows", fontsize=9)
    drawing.supylabel("RTT [ms]", fontsize=9)
    assert shade is not None, "there is at least one panel"
    drawing.colorbar(shade, ax=axes, label="predicted phase margin [°]", extend="both")
    if dots is not None:
        drawing.colorbar(dots, ax=axes, label="observed coefficient of variation")
    return drawing


def _variation(point: Point) -> float:
    assert point.observation is not None, "observed points carry their observation"
    return point.observation.variation


def _margins(panel: Axes, of: MarginGrid, i: int) -> ScalarMappable:
    margin = of.predicted.phase_margin_deg[i]
    x, y = _edges(of.flows), _edges(of.rtt_s * 1e3)
    shade = panel.pcolormesh(
        x, y, margin, cmap=_COLOURS, vmin=-_LIMIT_DEG, vmax=_LIMIT_DEG, rasterized=True
    )
    panel.add_collection(LineCollection(_border(margin, x, y), colors=_BORDER, linewidths=1.0))
    return shade


def _border(margin: Floats, x: Floats, y: Floats) -> list[list[tuple[float, float]]]:
    """The edges between cells with and without margin, which step scaling makes ragged."""
    known, stable = np.isfinite(margin), margin > 0.0
    adjacent = known[:, 1:] & known[:, :-1] & (stable[:, 1:] != stable[:, :-1])
    above = known[1:] & known[:-1] & (stable[1:] != stable[:-1])
    upright = [[(x[j + 1], y[i]), (x[j + 1], y[i + 1])] for i, j in np.argwhere(adjacent)]
    level = [[(x[j], y[i + 1]), (x[j + 1], y[i + 1])] for i, j in np.argwhere(above)]
    return upright + level


def _edges(values: Floats) -> Floats:
    """Edges of cells around values in logarithmic steps; a lone value gets a third each way."""
    if len(values) == 1:
        return np.asarray([values[0] / 1.33, values[0] * 1.33])
    logs = np.log(values)
    middles = (logs[1:] + logs[:-1]) / 2.0
    edges: Floats = np.exp([2 * logs[0] - middles[0], *middles, 2 * logs[-1] - middles[-1]])
    return edges


def _observed(
    panel: Axes, points: list[tuple[Point, str]], norm: Normalize
) -> ScalarMappable | None:
    if not points:
        return None
    seen = [_variation(point) for point, _ in points]
    dots = panel.scatter(
        [point.flows for point, _ in points],
        [point.rtt_s * 1e3 for point, _ in points],
        s=[25.0 + 140.0 * value for value in seen],
        c=seen, cmap=_DOTS, norm=norm, edgecolors=style.PAPER, linewidths=1.2, zorder=3,
        clip_on=False,
    )  # fmt: skip
    dots.set_urls([link or None for _, link in points])
    return dots


def _scales(panel: Axes, of: MarginGrid) -> None:
    for name, axis, values in (("x", panel.xaxis, of.flows), ("y", panel.yaxis, of.rtt_s * 1e3)):
        edges = _edges(values)
        getattr(panel, f"set_{name}scale")("log")
        getattr(panel, f"set_{name}lim")(edges[0], edges[-1])
        style.plain_log(axis, edges[0], edges[-1])
        if len(values) == 1:
            axis.set_ticks(values, [f"{values[0]:g}"])


@style.figure
def point_series(point: Point) -> Figure:
    """Draw the queue delay of an observed point over time, and the predicted equilibrium."""
    seen = point.observation
    assert seen is not None, "only an observed point has a series"
    drawing, (panel,) = style.new(3.0, f"{point.aqm}: {point}")
    panel.plot(seen.t_s, seen.delay_s * 1e3, color=style.PALETTE[1], lw=0.8)
    panel.axhline(point.delay_s * 1e3, color=style.INK, lw=0.9, ls=(0, (4, 2)))
    panel.axvspan(0.0, seen.from_s, color=style.GRID, alpha=0.6, lw=0)
    panel.set_xlim(0.0, seen.t_s[-1])
    measured_ms = seen.delay_s[seen.t_s >= seen.from_s] * 1e3
    panel.set_ylim(0.0, 1.15 * max(measured_ms.max(), point.delay_s * 1e3))
    panel.set_xlabel("time [s]  (grey: warm-up, not measured)")
    panel.set_ylabel("queue delay [ms]")
    said = (
        f"predicted: phase margin {point.phase_margin_deg:.0f}°, rests at "
        f"{point.delay_s * 1e3:.0f} ms.  Observed: coefficient of variation {seen.variation:.2f}, "
        f"spectral peak {seen.peak_share:.2f} at {seen.peak_rad_per_s:.1f} rad/s"
    )
    panel.set_title(said.replace("-", "−"), fontsize=8, fontweight="normal", color=style.MUTED)
    return drawing
