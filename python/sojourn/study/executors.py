"""Executors of batches: processes of this machine, Dask, or any of `concurrent.futures`."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from sojourn.describing.arguments import optional
from sojourn.describing.formatting import counted
from sojourn.errors import InputError
from sojourn.running.replicas import default_jobs

# Classes of dask-jobqueue by the name of the batch system.
QUEUES = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "sge": "SGECluster", "lsf": "LSFCluster"}
_CONNECT_S = 20.0
_GONE_S = 0.05
_LOOPBACK = "127.0.0.1"
_EXTRA = "pip install 'sojourn[cluster]'"


@dataclass(frozen=True)
class Workers:
    """Something that runs batches.

    Attributes:
        make: creates the executor; called again when its workers have died.
        count: number of concurrent batches.
        close: ends what `make` does not own, such as a cluster.
        dashboard: address of a page about the workers; may be empty.
    """

    make: Callable[[], Executor]
    count: int
    close: Callable[[], None] = lambda: None
    dashboard: str = ""


def processes(jobs: int | None = None) -> Workers:
    """Processes of this machine.

    Args:
        jobs: number of processes; one per core by default.

    Raises:
        InputError: the number is not positive.
    """
    count = optional("jobs", jobs) or default_jobs()
    # A new interpreter inherits no threads, open files or locks of this process.
    context = multiprocessing.get_context("spawn")
    return Workers(
        lambda: ProcessPoolExecutor(count, mp_context=context, initializer=_begin_worker), count
    )


def kill(executor: Executor) -> None:
    """Kill processes of this machine in the middle of their batches; other workers continue."""
    if isinstance(executor, ProcessPoolExecutor):
        # `kill_workers` does this from Python 3.14 on.
        running: dict[int, multiprocessing.Process] = getattr(executor, "_processes", None) or {}
        workers = list(running.values())
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join(_GONE_S)


def given(executor: Executor, count: int | None = None) -> Workers:
    """An executor that the caller owns.

    Args:
        executor: anything with the interface of `concurrent.futures`.
        count: number of concurrent batches; by default the size of a pool of the standard library,
            else one per core.
    """
    return Workers(
        lambda: _Lent(executor), count or getattr(executor, "_max_workers", 0) or default_jobs()
    )


def chosen(executor: Executor | Workers | None, jobs: int | None) -> Workers:
    """The workers of a call: as given, from an executor, or processes of this machine.

    Raises:
        InputError: the number of processes is not positive.
    """
    if isinstance(executor, Workers):
        return executor
    return processes(jobs) if executor is None else given(executor)


def cluster(
    where: str, workers: int | None = None, options: Mapping[str, Any] | None = None
) -> Workers:
    """Dask: a cluster that is started for the study, or one that runs already.

    Args:
        where: ``local``, ``slurm``, ``pbs``, ``sge``, ``lsf``, or the address of a scheduler such
            as ``tcp://host:8786``.
        workers: number of workers to start, or to wait for; one per core by default.
        options: arguments of the class of that batch system, such as ``queue`` and ``memory``.

    Raises:
        InputError: Dask is not installed, the word is unknown, or the cluster does not answer.
    """
    distributed = _module("distributed")
    # Dask gives up a batch after its worker has died three times; we then set the batch aside.
    if where == "local":
        # Without an address Dask binds to every interface, also for its dashboards.
        usual = {
            "threads_per_worker": 1,
            "n_workers": workers or default_jobs(),
            "host": _LOOPBACK,
            "dashboard_address": f"{_LOOPBACK}:0",
            "worker_dashboard_address": f"{_LOOPBACK}:0",
        }
        made = _started(distributed.LocalCluster, where, {**usual, **(options or {})})
    elif where in QUEUES:
        made = _started(getattr(_module("dask_jobqueue"), QUEUES[where]), where, options or {})
        made.scale(jobs=workers or 1)
    elif "://" in where:
        made = None
    else:
        raise InputError(
            f"cluster: `{where}` is not one of local, {', '.join(QUEUES)}, nor an address such as "
            "tcp://host:8786"
        )
    client = _connect(distributed, where, made)
    try:
        client.wait_for_workers(workers or 1, timeout=_CONNECT_S)
    except TimeoutError as error:
        raise InputError(
            f"cluster {where}: has not {counted(workers or 1, 'worker')} after {_CONNECT_S:g} s; "
            "is its queue full?"
        ) from error

    def close() -> None:
        client.close()
        if made is not None:
            made.close()

    count = max(1, sum(client.nthreads().values()))
    return Workers(
        lambda: _Lent(client.get_executor(pure=False)), count, close, client.dashboard_link
    )


def _started(kind: Callable[..., Any], where: str, options: Mapping[str, Any]) -> Any:
    """A cluster of one of Dask's classes, which checks its own arguments."""
    try:
        return kind(**options)
    except (TypeError, ValueError, RuntimeError) as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        raise InputError(
            f"cluster {where}: does not start: {cause}; is a --cluster-option wrong?"
        ) from error


def _connect(distributed: Any, where: str, made: Any) -> Any:
    try:
        return distributed.Client(made or where, timeout=_CONNECT_S)
    except (OSError, TimeoutError) as error:
        raise InputError(
            f"cluster {where}: does not answer within {_CONNECT_S:g} s; is the scheduler running, "
            "and can this machine reach it?"
        ) from error


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"cluster: needs {name}, which is not installed; {_EXTRA}") from error


class _Lent(Executor):
    """An executor that is ended elsewhere."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing: running batches complete by themselves."""


def _begin_worker() -> None:
    """Ctrl-C is left to the client; a worker ends with its client, even if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "workers are children"
    parent.join()
    os._exit(1)
