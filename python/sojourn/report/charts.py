"""The charts of a report: the figures of `sojourn.plots`, drawn as SVG for its page.

Each is drawn for wide and for narrow screens. A report shows them without JavaScript.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sojourn.comparing.dominance import PAIR
from sojourn.comparing.shaping import omitted_figures
from sojourn.describing.formatting import axis_label
from sojourn.describing.metrics import row_of
from sojourn.plots import data, flow_lines, shapes
from sojourn.plots.data import Floats, Results
from sojourn.plots.naming import Area, Segment, placed
from sojourn.plots.palette import DASHES
from sojourn.report.canvas import (
    FONT,
    MUTED,
    TOP,
    AxisScale,
    Box,
    Canvas,
    colour,
    number_width,
    text_width,
)
from sojourn.report.keys import Key, keys

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns

WIDTHS = {"wide": 640.0, "narrow": 340.0}
_HEIGHTS = {"wide": 350.0, "narrow": 300.0}
# Below the axes: numbers and the label.
_BELOW = 40.0
# Panels over time: space above the first for its heading, and between columns for numbers.
_FIRST_PANEL = {"wide": 22.0, "narrow": 34.0}
_BETWEEN = 26.0
# Curves with markers have one at every 75th point.
_MARKED = 75
_MOST_POINTS = 1200
_LOSS, _MARK = "var(--loss)", "var(--mark)"
_WHISKERS = "whiskers 5 and 95 %, box 25 to 75 %, line median; ▸ at least"

Keys = Mapping[str, Key]
Panel = tuple[Box, AxisScale, AxisScale]
"""Its area, and its scales of time and of values."""


def charts(comparison: ComparedRuns) -> dict[str, dict[str, str]]:
    """The chart for each of `WIDTHS`, by kind of figure; charts without values are left out."""
    results = {aqm: comparison.of(aqm) for aqm in comparison.aqms}
    of, omitted = keys(results), omitted_figures(comparison.shaped)
    found = {
        name: {size: draw(results, comparison.link, of, size) for size in WIDTHS}
        for name, draw in _KINDS.items()
        if name not in omitted
    }
    return {
        name: {size: canvas.svg() for size, canvas in by_size.items() if canvas is not None}
        for name, by_size in found.items()
        if by_size["wide"] is not None
    }


def _box(canvas: Canvas, y: AxisScale | None, labels: tuple[str, str], below: float = 0.0) -> Box:
    """The area of the only axes, with their labels written."""
    left = 30.0 + (number_width(y) if y is not None else 0.0)
    box = Box(left, canvas.top, canvas.width - 10, canvas.height - _BELOW - below)
    middle = (box.left + box.right) / 2
    canvas.text(middle, box.bottom + 34, labels[0], anchor="middle")
    canvas.text(12, (box.top + box.bottom) / 2, labels[1], anchor="middle", turned=True)
    return box


def _delay_cdf(results: Results, link: str, of: Keys, size: str) -> Canvas | None:
    pooled = {a: data.distribution(rs, "queue", link, "delay") for a, rs in results.items()}
    pooled = {aqm: found for aqm, found in pooled.items() if found}
    if not pooled:
        return None
    rows = _legend_rows(list(pooled), WIDTHS[size])
    canvas = Canvas(WIDTHS[size], _HEIGHTS[size] + 18.0 * len(rows), f"Queue delay at {link}")
    x_s = data.delay_grid(list(pooled.values()))
    x, y = AxisScale(1e3 * x_s[0], 1e3 * x_s[-1], is_log=True), AxisScale(0.0, 1.01)
    labels = ("queue delay [ms]", "fraction of packets at or below")
    box = _box(canvas, y, labels, 18.0 * len(rows))
    x, y = x.between(box.left, box.right), y.between(box.bottom, box.top)
    canvas.axes(box, x, y)
    at = x.at(1e3 * x_s)
    for aqm, found in pooled.items():
        each = [data.distribution([r], "queue", link, "delay") for r in results[aqm]]
        shares = np.array([one.share_below(x_s) for one in each if one])
        low, high = y.at(shares.min(0)), y.at(shares.max(0))
        band = np.concatenate([low, high[::-1]])
        canvas.area(np.concatenate([at, at[::-1]]), band, colour(of[aqm]), 0.18)
        line = y.at(found.share_below(x_s))
        canvas.line(at, line, colour(of[aqm]), dash=of[aqm].dash_array)
        if len(of) > len(DASHES):
            canvas.markers(at[::_MARKED], line[::_MARKED], of[aqm], scale=0.8)
    _legend(canvas, rows, of, box.bottom + 52)
    return canvas


def _legend_rows(aqms: list[str], width: float) -> list[list[str]]:
    rows: list[list[str]] = [[]]
    used = 0.0
    for aqm in aqms:
        needed = 52.0 + text_width(aqm)
        if rows[-1] and used + needed > width:
            rows.append([])
            used = 0.0
        rows[-1].append(aqm)
        used += needed
    return rows


def _legend(canvas: Canvas, rows: list[list[str]], of: Keys, top: float) -> None:
    for i, row in enumerate(rows):
        used = sum(52.0 + text_width(aqm) for aqm in row) - 16.0
        x = max(0.0, (canvas.width - used) / 2)
        y = top + 18.0 * i
        for aqm in row:
            ends = np.array([x, x + 28.0])
            at = np.array([y - 4.0, y - 4.0])
            canvas.line(ends, at, colour(of[aqm]), dash=of[aqm].dash_array)
            if len(of) > len(DASHES):
                canvas.markers(ends[:1] + 14.0, at[:1], of[aqm], scale=0.8)
            canvas.text(x + 34.0, y, aqm, most=canvas.width - 36.0)
            x += 52.0 + text_width(aqm)


def _clouds(
    clouds: Mapping[str, Floats], of: Keys, canvas: Canvas, labels: tuple[str, str],
    most_y: float | None = None,
) -> tuple[Box, AxisScale, AxisScale]:  # fmt: skip
    """Axes of delay, which runs to the left, and another quantity; a dot for each seed."""
    (least, most), (low, high) = shapes.cloud_limits(np.vstack(list(clouds.values())))
    y = AxisScale(low, high)
    box = _box(canvas, y, labels)
    x, y = AxisScale(least, most, True, box.right, box.left), y.between(box.bottom, box.top)
    canvas.axes(box, x, y, most_y=most_y)
    for aqm, cloud in clouds.items():
        scale, opacity = (0.75, 0.5) if shapes.is_spread(cloud) else (1.2, 1.0)
        at = x.at(cloud[:, 0]), y.at(cloud[:, 1])
        canvas.markers(*at, of[aqm], scale=scale, opacity=opacity)
    return box, x, y


def _name_clouds(
    clouds: Mapping[str, Floats], of: Keys, canvas: Canvas, axes: tuple[Box, AxisScale, AxisScale],
    lines: Sequence[Segment] = (),
) -> None:  # fmt: skip
    """The name of each cloud next to it, across none of the lines."""
    box, x, y = axes
    upwards = {aqm: np.column_stack([x.at(c[:, 0]), -y.at(c[:, 1])]) for aqm, c in clouds.items()}
    halves = {aqm: 0.5 * text_width(aqm, is_bold=True) for aqm in clouds}
    area = Area(box.left, -box.bottom, box.right, -box.top)
    flipped = [(x1, -y1, x2, -y2) for x1, y1, x2, y2 in lines]
    for name in placed(upwards, halves, 16.0, area, flipped):
        stroke, (at_x, at_y) = colour(of[name.name]), name.at
        if name.leader is not None:
            (x1, y1), (x2, y2) = name.leader
            canvas.segments([(x1, -y1, x2, -y2)], stroke, 0.8)
        canvas.text(
            at_x, 0.35 * FONT - at_y, name.name, anchor="middle", fill=stroke, weight="bold",
            most=box.right - box.left,
        )  # fmt: skip


def _plane(results: Results, link: str, of: Keys, size: str) -> Canvas | None:
    clouds = data.bulk_points(results, link)
    if not clouds:
        return None
    canvas = Canvas(WIDTHS[size], _HEIGHTS[size], f"Delay at {link} and bulk goodput")
    label = f"{axis_label(row_of('delay_mean'))}  (to the left: longer)"
    axes = _clouds(clouds, of, canvas, (label, "goodput of all bulk flows [Mbit/s]"))
    _, x, y = axes
    for aqm, cloud in clouds.items():
        if len(cloud) > 2:
            outline = shapes.ellipse(cloud)
            at = x.at(outline[:, 0]), y.at(outline[:, 1])
            canvas.area(*at, colour(of[aqm]), 0.2)
            canvas.line(*at, colour(of[aqm]), 1.2)
    canvas.text(
        canvas.width - 24, canvas.top + 14, "better", anchor="end", fill=MUTED, style="italic"
    )
    tip = canvas.width - 10, canvas.top + 3
    shaft = (tip[0] - 12, tip[1] + 12, *tip)
    head = [(tip[0] - 6, tip[1], *tip), (tip[0], tip[1] + 6, *tip)]
    canvas.segments([shaft, *head], MUTED, 1.2)
    word = (canvas.width - 70, canvas.top + 10, canvas.width - 10, canvas.top + 10)
    _name_clouds(clouds, of, canvas, axes, [word])
    return canvas


def _pareto(results: Results, link: str, of: Keys, size: str) -> Canvas | None:
    clouds = data.delay_and_utilisation(results, link)
    if not clouds:
        return None
    title = f"Delay and utilisation of {link}, judged together"
    canvas = Canvas(WIDTHS[size], _HEIGHTS[size], title)
    delay, share = (axis_label(row_of(name)) for name in PAIR)
    labels = (f"{delay}  (to the left: longer)", share)
    axes = _clouds(clouds, of, canvas, labels, most_y=100.0)
    box, x, y = axes
    lines: list[Segment] = []
    front = shapes.front([cloud.mean(0) for cloud in clouds.values()])
    if len(front) > 1:
        means = np.array(front)
        at_x, at_y = x.at(means[:, 0]), y.at(means[:, 1])
        canvas.line(at_x, at_y, MUTED, 0.9, "4 2")
        ends = list(zip(at_x.tolist(), at_y.tolist(), strict=True))
        lines += [(*one, *other) for one, other in itertools.pairwise(ends)]
    for aqm, cloud in clouds.items():
        cross = shapes.cross(cloud)
        mean_x, mean_y = float(x.at(cross.mean[0])), float(y.at(cross.mean[1]))
        # An interval that leaves the area is cut off at its edge.
        x1, x2 = np.clip(x.at(cross.x), box.left, box.right).tolist()
        y1, y2 = np.clip(y.at(cross.y), box.top, box.bottom).tolist()
        bars = [(x1, mean_y, x2, mean_y), (mean_x, y1, mean_x, y2)]
        canvas.segments(bars, colour(of[aqm]), 1.4)
        canvas.markers(np.array([mean_x]), np.array([mean_y]), of[aqm], scale=1.2)
        lines += bars
    _name_clouds(clouds, of, canvas, axes, lines)
    return canvas


def _delay_time(results: Results, link: str, of: Keys, size: str) -> Canvas | None:
    delays = {aqm: data.series(rs[0], link, "delay_mean") for aqm, rs in results.items() if rs}
    delays = {aqm: d for aqm, d in delays.items() if np.isfinite(d[1]).any()}
    if not delays:
        return None
    low, high = shapes.delay_limits(list(delays.values()))
    ends = {aqm: float(t_s[-1]) for aqm, (t_s, _) in delays.items()}
    title, y = f"Queue delay over time at {link}", AxisScale(low, high, is_log=True)
    # On a narrow screen a line below the title explains the ticks.
    canvas, panels = _over_time(title, (y, "queue delay [ms]"), ends, of, size)
    for aqm, (box, at_x, at_y) in panels.items():
        t_s, delay_s = delays[aqm]
        times, values = data.thinned(t_s, np.maximum(delay_s * 1e3, low), _MOST_POINTS)
        canvas.line(at_x.at(times), at_y.at(values), colour(of[aqm]), 0.9)
        for var, stroke, edge, to in (
            ("drops", _LOSS, box.bottom, -5.0), ("marks", _MARK, box.top, 5.0)
        ):  # fmt: skip
            ticks_s, counts = data.series(results[aqm][0], link, var)
            # Ticks within one pixel look like one.
            at = np.unique(at_x.at(ticks_s[counts > 0]).round(1)).tolist()
            canvas.segments([(tick, edge, tick, edge + to) for tick in at], stroke, 0.7)
    _ticks_explained(canvas, size)
    return canvas


def _of_flows(kind: str, results: Results, _link: str, of: Keys, size: str) -> Canvas | None:
    found = flow_lines.lines(results, kind)
    if not found:
        return None
    ends = {aqm: max(float(t_s[-1]) for t_s, _ in lines) for aqm, lines in found.items()}
    y = AxisScale(0.0, flow_lines.highest(found)), flow_lines.QUANTITIES[kind].label
    canvas, panels = _over_time(flow_lines.title(results, kind), y, ends, of, size)
    for aqm, (_, at_x, at_y) in panels.items():
        for line in found[aqm]:
            times, values = data.thinned(*line, _MOST_POINTS)
            canvas.line(at_x.at(times), at_y.at(values), colour(of[aqm]), 0.8)
    return canvas


def _over_time(
    title: str, y: tuple[AxisScale, str], ends: Mapping[str, float], of: Keys, size: str
) -> tuple[Canvas, dict[str, Panel]]:
    """A panel with axes for each AQM, whose time ends at `ends`."""
    columns = 1 if len(ends) == 1 or size == "narrow" else 2
    width, each, above = WIDTHS[size], 130.0, _FIRST_PANEL[size]
    canvas = Canvas(width, TOP + above + -(-len(ends) // columns) * each + 10.0, title)
    scale, label = y
    left = 30.0 + number_width(scale)
    across = (width - left - 10 - (columns - 1) * _BETWEEN) / columns
    panels = {}
    for place, (aqm, end) in enumerate(ends.items()):
        row, column = divmod(place, columns)
        start, top = left + column * (across + _BETWEEN), canvas.top + above + row * each
        box = Box(start, top, start + across, top + each - 32.0)
        at_x = AxisScale(0.0, end).between(box.left, box.right)
        at_y = scale.between(box.bottom, box.top)
        is_last = place + columns >= len(ends)
        canvas.axes(box, at_x, at_y, shown_x=is_last, shown_y=column == 0)
        canvas.text(start, top - 5, aqm, fill=colour(of[aqm]), weight="bold", most=across)
        panels[aqm] = (box, at_x, at_y)
    canvas.text((left + width - 10) / 2, canvas.height - 6, "time [s]", anchor="middle")
    canvas.text(12, canvas.height / 2, label, anchor="middle", turned=True)
    return canvas, panels


def _ticks_explained(canvas: Canvas, size: str) -> None:
    """The meaning of the ticks: next to the title, or on a narrow screen below it."""
    words = (("| drops, below", _LOSS), ("| marks, above", _MARK))
    x, y = (canvas.width - 190, 15.0) if size == "wide" else (0.0, canvas.top + 5.0)
    for text, fill in words:
        canvas.text(x, y, text, size=11, fill=fill)
        x += 95.0


def _completion(results: Results, link: str, of: Keys, size: str) -> Canvas | None:
    metrics = ("completion", "unfinished")
    classes = dict.fromkeys(name for one in metrics for name in data.names(results, "class", one))
    found = {
        name: {aqm: data.completions(runs, name) for aqm, runs in results.items()}
        for name in classes
    }
    every = [one for per_aqm in found.values() for one in per_aqm.values() if one]
    if not every:
        return None
    line, width = 24.0, WIDTHS[size]
    height = 80.0 + len(found) * (24.0 + line * len(results))
    canvas = Canvas(width, height, "Completion time of short transfers")
    low, high = shapes.completion_limits(every)
    left = min(0.4 * width, 12.0 + max(text_width(aqm) for aqm in results))
    x = AxisScale(low, high, True, left, width - 12.0)
    top = canvas.top
    for name, per_aqm in found.items():
        canvas.text(left, top + 12, name, weight="bold")
        box = Box(left, top + 18, width - 12.0, top + 18 + line * len(results))
        canvas.axes(box, x, None, shown_x=name == list(found)[-1])
        for place, (aqm, one) in enumerate(per_aqm.items()):
            middle = box.top + line * (place + 0.5)
            canvas.text(
                left - 8, middle + 4, aqm, anchor="end", fill=colour(of[aqm]), most=left - 8
            )
            if one:
                _completion_box(canvas, shapes.completion_box(one), middle, x, of[aqm])
        top += 24.0 + line * len(results)
    canvas.text((left + width) / 2, height - 22, "completion time [s]", anchor="middle")
    # Centred under the figure: names next to the axes leave too little room under them.
    canvas.text(width / 2, height - 6, _WHISKERS, size=10, anchor="middle", fill=MUTED, most=width)
    return canvas


def _completion_box(
    canvas: Canvas, box: shapes.CompletionBox, y: float, x: AxisScale, key: Key
) -> None:
    p5, p25, p50, p75, p95 = x.at(box.ends).tolist()
    stroke = colour(key)
    outline = np.array([p25, p75, p75, p25]), np.array([y - 7, y - 7, y + 7, y + 7])
    canvas.area(*outline, stroke, 0.28)
    caps = [(end, y - 4, end, y + 4) for end, i in ((p5, 0), (p95, 4)) if box.known[i]]
    canvas.segments([(p5, y, p25, y), (p75, y, p95, y), *caps], stroke, 1.2)
    if box.known[2]:
        canvas.segments([(p50, y - 7, p50, y + 7)], stroke, 2.6)
    if not box.known[-1]:
        canvas.area(np.array([p95, p95, p95 + 7]), np.array([y - 5, y + 5, y]), stroke, 1.0)


_KINDS: dict[str, Callable[[Results, str, Keys, str], Canvas | None]] = {
    "delay_cdf": _delay_cdf,
    "plane": _plane,
    "pareto": _pareto,
    "delay_time": _delay_time,
    "completion": _completion,
    **{kind: partial(_of_flows, kind) for kind in flow_lines.QUANTITIES},
}
