"""Runs seeds until every expectation is decided; expectations about one variant share its runs."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import sub, truediv

from sojourn.comparing.fairness import without_numbers
from sojourn.comparing.metrics import ABOVE
from sojourn.describing.library import seeded
from sojourn.errors import InputError
from sojourn.running.memory import check as check_memory
from sojourn.running.replicas import Progress, Task, default_jobs, run_each
from sojourn.running.result import Result
from sojourn.running.store import DEFAULT_STORE, Store
from sojourn.testing import baseline
from sojourn.testing.decisions import Decision, decide
from sojourn.testing.expectations import BASELINE, Expected, TestedScenario


@dataclass(frozen=True)
class RunSummary:
    """The kept results of one run.

    Attributes:
        summary: every number by its key.
        invalid: why it is not a valid experiment.
        warnings: what was legal but probably not meant.
    """

    summary: dict[str, float]
    invalid: list[str]
    warnings: list[str] = field(default_factory=list)


@dataclass
class Session:
    """Decides expectations, and measures how long each takes.

    Expectations share runs, which are made at the same time: a decision's seconds are its share of
    the time that has passed, in proportion to what its own runs took.

    Attributes:
        jobs: concurrent runs; the number of cores by default.
        store: where earlier runs are found.
        progress: creates the receiver of a round's progress.
    """

    jobs: int | None = None
    store: Store | None = DEFAULT_STORE
    progress: Callable[[], Progress | None] = lambda: None
    _runs: dict[tuple[str, int], RunSummary | str] = field(default_factory=dict)
    # Keyed by a variant's `id`; holds the variant, so that no other object gets the same `id`.
    _keys: dict[int, tuple[TestedScenario, str]] = field(default_factory=dict)
    _baselines: dict[str, baseline.Baseline] = field(default_factory=dict)

    def decide_all(self, expected: Sequence[Expected], *, at_first: bool = False) -> list[Decision]:
        """Decide all, the worst first.

        Args:
            expected: the expectations.
            at_first: end at the first failure; undecided expectations are left out then.

        Raises:
            InputError: a metric has no value in any run, or a baseline does not fit.
            Interrupted: Ctrl-C.
        """
        for each in expected:
            if each.against == BASELINE and each.file not in self._baselines:
                self._baselines[each.file] = baseline.read(each.file)
        decided: list[Decision] = []
        looks = {id(each): iter(each.rule.looks) for each in expected}
        waiting = list(expected)
        seconds = dict.fromkeys(map(id, expected), 0.0)
        while waiting and not (at_first and any(d.outcome == "failed" for d in decided)):
            began = time.monotonic()
            now = [(each, next(looks[id(each)])) for each in waiting]
            shares = self._make(now)
            waiting, found = [], []
            for each, look in now:
                decision = replace(self._look(each, look), warnings=self._warnings(each, look))
                if decision.outcome == "undecided" and look < each.rule.max_seeds:
                    waiting.append(each)
                else:
                    found.append(decision)
            took_s = time.monotonic() - began
            for (each, _), share in zip(now, shares, strict=True):
                seconds[id(each)] += share * took_s
            decided += [replace(each, seconds=seconds[id(each.expected)]) for each in found]
        return sorted(decided, key=lambda decision: decision.severity)

    def update_baselines(self, expected: Sequence[Expected]) -> list[str]:
        """Store the values of expectations with a baseline; return the names of the files.

        Raises:
            InputError: no expectation has a baseline, or a run is not valid or has no value.
        """
        wanted = [each for each in expected if each.against == BASELINE]
        if not wanted:
            raise InputError('--update-baseline: no expectation says against = "baseline"')
        self._make([(each, each.rule.max_seeds) for each in wanted])
        stored: dict[str, dict[str, dict[int, float]]] = {}
        for each in wanted:
            seeds = _seeds(each.variant, each.rule.max_seeds)
            if why := self._invalid(each.variant, seeds):
                raise InputError(f"{each.place}: {why}; nothing is stored")
            values = dict(zip(seeds, self._values(each, each.variant, seeds), strict=True))
            stored.setdefault(each.file, {})[each.series] = values
        return [str(baseline.write(file, series)) for file, series in stored.items()]

    def _make(self, wanted: Sequence[tuple[Expected, int]]) -> list[float]:
        """Execute the missing runs of these expectations; return each one's share of the time."""
        missing: dict[tuple[str, int], Task] = {}
        users: dict[tuple[str, int], list[int]] = {}
        for index, (each, look) in enumerate(wanted):
            for variant in filter(None, (each.variant, each.reference)):
                key = self._key(variant)
                for seed in _seeds(variant, look):
                    if (key, seed) not in self._runs:
                        missing[key, seed] = _task(variant, seed)
                        users.setdefault((key, seed), []).append(index)
        if not missing:
            return [1.0 / len(wanted)] * len(wanted)
        tasks = list(missing.values())
        check_memory(tasks[0].scenario, min(len(tasks), self.jobs or default_jobs()))
        took_s = [0.0] * len(tasks)
        made = run_each(
            tasks, _measured, jobs=self.jobs, progress=self.progress(), store=self.store,
            timed=took_s.__setitem__,
        )  # fmt: skip
        self._runs.update(zip(missing, made, strict=True))
        return _shares(len(wanted), zip(took_s, users.values(), strict=True))

    def _key(self, variant: TestedScenario) -> str:
        """The identity of a run, so the same scenario is not run twice."""
        if id(variant) not in self._keys:
            resolved = json.loads(variant.scenario.resolved_json())
            parts = [variant.engine.name, *map(str, variant.engine.options.items())]
            self._keys[id(variant)] = (variant, "\n".join([*parts, json.dumps(resolved)]))
        return self._keys[id(variant)][1]

    def _look(self, each: Expected, look: int) -> Decision:
        seeds = _seeds(each.variant, look)
        for variant in filter(None, (each.variant, each.reference)):
            if why := self._invalid(variant, seeds):
                return Decision(each, "invalid", reason=why, worst_seed=seeds[0])
        values = self._values(each, each.variant, seeds)
        if unknown := [s for s, v in zip(seeds, values, strict=True) if math.isnan(v)]:
            why = f"has no value under {len(unknown)} of {look} seeds, first under {unknown[0]}"
            return Decision(each, "invalid", reason=why, worst_seed=unknown[0])
        least = self._least(each, each.variant, seeds)
        if not each.against:
            return decide(each, values, seeds[0], least)
        bases = self._references(each, seeds)
        if math.inf in bases:
            seed = seeds[bases.index(math.inf)]
            why = f"too few transfers finished under {each.against} with seed {seed}"
            return Decision(each, "invalid", reason=why, worst_seed=seed)
        if each.is_ratio and 0.0 in bases:
            seed = seeds[bases.index(0.0)]
            why = f"{each.against} has 0 under seed {seed}, of which no part can be taken"
            return Decision(each, "invalid", reason=why, worst_seed=seed)
        of = truediv if each.is_ratio else sub
        compared, bounds = (list(map(of, known, bases)) for known in (values, least))
        return decide(each, compared, seeds[0], bounds)

    def _least(self, each: Expected, variant: TestedScenario, seeds: Sequence[int]) -> list[float]:
        """The values, or their lower bounds where no more is known."""
        key = self._key(variant)
        runs = [run for seed in seeds if isinstance(run := self._runs[key, seed], RunSummary)]
        return [
            run.summary.get(each.key, run.summary.get(each.key + ABOVE, math.nan)) for run in runs
        ]

    def _warnings(self, each: Expected, look: int) -> tuple[str, ...]:
        """The warnings of its runs, of each kind the first, with the variant that has it."""
        kinds: dict[tuple[str, str], str] = {}
        for variant in filter(None, (each.variant, each.reference)):
            place = f"{each.file} ({variant.label})" if variant.label else each.file
            for seed in _seeds(each.variant, look):
                run = self._runs[self._key(variant), seed]
                for text in run.warnings if isinstance(run, RunSummary) else []:
                    kinds.setdefault((place, without_numbers(text)), f"{place}: {text}")
        return tuple(kinds.values())

    def _references(self, each: Expected, seeds: Sequence[int]) -> list[float]:
        if each.reference is None:
            return self._baselines[each.file].values(each.series, seeds)
        return self._values(each, each.reference, seeds)

    def _invalid(self, variant: TestedScenario, seeds: Sequence[int]) -> str:
        """Why a run of these is not a valid experiment; empty if all are."""
        for seed in seeds:
            run = self._runs[self._key(variant), seed]
            if isinstance(run, str):
                return f"a run failed: {run}"
            if run.invalid:
                return f"seed {seed} is not a valid experiment: {run.invalid[0]}"
        return ""

    def _values(self, each: Expected, variant: TestedScenario, seeds: Sequence[int]) -> list[float]:
        """One value per seed; NaN if missing, infinite if only a bound is known.

        Raises:
            InputError: no run has one.
        """
        key = self._key(variant)
        runs = [run for seed in seeds if isinstance(run := self._runs[key, seed], RunSummary)]
        values = [
            run.summary.get(each.key, math.inf if each.key + ABOVE in run.summary else math.nan)
            for run in runs
        ]
        if all(map(math.isnan, values)):
            owner = each.key.rpartition("/")[0]
            has = [name.rpartition("/")[2] for name in runs[0].summary if name.startswith(owner)]
            raise InputError(
                f"{each.place}: {each.metric} has no value in any run; {owner} has "
                f"{', '.join(has) or 'no metrics'}"
            )
        return values


def _shares(count: int, runs: Iterable[tuple[float, list[int]]]) -> list[float]:
    """Shares of `count` users, from the seconds and the users of each run."""
    seconds = [0.0] * count
    for took_s, users in runs:
        for user in users:
            seconds[user] += took_s / len(users)
    total = sum(seconds)
    return [each / total if total else 1.0 / count for each in seconds]


def _seeds(variant: TestedScenario, count: int) -> list[int]:
    first = variant.scenario.seed
    return list(range(first, first + count))


def _task(variant: TestedScenario, seed: int) -> Task:
    label = f"{variant.label or variant.scenario.name}, seed {seed}"
    return Task(
        label, seeded(variant.scenario, seed), variant.engine,
        link=variant.link, aqm=variant.aqm or None,
    )  # fmt: skip


def _measured(_index: int, result: Result) -> RunSummary:
    return RunSummary(dict(result.summary), result.invalid, list(result.warnings))
