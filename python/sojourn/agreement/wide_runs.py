"""Running a wide grid on two engines, and its cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import TYPE_CHECKING, Any

from sojourn.agreement import measures, wide
from sojourn.agreement.cells import CellAgreement, cells_table
from sojourn.agreement.covering import Cell
from sojourn.agreement.runs import ENGINES, paired, select_two, tasks_on_both
from sojourn.comparing.statistics import estimate
from sojourn.engines.registry import EngineLike
from sojourn.running.replicas import Progress, run_each
from sojourn.running.result import Result
from sojourn.running.store import DEFAULT_STORE, Store
from sojourn.tabular import Tabular

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Measured:
    """The part of one run that is kept.

    Attributes:
        values: keyed by ``scope/name/metric``, in SI units.
        invalid: why it is not a valid experiment.
    """

    values: Mapping[str, float]
    invalid: Sequence[str]


@dataclass(frozen=True)
class Compared:
    """A cell of the design on both engines.

    Attributes:
        scenario: its name.
        levels: its level of every factor.
        cells: its metrics.
        halves: the reference, and the first engine, over half of the seeds, each compared with the
            reference over the other half. Empty with fewer than four seeds.
        unknown: metrics that some runs lack, which are not compared.
        invalid: why runs of it were not valid experiments.
    """

    scenario: str
    levels: Cell
    cells: list[CellAgreement]
    halves: tuple[list[CellAgreement], list[CellAgreement]]
    unknown: list[str]
    invalid: list[str]


@dataclass(frozen=True)
class WideAgreement(Tabular):
    """A wide grid on two engines.

    Attributes:
        design: the grid.
        names: the engines; the second is the reference.
        seeds: number of seeds per cell.
        compared: the cells of the design.
    """

    design: wide.CoveringDesign
    names: tuple[str, str]
    seeds: int
    compared: list[Compared]

    @property
    def cells(self) -> list[CellAgreement]:
        """All metrics of all cells."""
        return [cell for compared in self.compared for cell in compared.cells]

    def to_arrow(self) -> pa.Table:
        """One row per metric of a cell; the columns are those of `cells.cells_table`."""
        return cells_table(self.cells, self.names)

    @property
    def halves(self) -> tuple[list[CellAgreement], list[CellAgreement]]:
        """All metrics of all cells over half of the seeds, as in `Compared`."""
        halves = [compared.halves for compared in self.compared]
        return [c for itself, _ in halves for c in itself], [c for _, own in halves for c in own]

    @property
    def invalid(self) -> list[str]:
        """The reasons why runs were not valid experiments."""
        return [reason for compared in self.compared for reason in compared.invalid]


def agree_on_grid(
    engine: EngineLike = ENGINES,
    *,
    seeds: int,
    design: wide.CoveringDesign = wide.WIDE,
    tcp: str = "linux",
    jobs: int | None = None,
    progress: Progress | None = None,
    store: Store | None = DEFAULT_STORE,
    **engine_options: Any,
) -> WideAgreement:
    """Run a wide grid on two engines; other arguments and errors are those of `runs.agree`.

    Args:
        engine: two engines; the second is the reference.
        seeds: number of seeds.
        design: the grid.
        tcp: the profile of the kernel's TCP.
        jobs: concurrent runs.
        progress: receives the progress of the runs.
        store: the store of runs.
        **engine_options: options of the engines.
    """
    on = select_two(engine, engine_options)
    cells = wide.cells(design)
    scenarios = [wide.scenario(cell, tcp) for cell in cells]
    tasks = tasks_on_both(scenarios, on, seeds)
    found = paired(run_each(tasks, _measured, jobs=jobs, progress=progress, store=store), seeds)
    compared = [
        compare_cell(scenario.name, levels, runs)
        for scenario, levels, runs in zip(scenarios, cells, found, strict=True)
    ]
    return WideAgreement(design, (on[0].name, on[1].name), seeds, compared)


def compare_cell(
    name: str, levels: Cell, runs: tuple[Sequence[Measured], Sequence[Measured]]
) -> Compared:
    """One cell of the design, from the runs on both engines."""
    every = [run for engine in runs for run in engine]
    metrics = list(dict.fromkeys(metric for run in every for metric in run.values))
    known = [metric for metric in metrics if all(metric in run.values for run in every)]
    # Events that occur on neither engine, such as marks without ECN, do not count as agreement.
    happens = [metric for metric in known if any(run.values[metric] for run in every)]
    invalid = [reason for run in every for reason in run.invalid]
    return Compared(
        name,
        levels,
        [_cell(name, metric, runs) for metric in happens],
        _halves(name, happens, runs),
        [metric for metric in metrics if metric not in known],
        list(dict.fromkeys(invalid)),
    )


def _halves(
    name: str, metrics: Sequence[str], runs: tuple[Sequence[Measured], Sequence[Measured]]
) -> tuple[list[CellAgreement], list[CellAgreement]]:
    first, second = runs
    half = len(second) // 2
    if half < 2:
        return [], []
    other = second[half : 2 * half]
    itself = [_cell(name, metric, (second[:half], other)) for metric in metrics]
    return itself, [_cell(name, metric, (first[:half], other)) for metric in metrics]


def _cell(
    name: str, metric: str, runs: tuple[Sequence[Measured], Sequence[Measured]]
) -> CellAgreement:
    first, second = (estimate([run.values[metric] for run in engine]) for engine in runs)
    noise = math.hypot(first.half_width, second.half_width)
    reference = [run.values[metric] for run in runs[1]]
    spread = stdev(reference) if len(reference) > 1 else math.nan
    error = spread / math.sqrt(len(reference))
    return CellAgreement(name, metric, (first.mean, second.mean), noise, error)


def _measured(_place: int, result: Result) -> Measured:
    return Measured(measures.values(result), result.invalid)
