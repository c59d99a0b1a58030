"""The points of a study and the runs at each: axes multiplied, zipped, sampled, filtered."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sojourn import _core
from sojourn.describing.formatting import counted
from sojourn.describing.library import load
from sojourn.engines import registry
from sojourn.errors import InputError
from sojourn.running.store import entry_name
from sojourn.study.axes import ENGINE, Value, zips
from sojourn.study.definition import Study
from sojourn.study.filters import is_kept
from sojourn.study.laws import LawFile, split, with_queues


@dataclass(frozen=True)
class StudyPoint:
    """One point.

    Attributes:
        index: its index among the points of the study, from 0.
        values: its value by axis.
        sets: dotted keys and values that it sets in the base scenario.
        engine: the engine.
        laws: custom laws that queues in `sets` may name.
    """

    index: int
    values: Mapping[str, Value]
    sets: Mapping[str, object]
    engine: str
    laws: tuple[LawFile, ...] = ()

    @property
    def label(self) -> str:
        """For people: ``aqm pie, flows 4``."""
        return ", ".join(f"{name} {value}" for name, value in self.values.items())


class PointScenario:
    """A point with its resolved scenario, from which the addresses of its runs follow.

    Attributes:
        point: the point.
        scenario: resolved, under its own seed.
    """

    def __init__(self, point: StudyPoint, scenario: _core.Scenario) -> None:
        self.point = point
        self.scenario = scenario
        (engine,) = registry.select([point.engine], {})
        # A real-time engine has no identity: its runs are stored here, but not shared with
        # `compare`.
        self._identity = f"{engine.name} {engine.identity(scenario)}"
        self._addresses: dict[int, str] = {}
        self._around_seed: tuple[str, str] | None = None

    def addresses(self, seeds: int) -> list[str]:
        """The names of its runs under seeds from 1 on; see `address`."""
        return [self.address(seed) for seed in range(1, seeds + 1)]

    def address(self, seed: int) -> str:
        """The name of its run under a seed, as in the store of runs.

        It is the digest of everything a run depends on, 40 hexadecimal digits.
        """
        if seed not in self._addresses:
            text = self._resolved_json(seed)
            laws = self.scenario.law_sources
            self._addresses[seed] = entry_name(text, laws, engine=self._identity, kind="run")
        return self._addresses[seed]

    def _resolved_json(self, seed: int) -> str:
        """The resolved scenario under a seed; serialised once, not for every seed.

        The first such key is the scenario's own: quotes within its name are escaped.
        """
        if self._around_seed is None:
            before, _, after = self.scenario.resolved_json().partition(
                f'"seed":{self.scenario.seed},'
            )
            self._around_seed = before, after
        return f'"seed":{seed},'.join(self._around_seed)


def count(study: Study) -> int:
    """The number of points of the axes, before filters."""
    found = math.prod(len(members[0].values) for members in zips(study.axes))
    return found * (study.sampling.points if study.sampling else 1)


def points(study: Study) -> list[StudyPoint]:
    """The points of a study: the last axis advances first.

    Raises:
        InputError: the study has no point, or more than `max_points`; or an axis names an unknown
            engine.
    """
    total = count(study)
    if total > study.max_points:
        raise InputError(
            f"axes: they make {total:,} points, more than max_points = {study.max_points:,}; "
            "take fewer values, or state a larger max_points"
        )
    kept = [
        values for values in _values(study) if is_kept(values, study.only, study.skip)
    ]  # fmt: skip
    if not kept:
        raise InputError(
            f"only, skip: none of {counted(total, 'point')} passes both; change a filter"
        )
    return [_point(study, i, values) for i, values in enumerate(kept)]


def resolve(study: Study) -> list[PointScenario]:
    """The points of a study with their scenarios, in the order of `points`.

    Raises:
        InputError: as for `points`; or the scenario refuses a key of an axis or `set`.
        OSError: a trace cannot be read.
    """
    return [_resolved(study, point) for point in points(study)]


def _resolved(study: Study, point: StudyPoint) -> PointScenario:
    try:
        sets, queues = split(point.sets, point.laws)
        return PointScenario(point, with_queues(load(study.source, sets), queues, point.laws))
    except _core.ScenarioError as error:
        raise InputError(f"point {point.index} ({point.label}): {error}") from error


def _values(study: Study) -> Iterator[dict[str, Value]]:
    sampled = [axis for axis in study.axes if axis.ends is not None]
    samples: list[dict[str, Value]] = [{}]
    if sampled and study.sampling is not None:
        shares = study.sampling.shares(len(sampled))
        columns = [axis.ends.at(shares[:, i]) for i, axis in enumerate(sampled) if axis.ends]
        names = [axis.name for axis in sampled]
        samples = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    groups = [
        [{axis.name: axis.values[i] for axis in members} for i in range(len(members[0].values))]
        for members in zips(study.axes)
    ]
    for parts in itertools.product(*groups, samples):
        found = {name: value for part in parts for name, value in part.items()}
        yield {axis.name: found[axis.name] for axis in study.axes}


def _point(study: Study, index: int, values: Mapping[str, Value]) -> StudyPoint:
    sets = dict(study.sets)
    engine = registry.NAMES[0]
    for axis in study.axes:
        for key in axis.keys:
            if key == ENGINE:
                engine = registry.find(str(values[axis.name])).name
            else:
                sets[key] = values[axis.name]
    return StudyPoint(index, values, sets, engine, study.laws)
