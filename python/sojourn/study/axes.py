"""Axes of a study: varied keys, with values from a list, a range or samples.

An axis has a name, which is a column of the results, and the scenario keys that it sets. Axes of
one ``zip`` advance together; all others are multiplied. An axis with ends but without a number of
points is sampled, together with all such axes, by `scipy.stats.qmc`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from sojourn.describing.quantity import Quantity, quantity, required
from sojourn.errors import InputError
from sojourn.study.keys import at_least_one, choice, known_keys, text_list, whole

Value = str | int | float | bool
Method = Literal["random", "latin-hypercube", "sobol", "halton"]
METHODS = ("random", "latin-hypercube", "sobol", "halton")
SCALES = ("linear", "log")
ENGINE = "engine"
AXIS_KEYS = ("name", "key", "values", "from", "to", "points", "scale", "zip")
SAMPLE_KEYS = ("method", "points", "seed")
MOST_VALUES = 1_000_000
"""More values of an axis, or samples, are refused before they are computed."""
_RESERVED = ("run", "point", "seed", "wall_s")


@dataclass(frozen=True)
class RangeEnds:
    """Both ends of a range.

    Attributes:
        low: the first value.
        high: the last value; of the same family of units, and larger.
        log: whether ratios are equal, not differences.
        is_whole: whether values are integers.
    """

    low: Quantity
    high: Quantity
    log: bool
    is_whole: bool

    def at(self, shares: NDArray[np.float64]) -> list[Value]:
        """The values at fractions of the way from the low end (0) to the high one (1)."""
        low, high = self.low.size, self.high.size
        sizes = low * (high / low) ** shares if self.log else low + (high - low) * shares
        if self.is_whole:
            return [round(size) for size in sizes]
        # The unit of the low end: `5ms` to `0.1s` gives 5ms to 100ms.
        return [self._value(float(size)) for size in sizes]

    def rounded(self, size: float, digits: int) -> Value:
        """A size within the ends, in readable form.

        Args:
            size: size in the first unit of the family, see `Quantity.size`.
            digits: significant digits that are kept.
        """
        if self.is_whole:
            return round(size)
        near = float(f"{size:.{digits - 1}e}")
        return self._value(min(max(near, self.low.size), self.high.size))

    def _value(self, size: float) -> Value:
        text = self.low.at(size)
        return text if self.low.unit else float(text)


@dataclass(frozen=True)
class StudyAxis:
    """One axis.

    Attributes:
        name: the column of the results.
        keys: the scenario keys that it sets, dotted; or ``engine``.
        values: its values; empty if it is sampled.
        ends: the ends of a sampled axis.
        zip: axes with the same word advance together; empty if it is multiplied.
    """

    name: str
    keys: tuple[str, ...]
    values: tuple[Value, ...]
    ends: RangeEnds | None = None
    zip: str = ""


@dataclass(frozen=True)
class Sampling:
    """The sampling of axes without a number of points.

    Attributes:
        method: one of `METHODS`.
        points: the number of samples.
        seed: seed of the samples, not of the runs.
    """

    method: Method
    points: int
    seed: int = 1

    def shares(self, dimensions: int) -> NDArray[np.float64]:
        """Points of the unit cube, shape ``(points, dimensions)``."""
        if self.method == "random":
            return np.random.default_rng(self.seed).random((self.points, dimensions))
        try:
            from scipy.stats import qmc
        except ImportError:
            raise InputError(
                f"sample.method: {self.method} needs scipy; pip install 'sojourn[stability]', or "
                'write "random"'
            ) from None
        make = {"latin-hypercube": qmc.LatinHypercube, "sobol": qmc.Sobol, "halton": qmc.Halton}
        sampler = make[self.method](d=dimensions, rng=np.random.default_rng(self.seed))
        return cast("NDArray[np.float64]", sampler.random(self.points))


def read_sampling(table: Mapping[str, Any]) -> Sampling:
    """Read table ``sample``.

    Raises:
        InputError: a key or a value is invalid.
    """
    known_keys("sample", table, SAMPLE_KEYS)
    method = choice("sample.method", table.get("method"), METHODS)
    points = _points("sample", table.get("points"))
    if method == "sobol" and points & (points - 1):
        raise InputError(
            f"sample.points: Sobol's sequence is balanced at powers of two only, not at {points}; "
            f"write {1 << (points.bit_length() - 1)} or {1 << points.bit_length()}"
        )
    return Sampling(cast("Method", method), points, whole("sample.seed", table.get("seed", 1)))


def read_axis(index: int, table: Mapping[str, Any], among: str = "axes") -> StudyAxis:
    """Read one of ``[[axes]]``.

    Args:
        index: its index, from 0.
        table: the table.
        among: the key of the list.

    Raises:
        InputError: a key or a value is invalid.
    """
    place = f"{among}[{index}]"
    known_keys(place, table, AXIS_KEYS)
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise InputError(f"{place}.name: is missing; it names the column of the results")
    place = f"{among}.{name}"
    if name in _RESERVED or "/" in name:
        raise InputError(f"{place}: the results have a column `{name}` already; write another name")
    keys = tuple(text_list(f"{place}.key", table.get("key", name)))
    group = table.get("zip", "")
    if not isinstance(group, str):
        raise InputError(f"{place}.zip: must be a word that the axes of the zip share")
    values, ends = _values(place, table)
    if ENGINE in keys and ends:
        raise InputError(f'{place}: engines are a list; write values = ["sim", "linux"]')
    if ends is not None and "points" in table:
        count = _points(place, table["points"])
        values, ends = _spread(place, ends, count), None
    if ends is not None and group:
        raise InputError(f"{place}: samples cannot be zipped; give `points`, or leave out `zip`")
    return StudyAxis(name, keys, values, ends, group)


def _spread(place: str, ends: RangeEnds, count: int) -> tuple[Value, ...]:
    """Evenly spread values of a range, both ends included."""
    if count < 2:
        raise InputError(f"{place}.points: a range has 2 or more; write one value in `values`")
    return tuple(dict.fromkeys(ends.at(np.linspace(0.0, 1.0, count))))


def refuse_twice(axes: Sequence[StudyAxis], among: str) -> None:
    """Refuse a name or key of two axes, and the seed, which no axis sets.

    Args:
        axes: the axes.
        among: the key of their list.

    Raises:
        InputError: one of these.
    """
    for what in ("name", "key"):
        seen: set[str] = set()
        for axis in axes:
            for word in (axis.name,) if what == "name" else axis.keys:
                if word in seen:
                    raise InputError(f"{among}.{axis.name}: the {what} `{word}` is listed twice")
                seen.add(word)
    for axis in axes:
        if "seed" in axis.keys:
            raise InputError(
                f"{among}.{axis.name}: sets the seed, but `seeds` gives those of a point"
            )


def _points(place: str, value: object) -> int:
    count = at_least_one(f"{place}.points", value)
    if count > MOST_VALUES:
        raise InputError(f"{place}.points: {count:,} are more than {MOST_VALUES:,}; take fewer")
    return count


def _values(place: str, table: Mapping[str, Any]) -> tuple[tuple[Value, ...], RangeEnds | None]:
    """The values of a list, or the ends of a range."""
    if ("values" in table) == ("from" in table or "to" in table):
        raise InputError(f"{place}: give either `values` or `from` and `to`")
    if "values" not in table:
        return (), _ends(place, table)
    values = table["values"]
    if not isinstance(values, list) or not values:
        raise InputError(f"{place}.values: must be a list with at least one value")
    for value in values:
        if not isinstance(value, str | int | float | bool):
            raise InputError(f"{place}.values: `{value}` is not a text, number or boolean")
    if len({_same(value) for value in values}) < len(values):
        raise InputError(f"{place}.values: a value is listed twice; write each once")
    for word in ("points", "scale"):
        if word in table:
            raise InputError(f"{place}.{word}: belongs to a range; a list has its values")
    return tuple(values), None


def _same(value: Value) -> object:
    """Equal for values that mean the same, such as ``5mbit`` and ``5000kbit``."""
    found = quantity(value) if isinstance(value, str) else None
    return str(value) if found is None else (found.family, f"{found.size:.12g}")


def _ends(place: str, table: Mapping[str, Any]) -> RangeEnds:
    for word in ("from", "to"):
        if word not in table:
            raise InputError(f"{place}.{word}: is missing; a range has `from` and `to`")
    low, high = (required(f"{place}.{word}", table[word]) for word in ("from", "to"))
    if low.family != high.family:
        raise InputError(f"{place}: `{table['from']}` and `{table['to']}` are of different units")
    log = choice(f"{place}.scale", table.get("scale", SCALES[0]), SCALES) == "log"
    if not low.size < high.size:
        raise InputError(f"{place}: the range must rise from {table['from']} to {table['to']}")
    if log and not low.size > 0.0:
        raise InputError(f"{place}: a logarithmic range begins above 0, not at {table['from']}")
    return RangeEnds(low, high, log, all(isinstance(table[word], int) for word in ("from", "to")))


def zips(axes: Sequence[StudyAxis]) -> list[list[StudyAxis]]:
    """Axes to take the product of; zipped axes form one group. File order.

    Raises:
        InputError: axes of one zip differ in their number of values.
    """
    groups: dict[str, list[StudyAxis]] = {}
    for axis in axes:
        if axis.ends is None:
            groups.setdefault(f"zip {axis.zip}" if axis.zip else f"axis {axis.name}", []).append(
                axis
            )
    for members in groups.values():
        counts = {axis.name: len(axis.values) for axis in members}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise InputError(
                f"zip {members[0].zip}: axes differ in their number of values: {listed}"
            )
    return list(groups.values())
