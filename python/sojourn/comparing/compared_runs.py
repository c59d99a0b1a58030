"""Results of several AQMs under the same seeds: estimates per metric, paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from sojourn import _core
from sojourn.comparing import statistics
from sojourn.comparing.metrics import Metric, select
from sojourn.comparing.statistics import Estimate, PairedTest, estimate, holm, paired
from sojourn.running.result import Result

if TYPE_CHECKING:
    import pyarrow as pa

ALPHA = 1 - statistics.CONFIDENCE

DifferenceVerdict = Literal["better", "worse", "different", ""]


@dataclass(frozen=True)
class MetricEstimate:
    """One metric of one AQM over all seeds, in the metric's unit."""

    metric: Metric
    aqm: str
    estimate: Estimate


@dataclass(frozen=True)
class PairedDifference:
    """One metric of one AQM minus that of the first AQM, seed by seed.

    Attributes:
        metric: the metric; the difference is in its unit.
        aqm: the AQM.
        baseline: the first AQM.
        test: mean difference with unadjusted interval, and p-value.
        p_adjusted: p-value after Holm's correction over all tests of the comparison.
    """

    metric: Metric
    aqm: str
    baseline: str
    test: PairedTest
    p_adjusted: float

    @property
    def verdict(self) -> DifferenceVerdict:
        """Whether the difference is significant at 5 % after correction, and what it means.

        ``different`` where neither direction is better as such; empty where it is not significant.
        """
        if not self.p_adjusted < ALPHA:
            return ""
        if not self.metric.better:
            return "different"
        lowered = self.test.difference.mean < 0
        return "better" if lowered == (self.metric.better == "lower") else "worse"


class ComparedRuns:
    """Results of several AQMs on one link under the same seeds.

    Attributes:
        scenario: the scenario; its AQM on `link` is replaced by each of `aqms`.
        link: the link whose AQM is compared.
        aqms: AQMs in their text form; the first is the baseline of all differences.
        seeds: the seeds, the same for every AQM.
        results: per AQM one result per seed; None where a run failed.
        failures: one sentence per failed run.
    """

    def __init__(
        self,
        scenario: _core.Scenario,
        link: str,
        seeds: Sequence[int],
        results: Mapping[str, Sequence[Result | None]],
        failures: Sequence[str] = (),
    ) -> None:
        self.scenario = scenario
        self.link = link
        self.aqms = list(results)
        self.seeds = list(seeds)
        self.results = dict(results)
        self.failures = list(failures)

    @property
    def baseline(self) -> str:
        """The first AQM, which the others are compared with."""
        return self.aqms[0]

    def of(self, aqm: str) -> list[Result]:
        """The results of an AQM, without failed runs."""
        return [result for result in self.results[aqm] if result is not None]

    @property
    def invalid(self) -> list[str]:
        """Why runs were no valid experiments, one sentence each."""
        return [
            f"{aqm}, seed {result.manifest['seed']}: {reason}"
            for aqm in self.aqms
            for result in self.of(aqm)
            for reason in result.invalid
        ]

    def values(self, metric: Metric, aqm: str) -> list[float]:
        """A metric of an AQM, one value per seed; NaN where there is none."""
        key, nothing = metric.key, float("nan")
        return [r.summary.get(key, nothing) if r else nothing for r in self.results[aqm]]

    @cached_property
    def fixed(self) -> list[str]:
        """AQMs whose runs are the same for every seed, because nothing they meet is random.

        Their runs are no replicas: there is one value, and no interval.
        """

        def rows(aqm: str) -> list[list[tuple[str, str, str, float, str]]]:
            return [result.summary_rows for result in self.of(aqm)]

        return [
            aqm
            for aqm in self.aqms
            if len(rows(aqm)) > 1 and all(other == rows(aqm)[0] for other in rows(aqm))
        ]

    def _test(self, metric: Metric, aqm: str) -> PairedTest:
        values, baseline = self.values(metric, aqm), self.values(metric, self.baseline)
        if aqm in self.fixed and self.baseline in self.fixed:
            return paired(values[:1], baseline[:1])
        return paired(values, baseline)

    def _estimate(self, metric: Metric, aqm: str) -> Estimate:
        values = self.values(metric, aqm)
        return estimate(values[:1] if aqm in self.fixed else values)

    @cached_property
    def _all_metrics(self) -> list[Metric]:
        rows = {row[:3]: row for aqm in self.aqms for r in self.of(aqm) for row in r.summary_rows}
        return select(rows.values(), self.link)

    @cached_property
    def zero_metrics(self) -> list[Metric]:
        """Metrics that are zero in every run: neither shown nor tested."""
        return [
            metric
            for metric in self._all_metrics
            if not any(value for aqm in self.aqms for value in self.values(metric, aqm))
        ]

    @cached_property
    def metrics(self) -> list[Metric]:
        """The metrics shown and tested, in the order of display."""
        return [metric for metric in self._all_metrics if metric not in self.zero_metrics]

    @cached_property
    def cells(self) -> list[MetricEstimate]:
        """Estimates, metric by metric, within a metric AQM by AQM."""
        return [
            MetricEstimate(metric, aqm, self._estimate(metric, aqm))
            for metric in self.metrics
            for aqm in self.aqms
        ]

    @cached_property
    def tests(self) -> list[PairedDifference]:
        """Paired differences against the first AQM, in the order of `cells`."""
        pairs = [(metric, aqm) for metric in self.metrics for aqm in self.aqms[1:]]
        tests = [self._test(metric, aqm) for metric, aqm in pairs]
        adjusted = holm([test.p_value for test in tests])
        return [
            PairedDifference(metric, aqm, self.baseline, test, p)
            for (metric, aqm), test, p in zip(pairs, tests, adjusted, strict=True)
        ]

    def table(self) -> pa.Table:
        """Estimates in long form, SI units.

        Columns: metric, label, unit, aqm, mean, low, high (ends of the 95 % interval), n.
        """
        import pyarrow as pa

        return pa.Table.from_pylist([estimate_record(row) for row in self.cells])

    def differences(self) -> pa.Table:
        """Paired differences against the first AQM in long form, SI units.

        Columns: metric, label, unit, aqm, baseline, difference, low, high (unadjusted 95 %
        interval), n (pairs), p_value, p_adjusted (Holm), verdict.
        """
        import pyarrow as pa

        return pa.Table.from_pylist([difference_record(test) for test in self.tests])


def run_folder(contender: str, seed: int) -> Path:
    """Where a run is saved below the output folder: a partition of one dataset (Hive's layout)."""
    return Path("runs") / f"contender={quote(contender, safe='@,')}" / f"replica={seed}"


def estimate_record(row: MetricEstimate) -> dict[str, Any]:
    """A row of `ComparedRuns.table`."""
    metric, e = row.metric, row.estimate
    return {
        "metric": metric.key, "label": metric.label, "unit": metric.unit, "aqm": row.aqm,
        "mean": e.mean, "low": e.low, "high": e.high, "n": e.n,
    }  # fmt: skip


def difference_record(row: PairedDifference) -> dict[str, Any]:
    """A row of `ComparedRuns.differences`."""
    metric, d = row.metric, row.test.difference
    return {
        "metric": metric.key, "label": metric.label, "unit": metric.unit, "aqm": row.aqm,
        "baseline": row.baseline, "difference": d.mean, "low": d.low, "high": d.high, "n": d.n,
        "p_value": row.test.p_value, "p_adjusted": row.p_adjusted, "verdict": row.verdict,
    }  # fmt: skip
