"""Running the same scenarios on two engines."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn import _core
from sojourn.agreement.cells import Agreement, ScenarioPair
from sojourn.engines.registry import EngineSelection
from sojourn.errors import InputError, RunFailed
from sojourn.running.replicas import Progress, Task, run_all
from sojourn.running.result import Result
from sojourn.running.store import DEFAULT_STORE, Store


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
    if len(on) != 2:
        raise InputError("--engines: an agreement is between two, such as sim,linux")
    runs = [
        (scenario.with_seed(scenario.seed + seed), engine)
        for scenario in scenarios
        for engine in on
        for seed in range(seeds)
    ]
    tasks = [Task(f"{s.name} on {e.name}, seed {s.seed}", s, e) for s, e in runs]
    outcomes = iter(run_all(tasks, jobs=jobs, progress=progress, store=store))
    pairs = []
    for scenario in scenarios:
        both = [[_whole(next(outcomes)) for _ in range(seeds)] for _ in on]
        pairs += [ScenarioPair(scenario, link, (both[0], both[1])) for link in scenario.links]
    return Agreement((on[0].name, on[1].name), seeds, pairs)


def _whole(outcome: Result | str) -> Result:
    if isinstance(outcome, str):
        raise RunFailed(outcome)
    return outcome
