"""The runs of items; those not in the store are simulated in parallel, each once."""

from __future__ import annotations

import contextlib
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sojourn import _core
from sojourn.engines import registry
from sojourn.engines.registry import EngineSelection
from sojourn.errors import InputError, RunFailed, ScenarioError
from sojourn.reproduce.case_run import CaseRun
from sojourn.reproduce.edits import load_edited
from sojourn.reproduce.extract import FORMAT, RECORDS, Arrays, packed, packets_of, unpack
from sojourn.reproduce.paper import Case, Item, Profile
from sojourn.reproduce.pool import Pool
from sojourn.reproduce.spread import spread
from sojourn.running.replicas import Progress, Task, run_each
from sojourn.running.result import Result
from sojourn.running.store import Store
from sojourn.study.executors import Workers


@dataclass(frozen=True)
class Plan:
    """The runs of one item.

    Attributes:
        item: the item.
        cases: runs by the case's key, one per seed.
    """

    item: Item
    cases: dict[str, list[CaseRun]]

    @property
    def seeds(self) -> int:
        """The number of seeds of every case."""
        return min((len(runs) for runs in self.cases.values()), default=0)

    def runs(self) -> list[CaseRun]:
        """All runs of the item."""
        return [run for runs in self.cases.values() for run in runs]


@dataclass(frozen=True)
class Tally:
    """Counts of runs.

    Attributes:
        made: runs simulated now.
        cached: runs found in the store.
        simulated_s: simulated seconds of the runs simulated now.
        packets: packets through the queues of the runs simulated now.
    """

    made: int
    cached: int
    simulated_s: float
    packets: int


def plan_item(
    paper: str,
    item: Item,
    profile: Profile,
    seeds: int | None,
    store: Store,
    engine: EngineSelection = registry.DEFAULT,
) -> Plan:
    """The runs of an item.

    Args:
        paper: key of its paper, for labels.
        item: the item to run.
        profile: quick or full.
        seeds: seeds per case; the item's number by default.
        store: the store of finished runs.
        engine: the engine of the runs.
    """
    depends_on = engine.digest()
    count = seeds or getattr(item.seeds, profile)
    cases = {}
    all_cases = item.all_cases(profile)
    for key, first in scenarios(paper, item, profile).items():
        case = all_cases[key]
        cases[key] = [
            CaseRun(f"{paper} {item.id} {key}, seed {seed}", scenario, case.keep, path, engine)
            for seed in range(1, count + 1)
            for scenario in [first.with_seed(seed)]
            for parts in [(str(FORMAT), *case.keep, *scenario.law_sources)]
            for path in [store.path(scenario, parts, depends_on, "npz")]
        ]
    return Plan(item, cases)


def scenarios(paper: str, item: Item, profile: Profile) -> dict[str, _core.Scenario]:
    """The scenarios of all cases and variants of an item, by key; their seeds do not count.

    Raises:
        InputError: a variant that a reader asks for is not legal.
    """
    where = f"reproduce {paper}:{item.id}"
    cases = item.all_cases(profile)
    return {key: _recording(where, item, key, case) for key, case in cases.items()}


def _recording(where: str, item: Item, key: str, case: Case) -> _core.Scenario:
    """The case's scenario, which records only what is kept."""
    wanted = {RECORDS[name] for name in case.keep if name in RECORDS}
    tables = sorted(set(RECORDS.values()))
    sets = [(f"record.{table}", str(table in wanted).lower()) for table in tables]
    try:
        return load_edited(case.scenario, case.edits, sets)
    except (ScenarioError, InputError) as error:
        variant, _, plain = key.partition(".")
        if variant not in item.asked():
            raise
        raise InputError(
            f"{where}, case {plain}: {error}; --cases GLOB changes only some"
        ) from None


def make(
    runs: Iterable[CaseRun],
    store: Store,
    *,
    jobs: int | None,
    progress: Progress | None,
    workers: Workers | None = None,
) -> Tally:
    """Simulate what is not in the store yet; shared runs are executed once.

    Args:
        runs: the wanted runs.
        store: the store for finished and new runs.
        jobs: concurrent runs, in threads; the number of cores by default.
        progress: receives the progress of the runs.
        workers: those of a study, instead of threads.

    Raises:
        InputError: the store cannot be written.
        Interrupted: Ctrl-C; runs that were complete are in the store.
        RunFailed: a run ended in an error that the user did not cause.
        OSError: the disk is full.
    """
    wanted = {run.path: run for run in runs}
    missing = [run for run in wanted.values() if not run.path.exists()]
    # The longest run first, so that no single core is busy with it at the end.
    missing.sort(key=lambda run: -run.scenario.duration_s)
    packets = 0
    if missing:
        store.check()
    if missing and workers is not None:
        spread(missing, store, workers, progress)
        packets = sum(packets_of(_kept(run, store)) for run in missing)
    elif missing:
        packets = _simulate(missing, store, jobs, progress)
    simulated_s = sum(run.scenario.duration_s for run in missing)
    return Tally(len(missing), len(wanted) - len(missing), simulated_s, packets)


def pool(plan: Plan, store: Store) -> dict[str, Pool]:
    """The replicas of every case, read from the store; damaged ones are repeated."""
    return {
        key: Pool([_kept(run, store) for run in runs], json.loads(runs[0].scenario.resolved_json()))
        for key, runs in plan.cases.items()
    }


def _simulate(
    runs: Sequence[CaseRun], store: Store, jobs: int | None, progress: Progress | None
) -> int:
    def keep(index: int, result: Result) -> int:
        run = runs[index]
        store.write(run.path, packed(result, run.keep))
        return int(result.manifest["packets"])

    tasks = [Task(run.label, run.scenario, run.engine) for run in runs]
    packets = run_each(tasks, keep, jobs=jobs, progress=progress)
    failures = [outcome for outcome in packets if isinstance(outcome, str)]
    if failures:
        raise RunFailed(f"{len(failures)} of {len(runs)}; the first: {failures[0]}")
    return sum(count for count in packets if isinstance(count, int))


def _kept(run: CaseRun, store: Store) -> Arrays:
    content = store.read(run.path)
    if content is not None:
        with contextlib.suppress(ValueError, OSError, zipfile.BadZipFile):
            return unpack(content)
        store.discard(run.path)
    _simulate([run], store, 1, None)
    content = store.read(run.path)
    assert content is not None, "what was just written can be read"
    return unpack(content)
