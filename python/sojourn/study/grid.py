"""The points of a study, made on demand: axes multiplied, zipped, sampled, filtered."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from sojourn.describing.formatting import counted
from sojourn.engines import registry
from sojourn.errors import InputError
from sojourn.study.axes import ENGINE, Value, zips
from sojourn.study.definition import Study
from sojourn.study.endpoints import EndpointLibrary
from sojourn.study.filters import is_kept
from sojourn.study.laws import LawFile


@dataclass(frozen=True)
class StudyPoint:
    """One point.

    Attributes:
        index: its index among the points of the study, from 0.
        values: its value by axis.
        sets: dotted keys and values that it sets in the base scenario.
        engine: the engine.
        laws: custom laws that queues in `sets` may name.
        endpoints: transport libraries of its flows.
    """

    index: int
    values: Mapping[str, Value]
    sets: Mapping[str, object]
    engine: str
    laws: tuple[LawFile, ...] = ()
    endpoints: tuple[EndpointLibrary, ...] = ()

    @property
    def label(self) -> str:
        """The values as text: ``aqm pie, flows 4``."""
        return ", ".join(f"{name} {value}" for name, value in self.values.items())


def count(study: Study) -> int:
    """The number of points of the axes, before filters."""
    found = math.prod(len(members[0].values) for members in zips(study.axes))
    return found * (study.sampling.points if study.sampling else 1)


class StudyGrid(Sequence[StudyPoint]):
    """The points of a study: the last axis advances first.

    A point is made when it is asked for, so that a hundred thousand take no memory.

    Args:
        study: the study.

    Raises:
        InputError: the study has no point, or more than `max_points`; or an axis names an unknown
            engine.
    """

    def __init__(self, study: Study) -> None:
        total = count(study)
        if total > study.max_points:
            raise InputError(
                f"axes: they make {total:,} points, more than max_points = {study.max_points:,}; "
                "take fewer values, or state a larger max_points"
            )
        self._study = study
        self._groups = [*_grouped(study), _samples(study)]
        self._engines = _engines(study)
        self._places: Sequence[int] = range(total)
        if study.only or study.skip:
            kept = (i for i in self._places if is_kept(self._values(i), study.only, study.skip))
            self._places = array("Q", kept)
        if not self._places:
            raise InputError(
                f"only, skip: none of {counted(total, 'point')} passes both; change a filter"
            )

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> StudyPoint: ...
    @overload
    def __getitem__(self, index: slice) -> list[StudyPoint]: ...
    def __getitem__(self, index: int | slice) -> StudyPoint | list[StudyPoint]:
        found = range(len(self))[index]
        return self._point(found) if isinstance(found, int) else [self._point(i) for i in found]

    def _point(self, index: int) -> StudyPoint:
        study = self._study
        values = self._values(self._places[index])
        sets, engine = dict(study.sets), registry.NAMES[0]
        for axis in study.axes:
            for key in axis.keys:
                if key == ENGINE:
                    engine = self._engines[str(values[axis.name])]
                else:
                    sets[key] = values[axis.name]
        return StudyPoint(index, values, sets, engine, study.laws, study.endpoints)

    def _values(self, place: int) -> dict[str, Value]:
        """The values at an index among all points, before filters."""
        found: dict[str, Value] = {}
        for names, rows in reversed(self._groups):
            place, i = divmod(place, len(rows))
            found.update(zip(names, rows[i], strict=True))
        return {axis.name: found[axis.name] for axis in self._study.axes}


_Group = tuple[list[str], list[tuple[Value, ...]]]
"""The names of axes that advance together, and their values at each step."""


def _grouped(study: Study) -> Iterator[_Group]:
    for members in zips(study.axes):
        rows = list(zip(*(axis.values for axis in members), strict=True))
        yield [axis.name for axis in members], rows


def _samples(study: Study) -> _Group:
    """The sampled axes; a single step without sampling."""
    sampled = [axis for axis in study.axes if axis.ends is not None]
    if not sampled or study.sampling is None:
        return [], [()]
    shares = study.sampling.shares(len(sampled))
    columns = [axis.ends.at(shares[:, i]) for i, axis in enumerate(sampled) if axis.ends]
    return [axis.name for axis in sampled], list(zip(*columns, strict=True))


def _engines(study: Study) -> dict[str, str]:
    """The engines that an axis names, by the value."""
    named = [str(value) for axis in study.axes if ENGINE in axis.keys for value in axis.values]
    return {name: registry.find(name).name for name in named}
