"""The results of a study: one row per run, or one per point with intervals over its seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.comparing.centres import estimate_of
from sojourn.comparing.metrics import ABOVE
from sojourn.comparing.statistics import Estimate
from sojourn.describing.formatting import counted
from sojourn.describing.metrics import row_of
from sojourn.errors import InputError
from sojourn.loading.bring import AqmsLike
from sojourn.running.store import warn
from sojourn.study import filters
from sojourn.study.axes import Value
from sojourn.study.definition import Study, parse
from sojourn.study.endpoints import same_endpoints
from sojourn.study.filters import Filter
from sojourn.study.folder import open_folder
from sojourn.study.laws import same_laws
from sojourn.study.points import PointScenario, SomePoints, resolve
from sojourn.study.storage import StudyStore
from sojourn.study.tables import points_table, runs_table, values_table
from sojourn.study.until import Until
from sojourn.tabular import TabularByName

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class PointEstimates:
    """The results of one point.

    Attributes:
        index: its index among the points of the study.
        values: its value by axis.
        seeds: number of stored runs.
        estimates: estimate with its 95 % interval by metric; for the metric of a stopping rule it
            is the rule's interval, which accounts for repeated looks.
    """

    index: int
    values: Mapping[str, Value]
    seeds: int
    estimates: Mapping[str, Estimate]


@dataclass(frozen=True)
class StudyStatus:
    """The progress of a study.

    Attributes:
        points: number of points.
        wanted: runs that it needs as far as known; a stopping rule may need more later.
        made: number of these runs that are in the store.
        failed: number of these runs that were set aside.
        fragments: files that are not compacted yet.
        unmet: points that have all seeds that the stopping rule allows, and do not meet it.
    """

    points: int
    wanted: int
    made: int
    failed: int
    fragments: int
    unmet: int = 0


class Results(TabularByName):
    """The results of a study, read from its store on demand.

    Args:
        study: the study.
        store: its store.
        found: its points with their scenarios; derived from the study by default.
    """

    main_table = "runs"

    def __init__(
        self, study: Study, store: StudyStore, found: Sequence[PointScenario] | None = None
    ) -> None:
        self.study = study
        self.store = store
        self._found = found

    @cached_property
    def points(self) -> Sequence[PointScenario]:
        """The points of the study with their scenarios, in the order of the axes."""
        return self._found if self._found is not None else resolve(self.study)

    def where(self, conditions: Filter) -> Results:
        """The results at some of the points.

        Args:
            conditions: by axis a value, a list of values, or a comparison such as ``"<= 50ms"``; a
                point must meet all of them.

        Raises:
            InputError: an axis or a value does not exist, or no point meets the conditions.
        """
        one = filters.check("where", [conditions], self.study.axes)
        places = [
            place
            for place, each in enumerate(self.points)
            if filters.is_kept(each.point.values, one, [])
        ]
        if not places:
            raise InputError(f"where: none of {counted(len(self.points), 'point')} meets it")
        return Results(self.study, self.store, SomePoints(self.points, places))

    def table(self, name: str) -> pa.Table:
        """A table of the study.

        Axes and metrics that have a unit are numbers in SI units, in columns that end in it:
        ``rtt_s``, ``rate_bps``, ``delay_p95_s``.

        Args:
            name: ``runs`` (one row per stored run, by point and seed), ``points`` (one per point),
                or ``values`` (one per number of a run).

        Returns:
            Columns ``point``, each axis, and

            - of ``runs``: ``seed``, ``run`` (its name in the store), and each metric of the study,
              null if the run has no such value, infinite if only a lower bound is known;
            - of ``points``: ``seeds`` (number of stored runs), and for each metric its mean or
              median over them with the ends of its 95 % interval, ``..._low`` and ``..._high``;
            - of ``values``: ``seed``, ``run``, and ``scope``, ``name``, ``metric``, ``value``,
              ``unit`` as in table ``summary`` of a run.

        Raises:
            KeyError: the table does not exist.
        """
        return {"runs": runs_table, "points": points_table, "values": values_table}[name](self)

    def estimates(self, also: Sequence[str] = ()) -> list[PointEstimates]:
        """Every point with the intervals of its metrics.

        Args:
            also: keys of metrics beyond those of the study.
        """
        metrics = list(dict.fromkeys([*self.study.metrics, *also]))
        numbers = self.numbers(metrics)
        found = []
        for each, wanted in zip(self.points, self.wanted_seeds(), strict=True):
            runs = [run for run in each.addresses(wanted) if run in numbers]
            of = {
                metric: self._estimate(metric, [numbers[r].get(metric, math.nan) for r in runs])
                for metric in metrics
            }
            found.append(PointEstimates(each.point.index, each.point.values, len(runs), of))
        return found

    def units(self, enough: Sequence[str] = ()) -> dict[str, str]:
        """The unit of every metric that a run has, by key, such as ``s``.

        Args:
            enough: once these metrics are found, the rest of the store is not read.
        """
        found: dict[str, str] = {}
        for rows in self.store.tables(["run", "scope", "name", "metric", "unit"]):
            kinds = rows.group_by(["scope", "name", "metric", "unit"]).aggregate([])
            for kind in kinds.to_pylist():
                key = "/".join(filter(None, (kind["scope"], kind["name"], kind["metric"])))
                found[key.removesuffix(ABOVE)] = kind["unit"]
            if enough and found.keys() >= set(enough):
                break
        return found

    def wanted_seeds(self) -> list[int]:
        """The number of seeds that each point needs, as far as known."""
        return self._progress()[0]

    def _progress(self) -> tuple[list[int], int]:
        """The seeds that each point needs, and how many points have all these but miss the rule."""
        rule = self.study.until
        if rule is None:
            return [self.study.seeds] * len(self.points), 0
        values = self._values_of(rule)
        complete = [each for each in values if len(each) == rule.max_seeds]
        unmet = sum(not any(rule.is_met(each[:look]) for look in rule.looks) for each in complete)
        return [rule.wanted(each) for each in values], unmet

    def _values_of(self, rule: Until) -> list[list[float]]:
        """The values of each point for its stopping rule, of seeds 1, 2, ... in order."""
        numbers, failed = self.numbers([rule.metric]), self.store.failed()
        found = []
        for each in self.points:
            values: list[float] = []
            for run in map(each.address, range(1, rule.max_seeds + 1)):
                if run not in numbers and run not in failed:
                    break
                values.append(numbers.get(run, {}).get(rule.metric, math.nan))
            found.append(values)
        return found

    def status(self) -> StudyStatus:
        """The progress of the study."""
        kept, failed = self.store.runs(), self.store.failed()
        seeds_wanted, unmet = self._progress()
        wanted = [
            run
            for each, seeds in zip(self.points, seeds_wanted, strict=True)
            for run in each.addresses(seeds)
        ]
        return StudyStatus(
            len(self.points), len(wanted), sum(run in kept for run in wanted),
            sum(run in failed for run in wanted), self.store.fragments(), unmet,
        )  # fmt: skip

    def _estimate(self, metric: str, values: Sequence[float]) -> Estimate:
        rule = self.study.until
        if rule is not None and metric == rule.metric:
            centre, low, high = rule.interval(values)
            ends = (low, high)
            kind = row_of(metric).centre
            known = [value for value in values if not math.isnan(value)]
            return Estimate(centre, (high - low) / 2.0, len(known), kind, ends)
        return estimate_of(row_of(metric), values)

    def numbers(self, metrics: Sequence[str]) -> dict[str, dict[str, float]]:
        """The values of metrics by run; a run without any of them has an empty table."""
        found: dict[str, dict[str, float]] = {}
        columns = ["run", "scope", "name", "metric", "value"]
        for rows in self.store.tables(columns):
            for run in rows["run"].unique().to_pylist():
                found[run] = {}
            for metric in metrics:
                for run, value in _select(rows, metric + ABOVE):
                    found[run][metric] = math.inf if not math.isnan(value) else value
                for run, value in _select(rows, metric):
                    found[run][metric] = value
        return found


def open_results(
    store: str | Path,
    report: Callable[[str], None] = warn,
    *,
    aqms: AqmsLike | None = None,
    endpoints: Mapping[str, str] | None = None,
) -> Results:
    """The results in a store, for its recorded study.

    Args:
        store: folder or address.
        report: called with a sentence about every damaged file.
        aqms: the custom laws of the study, if any, because a store names no code.
        endpoints: its transport libraries in files, likewise.

    Raises:
        InputError: the store has no study, its scenario no longer exists, or a custom law or
            transport library is not given or has changed.
    """
    kept = StudyStore(open_folder(store), report)
    facts = kept.facts()
    if "study" not in facts:
        raise InputError(f"{store}: holds the runs of a search, `{facts['search']}`, not a study")
    study = parse(facts["study"], Path(facts["folder"]))
    laws = same_laws(facts.get("laws", []), aqms)
    libraries = same_endpoints(facts.get("endpoints", []), endpoints)
    return Results(replace(study, laws=laws, endpoints=libraries), kept)


def _select(rows: pa.Table, key: str) -> list[tuple[str, float]]:
    """Run and value of the rows of one metric."""
    import pyarrow.compute as pc

    scope, _, rest = key.partition("/")
    name, _, metric = rest.rpartition("/")
    mask = pc.and_(
        pc.equal(rows["metric"], metric),
        pc.and_(pc.equal(rows["scope"], scope), pc.equal(rows["name"], name)),
    )
    chosen = rows.filter(mask)
    return list(zip(chosen["run"].to_pylist(), chosen["value"].to_pylist(), strict=True))
