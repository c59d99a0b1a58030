"""Running the same scenarios on two engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sojourn import _core
from sojourn.agreement.cells import Agreement, ScenarioPair
from sojourn.describing.arguments import in_order, optional, whole
from sojourn.describing.library import ScenarioLike, load
from sojourn.engines import registry
from sojourn.engines.registry import EngineLike, EngineSelection
from sojourn.errors import InputError, RunFailed
from sojourn.running.replicas import Progress, Task, run_all
from sojourn.running.store import DEFAULT_STORE, Store

ENGINES = ("sim", "linux")
"""The engines that are compared by default."""

T = TypeVar("T")


def agree(
    scenarios: ScenarioLike | Sequence[ScenarioLike],
    engine: EngineLike = ENGINES,
    *,
    seeds: int = 3,
    jobs: int | None = None,
    progress: Progress | None = None,
    store: Store | None = DEFAULT_STORE,
    **engine_options: Any,
) -> Agreement:
    """Run scenarios on two engines.

    Args:
        scenarios: one or several: files, shipped names, `sojourn.scenario.Scenario` or loaded
            scenarios.
        engine: two engines, such as ``"sim,linux"``; the second is the reference.
        seeds: number of seeds, counting up from each scenario's own.
        jobs: concurrent runs; the number of cores by default.
        progress: receives the progress of the runs.
        store: the store for earlier and new runs; None to run everything.
        **engine_options: options of the engines, as in `sojourn.run`.

    Raises:
        InputError: other than two engines, no scenario or no valid number of seeds is given.
        ScenarioError: an engine cannot do what a scenario asks for.
        RunFailed: a run failed.
        Interrupted: Ctrl-C.
    """
    on = select_two(engine, engine_options)
    seeds, jobs = whole("seeds", seeds, 1), optional("jobs", jobs)
    loaded = [load(each) for each in _listed(scenarios)]
    tasks = tasks_on_both(loaded, on, seeds)
    found = paired(run_all(tasks, jobs=jobs, progress=progress, store=store), seeds)
    pairs = [
        ScenarioPair(scenario, link, results)
        for scenario, results in zip(loaded, found, strict=True)
        for link in scenario.links
    ]
    return Agreement((on[0].name, on[1].name), seeds, pairs)


def _listed(scenarios: ScenarioLike | Sequence[ScenarioLike]) -> list[ScenarioLike]:
    if isinstance(scenarios, str | Path | _core.Scenario) or hasattr(scenarios, "to_toml"):
        return [scenarios]
    listed = in_order("scenarios", scenarios, 'give files or names, as in ["traffic-mix"]')
    if not listed:
        raise InputError("scenarios: is an empty list; give at least one file or name")
    return listed


def select_two(engine: EngineLike, engine_options: Mapping[str, Any]) -> list[EngineSelection]:
    """The two engines of an agreement; also raises the errors of `registry.select`.

    Raises:
        InputError: fewer than two engines are given.
    """
    found = registry.select(engine, engine_options)
    if len(found) != 2:
        raise InputError("engine: an agreement is between two, such as sim,linux")
    return found


def tasks_on_both(
    scenarios: Sequence[_core.Scenario], on: Sequence[EngineSelection], seeds: int
) -> list[Task]:
    """The runs of every scenario on both engines, in the order that `paired` expects."""
    runs = [
        (scenario.with_seed(scenario.seed + seed), engine)
        for scenario in scenarios
        for engine in on
        for seed in range(seeds)
    ]
    return [Task(f"{s.name} on {e.name}, seed {s.seed}", s, e) for s, e in runs]


def paired(outcomes: Sequence[T | str], seeds: int) -> list[tuple[list[T], list[T]]]:
    """For every scenario the outcomes by seed on the first engine, then on the second.

    Raises:
        RunFailed: a run failed.
    """
    whole = [_whole(outcome) for outcome in outcomes]
    starts = range(0, len(whole), 2 * seeds)
    return [(whole[at : at + seeds], whole[at + seeds : at + 2 * seeds]) for at in starts]


def _whole(outcome: T | str) -> T:
    if isinstance(outcome, str):
        raise RunFailed(outcome)
    return outcome
