"""The intervals of expectations next to their bounds, drawn with characters.

In GitHub's step summary inline SVG and ``data:`` URIs are removed, and a Mermaid ``xychart`` has
bars and lines but no intervals; a code block is shown as it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from sojourn.describing.formatting import decimals_for, show
from sojourn.testing.decisions import Decision, scale_of_expected

WIDTH = 48
"""Columns of the axis."""
MOST_ROWS = 200
"""The step summary holds 1 MiB; the table has the rest."""
_LEGEND = "● mean or median    ├─┤ its interval    ┃ bound    · allowed"


def draw(decisions: Sequence[Decision]) -> str:
    """A code block: for each expectation a row per case, below its name, on a common axis.

    Args:
        decisions: the worst first.
    """
    drawn = decisions[:MOST_ROWS]
    groups: dict[object, list[Decision]] = {}
    for decision in drawn:
        expected = decision.expected
        groups.setdefault((expected.place, expected.key, expected.text), []).append(decision)
    lines = [_LEGEND]
    for group in groups.values():
        lines += ["", *_group(group)]
    if len(drawn) < len(decisions):
        lines += ["", f"{len(decisions) - len(drawn)} more are in the table only."]
    text = "\n".join(lines)
    # CommonMark §4.5: only a fence as long as the first one ends the block.
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}\n"


def _group(group: Sequence[Decision]) -> Iterator[str]:
    expected = group[0].expected
    of = f" of {expected.of}" if expected.of else ""
    against = f" against {expected.against}" if expected.against else ""
    yield _one_line(f"{expected.metric}{of} {expected.text}{against}: {expected.place}")
    axis = _axis(group)
    labels = [_one_line(each.expected.variant.label or "as written") for each in group]
    width = max(map(len, labels))
    for decision, label in zip(group, labels, strict=True):
        yield f"{decision.outcome:9}  {label:{width}}  {_row(decision, *axis)}".rstrip()
    scale = scale_of_expected(expected, axis)
    low, high = (end * scale.factor for end in axis)
    decimals = decimals_for(math.nan, high - low)
    left, right = show(low, decimals), f"{show(high, decimals)} {scale.unit}".strip()
    yield f"{'':{width + 13}}{left}{right:>{max(WIDTH - len(left), len(right) + 1)}}"


def _axis(group: Sequence[Decision]) -> tuple[float, float]:
    """Both ends of the axis, beyond everything finite that is drawn."""
    expected = group[0].expected
    ends = [expected.low, expected.high]
    for decision in group:
        ends += [decision.low, decision.centre, decision.high]
    finite = [end for end in ends if math.isfinite(end)]
    low, high = min(finite), max(finite)
    margin = 0.05 * (high - low or abs(high) or 1.0)
    return (low - margin if low < 0 else max(low - margin, 0.0)), high + margin


def _row(decision: Decision, left: float, right: float) -> str:
    """The axis with bounds, interval and centre; empty without a centre."""
    if not math.isfinite(decision.centre):
        return ""

    def column(value: float) -> int:
        inside = min(max(value, left), right)
        return round((inside - left) / (right - left) * (WIDTH - 1))

    expected = decision.expected
    cells = [" "] * WIDTH
    first, last = column(expected.low), column(expected.high)
    cells[first : last + 1] = "·" * (last + 1 - first)
    start, end = column(decision.low), column(decision.high)
    cells[start : end + 1] = "─" * (end + 1 - start)
    cells[start] = "├" if math.isfinite(decision.low) else "◂"
    cells[end] = "┤" if math.isfinite(decision.high) else "▸"
    for bound, at in ((expected.low, first), (expected.high, last)):
        if math.isfinite(bound):
            cells[at] = "┃"
    cells[column(decision.centre)] = "●"
    return "".join(cells).rstrip()


def _one_line(text: str) -> str:
    return " ".join(text.split())
