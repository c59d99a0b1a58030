"""The plane of delay and goodput: up and to the right is better.

One ellipse per AQM covers one standard deviation of the seeds and the axis of delay runs to the
left, the form of Winstein and Balakrishnan (SIGCOMM 2013) that RFC 7928 takes up for the trade-off
between latency and goodput.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.comparing.metrics import bulk_classes
from sojourn.errors import NothingToPlot
from sojourn.plots import data, style
from sojourn.plots.data import Floats, Results

_FLOOR_MS = 0.01
_HALF_LETTER = 3.2  # points, of bold type of 9 points


@style.figure
def plane(results: Results, link: str) -> Figure:
    """Draw mean queue delay against the goodput of all bulk flows, a dot per seed.

    Args:
        results: per AQM one result per seed.
        link: whose queue.

    Raises:
        NothingToPlot: no run has both a queue delay and a goodput.
    """
    points = points_of(results, link)
    if not points:
        raise NothingToPlot(f"no run has both a delay of queue {link} and a goodput")
    drawing, (axes,) = style.new(3.9, f"Delay at {link} and bulk goodput")
    every = np.vstack(list(points.values()))
    is_log = every[:, 0].max() / every[:, 0].min() > 10
    colours = style.colours(results)
    if is_log:
        axes.set_xscale("log")
    for aqm, cloud in points.items():
        axes.plot(*cloud.T, ".", color=colours[aqm], ms=4, alpha=0.55, mew=0)
        if len(cloud) > 2:
            _ellipse(axes, cloud, is_log, colours[aqm])
    limits(axes, every, is_log)
    axes.set_xlabel("mean queue delay [ms]  (to the left: longer)")
    axes.set_ylabel("goodput of all bulk flows [Mbit/s]")
    style.lay_out(drawing)
    name_clouds(axes, points, colours)
    axes.annotate(
        "better", (1, 1), (-44, -4), xycoords="axes fraction", textcoords="offset points",
        color=style.MUTED, va="top", ha="right", style="italic",
    )  # fmt: skip
    axes.annotate(
        "", (1, 1), (-42, -24), xycoords="axes fraction", textcoords="offset points",
        arrowprops={"arrowstyle": "->", "color": style.MUTED},
    )  # fmt: skip
    return drawing


def points_of(results: Results, link: str) -> dict[str, Floats]:
    """Per AQM milliseconds and Mbit/s, shape ``(n_seeds, 2)``."""
    points: dict[str, Floats] = {}
    for aqm, runs in results.items():
        if not runs:
            continue
        delay = data.summaries(runs, f"queue/{link}/delay_mean") * 1e3
        rows = runs[0].summary_rows
        classes = bulk_classes(rows) or [r[1] for r in rows if r[::2][:2] == ("class", "goodput")]
        goodputs = [data.summaries(runs, f"class/{name}/goodput") for name in classes]
        if goodputs:
            cloud = np.column_stack([np.maximum(delay, _FLOOR_MS), np.sum(goodputs, 0) * 1e-6])
            points[aqm] = cloud[np.isfinite(cloud).all(1)]
    return {aqm: cloud for aqm, cloud in points.items() if len(cloud)}


def _ellipse(axes: Axes, cloud: Floats, is_log: bool, colour: str) -> None:
    """One standard deviation around the mean, along the principal axes of the covariance."""
    shaped = np.column_stack([np.log10(cloud[:, 0]) if is_log else cloud[:, 0], cloud[:, 1]])
    centre = shaped.mean(0)
    variances, directions = np.linalg.eigh(np.cov(shaped.T))
    radii = np.sqrt(np.maximum(variances, 0.0))
    turn = np.linspace(0, 2 * np.pi, 181)
    outline = centre + (directions @ (radii[:, None] * [np.cos(turn), np.sin(turn)])).T
    if is_log:
        outline[:, 0] = 10.0 ** outline[:, 0]
    axes.fill(*outline.T, facecolor=colour, alpha=0.2, lw=0)
    axes.plot(*outline.T, color=colour, lw=1.2)


def limits(axes: Axes, every: Floats, is_log: bool) -> None:
    """Margins around all points; the axis of delay is inverted."""
    low, high = every.min(0), every.max(0)
    if is_log:
        axes.set_xlim(high[0] * 1.6, low[0] / 1.6)
        style.plain_log(axes.xaxis, low[0], high[0])
    else:
        margin = 0.15 * (high[0] - low[0]) or 0.1 * high[0]
        axes.set_xlim(high[0] + margin, max(0.0, low[0] - margin))
    margin = max(0.12 * (high[1] - low[1]), 0.004 * high[1])
    axes.set_ylim(low[1] - margin, high[1] + 1.6 * margin)


def name_clouds(axes: Axes, points: Mapping[str, Floats], colours: Mapping[str, str]) -> None:
    """Write every AQM above or below its points, off other names and points, within the axes."""
    point = axes.figure.dpi / 72.0
    line = 13.0 * point
    dots = {aqm: axes.transData.transform(cloud) for aqm, cloud in points.items()}
    taken = np.vstack([[x, y, 0.0, line / 4] for cloud in dots.values() for x, y in cloud])
    for aqm in sorted(points, key=lambda aqm: float(np.median(dots[aqm][:, 0]))):
        cloud = dots[aqm]
        half = len(aqm) * _HALF_LETTER * point
        low, high = axes.bbox.x0 + half, axes.bbox.x1 - half
        x = float(np.clip(np.median(cloud[:, 0]), low, max(low, high)))
        y = _free(x, half, line, (cloud[:, 1].min(), cloud[:, 1].max()), axes.bbox.y0, taken)
        taken = np.vstack([taken, [x, y, half, line / 2]])
        name_x, name_y = axes.transData.inverted().transform((x, y))
        colour = colours[aqm]
        axes.text(name_x, name_y, aqm, ha="center", va="center", color=colour, fontweight="bold")


def _free(
    x: float, half: float, line: float, ends: tuple[float, float], floor: float, taken: Floats
) -> float:
    """The nearest height, in pixels, above or below a cloud at which a name overlaps nothing.

    Args:
        x: middle of the name.
        half: half of its width.
        line: height of a line.
        ends: lower and upper end of the cloud.
        floor: lower end of the axes.
        taken: boxes as middle (x, y) and half (width, height), shape ``(n, 4)``.
    """
    for step in np.arange(0.9, 9.0, 0.2) * line:
        for y in (ends[1] + step, ends[0] - step):
            is_near = (abs(taken[:, 0] - x) < taken[:, 2] + half) & (
                abs(taken[:, 1] - y) < taken[:, 3] + line / 2
            )
            if y > floor + line / 2 and not is_near.any():
                return float(y)
    return ends[1] + 0.9 * line
