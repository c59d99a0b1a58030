"""Running the same scenarios on two engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sojourn import _core
from sojourn.agreement.cells import Agreement, ScenarioPair
from sojourn.engines.registry import EngineSelection
from sojourn.errors import InputError, RunFailed
from sojourn.running.replicas import Progress, Task, run_all
from sojourn.running.store import DEFAULT_STORE, Store

T = TypeVar("T")


def agree(
    scenarios: Sequence[_core.Scenario],
    on: Sequence[EngineSelection],
    *,
    seeds: int = 3,
    jobs: int | None = None,
    progress: Progress | None = None,
    store: Store | None = DEFAULT_STORE,
) -> Agreement:
    """Run scenarios on two engines.

    Args:
        scenarios: the scenarios.
        on: two engines; the second is the reference.
        seeds: how many seeds, counting up from each scenario's own.
        jobs: runs at a time; the number of cores by default.
        progress: receives how far the runs are.
        store: where runs that were made before are found, and new ones kept; None to make all.

    Raises:
        InputError: there are not two engines.
        ScenarioError: an engine cannot do what a scenario asks for.
        RunFailed: a run did not come to its end.
        Interrupted: Ctrl-C.
    """
    tasks = both(scenarios, on, seeds)
    found = paired(run_all(tasks, jobs=jobs, progress=progress, store=store), seeds)
    pairs = [
        ScenarioPair(scenario, link, results)
        for scenario, results in zip(scenarios, found, strict=True)
        for link in scenario.links
    ]
    return Agreement((on[0].name, on[1].name), seeds, pairs)


def both(
    scenarios: Sequence[_core.Scenario], on: Sequence[EngineSelection], seeds: int
) -> list[Task]:
    """The runs of every scenario on both engines, in the order that `paired` expects.

    Raises:
        InputError: there are not two engines.
    """
    if len(on) != 2:
        raise InputError("--engines: an agreement is between two, such as sim,linux")
    runs = [
        (scenario.with_seed(scenario.seed + seed), engine)
        for scenario in scenarios
        for engine in on
        for seed in range(seeds)
    ]
    return [Task(f"{s.name} on {e.name}, seed {s.seed}", s, e) for s, e in runs]


def paired(outcomes: Sequence[T | str], seeds: int) -> list[tuple[list[T], list[T]]]:
    """For every scenario the outcomes by seed on the first engine, and on the second.

    Raises:
        RunFailed: a run did not come to its end.
    """
    whole = [_whole(outcome) for outcome in outcomes]
    starts = range(0, len(whole), 2 * seeds)
    return [(whole[at : at + seeds], whole[at + seeds : at + 2 * seeds]) for at in starts]


def _whole(outcome: T | str) -> T:
    if isinstance(outcome, str):
        raise RunFailed(outcome)
    return outcome
