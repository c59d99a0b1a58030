"""How far two engines agree: the same scenarios on both, quantiles side by side, verdicts.

A cell is one metric of one scenario, the mean over the seeds. Two values agree when they differ by
at most a tenth of the second engine's value, or, for delays, by at most a millisecond. Noise does
not make them agree: of values that do not, it is said whether more seeds could bring them together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _core, engines, files
from sojourn.comparing.statistics import estimate
from sojourn.errors import InputError, RunFailed
from sojourn.plots import data
from sojourn.running.replicas import Progress, Task, run_all
from sojourn.running.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RELATIVE = 0.10
DELAY_S = 0.001
METRICS = ("delay_mean", "delay_p50", "delay_p90", "delay_p99", "utilisation", "drop_rate")
_QUANTILES = {"delay_p90": 0.9}


@dataclass(frozen=True)
class Cell:
    """One metric of one scenario on both engines, means over the seeds, in SI units.

    Attributes:
        scenario: its name, and that of the link where it has several.
        metric: its name in table ``summary``.
        values: on the first engine and on the second, which is the judge.
        noise: half of the 95 % interval of their difference over the seeds; 0 for one seed.
    """

    scenario: str
    metric: str
    values: tuple[float, float]
    noise: float = 0.0

    @property
    def gap(self) -> float:
        """The first value less the second, as a part of the second; 0 where both are 0."""
        first, second = self.values
        if first == second:
            return 0.0
        return (first - second) / second if second else float("inf")

    @property
    def agrees(self) -> bool:
        """Within a tenth, or within a millisecond of delay."""
        first, second = self.values
        return abs(first - second) <= self._allowed

    @property
    def is_apart(self) -> bool:
        """Whether they do not agree, and no value within the noise would."""
        first, second = self.values
        return abs(first - second) > self._allowed + self.noise

    @property
    def _allowed(self) -> float:
        delay = DELAY_S if self.metric.startswith("delay") else 0.0
        return max(RELATIVE * abs(self.values[1]), delay)


@dataclass(frozen=True)
class Pair:
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
        """The scenario's name, and the link's where it has several."""
        name = self.scenario.name
        return name if len(self.scenario.links) == 1 else f"{name}, {self.link}"

    @property
    def cells(self) -> list[Cell]:
        """One cell for each metric."""
        return [self._cell(metric) for metric in METRICS]

    def _cell(self, metric: str) -> Cell:
        first, second = (
            estimate([_value(result, self.link, metric) for result in results])
            for results in self.results
        )
        noise = math.hypot(first.half_width, second.half_width)
        values = (first.mean, second.mean)
        return Cell(self.name, metric, values, noise if math.isfinite(noise) else 0.0)

    @property
    def invalid(self) -> list[str]:
        """Why runs were no valid experiments."""
        return [reason for results in self.results for r in results for reason in r.invalid]


@dataclass(frozen=True)
class Agreement:
    """Scenarios on two engines.

    Attributes:
        names: the engines; the second is the judge.
        seeds: how many seeds each cell is a mean of.
        pairs: the scenarios, each once for every link.
    """

    names: tuple[str, str]
    seeds: int
    pairs: list[Pair]

    @property
    def cells(self) -> list[Cell]:
        """All cells."""
        return [cell for pair in self.pairs for cell in pair.cells]

    @property
    def share(self) -> float:
        """The part of the cells that agree."""
        cells = self.cells
        return sum(cell.agrees for cell in cells) / len(cells)

    def save(self, folder: Path) -> None:
        """Write ``agreement.md``, ``agreement.json`` and a QQ plot of delays per queue."""
        from sojourn.agreement import page

        figures = folder / "figures"
        for pair in self.pairs:
            drawing = qq_plot(pair, self.names)
            name = "".join(c if c.isalnum() else "-" for c in pair.name)
            figures.mkdir(parents=True, exist_ok=True)
            drawing.savefig(figures / f"qq-{name}.svg", metadata={"Date": None})
        files.write(folder / "agreement.json", page.as_json(self))
        files.write(folder / "agreement.md", page.as_markdown(self))


def agree(
    scenarios: Sequence[_core.Scenario],
    on: Sequence[engines.Choice],
    *,
    seeds: int = 3,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Agreement:
    """Run scenarios on two engines.

    Args:
        scenarios: the scenarios.
        on: two engines; the second is the judge.
        seeds: how many seeds, counting up from each scenario's own.
        jobs: runs at a time; the number of cores by default.
        progress: who is told how far the runs are.

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
    outcomes = iter(run_all(tasks, jobs=jobs, progress=progress))
    pairs = []
    for scenario in scenarios:
        both = [[_whole(next(outcomes)) for _ in range(seeds)] for _ in on]
        pairs += [Pair(scenario, link, (both[0], both[1])) for link in scenario.links]
    return Agreement((on[0].name, on[1].name), seeds, pairs)


def qq_plot(pair: Pair, names: tuple[str, str]) -> Figure:
    """Quantiles of the queue delay on one engine over those on the other, packets of all seeds."""
    from sojourn.plots import curves, style

    first, second = (data.distribution(rs, "queue", pair.link, "delay") for rs in pair.results)
    if first is None or second is None:
        raise RunFailed(f"{pair.name}: no packet left the queue on one engine")
    at = [i / 200 for i in range(1, 200)]
    x, y = ([d.quantile_s(q) * 1e3 for q in at] for d in (second, first))
    line = curves.Curve("quantiles 0.5 % to 99.5 %", x, y, style.PALETTE[1], marker=".")
    panel = curves.Panel(
        title=pair.name, curves=[line], diagonal=True,
        x_label=f"queue delay on {names[1]} [ms]", y_label=f"queue delay on {names[0]} [ms]",
    )  # fmt: skip
    return curves.curves("", [panel])


def _value(result: Result, link: str, metric: str) -> float:
    if metric in _QUANTILES:
        found = data.distribution([result], "queue", link, "delay")
        return found.quantile_s(_QUANTILES[metric]) if found else 0.0
    return result.summary.get(f"queue/{link}/{metric}", 0.0)


def _whole(outcome: Result | str) -> Result:
    if isinstance(outcome, str):
        raise RunFailed(outcome)
    return outcome


def table(agreement: Agreement) -> list[dict[str, Any]]:
    """All cells as rows."""
    first, second = agreement.names
    return [
        {
            "scenario": cell.scenario, "metric": cell.metric, first: cell.values[0],
            second: cell.values[1], "noise": cell.noise, "gap": cell.gap, "agrees": cell.agrees,
            "is_apart": cell.is_apart,
        }
        for cell in agreement.cells
    ]  # fmt: skip
