"""Sends runs to workers in batches of measured cost; sets aside runs that kill workers.

A batch that fails because its worker died is repeated, because another batch of the same pool may
have been the cause. After a second death, its runs are executed one by one, with nothing else
running, to identify the run that kills workers; a run that does so `ALONE` times is set aside.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field

from sojourn import ending
from sojourn.errors import InputError
from sojourn.study import executors
from sojourn.study.batch import Batch, BatchOutcome, BatchRun, work
from sojourn.study.executors import Workers

BATCH_S = 2.0
ALONE = 2
_IN_FLIGHT = 2  # batches per worker: one runs, one is queued
_LARGEST = 5000
_LOOK_EVERY_S = 0.2

Work = Callable[[Batch], BatchOutcome]


@dataclass
class Costs:
    """The measured cost of runs.

    Attributes:
        runs: number of executed runs.
        busy_s: time of all workers in batches.
        memory_bytes: the largest resident size of a worker.
        by_point: mean seconds of a run by point.
    """

    runs: int = 0
    busy_s: float = 0.0
    memory_bytes: int = 0
    by_point: dict[int, float] = field(default_factory=dict)

    def note(self, batch: Batch, outcome: BatchOutcome) -> None:
        """Take a batch into account."""
        self.runs += len(batch.runs)
        self.busy_s += outcome.busy_s
        self.memory_bytes = max(self.memory_bytes, outcome.memory_bytes)
        for run in batch.runs:
            self.by_point[run.point] = outcome.busy_s / len(batch.runs)

    def of(self, run: BatchRun) -> float | None:
        """Expected seconds of a run; None before anything was measured."""
        if run.point in self.by_point:
            return self.by_point[run.point]
        return self.busy_s / self.runs if self.runs else None


@dataclass(frozen=True)
class _Sent:
    """A batch, the number of times its worker died, and its executor."""

    batch: Batch
    deaths: int
    executor: Executor | None = None


class Dispatcher:
    """Sends runs to workers.

    Args:
        workers: the workers.
        store: address of the study's store.
        simulator: the version that workers must have.
        finish: called in this thread with every batch and its outcome.
        set_aside: called with a failed run and the reason.
        work: executes a batch.
        keeps: whether workers stay for the next call of `run`, until `close`.
    """

    def __init__(
        self,
        workers: Workers,
        store: str,
        simulator: str,
        *,
        finish: Callable[[Batch, BatchOutcome], None],
        set_aside: Callable[[BatchRun, str], None],
        work: Work = work,
        keeps: bool = False,
    ) -> None:
        self._workers = workers
        self._store, self._simulator = store, simulator
        self._finish, self._set_aside, self._work = finish, set_aside, work
        self._keeps = keeps
        self.costs = Costs()
        self._executor: Executor | None = None
        self._flying: dict[Future[BatchOutcome], _Sent] = {}
        self._again: deque[_Sent] = deque()
        self._alone: deque[_Sent] = deque()

    def run(self, runs: Iterable[BatchRun]) -> None:
        """Execute all runs; return when each is in the store or set aside.

        Raises:
            OSError: the store cannot be written, or the disk is full; finished runs are kept.
            InputError: a worker has another version.
        """
        waiting = iter(runs)
        try:
            with ending.before_end(self._kill):
                while self._fill(waiting):
                    done, _ = wait(self._flying, timeout=_LOOK_EVERY_S, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._take(future)
        except KeyboardInterrupt:
            self._kill()
            self.close()
            raise
        except BaseException:
            self.close()
            raise
        if not self._keeps:
            self.close()

    def _kill(self) -> None:
        """End workers in their batches, which may take minutes.

        The file of a batch is in the store completely or not at all.
        """
        if self._executor is not None:
            executors.kill(self._executor)

    def _fill(self, waiting: Iterator[BatchRun]) -> bool:
        """Send batches while allowed; return whether any is in progress."""
        while len(self._flying) < _IN_FLIGHT * self._workers.count:
            if self._again:
                self._send(self._again.popleft())
            elif runs := self._cut(waiting):
                self._send(_Sent(self._batch(runs), 0))
            else:
                break
        if not self._flying and self._alone:
            self._send(self._alone.popleft())
        return bool(self._flying)

    def _cut(self, waiting: Iterator[BatchRun]) -> list[BatchRun]:
        """Runs of about `BATCH_S` in total; a single one while costs are unknown."""
        runs: list[BatchRun] = []
        cost_s = 0.0
        if self._alone:
            return runs
        for run in waiting:
            runs.append(run)
            cost = self.costs.of(run)
            cost_s += BATCH_S if cost is None else cost
            if cost_s >= BATCH_S or len(runs) >= _LARGEST:
                break
        return runs

    def _batch(self, runs: Iterable[BatchRun]) -> Batch:
        return Batch(self._store, tuple(runs), self._simulator)

    def _send(self, sent: _Sent) -> None:
        if self._executor is None:
            self._executor = self._workers.make()
        executor = self._executor
        try:
            future = executor.submit(self._work, sent.batch)
            self._flying[future] = _Sent(sent.batch, sent.deaths, executor)
        except BrokenExecutor:
            # A worker died since the last check, not because of this batch.
            self._renew(executor)
            self._again.appendleft(sent)

    def _take(self, future: Future[BatchOutcome]) -> None:
        sent = self._flying.pop(future)
        error = future.exception()
        if error is None:
            outcome = future.result()
            if outcome.unwritable is not None:
                number, reason = outcome.unwritable
                raise OSError(number, f"{reason}; make room, then resume", sent.batch.store)
            self.costs.note(sent.batch, outcome)
            self._finish(sent.batch, outcome)
            return
        if isinstance(error, InputError):
            raise error
        if isinstance(error, BrokenExecutor):
            self._renew(sent.executor)
        self._suspect(_Sent(sent.batch, sent.deaths + 1), error)

    def _suspect(self, sent: _Sent, error: BaseException) -> None:
        runs = sent.batch.runs
        if len(runs) > 1 and sent.deaths >= 2:
            self._alone.extend(_Sent(self._batch([run]), 0) for run in runs)
        elif len(runs) == 1 and sent.deaths >= 1 + ALONE:
            self._set_aside(runs[0], f"its worker died {sent.deaths} times: {_reason(error)}")
        elif len(runs) == 1 and sent.deaths >= 2:
            self._alone.append(sent)
        else:
            self._again.append(sent)

    def _renew(self, broken: Executor | None) -> None:
        """Abandon an executor whose workers died; its other batches report the same."""
        if broken is not None and broken is self._executor:
            broken.shutdown(wait=False)
            self._executor = None

    def close(self) -> None:
        """End the workers; batches that have not started are dropped."""
        for future in self._flying:
            future.cancel()
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
        self._executor = None
        self._flying.clear()


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".split("\n", 1)[0]
