"""The points of a study with their scenarios, and the names of the runs at each."""

from __future__ import annotations

import functools
import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from sojourn import _core, reading
from sojourn.comparing.shaping import shaped_rate
from sojourn.describing.library import load, set_pairs
from sojourn.describing.quantity import required
from sojourn.engines import registry
from sojourn.errors import InputError
from sojourn.running.store import DIGEST_BYTES, seeded_name, unseeded_digest
from sojourn.study.definition import Study
from sojourn.study.endpoints import with_libraries
from sojourn.study.grid import StudyGrid, StudyPoint
from sojourn.study.laws import split, with_queues

_AT_ONCE = 64
"""Scenarios that are in memory while a study is resolved."""


@dataclass(frozen=True)
class LinkFacts:
    """The properties of a link that doubts about a study need.

    Attributes:
        name: its name.
        shaped: see `shaped_rate`.
        packet_time_s: transmission time of a packet of the largest size; 0 if the rate varies.
    """

    name: str
    shaped: str
    packet_time_s: float


@dataclass(frozen=True)
class PointFacts:
    """The kept part of a resolved point; its scenario takes a hundred times as much memory.

    Attributes:
        digest: digest of everything that its runs depend on except for the seed.
        duration_s: simulated seconds of a run.
        warnings: warnings of the scenario.
        links: links of the scenario.
    """

    digest: bytes
    duration_s: float
    warnings: tuple[str, ...]
    links: tuple[LinkFacts, ...]


class PointScenario:
    """A point, from which the scenario and the addresses of its runs follow.

    Attributes:
        point: the point.
        facts: facts of the scenario.
    """

    def __init__(
        self, point: StudyPoint, facts: PointFacts, made: Callable[[], _core.Scenario]
    ) -> None:
        self.point = point
        self.facts = facts
        self._made = made

    @classmethod
    def of(cls, point: StudyPoint, scenario: _core.Scenario) -> PointScenario:
        """A point with a scenario that stays in memory."""
        resolved = scenario.resolved_json()
        facts = _facts(point, scenario, resolved, json.dumps(json.loads(resolved)["links"]))
        return cls(point, facts, lambda: scenario)

    @property
    def scenario(self) -> _core.Scenario:
        """The scenario, resolved under its own seed; a study resolves it again at each call."""
        return self._made()

    def addresses(self, seeds: int) -> list[str]:
        """The names of its runs under seeds from 1 on; see `address`."""
        return [self.address(seed) for seed in range(1, seeds + 1)]

    def address(self, seed: int) -> str:
        """The name of its run under a seed, as in the store of runs.

        It is the digest of everything a run depends on, 40 hexadecimal digits.
        """
        return seeded_name(self.facts.digest, seed)


class StudyPoints(Sequence[PointScenario]):
    """The points of a study, each resolved once; a point takes some 50 bytes.

    Args:
        study: the study.

    Raises:
        InputError: as for `points`; or the scenario refuses a key of an axis or `set`.
        OSError: a trace cannot be read.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._grid = StudyGrid(study)
        self._digests = bytearray()
        self._durations_s = array("d")
        self._kinds = array("L")
        kinds: dict[tuple[tuple[str, ...], tuple[LinkFacts, ...]], int] = {}
        for point, made in _resolved(study, self._grid):
            _check_endpoints(point, made[0])
            facts = _facts(point, *made)
            self._digests += facts.digest
            self._durations_s.append(facts.duration_s)
            self._kinds.append(kinds.setdefault((facts.warnings, facts.links), len(kinds)))
        self._distinct = list(kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    @overload
    def __getitem__(self, index: int) -> PointScenario: ...
    @overload
    def __getitem__(self, index: slice) -> list[PointScenario]: ...
    def __getitem__(self, index: int | slice) -> PointScenario | list[PointScenario]:
        found = range(len(self))[index]
        return self._one(found) if isinstance(found, int) else [self._one(i) for i in found]

    def duration_s(self, index: int) -> float:
        """Simulated seconds of a run of a point."""
        return self._durations_s[index]

    def _one(self, index: int) -> PointScenario:
        point = self._grid[index]
        at = index * DIGEST_BYTES
        digest = bytes(self._digests[at : at + DIGEST_BYTES])
        facts = PointFacts(digest, self.duration_s(index), *self._distinct[self._kinds[index]])
        return PointScenario(point, facts, functools.partial(_loaded, self._study, point))


class SomePoints(Sequence[PointScenario]):
    """Some points of a study, which keep their index in it.

    Args:
        every: the points of the study.
        places: which of them, ascending.
    """

    def __init__(self, every: Sequence[PointScenario], places: Sequence[int]) -> None:
        self._every, self._places = every, array("Q", places)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> PointScenario: ...
    @overload
    def __getitem__(self, index: slice) -> list[PointScenario]: ...
    def __getitem__(self, index: int | slice) -> PointScenario | list[PointScenario]:
        if isinstance(index, slice):
            return [self._every[place] for place in self._places[index]]
        return self._every[self._places[index]]


def _check_endpoints(point: StudyPoint, scenario: _core.Scenario) -> None:
    if point.engine == registry.NAMES[0]:
        try:
            scenario.check_endpoints()
        except _core.ScenarioError as error:
            raise InputError(f"point {point.index} ({point.label}): {error}") from error


def points(study: Study) -> StudyGrid:
    """The points of a study: the last axis advances first.

    Raises:
        InputError: the study has no point, or more than `max_points`; or an axis names an unknown
            engine.
    """
    return StudyGrid(study)


def resolve(study: Study) -> StudyPoints:
    """The points of a study with their scenarios, in the order of `points`.

    Raises:
        InputError: as for `points`; or the scenario refuses a key of an axis or `set`.
        OSError: a trace cannot be read.
    """
    return StudyPoints(study)


_Made = tuple[_core.Scenario, str, str]
"""A scenario, its resolved form as JSON, and its links."""


def _resolved(study: Study, found: StudyGrid) -> Iterator[tuple[StudyPoint, _Made]]:
    """Each point with its scenario, a few at a time; the text of the scenario is parsed once."""
    base: _core.ScenarioBase | None = None
    for start in range(0, len(found), _AT_ONCE):
        some = found[start : start + _AT_ONCE]
        try:
            base = base or _base(study)
            yield from zip(some, _some(base, some), strict=True)
        except _core.ScenarioError:
            for point in some:
                _loaded(study, point)  # names the point that is refused
            raise


def _base(study: Study) -> _core.ScenarioBase:
    path = study.source
    kind = "json" if path.suffix == ".json" else "toml"
    text, origin = reading.text(path, "scenario"), reading.shown(path)
    return _core.ScenarioBase(text, format=kind, origin=origin, folder=path.parent)


def _some(base: _core.ScenarioBase, some: Sequence[StudyPoint]) -> list[_Made]:
    parts = [split(point.sets, point.laws) for point in some]
    found = base.scenarios([set_pairs(sets) for sets, _ in parts])
    for i, (_, queues) in enumerate(parts):
        if queues:
            scenario = with_queues(found[i][0], queues, some[i].laws)
            resolved = scenario.resolved_json()
            found[i] = scenario, resolved, json.dumps(json.loads(resolved)["links"])
    return [
        (with_libraries(scenario, point.endpoints), resolved, links)
        for point, (scenario, resolved, links) in zip(some, found, strict=True)
    ]


def _loaded(study: Study, point: StudyPoint) -> _core.Scenario:
    try:
        sets, queues = split(point.sets, point.laws)
        scenario = with_queues(load(study.source, sets), queues, point.laws)
        return with_libraries(scenario, point.endpoints)
    except _core.ScenarioError as error:
        raise InputError(f"point {point.index} ({point.label}): {error}") from error


def _facts(point: StudyPoint, scenario: _core.Scenario, resolved: str, links: str) -> PointFacts:
    engine = _engine(point.engine)
    # A real-time engine has no identity: its runs are stored here, but not shared with `compare`.
    identity = f"{engine.name} {engine.identity(scenario)}"
    brought = [*scenario.law_sources, *scenario.endpoint_sources]
    digest = unseeded_digest(resolved, scenario.seed, brought, engine=identity, kind="run")
    warnings = (*scenario.warnings, *scenario.endpoint_warnings)
    return PointFacts(digest, scenario.duration_s, warnings, _links(links))


@functools.cache
def _engine(name: str) -> registry.EngineSelection:
    (engine,) = registry.select([name], {})
    return engine


@functools.lru_cache(maxsize=256)
def _links(text: str) -> tuple[LinkFacts, ...]:
    """The links of a resolved scenario; points often differ in flows only."""
    links = json.loads(text)
    return tuple(LinkFacts(each["name"], shaped_rate(each), _packet_time_s(each)) for each in links)


def _packet_time_s(link: dict[str, object]) -> float:
    rate = link["rate"]
    if not isinstance(rate, str):
        return 0.0
    return 8.0 * required("mtu", link["mtu"]).size / required("rate", rate).size
