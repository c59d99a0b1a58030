"""Advice as one page with a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.advising.line import Advice, Outcome
from sojourn.markup import policy
from sojourn.plots import palette, style
from sojourn.report import inline_svg, page_style, template

FILE = "advice.html"


def page(advice: Advice, lines: Sequence[str]) -> str:
    """The page as HTML.

    Args:
        advice: the advice to draw.
        lines: the output of `sojourn advise`.
    """
    title, *rest = lines
    return str(
        template(Path(__file__).parent, "page.html.j2").render(
            title=title,
            css=page_style(),
            policy=policy(),
            picture=inline_svg(style.svg(_picture(advice.outcomes)), "advice"),
            text="\n".join(rest).strip(),
        )
    )


@style.figure
def _picture(outcomes: Sequence[Outcome]) -> Figure:
    drawing, (delay, rates) = style.panels("Under load", 1, 2, 1.6)
    _bars(delay, outcomes, {"": [it.added_p95_s * 1e3 for it in outcomes]})
    delay.set_xlabel("delay that load adds, 95 % [ms]")
    goodputs = {
        "downloads": [it.down_bps / 1e6 for it in outcomes],
        "uploads": [it.up_bps / 1e6 for it in outcomes],
    }
    _bars(rates, outcomes, goodputs)
    rates.set_xlabel("goodput [Mbit/s]")
    rates.legend()
    return drawing


def _bars(axes: Axes, outcomes: Sequence[Outcome], series: dict[str, list[float]]) -> None:
    thick = 0.7 / len(series)
    for place, (label, values) in enumerate(series.items()):
        rows = [row + place * thick for row in range(len(outcomes))]
        axes.barh(rows, values, thick, color=palette.PALETTE[place], label=label)
    middle = (len(series) - 1) * thick / 2
    axes.set_yticks([row + middle for row in range(len(outcomes))], [it.name for it in outcomes])
    axes.invert_yaxis()
