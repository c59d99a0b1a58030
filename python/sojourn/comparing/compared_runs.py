"""Results of several AQMs under the same seeds: estimates per metric, paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from sojourn import _core
from sojourn.comparing import shaping
from sojourn.comparing.between_engines import EngineAgreement
from sojourn.comparing.centres import (
    estimate_about,
    estimate_of,
    mean_of,
    operands_of,
    rounding,
)
from sojourn.comparing.equivalence import is_equivalent, margin
from sojourn.comparing.looks import Looks
from sojourn.comparing.medians import median_estimate, sign_test
from sojourn.comparing.metrics import ABOVE, Metric, select
from sojourn.comparing.own_metrics import OwnMetric, value_of
from sojourn.comparing.pairing import correlation
from sojourn.comparing.records import difference_record, estimate_record
from sojourn.comparing.rows import MetricEstimate, PairedDifference
from sojourn.comparing.runs_table import runs_table
from sojourn.comparing.statistics import Estimate, PairedTest, holm, paired
from sojourn.describing.metrics import OWN
from sojourn.running.result import Result
from sojourn.tabular import Columns, Tabular, arrow

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.comparing.stopping import StoppingRule


class ComparedRuns(Tabular):
    """Results of several AQMs on one link under the same seeds.

    Attributes:
        scenario: the scenario; its AQM on `link` is replaced by each of `aqms`.
        link: the link whose AQM is compared.
        aqms: AQMs in their text form; the first is the baseline of all differences.
        seeds: the seeds, the same for every AQM.
        results: per AQM one result per seed; None where a run failed, or was skipped because the
            AQM had stopped.
        failures: one sentence per failed run.
        references: keyed by the name of a contender: the same AQM on the last engine, the
            reference; empty if AQMs are compared.
        own_metrics: custom metrics, shown after the others.
        until: why there are no more seeds; None if their number was fixed.
    """

    def __init__(
        self,
        scenario: _core.Scenario,
        link: str,
        seeds: Sequence[int],
        results: Mapping[str, Sequence[Result | None]],
        failures: Sequence[str] = (),
        references: Mapping[str, str] | None = None,
        own_metrics: Sequence[OwnMetric] = (),
        until: StoppingRule | None = None,
    ) -> None:
        self.scenario = scenario
        self.link = link
        self.aqms = list(results)
        self.seeds = list(seeds)
        self.results = dict(results)
        self.failures = list(failures)
        self.references = dict(references or {})
        self.own_metrics = list(own_metrics)
        self.until = until
        self.looks = until.looks if until else Looks()
        self._own_values: dict[tuple[str, str], list[float]] = {}

    def to_arrow(self) -> pa.Table:
        """One row per run and metric that the comparison shows.

        Returns:
            Columns ``aqm`` (the contender, with its engine if several are compared), ``seed``,
            ``scope``, ``name``, ``metric``, ``value`` in SI units, and ``unit``. Missing values are
            null; a failed run has no rows.
        """
        return self._content().to_arrow()

    def _content(self) -> Columns:
        return runs_table(self)

    @property
    def baseline(self) -> str:
        """The first AQM, which the others are compared with."""
        return self.aqms[0]

    def of(self, aqm: str) -> list[Result]:
        """The results of an AQM, without failed runs."""
        return [result for result in self.results[aqm] if result is not None]

    @property
    def invalid(self) -> list[str]:
        """The reasons why runs were not valid experiments, one sentence each."""
        return [
            f"{aqm}, seed {result.manifest['seed']}: {reason}"
            for aqm in self.aqms
            for result in self.of(aqm)
            for reason in result.invalid
        ]

    def values(self, metric: Metric, aqm: str) -> list[float]:
        """A metric of an AQM, one value per seed.

        NaN if it does not exist, infinite if only a lower bound is known (`bounds`).
        """
        if metric.scope == OWN:
            return self._values_of_own(metric.metric, aqm)
        bounds = self.bounds(metric, aqm)
        return [
            r.summary.get(metric.key, math.nan if math.isnan(bound) else math.inf) if r else bound
            for r, bound in zip(self.results[aqm], bounds, strict=True)
        ]

    def bounds(self, metric: Metric, aqm: str) -> list[float]:
        """Lower bound of a metric per seed, where the value is unknown; else NaN."""
        key = metric.key + ABOVE
        return [r.summary.get(key, math.nan) if r else math.nan for r in self.results[aqm]]

    def _values_of_own(self, name: str, aqm: str) -> list[float]:
        if (name, aqm) not in self._own_values:
            results = self.results[aqm]
            self._own_values[name, aqm] = [value_of(self.own_metrics, name, r) for r in results]
        return self._own_values[name, aqm]

    @cached_property
    def fixed(self) -> list[str]:
        """AQMs whose runs are the same for every seed, because they involve no randomness.

        Their runs are not replicas, so there is one value without an interval.
        """

        def rows(aqm: str) -> list[list[tuple[str, str, str, float, str]]]:
            return [result.summary_rows for result in self.of(aqm)]

        return [
            aqm
            for aqm in self.aqms
            if len(rows(aqm)) > 1 and all(other == rows(aqm)[0] for other in rows(aqm))
        ]

    def baseline_of(self, aqm: str) -> str:
        """The reference of a contender: the first AQM, or the same AQM on the last engine."""
        return self.references.get(aqm, self.baseline)

    def _test(self, metric: Metric, aqm: str, against: str) -> PairedTest:
        differences = self._differences(metric, aqm, against)
        confidence = self.looks.confidence
        if aqm in self.fixed and against in self.fixed:
            differences = differences[:1]
        unknown = any(map(math.isinf, differences))
        if unknown or (metric.centre == "median" and not metric.is_headline):
            p_value = self.looks.p_value(sign_test(differences))
            return PairedTest(median_estimate(differences, confidence), p_value)
        raw = self.values(metric, aqm) + self.values(metric, against)
        error = rounding(raw, 2 * operands_of(metric.row))
        found = paired(differences, [0.0] * len(differences), error, confidence)
        return PairedTest(found.difference, self.looks.p_value(found.p_value))

    def _differences(self, metric: Metric, aqm: str, against: str) -> list[float]:
        """Value minus baseline, seed by seed: infinite if only its sign is known, NaN if unknown.

        An unknown value is larger than any value up to its lower bound.
        """
        columns = (
            self.values(metric, aqm), self.bounds(metric, aqm),
            self.values(metric, against), self.bounds(metric, against),
        )  # fmt: skip
        return [
            math.inf if bound >= base else -math.inf if base_bound >= value else _less(value, base)
            for value, bound, base, base_bound in zip(*columns, strict=True)
        ]

    def paired_with(self, metric: Metric, aqm: str, against: str, tests: int) -> PairedDifference:
        """A difference from an AQM other than the first, with Bonferroni's correction."""
        test = self._test(metric, aqm, against)
        return self._difference(metric, aqm, against, test, tests * test.p_value)

    def _difference(
        self, metric: Metric, aqm: str, against: str, test: PairedTest, p_adjusted: float
    ) -> PairedDifference:
        values, baseline = self.values(metric, aqm), self.values(metric, against)
        reference = self.estimate(metric, against)
        allowed = margin(metric, reference.mean)
        differences = self._differences(metric, aqm, against)
        is_same = is_equivalent(differences, allowed, self.looks.one_sided)
        agreement = None
        if self.references:
            agreement = EngineAgreement.of(metric, self.estimate(metric, aqm), reference)
        return PairedDifference(
            metric, aqm, against, test, p_adjusted, allowed,
            not math.isnan(p_adjusted) and is_same, correlation(values, baseline),
            agreement,
        )  # fmt: skip

    def estimate(self, metric: Metric, aqm: str) -> Estimate:
        """A metric of an AQM over its seeds."""
        values = self._replicas(metric, aqm)
        # Engines are compared by means, as `sojourn agree` does, with half-widths of a difference.
        if self.references:
            return estimate_about("mean", values, operands_of(metric.row))
        return estimate_of(metric.row, values, self.looks.confidence)

    def _shown(self, metric: Metric, aqm: str) -> Estimate:
        """As `estimate`; between engines, too, the interval of a share lies within 0 to 1."""
        if self.references:
            return mean_of(metric.row, self._replicas(metric, aqm))
        return self.estimate(metric, aqm)

    def _replicas(self, metric: Metric, aqm: str) -> list[float]:
        """The values, of which those of an AQM in `fixed` count once."""
        values = self.values(metric, aqm)
        return values[:1] if aqm in self.fixed else values

    @cached_property
    def _all_metrics(self) -> list[Metric]:
        rows = {row[:3]: row for aqm in self.aqms for r in self.of(aqm) for row in r.summary_rows}
        found = select(rows.values(), self.link) + [own.on(self.link) for own in self.own_metrics]
        return shaping.family(found) if self.shaped else found

    @cached_property
    def shaped(self) -> dict[str, str]:
        """The rates to which AQMs shape, by contender, if these rates differ (see `shaping`)."""
        return {} if self.references else shaping.rates(self.results, self.link)

    @cached_property
    def zero_metrics(self) -> list[Metric]:
        """Metrics that are zero in every run, which are neither shown nor tested."""
        return [
            metric
            for metric in self._all_metrics
            if not any(
                value
                for aqm in self.aqms
                for value, run in zip(self.values(metric, aqm), self.results[aqm], strict=True)
                if run is not None
            )
        ]

    @cached_property
    def metrics(self) -> list[Metric]:
        """The metrics shown and tested, in the order of display."""
        return [metric for metric in self._all_metrics if metric not in self.zero_metrics]

    @cached_property
    def cells(self) -> list[MetricEstimate]:
        """Estimates, by metric, then by AQM."""
        return [
            MetricEstimate(metric, aqm, self._shown(metric, aqm), *self._unknown(metric, aqm))
            for metric in self.metrics
            for aqm in self.aqms
        ]

    def _unknown(self, metric: Metric, aqm: str) -> tuple[int, float]:
        """The number of seeds with only a bound, and the lower bound of the median over seeds."""
        bounds = self.bounds(metric, aqm)
        unknown = sum(not math.isnan(bound) for bound in bounds)
        if not unknown:
            return 0, math.nan
        values = self.values(metric, aqm)
        known = [v if math.isnan(b) else b for v, b in zip(values, bounds, strict=True)]
        return unknown, median_estimate(known).mean

    @cached_property
    def tests(self) -> list[PairedDifference]:
        """Paired differences against the first AQM, in the order of `cells`.

        Between engines, each AQM is compared with itself on the last engine.
        """
        tested = list(self.references) or self.aqms[1:]
        pairs = [(metric, aqm) for metric in self.metrics for aqm in tested]
        tests = [self._test(metric, aqm, self.baseline_of(aqm)) for metric, aqm in pairs]
        adjusted = holm([
            test.p_value if metric.is_headline else math.nan
            for (metric, _), test in zip(pairs, tests, strict=True)
        ])  # fmt: skip
        return [
            self._difference(metric, aqm, self.baseline_of(aqm), test, p)
            for (metric, aqm), test, p in zip(pairs, tests, adjusted, strict=True)
        ]

    def table(self) -> pa.Table:
        """Estimates in long form, SI units.

        Columns: metric, label, unit, aqm, mean (or the median, see centre), centre, low, high (ends
        of the 95 % interval), n, unknown (seeds with a lower bound only), above (lower bound of the
        median, if there are such seeds).
        """
        return arrow().Table.from_pylist([estimate_record(row) for row in self.cells])

    def differences(self) -> pa.Table:
        """Paired differences against the first AQM in long form, SI units.

        Columns: metric, label, unit, aqm, baseline, difference, low, high (unadjusted 95 %
        interval), n (pairs), p_value, family (``headline`` or ``exploratory``), p_adjusted (Holm,
        headline only), margin, equivalent, correlation, tolerance and agrees (between engines),
        verdict.
        """
        return arrow().Table.from_pylist([difference_record(test) for test in self.tests])


def _less(value: float, base: float) -> float:
    """The difference of two known values; NaN if one is missing or unknown."""
    return value - base if math.isfinite(value) and math.isfinite(base) else math.nan


def run_folder(contender: str, seed: int) -> Path:
    """The folder of a run below the output folder: a partition of one dataset (Hive's layout)."""
    return Path("runs") / f"contender={quote(contender, safe='@,')}" / f"replica={seed}"
