"""Concurrent runs: one per CPU core, in threads, because the compiled core releases the GIL.

What a run computes does not depend on the others, so results are the same for any number of jobs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from sojourn import _core, ending
from sojourn.control import CustomControl
from sojourn.describing.arguments import optional
from sojourn.engines import registry
from sojourn.engines.registry import EngineSelection
from sojourn.errors import (
    AppError,
    Cancelled,
    ControlError,
    InputError,
    Interrupted,
    LawError,
    ScenarioError,
)
from sojourn.running.labels import labels
from sojourn.running.memory import bounded
from sojourn.running.result import Result, RunLike
from sojourn.running.store import Store

_LOOK_EVERY_S = 0.1
_OF_USERS = (
    ScenarioError, ControlError, AppError, LawError, InputError, OSError, MemoryError, Cancelled,
)  # fmt: skip

T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """One run; the label is for people: ``pie, seed 3``.

    Attributes:
        label: names the run.
        scenario: the scenario.
        engine: the engine.
        controls: congestion controls written in Python.
        link: the link whose AQM the columns of saved tables name; see `sojourn.running.labels`.
        aqm: that AQM as the user wrote it.
    """

    label: str
    scenario: _core.Scenario
    engine: EngineSelection = registry.DEFAULT
    controls: tuple[CustomControl, ...] = ()
    link: str | None = None
    aqm: str | None = None


class Progress(Protocol):
    """Receives the progress of the runs."""

    def start(self, runs: int, simulated_s: float) -> None:
        """Called before the first of `runs` runs, `simulated_s` seconds in total."""

    def update(self, runs: int, simulated_s: float) -> None:
        """Called when `runs` runs are complete and `simulated_s` seconds simulated."""

    def stop(self) -> None:
        """Stop making runs; called in any case."""


class Silent:
    """Discards progress."""

    def start(self, runs: int, simulated_s: float) -> None:
        """Do nothing."""

    def update(self, runs: int, simulated_s: float) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""


def run_all(
    tasks: Sequence[Task],
    *,
    jobs: int | None = None,
    finish: Callable[[int, Result], None] = lambda _index, _result: None,
    progress: Progress | None = None,
    store: Store | None = None,
    memory: str | None = None,
) -> list[Result | str]:
    """Run all tasks.

    Args:
        tasks: the runs to make.
        jobs: concurrent runs; the number of cores by default.
        finish: called in the run's thread with the task's index and its result as soon as it is
            complete, for example to save it.
        progress: receives the progress of the runs.
        store: the store for earlier and new runs.
        memory: a size such as ``32GB`` that all runs may take together, instead of what the machine
            has free.

    Returns:
        In the order of the tasks, the result; or a sentence about a failure that the user did not
        cause.

    Raises:
        Interrupted: Ctrl-C; runs that were complete have been passed to `finish`.
        ScenarioError: the simulator refused a scenario.
        ControlError: a congestion control written in Python failed.
        LawError: a law that is not built in failed.
        MemoryError: the runs took more memory than they may.
        OSError: `finish` could not write.
    """

    def whole(index: int, result: Result) -> Result:
        finish(index, result)
        return result

    return run_each(tasks, whole, jobs=jobs, progress=progress, store=store, memory=memory)


def run_each(
    tasks: Sequence[Task],
    work: Callable[[int, Result], T],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    memory: str | None = None,
    timed: Callable[[int, float], None] = lambda _index, _seconds: None,
) -> list[T | str]:
    """Run all tasks and keep only what `work` returns for each, if all results would not fit.

    Args:
        tasks: the runs to make.
        work: called in the run's thread with the task's index and its result.
        jobs: see `run_all`.
        progress: see `run_all`.
        store: see `run_all`.
        memory: see `run_all`.
        timed: called in the run's thread with the task's index and the seconds that it took.

    Returns:
        In the order of the tasks, what `work` returned; or a sentence about a failure.

    Raises:
        Interrupted, MemoryError, ScenarioError, OSError: as `run_all`.
    """
    progress = progress or Silent()
    switch = bounded(memory)
    futures: list[Future[T]] = []
    with ThreadPoolExecutor(_checked(jobs, len(tasks))) as pool:
        # From the first run on, any exit must also stop the runs.
        try:
            progress.start(len(tasks), sum(task.scenario.duration_s for task in tasks))
            for i, task in enumerate(tasks):
                futures.append(pool.submit(_one, i, task, switch, work, store, timed))
            _watch(futures, switch, progress)
        except KeyboardInterrupt:
            switch.cancel()
            ending.expect(Interrupted(_finished(tasks, futures), len(tasks)))
            pool.shutdown(cancel_futures=True)
            raise Interrupted(_finished(tasks, futures), len(tasks)) from None
        except BaseException:
            switch.cancel()
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            progress.stop()
    outcomes: list[T | str] = []
    for task, future in zip(tasks, futures, strict=True):
        outcome = _outcome(task, future)
        outcomes.append(outcome)
    return outcomes


def default_jobs() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _checked(jobs: int | None, tasks: int) -> int:
    return max(1, min(optional("jobs", jobs) or default_jobs(), tasks))


def _one(
    index: int, task: Task, switch: _core.Cancel, work: Callable[[int, Result], T],
    store: Store | None, timed: Callable[[int, float], None],
) -> T:  # fmt: skip
    began = time.monotonic()
    run = _run(task, switch, store)
    own = labels(task.scenario, task.engine.name, task.link, task.aqm)
    worked = work(index, Result(run, own, switch))
    timed(index, time.monotonic() - began)
    return worked


def store_path(task: Task, store: Store | None) -> Path | None:
    """The path at which a run is stored; None if it does not repeat, or runs Python code."""
    sources = [*task.scenario.law_sources, *task.scenario.app_sources]
    in_python = any(source.startswith("python:") for source in sources)
    if store is None or task.controls or in_python or not task.scenario.repeats:
        return None
    identity = task.engine.identity(task.scenario)
    if identity is None:
        return None
    brought = task.scenario.endpoint_sources
    return store.path(task.scenario, brought, engine=f"{task.engine.name} {identity}", kind="run")


def _run(task: Task, switch: _core.Cancel, store: Store | None) -> RunLike:
    """Return a stored run, or execute it."""
    path = store_path(task, store)
    if store is None or path is None:
        return task.engine.run(task.scenario, switch, task.controls)
    kept = store.run(path)
    if kept is not None:
        switch.advance(task.scenario.duration_s)
        return kept
    run = task.engine.run(task.scenario, switch, task.controls)
    store.keep(path, run, switch)
    return run


def _watch(futures: list[Future[T]], switch: _core.Cancel, progress: Progress) -> None:
    """Wait for all; wake up at least every `_LOOK_EVERY_S` so that Ctrl-C takes effect soon."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=_LOOK_EVERY_S, return_when=FIRST_COMPLETED)
        for future in done:
            error = future.exception()
            if isinstance(error, _OF_USERS):
                raise error
        progress.update(len(futures) - len(pending), switch.simulated_s())


def _finished(tasks: Sequence[Task], futures: list[Future[T]]) -> list[str]:
    return [
        task.label
        for task, future in zip(tasks, futures, strict=False)
        if future.done() and not future.cancelled() and future.exception() is None
    ]


def _outcome(task: Task, future: Future[T]) -> T | str:
    error = future.exception()
    if error is None:
        return future.result()
    return f"{task.label}: {type(error).__name__}: {error}"
