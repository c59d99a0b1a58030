"""Runs a study: executes missing runs until every point has enough seeds."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from sojourn import ending
from sojourn.comparing.metrics import ABOVE
from sojourn.describing.metrics import TABLE
from sojourn.errors import InputError
from sojourn.running import memory
from sojourn.running.replicas import Progress, Silent
from sojourn.running.store import simulator, warn
from sojourn.study import executors
from sojourn.study.batch import BaseScenario, Batch, BatchOutcome, BatchRun, read_base, run_of
from sojourn.study.definition import Study
from sojourn.study.dispatch import Dispatcher
from sojourn.study.executors import Workers
from sojourn.study.exporting import encoded
from sojourn.study.folder import open_folder
from sojourn.study.keys import near
from sojourn.study.points import resolve
from sojourn.study.results import Results
from sojourn.study.storage import StudyStore

_COMPACT_AT = 256
"""Number of fragments that trigger compaction while the study runs."""

RUNS = "runs.parquet"
"""In the store of a finished study: table ``runs``, with the axes of each run."""
_LISTED_BYTES = 750.0
"""Memory of a run when the study ends: its address and metrics (measured with 30,000)."""


@dataclass(frozen=True)
class StudyPart:
    """One of several shares of a study's points, for arrays of jobs without a scheduler.

    Attributes:
        number: its number, from 1.
        of: number of shares.
    """

    number: int = 1
    of: int = 1

    def has(self, index: int) -> bool:
        """Whether a point belongs to this share."""
        return index % self.of == self.number - 1


def parse_part(text: str) -> StudyPart:
    """Read ``3/8``.

    Raises:
        InputError: it is not of that form, or the number is outside.
    """
    number, slash, of = text.partition("/")
    if not slash or not number.isdigit() or not of.isdigit() or not 1 <= int(number) <= int(of):
        raise InputError(f"--part {text}: write K/N with K from 1 to N, such as 3/8")
    return StudyPart(int(number), int(of))


def run_study(
    study: Study,
    store: str | Path,
    *,
    executor: Executor | Workers | None = None,
    jobs: int | None = None,
    part: StudyPart | None = None,
    progress: Progress | None = None,
    report: Callable[[str], None] = warn,
) -> Results:
    """Execute the runs of a study that its store lacks.

    Args:
        study: the study.
        store: folder, or any address that fsspec reads.
        executor: executes the runs; processes of this machine by default.
        jobs: number of these processes; one per core by default.
        part: only these points, and no compaction; for arrays of jobs.
        progress: receives the progress of the runs.
        report: called with a sentence about every damaged file of the store.

    Raises:
        InputError: a point is not a legal scenario, or the store or a worker is of another
            version.
        OSError: the store cannot be written, or the disk is full; finished runs are kept.
        KeyboardInterrupt: Ctrl-C; finished runs are kept, and another call continues.
    """
    kept = StudyStore(open_folder(store), report)
    found = resolve(study)
    least = study.until.looks[0] if study.until else study.seeds
    memory.check_listed("seeds", len(found) * least, _LISTED_BYTES)
    kept.begin(describe(study))
    kept.folder.remove(RUNS)
    results = Results(study, kept, found)
    workers = executors.chosen(executor, jobs)
    mine = [index for index in range(len(found)) if part is None or part.has(index)]
    try:
        with ending.before_end(kept.folder.remove_leftovers):
            _Session(results, workers, progress or Silent(), part is None).run(mine)
    except KeyboardInterrupt:
        kept.folder.remove_leftovers()
        raise
    finally:
        workers.close()
    return results


def describe(study: Study) -> dict[str, Any]:
    """The study's record in the store, so it can be resumed without the study's file."""
    facts = {"study": dict(study.document), "folder": str(study.folder.absolute())}
    brought = {"laws": study.laws, "endpoints": study.endpoints}
    return facts | {key: [vars(each) for each in code] for key, code in brought.items() if code}


def base_scenario(study: Study) -> BaseScenario:
    """The base scenario as text."""
    return read_base(study.source, study.scenario)


def check_metrics(study: Study, units: Mapping[str, str]) -> None:
    """Refuse metrics that no run has, and a stopping rule whose unit is not the metric's.

    Args:
        study: the study whose metrics are checked.
        units: unit of every metric of the study's runs, keyed by metric.

    Raises:
        InputError: a metric or the rule is refused.
    """
    for metric in study.metrics:
        if metric not in units and metric + ABOVE not in units:
            owner, _, name = metric.rpartition("/")
            if name in TABLE and any(key.rpartition("/")[0] == owner for key in units):
                raise InputError(
                    f"metrics: the first run and the last one have no value of `{metric}`; look at "
                    f"what {owner} carries there, or leave {name} out"
                )
            raise InputError(
                f"metrics: the scenario has no `{metric}`{near(metric, sorted(units))}"
            )
    if study.until is not None:
        study.until.check_unit(units.get(study.until.metric, ""))


class _Missing(Sequence[tuple[int, int]]):
    """Runs to be made, each as two numbers: index of the point, and seed."""

    def __init__(self) -> None:
        self._places, self._seeds = array("Q"), array("Q")

    def append(self, place: int, seed: int) -> None:
        self._places.append(place)
        self._seeds.append(seed)

    def put_last_second(self) -> None:
        for numbers in (self._places, self._seeds):
            if len(numbers) > 2:
                numbers.insert(1, numbers.pop())

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[int, int]]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, int] | list[tuple[int, int]]:
        if isinstance(index, slice):
            return list(zip(self._places[index], self._seeds[index], strict=True))
        return self._places[index], self._seeds[index]


class _Session:
    """One call of `run_study`."""

    def __init__(
        self, results: Results, workers: Workers, progress: Progress, may_compact: bool
    ) -> None:
        self._study, self._store, self._results = results.study, results.store, results
        self._points = results.points
        self._progress = progress
        self._may_compact = may_compact
        self._fragments = self._store.fragments()
        self._unchecked: set[str] = set()
        self._units: dict[str, str] = {}
        self._done, self._simulated_s = 0, 0.0
        self._dispatcher = Dispatcher(
            workers, self._store.folder.address, simulator(),
            finish=self._finish, set_aside=self._set_aside,
        )  # fmt: skip

    def run(self, places: Sequence[int]) -> None:
        """Run until none of these points needs more seeds."""
        is_checked = not self._may_compact or self._has_metrics()
        while missing := self._missing(places):
            if not is_checked:
                self._unchecked = {run.address for run in self._runs(missing[:2])}
                is_checked = True
            self._done, self._simulated_s = 0, 0.0
            simulated_s = sum(self._points[place].facts.duration_s for place, _ in missing)
            self._progress.start(len(missing), simulated_s)
            try:
                self._dispatcher.run(self._runs(missing))
            finally:
                self._progress.stop()
        if not is_checked and self._units:  # nothing is known before the first run
            check_metrics(self._study, self._units)
        self._compact(0)
        if self._may_compact:
            self._store.folder.write(RUNS, encoded(self._results.table("runs"), ".parquet"))

    def _has_metrics(self) -> bool:
        """Whether runs in the store have all metrics of the study; records their units."""
        metrics = self._study.metrics
        self._units = self._results.units(metrics)
        if not self._units.keys() >= set(metrics):
            return False
        if self._units:  # of finished runs; all may be set aside
            check_metrics(self._study, self._units)
        return True

    def _missing(self, places: Sequence[int]) -> _Missing:
        """The runs that the store lacks.

        The ends of the axes come first, because they show the cost of runs and the existing
        metrics.
        """
        there = self._store.runs() | self._store.failed().keys()
        wanted = self._results.wanted_seeds()
        found = _Missing()
        for place in places:
            each = self._points[place]
            for seed in range(1, wanted[place] + 1):
                if each.address(seed) not in there:
                    found.append(place, seed)
        found.put_last_second()
        return found

    def _runs(self, missing: Iterable[tuple[int, int]]) -> Iterator[BatchRun]:
        """The runs, each made when a batch takes it."""
        base = base_scenario(self._study)
        return (run_of(self._points[place], base, seed) for place, seed in missing)

    def _finish(self, batch: Batch, outcome: BatchOutcome) -> None:
        if self._unchecked:
            self._check_metrics(batch.runs, outcome.units)
        for run in batch.runs:
            self._done += 1
            self._simulated_s += self._points[run.point].facts.duration_s
            if run.address in outcome.failed:
                self._set_aside(run, outcome.failed[run.address])
        self._progress.update(self._done, self._simulated_s)
        self._fragments += 1
        self._compact(_COMPACT_AT)

    def _check_metrics(self, runs: Sequence[BatchRun], units: Mapping[str, str]) -> None:
        """Call `check_metrics` once the first and the last run are finished.

        Either may lack a metric; Jain's index, for example, needs two flows. Metrics of runs
        in the store count too.
        """
        self._unchecked -= {run.address for run in runs}
        self._units.update(units)
        if self._units and not self._unchecked:
            check_metrics(self._study, self._units)

    def _compact(self, least: int) -> None:
        if self._may_compact and self._fragments > least:
            self._store.compact()
            self._fragments = 0

    def _set_aside(self, run: BatchRun, reason: str) -> None:
        each = self._points[run.point]
        self._store.set_aside(
            run.address,
            {"reason": reason, "point": dict(each.point.values), "seed": run.seed,
             "engine": run.engine, "scenario": each.scenario.with_seed(run.seed).document_json()},
        )  # fmt: skip
