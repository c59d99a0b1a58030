"""Variants of an attack's scenario, and the badness of AQMs in each."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sojourn import _core
from sojourn.describing.quantity import required
from sojourn.search.attack_file import AttackSearch
from sojourn.search.trials import SearchScenario, Trials, Wish
from sojourn.study.axes import Value


@dataclass(frozen=True)
class ScenarioVariant:
    """Differences from the base scenario.

    Attributes:
        values: value by key of the search; other keys are as in the base scenario.
        times: ``duration`` and ``warmup``, if they differ from the base scenario's.
        without: groups of flows that are left out.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The differences as text: ``rate 2mbit, without bulk``."""
        parts = [f"{name} {value}" for name, value in {**self.values, **self.times}.items()]
        return ", ".join([*parts, *(f"without {name}" for name in self.without)]) or "as it is"


@dataclass(frozen=True)
class Attacked:
    """A variant that was tried.

    Attributes:
        variant: the variant.
        score: badness of the AQM, relative to the best of the others; larger is worse.
        badness: mean over seeds by AQM.
    """

    variant: ScenarioVariant
    score: float
    badness: dict[str, float]


class Variants:
    """Tries variants of an attack.

    Args:
        search: the attack.
        trials: executes the runs.
    """

    def __init__(self, search: AttackSearch, trials: Trials) -> None:
        self.search = search
        self._trials = trials
        self._places: dict[tuple[str, ...], SearchScenario] = {(): search.scenario}

    @property
    def groups(self) -> list[str]:
        """The groups of flows of the base scenario."""
        document = json.loads(self.search.scenario.point({}).scenario.document_json())
        return [group["name"] for group in document["flows"]]

    @property
    def times_s(self) -> tuple[float, float]:
        """Duration and warm-up of the base scenario."""
        scenario = self.search.scenario.point({}).scenario
        warmup = json.loads(scenario.document_json()).get("warmup", "0s")
        return scenario.duration_s, required("warmup", warmup).size

    def scenario(self, variant: ScenarioVariant, aqm: str) -> _core.Scenario:
        """The scenario of a variant under an AQM."""
        return self._wish(variant, aqm, ()).point.scenario

    def badness(
        self, variants: Sequence[ScenarioVariant], seeds: Sequence[int]
    ) -> list[dict[str, list[float]]]:
        """Badness by AQM for every variant, one number per seed.

        Args:
            variants: the variants.
            seeds: the seeds.
        """
        aqms = (self.search.aqm, *self.search.against)
        wishes = [self._wish(each, aqm, seeds) for each in variants for aqm in aqms]
        found = [
            [self.search.badness(run) for run in runs] for runs in self._trials.numbers(wishes)
        ]
        rows = [found[i * len(aqms) : (i + 1) * len(aqms)] for i in range(len(variants))]
        return [dict(zip(aqms, row, strict=True)) for row in rows]

    def attacked(self, variants: Sequence[ScenarioVariant]) -> list[Attacked]:
        """Try variants under the seeds of the search."""
        found = []
        rows = self.badness(variants, range(1, self.search.seeds + 1))
        for variant, row in zip(variants, rows, strict=True):
            means = {aqm: math.fsum(values) / len(values) for aqm, values in row.items()}
            best = min((means[aqm] for aqm in self.search.against), default=0.0)
            found.append(Attacked(variant, means[self.search.aqm] - best, means))
        return found

    def _wish(self, variant: ScenarioVariant, aqm: str, seeds: Sequence[int]) -> Wish:
        if variant.without not in self._places:
            self._places[variant.without] = self.search.scenario.without(variant.without)
        place = self._places[variant.without]
        sets = {
            key: value
            for key, value in self.search.sets(variant.values).items()
            if not is_of(key, variant.without)
        }
        sets |= {**variant.times, f"links.{self.search.link}.queue": aqm}
        return Wish(place, place.point(sets), tuple(seeds))


def is_of(key: str, groups: Sequence[str]) -> bool:
    """Whether a scenario key belongs to one of some groups of flows."""
    return any(key.startswith(f"flows.{group}.") for group in groups)
