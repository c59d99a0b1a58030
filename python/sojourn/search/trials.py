"""The runs of a search, executed and stored like those of a study.

`tune` and `attack` request points step by step. A point that was requested before, also by an
earlier call with the same store, is not run again; because samplers draw from a seed, an
interrupted search continues where it stopped.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from sojourn import _core
from sojourn.comparing.metrics import ABOVE
from sojourn.describing.library import find, set_pairs
from sojourn.engines import registry
from sojourn.errors import InputError
from sojourn.running.replicas import Progress, Silent
from sojourn.running.store import simulator, warn
from sojourn.study import executors
from sojourn.study.batch import BaseScenario, Batch, BatchOutcome, BatchRun, read_base, run_of
from sojourn.study.dispatch import Dispatcher
from sojourn.study.executors import Workers
from sojourn.study.folder import open_folder
from sojourn.study.grid import StudyPoint
from sojourn.study.laws import LawFile, split
from sojourn.study.points import PointScenario
from sojourn.study.storage import StudyStore

Numbers = Mapping[str, float]
"""The summary of a run: value by key, such as ``queue/bottleneck/delay_p95``."""


class SearchScenario:
    """A base scenario in which a search sets keys.

    Args:
        source: file or shipped name.
        sets: dotted keys and values that hold for every point.
        folder: base of relative paths.
        laws: custom laws that queues may have.

    Raises:
        InputError: the scenario does not exist.
    """

    def __init__(
        self, source: str, sets: Mapping[str, object], folder: Path, laws: tuple[LawFile, ...] = ()
    ) -> None:
        sibling = Path(folder) / source
        path = find(sibling if sibling.is_file() else source)
        self.name = source + "".join(f" {key}={value}" for key, value in sets.items())
        self.path = path
        self.sets = dict(sets)
        self.laws = laws
        self.base: BaseScenario = read_base(path, source)

    def point(self, sets: Mapping[str, object]) -> PointScenario:
        """The scenario with further keys set.

        Raises:
            InputError: the scenario refuses a value.
        """
        every = self.sets | dict(sets)
        point = StudyPoint(0, {}, every, registry.NAMES[0], self.laws)
        plain, queues = split(every, self.laws)
        try:
            loaded = self.base.load(tuple(set_pairs(plain)), queues, self.laws if queues else ())
            return PointScenario.of(point, loaded)
        except _core.ScenarioError as error:
            raise InputError(f"{self.name}: {error}") from error

    def without(self, groups: Collection[str]) -> SearchScenario:
        """The scenario without some groups of flows."""
        document = json.loads(self.point({}).scenario.document_json())
        document["flows"] = [each for each in document["flows"] if each["name"] not in groups]
        made = copy.copy(self)
        made.sets = {}
        made.base = replace(self.base, text=json.dumps(document), format="json")
        return made


@dataclass(frozen=True)
class Wish:
    """Runs of one point.

    Attributes:
        place: the base scenario.
        point: the point.
        seeds: the wanted seeds.
    """

    place: SearchScenario
    point: PointScenario
    seeds: tuple[int, ...]


class Search(Protocol):
    """What `tune` and `attack` have in common."""

    @property
    def name(self) -> str:
        """The name of the search."""

    @property
    def document(self) -> Mapping[str, Any]:
        """The search as written."""

    @property
    def laws(self) -> Sequence[LawFile]:
        """Custom laws among its AQMs."""


@contextmanager
def opened(
    search: Search, store: str, executor: Executor | Workers | None, jobs: int | None,
    progress: Progress | None, report: Callable[[str], None],
) -> Iterator[Trials]:  # fmt: skip
    """The runs of a search on these workers; both end with the block.

    Args:
        search: the search.
        store: folder, or any address that fsspec reads.
        executor: executes the runs; processes of this machine by default.
        jobs: number of these processes; one per core by default.
        progress: receives the progress of each call.
        report: called with a sentence about every damaged file.

    Raises:
        InputError: the store has runs of another version of Sojourn.
        OSError: the store cannot be written.
    """
    facts: dict[str, Any] = {"search": search.name, "document": dict(search.document)}
    if search.laws:
        facts["laws"] = [vars(law) for law in search.laws]
    workers = executors.chosen(executor, jobs)
    with closing(workers), closing(Trials(store, facts, workers, progress, report)) as trials:
        yield trials


def report_doubts(name: str, scenario: _core.Scenario, report: Callable[[str], None]) -> None:
    """Report what makes a scenario a doubtful experiment."""
    for text in scenario.warnings:
        report(f"{name}: {text}")


class Trials:
    """The runs of a search.

    Args:
        store: folder, or any address that fsspec reads.
        search: description of the search in its store: name and document.
        workers: execute the runs.
        progress: receives the progress of each call.
        report: called with a sentence about every damaged file.

    Raises:
        InputError: the store has runs of another version of Sojourn.
        OSError: the store cannot be written.
    """

    def __init__(
        self, store: str, search: Mapping[str, Any], workers: Workers,
        progress: Progress | None = None, report: Callable[[str], None] = warn,
    ) -> None:  # fmt: skip
        self.store = StudyStore(open_folder(store), report)
        self.store.begin(dict(search))
        self._dispatcher = Dispatcher(
            workers, self.store.folder.address, simulator(),
            finish=self._finish, set_aside=self._set_aside, keeps=True,
        )  # fmt: skip
        self._durations_s: list[float] = []
        self._done, self._simulated_s = 0, 0.0
        self._progress = progress or Silent()
        self._numbers: dict[str, dict[str, float]] = {}
        self._files: set[str] = set()
        self.failed: dict[str, str] = {}
        """Reason by run, of failed runs."""
        self.made = 0
        """Number of runs that were executed, not found in the store."""
        self._read()

    def numbers(self, wishes: Sequence[Wish]) -> list[list[Numbers]]:
        """The summaries of the runs of each request, by its seeds; empty for a failed run."""
        runs = {
            address: run_of(wish.point, wish.place.base, seed, index)
            for index, wish in enumerate(wishes)
            for seed in wish.seeds
            for address in [wish.point.address(seed)]
            if address not in self._numbers and address not in self.failed
        }  # fmt: skip
        if runs:
            self._make(list(runs.values()), wishes)
        return [
            [self._numbers.get(wish.point.address(seed), {}) for seed in wish.seeds]
            for wish in wishes
        ]

    def close(self) -> None:
        """End the workers and move their results into the table of the store."""
        self._dispatcher.close()
        if self.store.fragments():
            self.store.compact()

    def _make(self, runs: Sequence[BatchRun], wishes: Sequence[Wish]) -> None:
        self._durations_s = [wish.point.scenario.duration_s for wish in wishes]
        self._done, self._simulated_s = 0, 0.0
        # The cost of a point of an earlier call does not apply to the point with that index now.
        self._dispatcher.costs.by_point.clear()
        self._progress.start(len(runs), math.fsum(map(self._duration_s, runs)))
        try:
            self._dispatcher.run(runs)
        finally:
            self._progress.stop()
        self._read()

    def _duration_s(self, run: BatchRun) -> float:
        return self._durations_s[run.point]

    def _finish(self, batch: Batch, outcome: BatchOutcome) -> None:
        self._done += len(batch.runs)
        self._simulated_s += math.fsum(map(self._duration_s, batch.runs))
        self.failed |= outcome.failed
        self.made += len(outcome.made)
        self._progress.update(self._done, self._simulated_s)

    def _set_aside(self, run: BatchRun, reason: str) -> None:
        self.failed[run.address] = reason

    def _read(self) -> None:
        """Read new entries of the store."""
        columns = ["run", "scope", "name", "metric", "value"]
        for rows in self.store.tables(columns, self._files):
            for run, scope, name, metric, value in zip(
                *(rows[column].to_pylist() for column in columns), strict=True
            ):
                key = "/".join(filter(None, (scope, name, metric)))
                found = self._numbers.setdefault(run, {})
                found[key] = value
                if key.endswith(ABOVE) and not math.isnan(value):
                    found.setdefault(key.removesuffix(ABOVE), math.inf)
