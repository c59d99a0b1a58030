"""The plane of delay and goodput: up and to the right is better.

An ellipse per AQM covers one standard deviation of the seeds, and the delay axis runs to the left,
as in Winstein and Balakrishnan (SIGCOMM 2013); RFC 7928 uses this form for the trade-off between
latency and goodput.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.describing.formatting import axis_label
from sojourn.describing.metrics import row_of
from sojourn.errors import NothingToPlot
from sojourn.plots import clouds, data, shapes, style
from sojourn.plots.data import Floats, Results


@style.figure
def plane(results: Results, link: str) -> Figure:
    """Draw mean queue delay against the goodput of all bulk flows, a dot per seed.

    Args:
        results: per AQM one result per seed.
        link: the link whose queue is shown.

    Raises:
        NothingToPlot: no run has both a queue delay and a goodput.
    """
    points = data.bulk_points(results, link)
    if not points:
        raise NothingToPlot(f"no run has both a delay of queue {link} and a goodput")
    drawing, axes, colours = clouds.begin(points, results, f"Delay at {link} and bulk goodput")
    for aqm, cloud in points.items():
        if len(cloud) > 2:
            _ellipse(axes, cloud, colours[aqm])
    axes.set_xlabel(f"{axis_label(row_of('delay_mean'))}  (to the left: longer)")
    axes.set_ylabel("goodput of all bulk flows [Mbit/s]")
    clouds.finish(drawing, axes, points, colours)
    axes.annotate(
        "better", (1, 1), (-44, -4), xycoords="axes fraction", textcoords="offset points",
        color=style.MUTED, va="top", ha="right", style="italic",
    )  # fmt: skip
    axes.annotate(
        "", (1, 1), (-42, -24), xycoords="axes fraction", textcoords="offset points",
        arrowprops={"arrowstyle": "->", "color": style.MUTED},
    )  # fmt: skip
    return drawing


def _ellipse(axes: Axes, cloud: Floats, colour: str) -> None:
    outline = shapes.ellipse(cloud)
    axes.fill(*outline.T, facecolor=colour, alpha=0.2, lw=0)
    axes.plot(*outline.T, color=colour, lw=1.2)
