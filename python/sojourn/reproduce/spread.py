"""Runs of reproductions by the workers of a study: its executors, batches and retries.

Workers write the kept results of a run into the same store as threads of this process, so they need
access to it: on this machine, or on a shared file system.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from sojourn import platforms
from sojourn.engines import registry
from sojourn.errors import InputError, RunFailed
from sojourn.reproduce.case_run import CaseRun
from sojourn.reproduce.extract import packed
from sojourn.running.memory import bounded
from sojourn.running.replicas import Progress, Silent
from sojourn.running.result import Result
from sojourn.running.store import Store, simulator
from sojourn.study.batch import (
    NOT_MADE,
    BaseScenario,
    Batch,
    BatchOutcome,
    BatchRun,
    check_simulator,
)
from sojourn.study.dispatch import Dispatcher
from sojourn.study.executors import Workers


@dataclass(frozen=True)
class CaseWork:
    """The work of a batch.

    Attributes:
        keeps: names of the kept results, by the run's address.
    """

    keeps: Mapping[str, tuple[str, ...]]

    def __call__(self, batch: Batch) -> BatchOutcome:
        """Execute the runs of a batch and write their kept results.

        Raises:
            InputError: this worker has another version of Sojourn than the client.
        """
        check_simulator(batch)
        began = time.perf_counter()
        store, made, failed = Store(Path(batch.store)), list[str](), dict[str, str]()
        for run in batch.runs:
            try:
                content = self._content(run)
                store.write(store.entry(run.address, "npz"), content)
                made.append(run.address)
            except NOT_MADE as error:
                failed[run.address] = f"{type(error).__name__}: {error}"
            except OSError as error:
                reason = error.errno or 0, error.strerror or str(error)
                return BatchOutcome(
                    (), failed, 0.0, platforms.peak_memory_bytes(), unwritable=reason
                )
        took_s = time.perf_counter() - began
        return BatchOutcome(tuple(made), failed, took_s, platforms.peak_memory_bytes())

    def _content(self, run: BatchRun) -> bytes:
        (engine,) = registry.select([run.engine], {})
        result = Result(engine.run(run.base.load(run.sets).with_seed(run.seed), bounded()))
        return packed(result, self.keeps[run.address])


def spread(
    runs: Sequence[CaseRun], store: Store, workers: Workers, progress: Progress | None
) -> None:
    """Execute runs on workers; each is in the store afterwards.

    Args:
        runs: runs of the simulator, each path once.
        store: the store that keeps them.
        workers: they execute the runs, and end here.
        progress: receives the progress of the runs.

    Raises:
        InputError: a run is of another engine, or a worker of another version.
        RunFailed: a run could not be made; the others are in the store.
        OSError: the store cannot be written.
    """
    if any(run.engine.name != registry.NAMES[0] for run in runs):
        raise InputError("cluster: workers run the simulator only; leave out --engine or --cluster")
    batches = [_batch_run(i, run) for i, run in enumerate(runs)]
    meter = progress or Silent()
    done = _Done(runs, meter)
    with closing(workers):
        dispatcher = Dispatcher(
            workers, str(store.folder.parent), simulator(), finish=done.finish,
            set_aside=done.set_aside,
            work=CaseWork({run.path.stem: run.keep for run in runs}),
        )  # fmt: skip
        meter.start(len(runs), sum(run.scenario.duration_s for run in runs))
        try:
            dispatcher.run(batches)
        finally:
            meter.stop()
    if done.failed:
        first = next(iter(done.failed.values()))
        raise RunFailed(f"{len(done.failed)} of {len(runs)}; the first: {first}")


@dataclass
class _Done:
    """The progress of the runs."""

    runs: Sequence[CaseRun]
    progress: Progress
    failed: dict[str, str] = field(default_factory=dict)
    count: int = 0
    simulated_s: float = 0.0

    def finish(self, batch: Batch, outcome: BatchOutcome) -> None:
        for run in batch.runs:
            self.count += 1
            self.simulated_s += self.runs[run.point].scenario.duration_s
            if run.address in outcome.failed:
                self.set_aside(run, outcome.failed[run.address])
        self.progress.update(self.count, self.simulated_s)

    def set_aside(self, run: BatchRun, reason: str) -> None:
        self.failed[run.address] = f"{self.runs[run.point].label}: {reason}"


def _batch_run(index: int, run: CaseRun) -> BatchRun:
    base = BaseScenario(run.scenario.document_json(), "json", run.label, str(Path.cwd()))
    return BatchRun(run.path.stem, base, (), run.scenario.seed, run.engine.name, index)
