"""The figures of a study's page as Vega-Lite specifications, drawn by Altair.

All share the parameter ``chosen``, the index of the selected point or -1, which the page sets in
every figure at once. A figure with several panels has ``columns``, which the page sets according to
its width. ``ink`` is the colour of text, ``fixed0``, ``fixed1``, ... are the values of the axes
that are not shown by colour, panel or scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sojourn.describing.metrics import row_of
from sojourn.describing.quantity import quantity
from sojourn.study.page.metric_axes import MetricAxis, robust_ends
from sojourn.study.results import PointEstimates

# The colours of `sojourn.plots.palette.PALETTE`, but the first is also readable on dark paper.
PALETTE = (
    "#7b8494", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
    "#6a5acd", "#b0446f", "#999933", "#44aa99", "#a0522d", "#aa4499", "#2e8b57",
)  # fmt: skip
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
STROKES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (12, 3), (6, 2, 1, 2, 1, 2))
_AS_LINES: dict[str, Any] = {"symbolType": "stroke", "symbolSize": 500}
_CHOSEN = "datum.point === chosen"
_PANEL, _HEIGHT = 190, 150
# Labels of at least this many letters are vertical below an axis.
_UPRIGHT = 6


class Charts:
    """The figures of a study.

    Args:
        altair: the module.
        metrics: metrics of the study.
        axes: names of its axes.
        found: its points with their estimates.
        margins: predicted phase margin in degrees by index of the point.
    """

    def __init__(
        self, altair: Any, metrics: Sequence[MetricAxis], axes: Sequence[str],
        found: Sequence[PointEstimates], margins: Mapping[int, float],
    ) -> None:  # fmt: skip
        self._alt = altair
        self.metrics = list(metrics)
        self.orders = {
            name: _ordered(dict.fromkeys(each.values[name] for each in found)) for name in axes
        }
        texts = [name for name, order in self.orders.items() if quantity(order[0]) is None]
        self._series = texts[0] if texts else axes[0]
        # The longest numeric axes first: along the curves, then over the panels.
        rest = sorted(
            (name for name in axes if name != self._series), key=lambda n: -len(self.orders[n])
        )
        self._x = rest[0] if rest else self._series
        self._y = rest[1] if len(rest) > 1 else ""
        self.fixed = rest[2:]
        """Axes of which the figures show one value at a time."""
        self.rows = [self._row(each, margins.get(each.index)) for each in found]
        self.lines = self._lines()
        self._data = altair.Data(name="points")

    def fixed_values(self) -> list[tuple[str, str, str, list[str]]]:
        """Parameter, name, column of the rows and values for each of `fixed`."""
        return [
            (f"fixed{i}", name, self._column(name), self.orders[name])
            for i, name in enumerate(self.fixed)
        ]

    def of_metric(self, index: int) -> list[dict[str, Any]]:
        """Response curves with intervals, and heat maps if there are two axes for them."""
        metric = self.metrics[index]
        known = [row[f"m{index}"] for row in self.rows if row[f"m{index}"] is not None]
        ends = robust_ends(known)
        scale = self._scale(metric.is_log, scheme="viridis", domain=list(ends), clamp=True)
        heat = [self._heat(f"m{index}", metric.title, scale, self.rows)] if self._y else []
        return [self._curves(index), *heat]

    def stability(self) -> list[dict[str, Any]]:
        """The predicted phase margin, next to the variation of the delay in the runs."""
        if not self._y or all(row["margin"] is None for row in self.rows):
            return []
        rows = [row for row in self.rows if row["margin"] is not None]
        low, high = robust_ends([row["margin"] for row in rows])
        most = max(1.0, abs(low), abs(high))
        around = self._alt.Scale(scheme="redblue", domain=[-most, most], domainMid=0, clamp=True)
        spreads = [row["spread"] for row in rows if row["spread"] is not None]
        seen = self._alt.Scale(
            scheme="redblue", reverse=True, domain=list(robust_ends(spreads)), clamp=True
        )
        return [
            self._heat("margin", "predicted: phase margin (degrees)", around, rows),
            self._heat("spread", "observed: spread of the delay", seen, rows),
        ]

    def trade_off(self) -> dict[str, Any]:
        """The first two metrics against each other; points of the Pareto front have a ring."""
        alt = self._alt
        first, second = self.metrics[:2]
        chart = (
            alt.Chart(self._data, width="container", height=340)
            .mark_point(filled=True, strokeWidth=2)
            .encode(
                x=alt.X("m0:Q", title=first.title, scale=self._scale(first.is_log)),
                y=alt.Y("m1:Q", title=second.title, scale=self._scale(second.is_log)),
                color=self._colour(),
                shape=self._marked(alt.Shape, SHAPES),
                stroke=self._when("datum.front", {"expr": "ink"}, "transparent"),
                size=self._when(_CHOSEN, 320, 70),
                opacity=self._faded(0.3),
                tooltip=[*self._tips(), *self._numbers()],
            )
        )
        return self._whole(chart)

    def parallel(self) -> dict[str, Any]:
        """One line per point over all axes and metrics, each from its minimum to its maximum."""
        alt = self._alt
        names = [*self.orders, *(metric.title for metric in self.metrics)]
        axis = alt.Axis(
            labelAngle=-25, labelLimit=240, labelPadding=16, grid=True, domain=False, ticks=False
        )
        x = alt.X("axis:N", sort=names, title=None, scale=alt.Scale(padding=0.12), axis=axis)
        base = alt.Chart(alt.Data(name="lines"), width="container", height=300)
        lines = base.mark_line().encode(
            x=x, y=alt.Y("at:Q", axis=None), detail="point:N",
            color=self._colour("series", **_AS_LINES), opacity=self._faded(0.06, 0.45),
            strokeDash=self._marked(alt.StrokeDash, STROKES, "series", **_AS_LINES),
            strokeWidth=self._when(_CHOSEN, 4, 1.2),
        )  # fmt: skip
        ends = [
            alt.Chart(alt.Data(values=[
                {"axis": name, "at": at, "text": text}
                for name, pair in zip(names, self._ends(), strict=True)
                for at, text in [(float(place), pair[place])]
            ]))
            .mark_text(dy=-9 if place else 11, fontSize=10)
            .encode(x=x, y="at:Q", text="text:N", color=alt.value({"expr": "ink"}))
            for place in (0, 1)
        ]  # fmt: skip
        return self._whole(alt.layer(lines, *ends))

    def _row(self, each: PointEstimates, margin: float | None) -> dict[str, Any]:
        row: dict[str, Any] = {"point": each.index}
        row |= {f"a{i}": str(each.values[name]) for i, name in enumerate(self.orders)}
        for index, metric in enumerate(self.metrics):
            found = each.estimates[metric.key]
            for end, value in (("", found.mean), ("low", found.low), ("high", found.high)):
                row[f"m{index}{end}"] = _number(value * metric.scale)
        row["margin"] = None if margin is None else _number(margin)
        row["spread"] = _spread(each)
        return row

    def mark_front(self) -> None:
        """Mark on every row whether it is on the Pareto front of the first two metrics."""
        pairs = [(row["m0"], row["m1"]) for row in self.rows]
        keys = [metric.key for metric in self.metrics[:2]]
        for row, is_front in zip(self.rows, front(pairs, keys), strict=True):
            row["front"] = is_front

    def _column(self, name: str) -> str:
        return f"a{list(self.orders).index(name)}"

    def _ordinal(self, kind: Any, name: str) -> Any:
        short = max(map(len, self.orders[name])) <= _UPRIGHT
        axis = self._alt.Axis(**({"labelAngle": 0} if short else {}))
        return kind(f"{self._column(name)}:N", sort=self.orders[name], title=name, axis=axis)

    def _tips(self) -> list[Any]:
        return [self._alt.Tooltip(f"{self._column(n)}:N", title=n) for n in self.orders]

    def _numbers(self) -> list[Any]:
        return [
            self._alt.Tooltip(f"m{i}:Q", title=metric.title, format=".4g")
            for i, metric in enumerate(self.metrics)
        ]

    def _scale(self, is_log: bool, **more: Any) -> Any:
        kind = {"type": "log"} if is_log else {"type": "linear", "zero": False}
        return self._alt.Scale(**kind, **more)

    def _colour(self, column: str = "", **more: Any) -> Any:
        alt, order = self._alt, self.orders[self._series]
        column = column or self._column(self._series)
        scale = alt.Scale(
            domain=order, range=[PALETTE[i % len(PALETTE)] for i in range(len(order))]
        )
        return alt.Color(f"{column}:N", scale=scale, legend=self._legend(**more))

    def _marked(self, kind: Any, marks: Sequence[Any], column: str = "", **more: Any) -> Any:
        """A shape or dash for each value that has a colour, so they differ in greyscale."""
        order = self.orders[self._series]
        scale = self._alt.Scale(
            domain=order, range=[marks[i % len(marks)] for i in range(len(order))]
        )
        column = column or self._column(self._series)
        return kind(f"{column}:N", scale=scale, legend=self._legend(**more))

    def _legend(self, **more: Any) -> Any:
        return self._alt.Legend(
            orient="top", title=self._series, columns={"expr": "legendColumns"}, symbolOpacity=1,
            symbolStrokeWidth=2, **more,
        )  # fmt: skip

    def _when(self, test: str, yes: Any, no: Any) -> Any:
        return self._alt.condition(test, self._alt.value(yes), self._alt.value(no))

    def _faded(self, rest: float, usual: float = 1.0) -> Any:
        """The style by which other points fade when a point is chosen."""
        return self._alt.value({"expr": f"chosen < 0 ? {usual} : {_CHOSEN} ? 1 : {rest}"})

    def _filtered(self, chart: Any) -> Any:
        for i, name in enumerate(self.fixed):
            chart = chart.transform_filter(f"datum.{self._column(name)} === fixed{i}")
        return chart

    def _heat(
        self, column: str, title: str, scale: Any, rows: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        alt = self._alt
        legend = alt.Legend(orient="top", gradientLength=180, titleLimit=300)
        chart = (
            alt.Chart(self._data, width=_PANEL - 20, height=_HEIGHT - 20)
            .mark_rect()
            .encode(
                x=self._ordinal(alt.X, self._x),
                y=self._ordinal(alt.Y, self._y),
                color=alt.Color(f"{column}:Q", title=title, scale=scale, legend=legend),
                stroke=self._when(_CHOSEN, {"expr": "ink"}, "transparent"),
                strokeWidth=alt.value(3),
                tooltip=[*self._tips(), alt.Tooltip(f"{column}:Q", title=title, format=".4g")],
            )
        )  # fmt: skip
        if column in ("margin", "spread"):
            chart = chart.transform_filter("datum.margin !== null")
        order = self.orders[self._series]
        there = {row[self._column(self._series)] for row in rows}
        panels = [name for name in order if name in there]
        facet = alt.Facet(f"{self._column(self._series)}:N", title=None, sort=panels)
        return self._whole(self._filtered(chart).facet(facet, columns=len(panels)))

    def _curves(self, index: int) -> dict[str, Any]:
        alt, metric = self._alt, self.metrics[index]
        base = alt.Chart(self._data, width=_PANEL, height=_HEIGHT).encode(
            x=self._ordinal(alt.X, self._x), color=self._colour(**_AS_LINES)
        )
        rows = self.rows
        # Intervals of non-negative metrics are cut at zero.
        is_cut = all((row[f"m{index}"] or 0.0) >= 0.0 for row in rows) and any(
            (row[f"m{index}low"] or 0.0) < 0.0 for row in rows
        )
        scale = self._scale(metric.has_log_ends, **({"domainMin": 0.0} if is_cut else {}))
        # A panel is less high than its title is long, so the title stands above all panels.
        title = metric.unit if self._y else metric.title
        value = alt.Y(f"m{index}:Q", title=title, scale=scale)
        lines = base.mark_line(opacity=0.6).encode(
            y=value, strokeDash=self._marked(alt.StrokeDash, STROKES, **_AS_LINES)
        )
        # For screen readers, the dots have the same content.
        bars = base.mark_rule(strokeWidth=2, aria=False, clip=True).encode(
            y=alt.Y(f"m{index}low:Q", title=title, scale=scale), y2=f"m{index}high:Q",
            opacity=self._faded(0.25),
        )  # fmt: skip
        dots = base.mark_point(filled=True).encode(
            y=value, size=self._when(_CHOSEN, 160, 40), opacity=self._faded(0.35),
            tooltip=[*self._tips(), alt.Tooltip(f"m{index}:Q", title=metric.title, format=".4g")],
        )  # fmt: skip
        layers = self._filtered(alt.layer(lines, bars, dots))
        if not self._y:
            return self._whole(layers.properties(width="container"))
        panels = self.orders[self._y]
        facet = alt.Facet(f"{self._column(self._y)}:N", sort=panels, title=self._y)
        return self._whole(layers.facet(facet, columns=len(panels)))

    def _whole(self, chart: Any) -> dict[str, Any]:
        alt = self._alt
        fixed = [alt.param(name=f"fixed{i}", value=self.orders[name][0])
                 for i, name in enumerate(self.fixed)]  # fmt: skip
        chart = chart.add_params(
            alt.param(name="chosen", value=-1), alt.param(name="ink", value="#22262b"),
            alt.param(name="legendColumns", value=6), *fixed,
        )  # fmt: skip
        spec: dict[str, Any] = chart.to_dict()
        return spec

    def _lines(self) -> list[dict[str, Any]]:
        """Every point on every axis of the parallel coordinates."""
        names = [*self.orders, *(metric.title for metric in self.metrics)]
        columns = [self._positions(i) for i in range(len(names))]
        series = self._column(self._series)
        return [
            {"point": row["point"], "axis": name, "at": column[r], "series": row[series]}
            for r, row in enumerate(self.rows)
            for name, column in zip(names, columns, strict=True)
        ]

    def _positions(self, place: int) -> list[float | None]:
        if place < len(self.orders):
            order = list(self.orders.values())[place]
            return [order.index(row[f"a{place}"]) / max(1, len(order) - 1) for row in self.rows]
        low, high, is_log = self._range(place - len(self.orders))
        values = [row[f"m{place - len(self.orders)}"] for row in self.rows]
        return [_share(value, low, high, is_log) for value in values]

    def _range(self, metric: int) -> tuple[float, float, bool]:
        known = [row[f"m{metric}"] for row in self.rows if row[f"m{metric}"] is not None]
        is_log = self.metrics[metric].is_log
        return min(known, default=0.0), max(known, default=0.0), is_log

    def _ends(self) -> list[tuple[str, str]]:
        """The labels below and above each of the parallel axes."""
        ends = [(order[0], order[-1]) for order in self.orders.values()]
        ranges = [self._range(i) for i in range(len(self.metrics))]
        return ends + [(f"{low:.3g}", f"{high:.3g}") for low, high, _ in ranges]


def _share(value: float | None, low: float, high: float, is_log: bool) -> float | None:
    if value is None:
        return None
    if not low < high:
        return 0.5
    if is_log:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def _number(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None


def _spread(each: PointEstimates) -> float | None:
    """The variation of the delay, as `sojourn attack` measures oscillation."""
    found = {key.rpartition("/")[2]: value.mean for key, value in each.estimates.items()}
    middle, high, mean = (
        found.get(name, math.nan) for name in ("delay_p50", "delay_p95", "delay_mean")
    )
    return _number((high - middle) / mean) if mean > 0.0 else None


def _ordered(values: Iterable[Any]) -> list[str]:
    """Values of an axis as texts: sorted by size if all have one, else in the study's order."""
    listed = list(values)
    found = [quantity(value) for value in listed]
    sizes = [each.size for each in found if each is not None]
    if len(sizes) < len(listed):
        return [str(value) for value in listed]
    return [str(value) for _, value in sorted(zip(sizes, listed, strict=True))]


def front(pairs: Sequence[tuple[Any, Any]], metrics: Sequence[str]) -> list[bool]:
    """The points of the Pareto front of both metrics; none if a metric has no direction.

    Args:
        pairs: the values of both, None if a point has none.
        metrics: keys of both.
    """
    directions = [row_of(metric).together for metric in metrics]
    if not all(directions):
        return [False] * len(pairs)
    signs = [1.0 if direction == "lower" else -1.0 for direction in directions]
    costs = [
        None if None in pair else tuple(s * v for s, v in zip(signs, pair, strict=True))
        for pair in pairs
    ]
    known = [cost for cost in costs if cost is not None]
    return [
        cost is not None
        and not any(all(o <= c for o, c in zip(other, cost, strict=True)) and other != cost
                    for other in known)
        for cost in costs
    ]  # fmt: skip
