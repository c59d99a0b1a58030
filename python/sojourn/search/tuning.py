"""`tune`: searches parameters of an AQM for a goal, and judges them on held-out scenarios.

A setting is compared with the default under the same seeds. Its loss in a scenario is the mean
over seeds of the logarithm of the ratio to the default, so scenarios with long and with short
queues count alike; its total loss is the mean over scenarios.

A setting is stopped after the first seeds if the 95 % interval of the (paired) differences shows
that it loses to the best so far, or breaks a condition. This only guides the search; the result is
judged by held-out runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sojourn.comparing.centres import mean_of
from sojourn.comparing.statistics import Estimate, estimate
from sojourn.describing.metrics import row_of
from sojourn.running.replicas import Progress
from sojourn.running.store import warn
from sojourn.search import asking
from sojourn.search.goals import Aim, Condition, check_numbers
from sojourn.search.trials import (
    Numbers,
    SearchScenario,
    Trials,
    Wish,
    opened,
    report_doubts,
)
from sojourn.search.tune_file import FIRST_HELD_OUT, TuneSearch
from sojourn.study.axes import Value
from sojourn.study.executors import Workers
from sojourn.study.tables import value_columns
from sojourn.tabular import Tabular, known

if TYPE_CHECKING:
    import pyarrow as pa

FIRST_SEEDS = 3
"""Number of seeds after which losers are stopped."""


@dataclass(frozen=True)
class Tried:
    """A setting that was tried.

    Attributes:
        text: the AQM's text form with the setting.
        settings: its parameters.
        losses: indexed by aim, scenario and seed, shape ``(n_aims, n_scenarios, n_seeds)``.
        excess: indexed by condition and scenario: by how much the means over seeds break the
            condition; at most 0 if it is met.
        is_stopped: whether it was stopped after the first seeds.
    """

    text: str
    settings: dict[str, Value]
    losses: list[list[list[float]]]
    excess: list[list[float]]
    is_stopped: bool = False

    @property
    def loss(self) -> tuple[float, ...]:
        """The mean loss over scenarios, by aim."""
        return tuple(_mean([_mean(seeds) for seeds in places]) for places in self.losses)

    @property
    def worst(self) -> float:
        """One scenario's worst shortfall over all aims."""
        return max(_mean(seeds) for places in self.losses for seeds in places)

    @property
    def is_legal(self) -> bool:
        """Whether every condition is kept in every scenario."""
        return all(excess <= 0.0 for places in self.excess for excess in places)


@dataclass(frozen=True)
class PlaceJudgement:
    """A setting in one held-out scenario.

    Attributes:
        scenario: its name.
        ratios: ratios of the setting to the default, keyed by metric of an aim: a
            geometric mean over paired seeds, with a 95 % interval.
        conditions: mean of the metric by text of a condition, with a 95 % interval.
        is_kept: whether every mean meets its condition.
    """

    scenario: str
    ratios: dict[str, Estimate]
    conditions: dict[str, Estimate]
    is_kept: bool


@dataclass(frozen=True)
class Judgement:
    """A setting in all held-out scenarios.

    Attributes:
        role: ``best``, ``robust`` or ``front``.
        tried: the setting, with its results in the search.
        overall: the geometric mean of `PlaceJudgement.ratios` over scenarios.
        places: scenario by scenario.
    """

    role: str
    tried: Tried
    overall: dict[str, Estimate]
    places: list[PlaceJudgement]


@dataclass(frozen=True)
class TuneResult(Tabular):
    """The result of a search for parameters.

    Attributes:
        search: the search.
        tried: every setting, in order.
        judged: the best setting, the robust one, and with two aims the front; empty if no setting
            keeps the conditions.
        default: the default in the held-out scenarios, with its conditions.
        runs: number of runs that were not found in the store.
        failed: reason by run, of failed runs.
    """

    search: TuneSearch
    tried: list[Tried]
    judged: list[Judgement]
    default: list[PlaceJudgement]
    runs: int
    failed: dict[str, str] = field(default_factory=dict)

    def to_arrow(self) -> pa.Table:
        """One row per setting that was tried, in order.

        Returns:
            Columns ``aqm`` (its text), each parameter, ``loss`` (mean over scenarios of the
            logarithm of the ratio to the default, the first aim), ``worst`` (of a scenario, any
            aim), ``is_legal`` and ``is_stopped``.
        """
        import pyarrow as pa

        columns = {"aqm": pa.array([each.text for each in self.tried], pa.string())}
        rows = [each.settings for each in self.tried]
        columns |= value_columns([axis.name for axis in self.search.parameters], rows)
        columns["loss"] = pa.array([known(each.loss[0]) for each in self.tried], pa.float64())
        columns["worst"] = pa.array([known(each.worst) for each in self.tried], pa.float64())
        columns["is_legal"] = pa.array([each.is_legal for each in self.tried], pa.bool_())
        columns["is_stopped"] = pa.array([each.is_stopped for each in self.tried], pa.bool_())
        return pa.table(columns)


def tune(
    search: TuneSearch,
    store: str,
    *,
    executor: Executor | Workers | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    report: Callable[[str], None] = warn,
) -> TuneResult:
    """Search parameters, and judge the result.

    Args:
        search: the search.
        store: folder, or any address that fsspec reads; an interrupted search continues.
        executor: executes the runs; processes of this machine by default.
        jobs: number of these processes; one per core by default.
        progress: receives the progress of the runs of each step.
        report: called with every warning about a scenario or a damaged file of the store.

    Raises:
        InputError: Optuna is not installed, the default has no ratio, a setting is not legal.
        OSError: the store cannot be written.
    """
    study = asking.sampler(len(search.goal.aims), search.seed)
    for place in (*search.scenarios, *search.held_out):
        default = place.point({f"links.{search.link}.queue": search.aqm})
        report_doubts(place.name, default.scenario, report)
    with opened(search, store, executor, jobs, progress, report) as trials:
        return _Tuning(search, trials).run(study)


class _Tuning:
    """One search."""

    def __init__(self, search: TuneSearch, trials: Trials) -> None:
        self._search, self._trials = search, trials
        self._seeds = tuple(range(1, search.seeds + 1))
        self._first = self._seeds[: min(FIRST_SEEDS, search.seeds)]
        self._default = self._numbers([search.aqm], search.scenarios, self._seeds)[0]
        for place, numbers in zip(search.scenarios, self._default, strict=True):
            check_numbers(place.name, numbers, search.goal)

    def run(self, study: Any) -> TuneResult:
        """Ask Optuna for settings, run them, report the losses; then judge."""
        tried: list[Tried] = []
        while len(tried) < self._search.trials:
            count = min(asking.TOGETHER, self._search.trials - len(tried))
            asked = [study.ask() for _ in range(count)]
            found = self._try([asking.suggest(each, self._search.parameters) for each in asked],
                              _leaders(tried))  # fmt: skip
            for trial, one in zip(asked, found, strict=True):
                asking.tell(study, trial, one.loss, self._limits(one))
            tried += found
        chosen = _choice(tried)
        default, judged = self._judge(chosen)
        return TuneResult(
            self._search, tried, judged, default, self._trials.made, self._trials.failed
        )

    def _try(self, settings: Sequence[dict[str, Value]], leaders: Sequence[Tried]) -> list[Tried]:
        texts = [self._search.text(each) for each in settings]
        first = self._numbers(texts, self._search.scenarios, self._first)
        found = [self._tried(*each) for each in zip(texts, settings, first, strict=True)]
        lost = [
            self._is_lost(one, numbers, leaders) for one, numbers in zip(found, first, strict=True)
        ]
        going = [text for text, is_lost in zip(texts, lost, strict=True) if not is_lost]
        rest = iter(self._numbers(going, self._search.scenarios, self._seeds))
        return [
            Tried(one.text, one.settings, one.losses, one.excess, True)
            if is_lost
            else self._tried(one.text, one.settings, next(rest))
            for one, is_lost in zip(found, lost, strict=True)
        ]

    def _numbers(
        self, texts: Sequence[str], places: Sequence[SearchScenario], seeds: tuple[int, ...]
    ) -> list[list[list[Numbers]]]:
        """Summaries by setting, scenario and seed."""
        key = f"links.{self._search.link}.queue"
        wishes = [
            Wish(place, place.point({key: text}), seeds) for text in texts for place in places
        ]
        found = self._trials.numbers(wishes)
        return [found[i * len(places) : (i + 1) * len(places)] for i in range(len(texts))]

    def _tried(
        self, text: str, settings: dict[str, Value], numbers: list[list[Numbers]]
    ) -> Tried:  # fmt: skip
        goal = self._search.goal
        return Tried(
            text, settings,
            [
                [_losses(aim, *pair) for pair in zip(numbers, self._default, strict=True)]
                for aim in goal.aims
            ],
            [[_excess(condition, runs) for runs in numbers] for condition in goal.conditions],
        )  # fmt: skip

    def _is_lost(
        self, one: Tried, numbers: list[list[Numbers]], leaders: Sequence[Tried]
    ) -> bool:  # fmt: skip
        for condition in self._search.goal.conditions:
            for runs in numbers:
                if estimate([condition.excess(_of(run, condition.metric)) for run in runs]).low > 0:
                    return True
        return any(
            all(
                estimate(_differences(*pair)).low > 0.0
                for pair in zip(one.losses, leader.losses, strict=True)
            )
            for leader in leaders
        )

    def _limits(self, one: Tried) -> dict[str, float]:
        conditions = self._search.goal.conditions
        return {c.text: max(excess) for c, excess in zip(conditions, one.excess, strict=True)}

    def _judge(self, chosen: list[tuple[str, Tried]]) -> tuple[list[PlaceJudgement],
                                                               list[Judgement]]:  # fmt: skip
        search = self._search
        seeds = tuple(range(FIRST_HELD_OUT, FIRST_HELD_OUT + search.held_out_seeds))
        texts = [search.aqm, *(one.text for _, one in chosen)]
        numbers_of = self._numbers(texts, search.held_out, seeds)
        default, found = numbers_of[0], numbers_of[1:]
        for place, numbers in zip(search.held_out, default, strict=True):
            check_numbers(place.name, numbers, search.goal)
        judged = []
        for (role, one), runs in zip(chosen, found, strict=True):
            losses = [
                [_losses(aim, *pair) for pair in zip(runs, default, strict=True)]
                for aim in search.goal.aims
            ]
            judged.append(Judgement(
                role, one,
                {aim.metric: _ratio(aim, [_mean(seed) for seed in zip(*of, strict=True)])
                 for aim, of in zip(search.goal.aims, losses, strict=True)},
                [self._place(i, runs[i], [of[i] for of in losses])
                 for i in range(len(search.held_out))],
            ))  # fmt: skip
        return [self._place(i, each, []) for i, each in enumerate(default)], judged

    def _place(
        self, index: int, runs: list[Numbers], losses: list[list[float]]
    ) -> PlaceJudgement:  # fmt: skip
        goal = self._search.goal
        return PlaceJudgement(
            self._search.held_out[index].name,
            {aim.metric: _ratio(aim, of) for aim, of in zip(goal.aims, losses, strict=False)},
            {it.text: _interval(it.metric, runs) for it in goal.conditions},
            all(_excess(condition, runs) <= 0.0 for condition in goal.conditions),
        )


def _losses(aim: Aim, runs: Sequence[Numbers], default: Sequence[Numbers]) -> list[float]:
    """The losses by seed; NaN if the run failed or its value has no ratio."""
    pairs = [(_of(run, aim.metric), base[aim.metric])
             for run, base in zip(runs, default, strict=False)]  # fmt: skip
    return [aim.loss(*pair) if 0.0 < pair[0] < math.inf else math.nan for pair in pairs]


def _excess(condition: Condition, runs: Sequence[Numbers]) -> float:
    return condition.excess(_mean([_of(run, condition.metric) for run in runs]))


def _ratio(aim: Aim, losses: Sequence[float]) -> Estimate:
    """The geometric mean of ratios with its interval, from their logarithms."""
    sign = 1.0 if aim.is_least else -1.0
    of = estimate([sign * loss for loss in losses])
    low, high = math.exp(of.low), math.exp(of.high)
    return Estimate(math.exp(of.mean), (high - low) / 2.0, of.n, "mean", (low, high))


def _differences(own: list[list[float]], other: list[list[float]]) -> list[float]:
    """The losses of two settings paired by scenario and seed, for seeds that both have."""
    return [
        a - b
        for mine, theirs in zip(own, other, strict=True)
        for a, b in zip(mine, theirs, strict=False)
    ]


def _leaders(tried: Sequence[Tried]) -> list[Tried]:
    """The settings that no other beats in all aims."""
    legal = [one for one in tried if one.is_legal and not one.is_stopped]
    losses = [one.loss for one in legal]
    front = [one for one, loss in zip(legal, losses, strict=True) if not _is_beaten(loss, losses)]
    return list({one.text: one for one in front}.values())


def _is_beaten(loss: tuple[float, ...], others: Sequence[tuple[float, ...]]) -> bool:
    return any(
        all(o <= mine for o, mine in zip(other, loss, strict=True)) and other != loss
        for other in others
    ) or any(map(math.isnan, loss))


def _choice(tried: Sequence[Tried]) -> list[tuple[str, Tried]]:
    """The settings to judge: the front (with one aim, the best) and the robust one."""
    front = sorted(_leaders(tried), key=lambda one: one.loss)
    legal = [one for one in tried if one.is_legal and not one.is_stopped and one.worst == one.worst]
    if not legal:
        return []
    is_one = len(front[0].loss) == 1
    named = [("best" if is_one else "front", one) for one in (front[:1] if is_one else front)]
    return [*named, ("robust", min(legal, key=lambda one: one.worst))]


def _of(run: Numbers, metric: str) -> float:
    return run.get(metric, math.nan)


def _interval(metric: str, runs: Sequence[Numbers]) -> Estimate:
    """The mean over seeds, which conditions are about, with its interval."""
    return mean_of(row_of(metric), [_of(run, metric) for run in runs])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
