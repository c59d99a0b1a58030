"""One page about a study: heat maps, response curves, trade-off, parallel axes; works from disk.

Drawn by Vega-Lite through Altair (extra ``sojourn[pages]``), because it has linked selections and
small multiples as declarations, and vl-convert puts its library into the page.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sojourn import files
from sojourn.describing.library import set_pairs
from sojourn.describing.quantity import quantity
from sojourn.errors import InputError
from sojourn.plots.style import PALETTE
from sojourn.studies.results import PointEstimates, Results

PICKED = "picked"
_LOWER = ("delay", "drop", "loss", "owd", "completion", "rtt", "unfinished", "waiting")


def save(results: Results, path: Path) -> None:
    """Write the page of a study.

    Raises:
        InputError: Altair or vl-convert is not installed, or no run is there yet.
        OSError: the file cannot be written.
    """
    import warnings

    try:
        import altair
        import vl_convert
    except ImportError as error:
        raise InputError(
            f"show: {error.name} is not installed; pip install sojourn[pages]"
        ) from error
    if path.is_dir():
        raise InputError(f"--out {path}: is a folder; give the name of the page")
    found = [each for each in results.estimates() if each.seeds]
    if not found:
        raise InputError(
            f"{results.study.name}: no run is there yet; `sojourn study run` makes them"
        )
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sojourn.studies", ""), autoescape=True
    )
    with warnings.catch_warnings():
        # That figures share one selection is what is wanted.
        warnings.filterwarnings("ignore", message="Automatically deduplicated selection")
        spec = _Charts(altair, results, found).spec()
    page = environment.get_template("page.html.j2").render(
        name=results.study.name,
        points=len(found),
        runs=sum(each.seeds for each in found),
        library=_safe(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")),
        details=_safe(json.dumps(_details(results, found))),
        spec=_safe(json.dumps(spec)),
    )
    files.write(path, page)


def _safe(script: str) -> Any:
    """A script that does not end the element it stands in."""
    import markupsafe

    return markupsafe.Markup(script.replace("</script", "<\\/script"))


def _details(results: Results, found: Sequence[PointEstimates]) -> dict[int, dict[str, Any]]:
    """What the page shows of a point that is selected, and how to look at its time series."""
    points = {each.point.index: each.point for each in results.points}
    details = {}
    for each in found:
        point = points[each.index]
        sets = [f"--set {shlex.quote(f'{key}={value}')}" for key, value in set_pairs(point.sets)]
        details[each.index] = {
            "label": point.label,
            "seeds": each.seeds,
            "numbers": [
                [metric, f"{e.mean:.4g}", f"{e.low:.4g} to {e.high:.4g}"]
                for metric, e in each.estimates.items()
            ],
            "command": f"sojourn run {shlex.quote(results.study.scenario)} {' '.join(sets)} "
            f"--engine {point.engine} --seed 1 --record states --record flows "
            f"--out point-{each.index}",
        }
    return details


class _Charts:
    """The figures of a study, all with the same selection."""

    def __init__(self, altair: Any, results: Results, found: Sequence[PointEstimates]) -> None:
        self._alt = altair
        self._metrics = results.study.metrics
        self._orders = {
            axis.name: _ordered(dict.fromkeys(each.values[axis.name] for each in found))
            for axis in results.study.axes
        }
        texts = [name for name, order in self._orders.items() if quantity(order[0]) is None]
        names = list(self._orders)
        self._series = texts[0] if texts else names[0]
        # The longest axes of numbers first: along the curves, then over the panels.
        rest = [name for name in names if name != self._series]
        rest.sort(key=lambda name: -len(self._orders[name]))
        self._x = rest[0] if rest else self._series
        self._y = rest[1] if len(rest) > 1 else ""
        self._rows = [self._row(each) for each in found]
        self._data = altair.Data(values=self._rows, name="points")
        # An explicit name, so that the page can listen to it.
        self._pick = altair.selection_point(name=PICKED, fields=["point"])

    def spec(self) -> dict[str, Any]:
        """All figures as one Vega-Lite specification."""
        alt = self._alt
        parts = []
        for index, metric in enumerate(self._metrics):
            row = [self._curves(index, metric)]
            if self._y:
                row.insert(0, self._heat(index, metric))
            parts.append(alt.vconcat(*row))
        if len(self._metrics) > 1:
            parts.append(self._trade_off())
        parts.append(self._parallel())
        chart = (
            alt.vconcat(*parts)
            .add_params(self._pick)
            .resolve_scale(color="independent")
            .configure_axis(labelFontSize=11, titleFontSize=12)
            .configure_view(stroke="#dfe3e8")
        )
        spec: dict[str, Any] = chart.to_dict()
        return spec

    def _row(self, each: PointEstimates) -> dict[str, Any]:
        row: dict[str, Any] = {"point": each.index}
        row |= {name: str(value) for name, value in each.values.items()}
        for index, metric in enumerate(self._metrics):
            found = each.estimates[metric]
            for end, value in (("", found.mean), ("low", found.low), ("high", found.high)):
                row[f"m{index}{end}"] = value if math.isfinite(value) else None
        return row

    def _ordinal(self, kind: Any, name: str, **more: Any) -> Any:
        return kind(f"{_escaped(name)}:N", sort=self._orders[name], title=name, **more)

    def _tips(self) -> list[str]:
        return [f"{_escaped(name)}:N" for name in self._orders]

    def _colour(self) -> Any:
        alt = self._alt
        return self._ordinal(alt.Color, self._series, scale=alt.Scale(range=list(PALETTE)))

    def _seen(self, rest: float) -> Any:
        alt = self._alt
        return alt.condition(self._pick, alt.value(1.0), alt.value(rest), empty=True)

    def _heat(self, index: int, metric: str) -> Any:
        alt = self._alt
        colour = alt.Color(f"mean(m{index}):Q", title=metric, scale=alt.Scale(scheme="viridis"))
        return (
            alt.Chart(self._data, width=150, height=120)
            .mark_rect()
            .encode(
                x=self._ordinal(alt.X, self._x), y=self._ordinal(alt.Y, self._y), color=colour,
                opacity=self._seen(0.35), detail="point:N",
                tooltip=[*self._tips(), f"mean(m{index}):Q"],
            )
            .facet(self._ordinal(alt.Column, self._series), title=f"{metric} by {self._series}")
        )  # fmt: skip

    def _curves(self, index: int, metric: str) -> Any:
        alt = self._alt
        base = alt.Chart(self._data, width=190, height=150).encode(
            x=self._ordinal(alt.X, self._x), color=self._colour()
        )
        value = alt.Y(f"m{index}:Q", title=metric)
        lines = base.mark_line(opacity=0.6).encode(y=value)
        bars = base.mark_rule().encode(
            y=alt.Y(f"m{index}low:Q", title=metric), y2=f"m{index}high:Q", opacity=self._seen(0.15)
        )
        dots = base.mark_point(filled=True, size=45).encode(
            y=value, opacity=self._seen(0.15), tooltip=[*self._tips(), f"m{index}:Q"]
        )
        layers = lines + bars + dots
        title = f"{metric} with 95 % intervals"
        if not self._y:
            return layers.properties(title=title)
        return layers.facet(self._ordinal(alt.Column, self._y), title=title)

    def _trade_off(self) -> Any:
        """The first two metrics against each other; points that no other beats have a ring."""
        alt = self._alt
        front = _front([(row["m0"], row["m1"]) for row in self._rows], self._metrics[:2])
        data = alt.Data(
            values=[
                row | {"front": "not beaten" if is_front else "beaten"}
                for row, is_front in zip(self._rows, front, strict=True)
            ]
        )
        return (
            alt.Chart(data, width=560, height=320, title="Trade-off: rings are the Pareto front")
            .mark_point(filled=True, size=60, strokeWidth=2)
            .encode(
                x=alt.X("m0:Q", title=self._metrics[0], scale=alt.Scale(zero=False)),
                y=alt.Y("m1:Q", title=self._metrics[1], scale=alt.Scale(zero=False)),
                color=self._colour(),
                stroke=alt.Stroke(
                    "front:N", legend=None,
                    scale=alt.Scale(domain=["not beaten", "beaten"], range=["#000", "#0000"]),
                ),
                opacity=self._seen(0.15), tooltip=[*self._tips(), "m0:Q", "m1:Q"],
            )
        )  # fmt: skip

    def _parallel(self) -> Any:
        """One line per point over all axes and metrics, each from its least to its largest."""
        alt = self._alt
        names = [*self._orders, *self._metrics]
        columns = [self._positions(name) for name in names]
        values = [
            {"point": row["point"], "order": i, "axis": name, "at": column[r],
             "series": row[self._series]}
            for r, row in enumerate(self._rows)
            for i, (name, column) in enumerate(zip(names, columns, strict=True))
        ]  # fmt: skip
        return (
            alt.Chart(alt.Data(values=values), width=760, height=260, title="All axes and metrics")
            .mark_line()
            .encode(
                x=alt.X("axis:N", sort=names, title=None),
                y=alt.Y("at:Q", title="least to largest", axis=alt.Axis(labels=False)),
                detail="point:N", opacity=self._seen(0.05),
                color=alt.Color(
                    "series:N", sort=self._orders[self._series], title=self._series,
                    scale=alt.Scale(range=list(PALETTE)),
                ),
            )
        )  # fmt: skip

    def _positions(self, name: str) -> list[float | None]:
        if name in self._orders:
            order = self._orders[name]
            return [order.index(row[name]) / max(1, len(order) - 1) for row in self._rows]
        values = [row[f"m{self._metrics.index(name)}"] for row in self._rows]
        known = [value for value in values if value is not None]
        low, high = min(known, default=0.0), max(known, default=0.0)
        return [None if v is None else (v - low) / ((high - low) or 1.0) for v in values]


def _ordered(values: Iterable[Any]) -> list[str]:
    """Values of an axis as texts: by size if all have one, else as the study lists them."""
    listed = list(values)
    found = [quantity(value) for value in listed]
    sizes = [each.size for each in found if each is not None]
    if len(sizes) < len(listed):
        return [str(value) for value in listed]
    return [str(value) for _, value in sorted(zip(sizes, listed, strict=True))]


def _escaped(name: str) -> str:
    """A column for Vega-Lite, which reads dots and brackets as paths."""
    for sign in ".[]":
        name = name.replace(sign, f"\\{sign}")
    return name


def _front(pairs: Sequence[tuple[Any, Any]], metrics: Sequence[str]) -> list[bool]:
    """Which points no other beats in both metrics; delays and losses are better when lower."""
    signs = [1.0 if metric.rpartition("/")[2].startswith(_LOWER) else -1.0 for metric in metrics]
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
