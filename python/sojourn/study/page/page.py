"""A page about a study that works from disk: figures with a common selection, and details.

It is drawn by Vega-Lite through Altair (extra ``sojourn[pages]``), which has declarative small
multiples and conditions on a selection; vl-convert embeds its library into the page.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn import files
from sojourn.comparing.statistics import Estimate
from sojourn.describing.library import set_pairs
from sojourn.describing.metrics import row_of
from sojourn.errors import InputError
from sojourn.markup import json_in_html, policy, script_in_html
from sojourn.running.replicas import Progress
from sojourn.scenario import document_toml
from sojourn.study.doubts import doubts
from sojourn.study.page.charts import Charts
from sojourn.study.page.differences import differences, verdicts
from sojourn.study.page.metric_axes import MetricAxis, metric_axis
from sojourn.study.page.predicted import phase_margins_deg
from sojourn.study.page.series import PointSeries, record
from sojourn.study.points import points
from sojourn.study.results import PointEstimates, Results

_HERE = Path(__file__).parent
_SPREAD = ("delay_mean", "delay_p50", "delay_p95")
MOST_POINTS = 5000
"""A browser cannot draw more points."""


def save(
    results: Results,
    path: Path,
    *,
    with_series: bool = True,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Write the page of a study.

    Args:
        results: results of the study.
        path: the page.
        with_series: whether the first seed of every point is run again for its time series.
        jobs: concurrent runs; one per core by default.
        progress: receives the progress of these runs.

    Raises:
        InputError: Altair or vl-convert is not installed, there is no run yet, or there are more
            than `MOST_POINTS` points.
        OSError: the file cannot be written.
    """
    try:
        import altair
        import jinja2
        import vl_convert
    except ImportError as error:
        raise InputError(
            f"show: {error.name} is not installed; pip install 'sojourn[pages]'"
        ) from error
    if path.is_dir():
        raise InputError(f"--out {path}: is a folder; give the name of the page")
    link = _link(results)
    also = [f"queue/{link}/{name}" for name in _SPREAD]
    found = [each for each in results.estimates(also) if each.seeds]
    name = results.study.name
    if not found:
        raise InputError(f"{name}: no run is there yet; `sojourn study run` makes them")
    if len(found) > MOST_POINTS:
        raise InputError(
            f"{name}: {len(found):,} points are more than the {MOST_POINTS:,} that a "
            "page shows; choose some with --where AXIS=VALUE"
        )
    series = record(results, link, jobs, progress) if with_series else {}
    charts = _charts(altair, results, link, found)
    figures = _figures(charts, results.study.metrics)
    tables = differences(results, charts.metrics)
    loader = jinja2.PackageLoader("sojourn.study.page", "")
    environment = jinja2.Environment(loader=loader, autoescape=True)
    library = script_in_html(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    program = script_in_html((_HERE / "page.js").read_text(encoding="utf-8"))
    page = environment.get_template("page.html.j2").render(
        policy=policy([library, program]),
        name=name,
        points=len(found),
        total=len(points(results.study)),
        runs=sum(each.seeds for each in found),
        warnings=doubts(results),
        facts=json_in_html({"link": link}),
        sections=_sections(figures, charts.metrics),
        verdicts=verdicts(tables),
        differences=tables,
        fixed=charts.fixed_values(),
        library=library,
        program=program,
        data=json_in_html({"points": charts.rows, "lines": charts.lines}),
        details=json_in_html(_details(results, found, series, charts.metrics)),
        figures=json_in_html(figures),
    )
    files.write(path, page)


def _link(results: Results) -> str:
    """The link whose queue is shown: that of the first metric of a queue, else the first link."""
    for metric in results.study.metrics:
        scope, _, rest = metric.partition("/")
        if scope == "queue":
            return rest.rpartition("/")[0]
    document = json.loads(results.points[0].scenario.document_json())
    return str(min(document["links"]))


def _charts(
    altair: Any, results: Results, link: str, found: Sequence[PointEstimates]
) -> Charts:  # fmt: skip
    units = results.units()
    metrics = [
        metric_axis(key, units.get(key, ""), [each.estimates[key] for each in found])
        for key in results.study.metrics
    ]
    margins = phase_margins_deg(results.points, link)
    charts = Charts(altair, metrics, [axis.name for axis in results.study.axes], found, margins)
    if len(metrics) > 1:
        charts.mark_front()
    return charts


def _figures(charts: Charts, metrics: Sequence[str]) -> dict[str, Any]:
    """Every figure by the id of its element in the page."""
    found: dict[str, Any] = {}
    for index in range(len(metrics)):
        found |= {f"m{index}-{i}": spec for i, spec in enumerate(charts.of_metric(index))}
    found |= {f"stability-{i}": spec for i, spec in enumerate(charts.stability())}
    if len(metrics) > 1:
        found["trade-off"] = charts.trade_off()
    return found | {"parallel": charts.parallel()}


def _sections(figures: Mapping[str, Any], metrics: Sequence[MetricAxis]) -> list[dict[str, Any]]:
    """Headings with the ids of their figures."""

    def section(title: str, about: str, start: str) -> dict[str, Any]:
        ids = [place for place in figures if place.startswith(start)]
        return {"title": title, "about": about, "ids": ids}

    found = [
        section("All axes and metrics", "A line is a point. Each axis goes from its least value, "
                "below, to its largest.", "parallel"),
        section("Trade-off", _front_text([each.key for each in metrics[:2]]), "trade-off"),
        section("Predicted and observed", "Blue is stable: a phase margin of the fluid model "
                "above 0, and a queue delay with little spread, (p95 - p50) / mean. "
                "AQMs without a model are left out.", "stability"),
    ]  # fmt: skip
    found += [section(each.title, "", f"m{index}-") for index, each in enumerate(metrics)]
    return [each for each in found if each["ids"]]


def _front_text(metrics: Sequence[str]) -> str:
    """The better direction in the trade-off of two metrics."""
    rows = [row_of(metric) for metric in metrics]
    if undirected := [row for row in rows if not row.together]:
        return f"No Pareto front: {undirected[0].label} has no better direction."
    better = " and ".join(f"{row.label} is better when {row.together}" for row in rows)
    return f"Rings are the Pareto front: no other point is better in both; {better}."


def _details(
    results: Results,
    found: Sequence[PointEstimates],
    series: Mapping[int, PointSeries],
    metrics: Sequence[MetricAxis],
) -> dict[int, dict[str, Any]]:
    """The content of the page for a selected point."""
    by_index = {each.point.index: each for each in results.points}
    details = {}
    for each in found:
        point, scenario = by_index[each.index].point, by_index[each.index].scenario
        sets = [f"--set {shlex.quote(f'{key}={value}')}" for key, value in set_pairs(point.sets)]
        details[each.index] = {
            "label": point.label,
            "seeds": each.seeds,
            "numbers": [_number(metric, each.estimates[metric.key]) for metric in metrics],
            "command": f"sojourn run {shlex.quote(results.study.scenario)} {' '.join(sets)} "
            f"--engine {point.engine} --seed 1 --record states --record flows "
            f"--out point-{each.index}",
            "scenario": document_toml(json.loads(scenario.document_json())),
            "series": vars(series[each.index]) if each.index in series else None,
        }
    return details


def _number(metric: MetricAxis, found: Estimate) -> list[str]:
    """Title, value and interval of a metric, in the unit of the figures."""
    if math.isnan(found.mean):
        return [metric.title, "none", "no interval"]
    mean, low, high = (
        f"{value * metric.scale:.4g}" for value in (found.mean, found.low, found.high)
    )
    has_interval = not math.isnan(found.low) and not math.isnan(found.high)
    return [metric.title, mean, f"{low} to {high}" if has_interval else "no interval"]
