"""Claims of a paper that is a folder: published values and relations between measured ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from sojourn.reproduce import claims
from sojourn.reproduce.claims import LESS
from sojourn.reproduce.folder_reader import Reader, nearest
from sojourn.reproduce.folder_values import UNITS, Wanted, is_settling, names, scope_of
from sojourn.reproduce.measures import seconds
from sojourn.reproduce.paper import Claim, Measure, Part, Published, Tag, Values

_QUANTITY = ("case", "of", "metric", "within", "after")
_NUMBERS = ("published", "at_least", "at_most")
_RELATIONS: Mapping[str, Callable[[str, str, float], Part]] = {
    "above": claims.more,
    "below": lambda a, b, factor: claims.more(b, a, 1.0 / factor),
    "not_above": lambda a, b, _factor: claims.not_more(a, b),
    "not_below": lambda a, b, _factor: claims.not_less(a, b),
    "like": lambda a, b, _factor: claims.alike(a, b),
}
# Operations with a second quantity before the result is compared with a number.
_OPERATIONS = ("divided_by", "minus", "percent_less_than")
_PART = (*_QUANTITY, *_NUMBERS, *_RELATIONS, *_OPERATIONS, "unit", "tolerance")
_TOLERANCES = ("exact", "approx")


@dataclass(frozen=True)
class Scopes:
    """The names of each case's links and of its classes of flows, by the case's key."""

    links: Mapping[str, list[str]]
    classes: Mapping[str, list[str]]
    usual_link: Mapping[str, str | None]


@dataclass(frozen=True)
class ReadClaim:
    """A claim and the quantities that it needs."""

    claim: Claim
    wanted: tuple[Wanted, ...]


def read(name: str, reader: Reader, scopes: Scopes) -> ReadClaim:
    """One ``[[claims]]``.

    Args:
        name: name of the claim, such as ``mypaper-F1-2``.
        reader: reader of its table.
        scopes: the links, classes and compared links of its item's cases.

    Raises:
        InputError: with file, line and remedy.
    """
    reader.known("item", "what", "printed", "because", "parts", *_PART)
    what = f"{reader.text_of('what')} ({reader.text_of('printed')})"
    shared = {key: value for key, value in reader.table.items() if key in _PART}
    tables = reader.array("parts") or [reader]
    for each in tables:
        each.known(*_PART, *(reader.table if each is reader else ()))
    parts = [_PartReader(each.below(shared | dict(each.table)), scopes) for each in tables]
    found = [part.read() for part in parts]
    tags = {tag for tag, _ in found}
    if len(tags) > 1:
        raise reader.refuse("mixes relations and numbers, or tolerances; write a claim for each")
    because = reader.text_of("because", "").replace("{", "{{").replace("}", "}}")
    claim = Claim(name, tags.pop(), what, tuple(part for _, part in found), because)
    return ReadClaim(claim, tuple(each for part in parts for each in part.wanted))


class _PartReader:
    """One part of a claim."""

    def __init__(self, reader: Reader, scopes: Scopes) -> None:
        self._reader, self._scopes = reader, scopes
        self._cases = [*scopes.links]
        self.wanted: list[Wanted] = []

    def read(self) -> tuple[Tag, Part]:
        kinds = [key for key in (*_NUMBERS, *_RELATIONS) if key in self._reader.table]
        if len(kinds) != 1:
            given = ", ".join(kinds) or "nothing"
            listed = ", ".join((*_NUMBERS, *_RELATIONS))
            raise self._reader.refuse(f"must have exactly one of {listed}; it has {given}")
        own = self._quantity(self._reader, {})
        if kinds[0] in _RELATIONS:
            return "order", self._relation(kinds[0], own)
        return self._tag(kinds[0]), self._number(kinds[0], own)

    def _relation(self, kind: str, own: Wanted) -> Part:
        if any(key in self._reader.table for key in (*_OPERATIONS, "unit", "tolerance")):
            raise self._reader.refuse("is a relation, which has no unit, tolerance or operation")
        other, factor = self._other(kind, own, "factor")
        if own.suffix != other.suffix:
            raise self._reader.refuse(f"compares {own.metric} with {other.metric}", kind)
        return _RELATIONS[kind](own.key, other.key, factor)

    def _number(self, kind: str, own: Wanted) -> Part:
        low, high = self._ends(kind)
        operations = [key for key in _OPERATIONS if key in self._reader.table]
        if len(operations) > 1:
            raise self._reader.refuse(f"has {' and '.join(operations)}; write one")
        usual = next(iter(UNITS[own.suffix]))
        unit = self._reader.text_of("unit", usual)
        label = f"{own.case} {own.of} {own.metric}".replace("  ", " ")
        if not operations or operations == ["minus"]:
            factor = self._factor(unit, own)
            key = "" if operations else own.key
            measure = _scaled(own.key, factor)
            if operations:
                other, _ = self._other("minus", own)
                measure = claims.difference(measure, _scaled(other.key, factor))
                label += f" - {other.case}"
            return Part(label, measure, Published(low, high), unit, key, factor=factor)
        other, _ = self._other(operations[0], own)
        ratio = claims.ratio(own.key, other.key)
        if operations == ["divided_by"]:
            return Part(f"{label} / {other.case}", ratio, Published(low, high))
        less = Published(low, high)
        return Part(f"{label} against {other.case}", _percent_less(ratio), less, LESS)

    def _ends(self, kind: str) -> tuple[float | None, float | None]:
        value = self._reader.table[kind]
        if kind == "published" and isinstance(value, list):
            ends = [each for each in value if type(each) in (int, float)]
            if len(value) != 2 or len(ends) != 2 or ends[0] >= ends[1]:
                raise self._reader.refuse("must be a number, or a range such as [18, 22]", kind)
            return float(ends[0]), float(ends[1])
        number = self._reader.number(kind)
        low = None if kind == "at_most" else number
        return low, None if kind == "at_least" else number

    def _tag(self, kind: str) -> Tag:
        tolerance = self._reader.text_of("tolerance", None if kind == "published" else "exact")
        if tolerance not in _TOLERANCES:
            why = f"`{tolerance}` is not a tolerance; write exact (15 %) or approx (25 %)"
            raise self._reader.refuse(why, "tolerance")
        return cast(Tag, tolerance)

    def _factor(self, unit: str, own: Wanted) -> float:
        factors = UNITS[own.suffix]
        if unit not in factors:
            units = ", ".join(filter(None, factors)) or "no unit"
            why = f"`{unit}` is not a unit of {own.metric}; use {units}"
            raise self._reader.refuse(why, "unit")
        return factors[unit]

    def _other(self, key: str, own: Wanted, *more: str) -> tuple[Wanted, float]:
        """The quantity of a table in the part; keys that it lacks are those of the part."""
        table = self._reader.table[key]
        if not isinstance(table, dict):
            raise self._reader.refuse('must be a table, such as { case = "codel" }', key)
        reader = self._reader.below(table, key)
        reader.known(*_QUANTITY, *more)
        given = {key: self._reader.table.get(key) for key in ("within", "after")}
        usual = {"case": own.case, "of": own.of, "metric": own.metric}
        usual |= {key: value for key, value in given.items() if value is not None}
        other = self._quantity(reader, usual)
        if other == own:
            raise self._reader.refuse("names the same quantity; name another case or metric", key)
        return other, reader.number("factor", 1.0) if more else 1.0

    def _quantity(self, reader: Reader, usual: Mapping[str, Any]) -> Wanted:
        case = reader.text_of("case", usual.get("case"))
        if case not in self._cases:
            why = f"its item has no case `{case}`{nearest(case, self._cases)}"
            raise reader.refuse(why, "case")
        metric = reader.text_of("metric", usual.get("metric"))
        if not scope_of(metric):
            raise reader.refuse(f"unknown metric `{metric}`{nearest(metric, names())}", "metric")
        of = self._of(reader, case, metric, usual.get("of", ""))
        found = Wanted(case, of, metric, *self._settling(reader, metric, usual))
        self.wanted.append(found)
        return found

    def _settling(
        self, reader: Reader, metric: str, usual: Mapping[str, Any]
    ) -> tuple[tuple[float, float] | None, float]:
        """The bounds of a settling time, and its start; negative if no key states it."""
        within = reader.table.get("within", usual.get("within"))
        if not is_settling(metric):
            if key := next((k for k in ("within", "after") if k in reader.table), ""):
                why = "belongs to a settling time, such as state_delay_mean_settled"
                raise reader.refuse(why, key)
            return None, -1.0
        if within is None:
            raise reader.refuse("has no `within`; add bounds, such as [15, 25] of a delay in ms")
        ends = within if isinstance(within, list) and len(within) == 2 else ()
        if not all(type(end) in (int, float) for end in ends) or not ends or ends[0] >= ends[1]:
            why = "must be two numbers, the smaller first, such as [15, 25]"
            raise reader.refuse(why, "within")
        after = reader.text_of("after", usual.get("after", ""))
        try:
            return (float(ends[0]), float(ends[1])), seconds(after) if after else -1.0
        except ValueError as error:
            raise reader.refuse(str(error), "after") from None

    def _of(self, reader: Reader, case: str, metric: str, usual: str) -> str:
        scope = scope_of(metric)
        of = reader.text_of("of", usual)
        if scope == "run":
            return ""
        known = (self._scopes.links if scope == "queue" else self._scopes.classes)[case]
        if not of and scope == "queue":
            of = self._scopes.usual_link[case] or ""
        if not of and len(known) == 1:
            of = known[0]
        noun = "link" if scope == "queue" else "class of flows"
        if not of:
            raise reader.refuse(f"has no `of`; {metric} is measured per {noun}: {', '.join(known)}")
        if of not in known:
            raise reader.refuse(f"{case} has no {noun} `{of}`{nearest(of, known)}", "of")
        return of


def _scaled(key: str, factor: float) -> Measure:
    return lambda values: factor * values[key]


def _percent_less(ratio: Measure) -> Measure:
    def measure(values: Values) -> float:
        return 100.0 * (1.0 - ratio(values))

    return measure
