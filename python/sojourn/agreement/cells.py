"""Two engines side by side: one metric of one scenario on each, and whether the values agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn import _core
from sojourn.comparing.between_engines import CLOSE_DELAY_S, CLOSE_RELATIVE, DELAY_S, RELATIVE
from sojourn.comparing.statistics import estimate
from sojourn.describing.metric_table import MetricRow
from sojourn.describing.metrics import row_of, shown_in
from sojourn.plots import data
from sojourn.running.result import Result
from sojourn.tabular import Tabular, known

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class CellAgreement:
    """One metric of one scenario on both engines, means over the seeds, in SI units.

    Attributes:
        scenario: its name, with that of the link if there are several.
        metric: its name in table ``summary``, possibly after scope and name.
        values: the values on the first engine and on the second, which is the reference.
        noise: half of the 95 % interval of their difference over the seeds; NaN for one seed.
        error: standard error of the second value, over its seeds; NaN for one seed.
    """

    scenario: str
    metric: str
    values: tuple[float, float]
    noise: float = 0.0
    error: float = math.nan

    @property
    def gap(self) -> float:
        """The first value minus the second, relative to the second; 0 if both are 0."""
        first, second = self.values
        if first == second:
            return 0.0
        return (first - second) / second if second else float("inf")

    @property
    def agrees(self) -> bool:
        """Within 10 %, or within a millisecond for times."""
        return self._difference <= self._allowed(RELATIVE, DELAY_S)

    @property
    def agrees_closely(self) -> bool:
        """Within 5 %, or within half a millisecond for times."""
        return self._difference <= self._allowed(CLOSE_RELATIVE, CLOSE_DELAY_S)

    @property
    def is_decided(self) -> bool:
        """Whether the seeds suffice: the noise is known and below the tolerance of `agrees`."""
        return self.noise <= self._allowed(RELATIVE, DELAY_S)

    @property
    def is_decided_closely(self) -> bool:
        """The same for `agrees_closely`."""
        return self.noise <= self._allowed(CLOSE_RELATIVE, CLOSE_DELAY_S)

    @property
    def differs_beyond_noise(self) -> bool:
        """Whether the values disagree, and no value within the known noise would agree."""
        return self._difference > self._allowed(RELATIVE, DELAY_S) + self.noise

    @property
    def differs(self) -> bool:
        """Whether the difference exceeds the noise, which is known."""
        return self._difference > self.noise

    @property
    def agrees_with_itself(self) -> float:
        """Probability that the reference would agree with itself under other seeds.

        Assumes a normal distribution; NaN where `error` is NaN.
        """
        return self._within(self._allowed(RELATIVE, DELAY_S))

    @property
    def agrees_closely_with_itself(self) -> float:
        """The same for `agrees_closely`."""
        return self._within(self._allowed(CLOSE_RELATIVE, CLOSE_DELAY_S))

    def _within(self, allowed: float) -> float:
        if self.error == 0.0:
            return 1.0
        return math.erf(allowed / self.error / 2)  # error of a difference: sqrt(2) error

    @property
    def is_time(self) -> bool:
        """Whether the metric is a time in seconds."""
        return row_of(self.metric).kind == "time"

    @property
    def _difference(self) -> float:
        return abs(self.values[0] - self.values[1])

    def _allowed(self, relative: float, time_s: float) -> float:
        return max(relative * abs(self.values[1]), time_s if self.is_time else 0.0)


@dataclass(frozen=True)
class ScenarioPair:
    """A scenario on both engines.

    Attributes:
        scenario: the scenario.
        link: the queue that is compared.
        results: per engine one result per seed.
    """

    scenario: _core.Scenario
    link: str
    results: tuple[list[Result], list[Result]]

    @property
    def name(self) -> str:
        """The scenario's name, and the link's if the scenario has several."""
        name = self.scenario.name
        return name if len(self.scenario.links) == 1 else f"{name}, {self.link}"

    @property
    def cells(self) -> list[CellAgreement]:
        """One cell for each metric."""
        return [self._cell(row) for row in shown_in("agree")]

    def _cell(self, row: MetricRow) -> CellAgreement:
        first, second = (
            estimate([_value(result, self.link, row) for result in results])
            for results in self.results
        )
        noise = math.hypot(first.half_width, second.half_width)
        values = (first.mean, second.mean)
        return CellAgreement(self.name, row.name, values, noise)

    @property
    def invalid(self) -> list[str]:
        """The reasons why runs were not valid experiments."""
        return [reason for results in self.results for r in results for reason in r.invalid]


@dataclass(frozen=True)
class Agreement(Tabular):
    """Scenarios on two engines.

    Attributes:
        names: the engines; the second is the reference.
        seeds: number of seeds per cell.
        pairs: the scenarios, each once for every link.
    """

    names: tuple[str, str]
    seeds: int
    pairs: list[ScenarioPair]

    @property
    def cells(self) -> list[CellAgreement]:
        """All cells."""
        return [cell for pair in self.pairs for cell in pair.cells]

    @property
    def invalid(self) -> list[str]:
        """The reasons why runs were not valid experiments."""
        return [reason for pair in self.pairs for reason in pair.invalid]

    def to_arrow(self) -> pa.Table:
        """One row per cell; the columns are those of `cells_table`."""
        return cells_table(self.cells, self.names)

    @property
    def share(self) -> float:
        """The share of the cells that agree."""
        cells = self.cells
        return sum(cell.agrees for cell in cells) / len(cells)


def cells_table(cells: Sequence[CellAgreement], names: tuple[str, str]) -> pa.Table:
    """Cells as an Arrow table.

    Returns:
        Columns ``scenario``, ``metric``, ``engine`` and ``reference`` (their names), ``value`` and
        ``reference_value`` (means over the seeds, SI units), ``noise`` (half of the 95 % interval
        of their difference, null for one seed), ``gap`` (relative to the reference), ``agrees`` and
        ``differs_beyond_noise``.
    """
    import pyarrow as pa

    columns = {
        "scenario": pa.array([cell.scenario for cell in cells], pa.string()),
        "metric": pa.array([cell.metric for cell in cells], pa.string()),
        "engine": pa.array([names[0]] * len(cells), pa.string()),
        "reference": pa.array([names[1]] * len(cells), pa.string()),
        "value": pa.array([cell.values[0] for cell in cells], pa.float64()),
        "reference_value": pa.array([cell.values[1] for cell in cells], pa.float64()),
        "noise": pa.array([known(cell.noise) for cell in cells], pa.float64()),
        "gap": pa.array([cell.gap for cell in cells], pa.float64()),
        "agrees": pa.array([cell.agrees for cell in cells], pa.bool_()),
        "differs_beyond_noise": pa.array([cell.differs_beyond_noise for cell in cells], pa.bool_()),
    }
    return pa.table(columns)


def table(agreement: Agreement) -> list[dict[str, Any]]:
    """All cells as rows."""
    first, second = agreement.names
    return [
        {
            "scenario": cell.scenario, "metric": cell.metric, first: cell.values[0],
            second: cell.values[1], "noise": cell.noise, "gap": cell.gap, "agrees": cell.agrees,
            "differs_beyond_noise": cell.differs_beyond_noise,
        }
        for cell in agreement.cells
    ]  # fmt: skip


def _value(result: Result, link: str, row: MetricRow) -> float:
    if row.never and row.quantile is not None:  # the histogram has it, table `summary` does not
        found = data.distribution([result], "queue", link, "delay")
        return found.quantile_s(row.quantile) if found else 0.0
    return result.summary.get(f"queue/{link}/{row.name}", 0.0)
