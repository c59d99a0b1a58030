"""Running the wide grid on two engines, and its cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn import _core
from sojourn.agreement import measures, wide
from sojourn.agreement.cells import CellAgreement
from sojourn.agreement.covering import Cell
from sojourn.comparing.statistics import estimate
from sojourn.engines.registry import EngineSelection
from sojourn.errors import InputError, RunFailed
from sojourn.running.replicas import Progress, Task, run_each
from sojourn.running.result import Result
from sojourn.running.store import DEFAULT_STORE, Store


@dataclass(frozen=True)
class Measured:
    """What is kept of one run.

    Attributes:
        values: by ``scope/name/metric``, in SI units.
        invalid: why it is no valid experiment.
    """

    values: Mapping[str, float]
    invalid: Sequence[str]


@dataclass(frozen=True)
class Compared:
    """A cell of the design on both engines.

    Attributes:
        levels: its level of every factor.
        cells: its metrics.
        unknown: metrics that not every run has, so that they are not compared.
        invalid: why runs of it were no valid experiments.
    """

    levels: Cell
    cells: list[CellAgreement]
    unknown: list[str]
    invalid: list[str]


@dataclass(frozen=True)
class WideAgreement:
    """The wide grid on two engines.

    Attributes:
        names: the engines; the second is the reference.
        seeds: how many seeds each cell is a mean of.
        compared: the cells of the design.
    """

    names: tuple[str, str]
    seeds: int
    compared: list[Compared]

    @property
    def cells(self) -> list[CellAgreement]:
        """All metrics of all cells."""
        return [cell for compared in self.compared for cell in compared.cells]


def agree(
    on: Sequence[EngineSelection],
    *,
    seeds: int,
    jobs: int | None = None,
    progress: Progress | None = None,
    store: Store | None = DEFAULT_STORE,
) -> WideAgreement:
    """Run the wide grid on two engines; runs that the store has are not made again.

    Args:
        on: two engines; the second is the reference.
        seeds: how many seeds, counting up from 1.
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
    scenarios = wide.scenarios()
    tasks = [
        _task(scenario.with_seed(scenario.seed + seed), engine)
        for scenario in scenarios
        for engine in on
        for seed in range(seeds)
    ]
    outcomes = iter(run_each(tasks, _measured, jobs=jobs, progress=progress, store=store))
    compared = []
    for levels, scenario in zip(wide.cells(), scenarios, strict=True):
        both = [[_whole(next(outcomes)) for _ in range(seeds)] for _ in on]
        compared.append(compare(scenario.name, levels, (both[0], both[1])))
    return WideAgreement((on[0].name, on[1].name), seeds, compared)


def compare(
    name: str, levels: Cell, runs: tuple[Sequence[Measured], Sequence[Measured]]
) -> Compared:
    """One cell of the design, from the runs on both engines."""
    both = [run for engine in runs for run in engine]
    metrics = list(dict.fromkeys(metric for run in both for metric in run.values))
    known = [metric for metric in metrics if all(metric in run.values for run in both)]
    # What happens on neither engine, such as marks without ECN, is no agreement.
    happens = [metric for metric in known if any(run.values[metric] for run in both)]
    invalid = [reason for run in both for reason in run.invalid]
    return Compared(
        levels,
        [_cell(name, metric, runs) for metric in happens],
        [metric for metric in metrics if metric not in known],
        list(dict.fromkeys(invalid)),
    )


def _cell(
    name: str, metric: str, runs: tuple[Sequence[Measured], Sequence[Measured]]
) -> CellAgreement:
    first, second = (estimate([run.values[metric] for run in engine]) for engine in runs)
    noise = math.hypot(first.half_width, second.half_width)
    return CellAgreement(name, metric, (first.mean, second.mean), noise)


def _task(scenario: _core.Scenario, engine: EngineSelection) -> Task:
    return Task(f"{scenario.name} on {engine.name}, seed {scenario.seed}", scenario, engine)


def _measured(_place: int, result: Result) -> Measured:
    return Measured(measures.values(result), result.invalid)


def _whole(outcome: Measured | str) -> Measured:
    if isinstance(outcome, str):
        raise RunFailed(outcome)
    return outcome
