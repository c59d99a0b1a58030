"""Completion times of short transfers as boxes: 5, 25, 50, 75 and 95 percent.

Unfinished transfers are included (Kaplan and Meier 1958). A quantile that is unknown because too
few finished is drawn as a triangle at the longest observed time, which it exceeds.
"""

from __future__ import annotations

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.errors import NothingToPlot
from sojourn.plots import data, shapes, style
from sojourn.plots.data import Completions, Results


@style.figure
def completion(results: Results, link: str) -> Figure:
    """Draw one box per AQM and class of short transfers, transfers of all seeds pooled.

    Args:
        results: per AQM one result per seed.
        link: not used; transfers cross the whole path.

    Raises:
        NothingToPlot: no short transfer was completed.
    """
    metrics = ("completion", "unfinished")
    classes = dict.fromkeys(name for one in metrics for name in data.names(results, "class", one))
    found = {
        name: {aqm: data.completions(runs, name) for aqm, runs in results.items()}
        for name in classes
    }
    if not any(one for per_aqm in found.values() for one in per_aqm.values()):
        raise NothingToPlot("no short transfer was completed; add flows with app kind `files`")
    height = 1.0 + len(classes) * (0.3 + 0.33 * len(results))
    drawing, panels = style.new(height, "Completion time of short transfers", len(classes))
    colours = style.colours(results)
    for axes, (name, per_aqm) in zip(panels, found.items(), strict=True):
        _panel(axes, per_aqm, colours)
        axes.set_title(name, pad=3)
    _scale(panels, [one for per_aqm in found.values() for one in per_aqm.values() if one])
    # Centred under the figure, because names next to the axes leave too little room under them.
    said = "completion time [s]; whiskers 5 and 95 %, box 25 to 75 %, line median; ▸ at least"
    drawing.supxlabel(style.filled(said), fontsize=rcParams["axes.labelsize"])
    return drawing


def _panel(axes: Axes, per_aqm: dict[str, Completions], colours: dict[str, str]) -> None:
    for place, (aqm, one) in enumerate(per_aqm.items()):
        if not one:
            continue
        box, colour = shapes.completion_box(one), colours[aqm]
        p5, p25, p50, p75, p95 = box.ends
        if not box.known[-1]:
            axes.plot(one.longest_s, place, ">", color=colour, ms=6, clip_on=False)
        axes.plot([p5, p25], [place, place], color=colour, lw=1.2)
        axes.plot([p75, p95], [place, place], color=colour, lw=1.2)
        caps = [box.ends[i] for i in (0, 4) if box.known[i]]
        axes.vlines(caps, place - 0.16, place + 0.16, color=colour, lw=1.2)
        axes.barh(
            place, p75 - p25, left=p25, height=0.56, color=colour, alpha=0.28, edgecolor="none"
        )
        if box.known[2]:
            axes.vlines(p50, place - 0.28, place + 0.28, color=colour, lw=2.6)
    axes.set_yticks(range(len(per_aqm)), list(per_aqm))
    for label, aqm in zip(axes.get_yticklabels(), per_aqm, strict=True):
        label.set_color(colours[aqm])
    axes.set_ylim(len(per_aqm) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _scale(panels: list[Axes], found: list[Completions]) -> None:
    """Share one logarithmic scale of seconds."""
    low, high = shapes.completion_limits(found)
    panels[0].set_xscale("log")
    panels[0].set_xlim(low, high)
    style.plain_log(panels[0].xaxis, low, high)
