"""Advice as one page with a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sojourn.advising import said
from sojourn.advising.line import Advice, Line, Outcome
from sojourn.markup import drawing_in_html, policy
from sojourn.report import page_style, template
from sojourn.report.canvas import FONT, AxisScale, Box, Canvas, text_width
from sojourn.report.charts import WIDTHS

FILE = "advice.html"
_BAR = 16.0
_NAMES = 70.0
# Room to the right of the longest bar for its number.
_NUMBERS = 112.0

Bars = Sequence[tuple[str, Sequence[tuple[float, str, int]]]]
"""Per set-up the bars: value, text at its end, index of its colour."""


def page(line: Line, advice: Advice) -> str:
    """The page as HTML.

    Args:
        line: the line.
        advice: what to set up on it.
    """
    drawn = {size: drawing_in_html(picture(advice.outcomes, size)) for size in WIDTHS}
    whole = {
        "title": f"Set up {advice.choice}",
        "verdict": said.verdict(advice),
        "line": said.of_line(line),
        "css": page_style(),
        "policy": policy(),
        "drawn": drawn,
        "rows": said.rows(advice),
        "notes": said.sentences(line, advice),
        "commands": "\n".join(advice.commands),
        "uci": "\n".join(advice.uci),
    }
    return str(template(Path(__file__).parent, "page.html.j2").render(whole))


def picture(outcomes: Sequence[Outcome], size: str) -> str:
    """Added delay and goodput of every set-up as bars, as SVG for one of `WIDTHS`."""
    delays = [(it.name, [(it.added_p95_s * 1e3, said.milliseconds(it.added_p95_s), 0)])
              for it in outcomes]  # fmt: skip
    rates = [
        (it.name, [(it.down_bps / 1e6, f"{it.down_bps / 1e6:.3g} down", 1),
                   (it.up_bps / 1e6, f"{it.up_bps / 1e6:.3g} up", 2)])
        for it in outcomes
    ]  # fmt: skip
    heights = [_height(delays), _height(rates)]
    width, is_wide = WIDTHS[size], size == "wide"
    both = max(heights) if is_wide else sum(heights)
    canvas = Canvas(width, 28.0 + both, "Under load: added delay and goodput")
    across = (width - 16.0) / 2 if is_wide else width
    _panel(canvas, (0.0, canvas.top, across), delays, "delay that load adds, p95 [ms]")
    left, top = (across + 16.0, canvas.top) if is_wide else (0.0, canvas.top + heights[0])
    _panel(canvas, (left, top, across), rates, "goodput [Mbit/s]")
    return canvas.svg()


def _height(bars: Bars) -> float:
    return 60.0 + sum(_BAR * len(of) + 10.0 for _, of in bars)


def _panel(canvas: Canvas, place: tuple[float, float, float], bars: Bars, label: str) -> None:
    """One quantity: a bar for each value, with its number."""
    left, top, across = place
    most = max(value for _, of in bars for value, _, _ in of) or 1.0
    box = Box(left + _NAMES, top, left + across - 10.0, top + _height(bars) - 50.0)
    x = AxisScale(0.0, most * 1.0001, False, box.left, box.right - _NUMBERS + 20.0)
    canvas.axes(box, x, None)
    y = top + 5.0
    for name, of in bars:
        canvas.text(
            box.left - 8, y + _BAR * len(of) / 2 + 4, name, anchor="end",
            most=_NAMES - 8,
        )  # fmt: skip
        for value, text, colour in of:
            end = float(x.at(value))
            across_bar = np.array([box.left, end, end, box.left])
            canvas.area(
                across_bar, np.array([y, y, y + _BAR - 2, y + _BAR - 2]),
                f"var(--series-{colour})", 1.0,
            )  # fmt: skip
            canvas.text(end + 5, y + _BAR - 5, text, most=max(1.0, box.right + 8 - end))
            y += _BAR
        y += 10.0
    assert text_width(label) <= across, "the label is within its panel"
    canvas.text((box.left + box.right) / 2, box.bottom + 32, label, anchor="middle", size=FONT)
