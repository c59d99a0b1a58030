"""The work of a worker: executes some runs and writes their summaries into the store.

A batch is plain data, so any executor can send it to any machine.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _core, platforms, reading
from sojourn.describing.library import set_pairs
from sojourn.engines import registry
from sojourn.errors import ControlError, InputError, LawError, RunFailed, ScenarioError
from sojourn.running.memory import bounded
from sojourn.running.result import RunLike
from sojourn.running.store import Store, default_folder, simulator
from sojourn.study.endpoints import EndpointLibrary, with_libraries
from sojourn.study.folder import open_folder
from sojourn.study.laws import LawFile, split, with_queues
from sojourn.study.points import PointScenario
from sojourn.study.storage import StudyStore, schema

if TYPE_CHECKING:
    import pyarrow as pa

NOT_MADE = (ScenarioError, ControlError, LawError, RunFailed, InputError, MemoryError)
"""Errors that fail one run of a batch only."""


@dataclass(frozen=True)
class BaseScenario:
    """The base scenario as text, because a worker may not have the file.

    Attributes:
        text: the content.
        format: ``toml`` or ``json``.
        origin: its name for messages.
        folder: base of relative trace paths; workers need access to them.
    """

    text: str
    format: str
    origin: str
    folder: str

    @functools.lru_cache(maxsize=8)  # noqa: B019 - the seeds of a point follow each other
    def load(
        self,
        sets: tuple[tuple[str, str], ...],
        queues: tuple[tuple[str, str], ...] = (),
        laws: tuple[LawFile, ...] = (),
        endpoints: tuple[EndpointLibrary, ...] = (),
    ) -> _core.Scenario:
        """The scenario with some keys set, custom laws in some queues, and these libraries."""
        scenario = _core.Scenario.load(
            self.text, format=self.format, origin=self.origin, folder=self.folder, sets=list(sets)
        )
        return with_libraries(with_queues(scenario, queues, laws), endpoints)


def read_base(path: Path, origin: str) -> BaseScenario:
    """A scenario file as text.

    Args:
        path: the file.
        origin: its name for messages.
    """
    kind = "json" if path.suffix == ".json" else "toml"
    folder = str(path.parent.absolute())
    return BaseScenario(reading.text(path, "scenario"), kind, origin, folder)


@dataclass(frozen=True)
class BatchRun:
    """One run to execute.

    Attributes:
        address: its name in the store.
        base: the base scenario; the runs of a batch share it.
        sets: dotted keys and TOML values over the base scenario.
        seed: its seed.
        engine: the engine.
        point: index of its point.
        queues: keyed by link: the text of a queue that has a custom law.
        laws: these laws; the worker needs access to their files.
        endpoints: transport libraries of its flows, likewise.
    """

    address: str
    base: BaseScenario
    sets: tuple[tuple[str, str], ...]
    seed: int
    engine: str
    point: int
    queues: tuple[tuple[str, str], ...] = ()
    laws: tuple[LawFile, ...] = ()
    endpoints: tuple[EndpointLibrary, ...] = ()


def run_of(
    place: PointScenario, base: BaseScenario, seed: int, index: int | None = None
) -> BatchRun:
    """The run of a point under a seed.

    Args:
        place: the point.
        base: the base scenario.
        seed: the seed.
        index: index of the point among those of a search; the point's index by default.
    """
    point = place.point
    sets, queues = split(point.sets, point.laws)
    return BatchRun(
        place.address(seed), base, tuple(set_pairs(sets)), seed, point.engine,
        point.index if index is None else index, queues, point.laws if queues else (),
        point.endpoints,
    )  # fmt: skip


@dataclass(frozen=True)
class Batch:
    """Some runs for one worker.

    Attributes:
        store: address of the study's store.
        runs: the runs.
        simulator: the client's version; the worker must have the same.
    """

    store: str
    runs: tuple[BatchRun, ...]
    simulator: str


@dataclass(frozen=True)
class BatchOutcome:
    """The outcome of a batch.

    Attributes:
        made: runs that are in the store now.
        failed: reason by run, of failed runs.
        busy_s: wall-clock time.
        memory_bytes: largest resident size of the worker so far.
        units: unit of every metric in the first executed run, keyed by metric, such as
            ``queue/bottleneck/delay_p95``.
        unwritable: (errno, reason) if the store could not be written; then no run is executed.
    """

    made: tuple[str, ...]
    failed: dict[str, str]
    busy_s: float
    memory_bytes: int
    units: Mapping[str, str] = field(default_factory=dict)
    unwritable: tuple[int, str] | None = None


def work(batch: Batch) -> BatchOutcome:
    """Execute the runs of a batch.

    Raises:
        InputError: this worker has another version of Sojourn than the client.
    """
    check_simulator(batch)
    began = time.perf_counter()
    store, rows, failed = Store(default_folder()), _Rows(), dict[str, str]()
    for run in batch.runs:
        try:
            rows.add(run, *_made(run, store))
        except NOT_MADE as error:
            failed[run.address] = f"{type(error).__name__}: {error}"
    unwritable = None
    if len(failed) < len(batch.runs):
        try:
            StudyStore(open_folder(batch.store)).write(rows.table())
        except OSError as error:
            unwritable = error.errno or 0, error.strerror or str(error)
    made = tuple(run.address for run in batch.runs if run.address not in failed)
    took_s = time.perf_counter() - began
    return BatchOutcome(
        made if unwritable is None else (), failed, took_s, platforms.peak_memory_bytes(),
        rows.units, unwritable,
    )  # fmt: skip


def check_simulator(batch: Batch) -> None:
    """Refuse a batch of another version of Sojourn.

    Raises:
        InputError: this worker has another version than the client.
    """
    if batch.simulator != simulator():
        raise InputError(
            f"a worker has Sojourn {simulator()}, the client {batch.simulator}; install one version"
        )


class _Rows:
    """Tables ``summary`` of the runs of a batch as one, with the columns of the store.

    A table for each run would take 5 % of the time of a short run.
    """

    def __init__(self) -> None:
        self.units: dict[str, str] = {}
        self._columns: dict[str, list[Any]] = {name: [] for name in schema().names}

    def add(self, run: BatchRun, made: RunLike, wall_s: float) -> None:
        rows = made.summary()
        self.units = self.units or {
            "/".join(filter(None, key)): unit for *key, _, unit in rows
        }  # fmt: skip
        of_run = (run.address, run.seed, run.engine, simulator(), made.digest, wall_s)
        repeated = ([value] * len(rows) for value in of_run)
        for column, values in zip(
            self._columns.values(), (*repeated, *zip(*rows, strict=True)), strict=True
        ):
            column.extend(values)

    def table(self) -> pa.Table:
        import pyarrow as pa

        return pa.table(self._columns, schema=schema())


def _made(run: BatchRun, store: Store) -> tuple[RunLike, float]:
    """A run that `compare` or `reproduce` has stored, or a new one; and its duration."""
    path = store.entry(run.address, "run")
    kept = store.run(path) if path.exists() else None
    if kept is not None:
        return kept, 0.0
    began = time.perf_counter()
    scenario = run.base.load(run.sets, run.queues, run.laws, run.endpoints)
    made = _engine(run.engine).run(scenario.with_seed(run.seed), bounded())
    if made.invalid:
        raise RunFailed(f"not a valid experiment: {'; '.join(made.invalid)}")
    return made, time.perf_counter() - began


@functools.cache
def _engine(name: str) -> registry.EngineSelection:
    (engine,) = registry.select([name], {})
    return engine
