"""Tests between AQMs in a study: paired differences at every point of the other axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn.comparing.statistics import ALPHA, PairedTest, holm, paired
from sojourn.comparing.verdict import joined
from sojourn.describing.formatting import counted, decimals_for, show
from sojourn.study.axes import Value
from sojourn.study.page.metric_axes import MetricAxis
from sojourn.study.results import Results

Seeds = Mapping[int, float]
"""The value of a metric by seed."""


@dataclass(frozen=True)
class DifferenceCell:
    """A difference with its interval as text, and whether it is significant."""

    text: str
    is_sure: bool = False


@dataclass(frozen=True)
class DifferenceRow:
    """One point of the other axes, a cell for each AQM after the first."""

    label: str
    cells: list[DifferenceCell]


@dataclass(frozen=True)
class Differences:
    """One metric of every AQM minus that of the first, seed by seed.

    Attributes:
        title: title of the metric, with its unit.
        where: names of the other axes.
        baseline: the first AQM.
        aqms: the others.
        rows: rows in the order of the study.
        summary: the number of significant ones.
        counts: for each of `aqms` the number of points at which its metric is significantly lower,
            significantly higher, and tested.
    """

    title: str
    where: str
    baseline: str
    aqms: list[str]
    rows: list[DifferenceRow]
    summary: str
    counts: list[tuple[int, int, int]]


def aqm_axis(results: Results) -> str:
    """The axis that sets the queue of a link, or an empty text."""
    for axis in results.study.axes:
        if any(key.startswith("links.") and key.endswith(".queue") for key in axis.keys):
            return axis.name
    return ""


def differences(results: Results, metrics: Sequence[MetricAxis]) -> list[Differences]:
    """A table for each metric; none without an axis of at least two AQMs.

    Args:
        results: results of the study.
        metrics: metrics as the study's figures show them.
    """
    axis = aqm_axis(results)
    aqms = list(dict.fromkeys(str(each.point.values[axis]) for each in results.points if axis))
    if len(aqms) < 2:
        return []
    others = [each.name for each in results.study.axes if each.name != axis]
    values = _values(results, [metric.key for metric in metrics])
    found = []
    for metric in metrics:
        places: dict[str, dict[str, dict[int, float]]] = {}
        for point, seed, of_run in values:
            label = ", ".join(f"{name} {point[name]}" for name in others) or "all runs"
            value = of_run.get(metric.key, math.nan)
            if math.isfinite(value):
                of = places.setdefault(label, {}).setdefault(str(point[axis]), {})
                of[seed] = value * metric.scale
        found.append(_table(metric, aqms, ", ".join(others), places))
    return [each for each in found if each.rows]


def _values(
    results: Results, metrics: Sequence[str]
) -> list[tuple[Mapping[str, Value], int, Mapping[str, float]]]:
    """Point, seed and numbers of every stored run."""
    numbers = results.numbers(metrics)
    return [
        (each.point.values, seed, numbers[run])
        for each, wanted in zip(results.points, results.wanted_seeds(), strict=True)
        for seed, run in enumerate(each.addresses(wanted), 1)
        if run in numbers
    ]


def _table(
    metric: MetricAxis, aqms: list[str], where: str, places: Mapping[str, Mapping[str, Seeds]]
) -> Differences:
    base, *others = aqms
    tests = {
        label: [_test(of.get(aqm, {}), of.get(base, {})) for aqm in others]
        for label, of in places.items()
        if len(of.get(base, {})) > 0
    }
    known = [test for row in tests.values() for test in row if not math.isnan(test.p_value)]
    sure = dict(zip(map(id, known), holm([test.p_value for test in known]), strict=True))
    rows = [
        DifferenceRow(label, [_cell(test, sure.get(id(test), math.nan)) for test in row])
        for label, row in tests.items()
    ]
    counts = [_counts(column, sure) for column in zip(*tests.values(), strict=True)]
    lower, higher = (sum(each[i] for each in counts) for i in (0, 1))
    summary = (
        f"Paired by seed, with 95 % intervals. Of {len(known)} differences {lower} are "
        f"significantly below zero and {higher} above (bold), at 5 % after Holm's correction."
        if known
        else "Tests need two seeds or more at a point."
    )
    return Differences(metric.title, where or "point", base, others, rows, summary, counts)


def _counts(tests: Sequence[PairedTest], sure: Mapping[int, float]) -> tuple[int, int, int]:
    known = [test for test in tests if id(test) in sure]
    means = [test.difference.mean for test in known if sure[id(test)] < ALPHA]
    return sum(mean < 0 for mean in means), sum(mean > 0 for mean in means), len(known)


def verdicts(found: Sequence[Differences]) -> list[str]:
    """A sentence for each AQM after the first: at how many points its metrics differ."""
    return [_verdict(aqm, i, found) for i, aqm in enumerate(found[0].aqms)] if found else []


def _verdict(aqm: str, place: int, found: Sequence[Differences]) -> str:
    lower, higher, same = [], [], []
    for each in found:
        less, more, known = each.counts[place]
        name = each.title.rpartition(" (")[0] or each.title
        lower += [f"{name} at {less} of {counted(known, 'point')}"] if less else []
        higher += [f"{name} at {more} of {counted(known, 'point')}"] if more else []
        same += [name] if known and not less and not more else []
    parts = [
        f"{verb} {joined(names)}"
        for verb, names in (
            ("lowers", lower), ("raises", higher), ("shows no significant difference in", same)
        )
        if names
    ]  # fmt: skip
    text = f"Against {found[0].baseline}, {aqm} {'; '.join(parts)}."
    return text if parts else f"{aqm} has too few seeds to be compared with {found[0].baseline}."


def _test(values: Seeds, baseline: Seeds) -> PairedTest:
    both = sorted(values.keys() & baseline.keys())
    return paired([values[seed] for seed in both], [baseline[seed] for seed in both])


def _cell(test: PairedTest, p_adjusted: float) -> DifferenceCell:
    found = test.difference
    if math.isnan(found.mean):
        return DifferenceCell("–")
    decimals = decimals_for(found.half_width, found.mean)
    mean = show(found.mean, decimals, sign=True)
    if math.isnan(found.half_width):
        return DifferenceCell(mean)
    low, high = (show(end, decimals, sign=True) for end in (found.low, found.high))
    return DifferenceCell(f"{mean} ({low} to {high})", p_adjusted < ALPHA)
