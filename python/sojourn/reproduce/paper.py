"""A paper as data: items that can be reproduced, and claims about them.

A paper is one module in `sojourn.papers` with a `PAPER`. Everything here is data; running, judging
and showing it are in the other modules of this package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from sojourn.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.reproduce.pool import Pool
    from sojourn.reproduce.testbed import Testbed

Profile = Literal["quick", "full"]
Tag = Literal["exact", "approx", "order"]
Kind = Literal["data", "computed", "structure", "parameters", "external"]

# Measured values of an item by dotted key, such as ``rtt100.n16.codel_act.p99_ms``.
Values = Mapping[str, float]
Measure = Callable[[Values], float]
# The replicas of each case of an item, by the case's key.
Pools = Mapping[str, "Pool"]

# What "similar", "about equal" and "do not differ noticeably" mean where a paper gives no number:
# the tolerance of [approx] numbers, or 1 ms or 1 percentage point if that is more.
SIMILAR = 0.25
# What "no loss" and "not worse" allow.
NOTICEABLE = 0.05
# The unit of a share of a whole. A change in percent has another: `LESS` or `MORE`.
SHARE, LESS, MORE = "%", "% less", "% more"


@dataclass(frozen=True)
class Case:
    """One scenario of an item, run under several seeds.

    Attributes:
        scenario: every parameter is the paper's or marked beside it as our choice.
        keep: names in `sojourn.reproduce.extract.EXTRACTORS`: what is kept beside the summary.
    """

    scenario: Scenario
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table in the paper's layout: texts, the first column names the rows."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Published:
    """A published number as a range: a number has equal ends, a bound has one end.

    Attributes:
        low: lower end in the part's unit, None without one.
        high: upper end.
    """

    low: float | None
    high: float | None

    @property
    def is_number(self) -> bool:
        """Whether it is one number, not a range or a bound."""
        return self.low == self.high

    def error(self, value: float) -> float:
        """How far a value lies outside, in the unit of both; 0 within, NaN of NaN."""
        if math.isnan(value):
            return math.nan
        below = self.low - value if self.low is not None else 0.0
        above = value - self.high if self.high is not None else 0.0
        return max(below, above, 0.0)

    def nearest(self, value: float) -> float:
        """The end that tolerances refer to."""
        ends = [end for end in (self.low, self.high) if end is not None]
        return min(ends, key=lambda end: abs(end - value))

    def __str__(self) -> str:
        """As text: ``3``, ``1 to 2``, ``≤ 3``."""
        if self.low is None:
            return f"≤ {self.high:g}"
        if self.high is None:
            return f"≥ {self.low:g}"
        if self.low == self.high:
            return f"{self.low:g}"
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Part:
    """One number or relation of a claim.

    Attributes:
        label: a sentence or a predicate.
        measure: from an item's values to a number; of an order it is a margin: positive where the
            relation holds.
        published: what the paper prints; None for an order.
        unit: of both; ``%`` is a share of a whole, ``% less`` and ``% more`` are changes.
    """

    label: str
    measure: Measure
    published: Published | None = None
    unit: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and how it is measured.

    Attributes:
        id: paper, item and number of the claim: ``madpie-F2-4``.
        tag: ``exact``, ``approx`` (numbers) or ``order`` (a relation).
        what: the statement, paraphrased.
        parts: all of them have to hold.
        differs: why it does not hold here, a template of `sojourn.reproduce.reasons`; may be empty.
    """

    id: str
    tag: Tag
    what: str
    parts: tuple[Part, ...]
    differs: str = ""

    @property
    def where(self) -> str:
        """The item it belongs to: ``F2``."""
        return self.id.split("-")[-2]


@dataclass(frozen=True)
class Seeds:
    """The number of seeds of an item, by profile."""

    quick: int = 2
    full: int = 5


def no_cases(_profile: Profile) -> dict[str, Case]:
    """An item without runs."""
    return {}


def no_values(_pools: Pools) -> dict[str, float]:
    """An item without measured values."""
    return {}


def no_figures(_pools: Pools, _values: Values) -> dict[str, Figure]:
    """An item without figures."""
    return {}


def no_tables(_values: Values) -> list[Table]:
    """An item without tables."""
    return []


def as_written(scenario: Scenario) -> Scenario:
    """The scenario of a case, unchanged."""
    return scenario


@dataclass(frozen=True)
class Variant:
    """All cases of an item under another reading of the paper, measured beside it.

    Attributes:
        key: first part of the keys of its cases and values, such as ``tc_weight``.
        what: what is different, as a phrase.
        change: from the scenario of a case to that of the variant.
    """

    key: str
    what: str
    change: Callable[[Scenario], Scenario]


@dataclass(frozen=True)
class Item:
    """A numbered figure or table, or a set of results without a number.

    Attributes:
        id: its number in the paper: ``F2``, ``T1``.
        title: what it shows.
        kind: whether it is simulated, computed, or only shown.
        cases: the scenarios by key, for a profile; keys become parts of the measured keys.
        seeds: under how many seeds each case is run.
        published_runs: how often the paper ran each case, as text; empty if unstated.
        measure: from pooled replicas to values.
        figures: from pooled replicas and values to figures by name.
        tables: from values to tables.
        note: for readers: our choices, what differs and why.
        missing: why it is not covered; empty if it is.
        variants: other readings, measured beside it; claims judge the first.
        engine_scenario: from a case's scenario to what the engine is given.
    """

    id: str
    title: str
    kind: Kind = "data"
    cases: Callable[[Profile], dict[str, Case]] = no_cases
    seeds: Seeds = Seeds()
    published_runs: str = ""
    measure: Callable[[Pools], dict[str, float]] = no_values
    figures: Callable[[Pools, Values], Mapping[str, Figure]] = no_figures
    tables: Callable[[Values], Sequence[Table]] = no_tables
    note: str = ""
    missing: str = ""
    variants: tuple[Variant, ...] = ()
    engine_scenario: Callable[[Scenario], Scenario] = as_written

    def all_cases(self, profile: Profile) -> dict[str, Case]:
        """The cases, and those of its variants, as the engine runs them."""
        own = self.cases(profile)
        changed = {
            f"{variant.key}.{key}": replace(case, scenario=variant.change(case.scenario))
            for variant in self.variants
            for key, case in own.items()
        }
        return {
            key: replace(case, scenario=self.engine_scenario(case.scenario))
            for key, case in (own | changed).items()
        }

    def measure_all(self, pools: Pools) -> dict[str, float]:
        """The values, and those of its variants with the variant's key before theirs."""
        of_variants = [_starting(f"{variant.key}.", pools) for variant in self.variants]
        changed = {key for found in of_variants for key in found}
        values = self.measure({key: pool for key, pool in pools.items() if key not in changed})
        for variant, found in zip(self.variants, of_variants, strict=True):
            own = self.measure({key.split(".", 1)[1]: pool for key, pool in found.items()})
            values |= {f"{variant.key}.{key}": value for key, value in own.items()}
        return values


def _starting(prefix: str, pools: Pools) -> dict[str, Pool]:
    return {key: pool for key, pool in pools.items() if key.startswith(prefix)}


@dataclass(frozen=True)
class Paper:
    """A paper: `PAPER` of a module in `sojourn.papers`.

    Attributes:
        key: short name, as in ``sojourn reproduce pie``.
        title: of the paper.
        source: authors, place, year.
        about: what was done, in two sentences.
        items: in the paper's order.
        claims: in the order of the items.
        testbed: what of it was measured on a Linux testbed, if anything.
        paragraphs: by title, what several reasons refer to (`sojourn.reproduce.reasons`).
    """

    key: str
    title: str
    source: str
    about: str
    items: tuple[Item, ...]
    claims: tuple[Claim, ...] = field(default=())
    testbed: Testbed | None = None
    paragraphs: Mapping[str, str] = field(default_factory=dict)

    def claims_of(self, item: str) -> list[Claim]:
        """The claims about one item."""
        return [claim for claim in self.claims if claim.where == item]


Quantity = str | float | Measure


def value(quantity: Quantity) -> Measure:
    """A measure from a key of the item's values, a number, or a measure."""
    if callable(quantity):
        return quantity
    if isinstance(quantity, str):
        return lambda values: values[quantity]
    return lambda _values: quantity


def number(
    name: str, tag: Tag, what: str, quantity: Quantity, published: float, unit: str
) -> Claim:  # fmt: skip
    """A claim of one number."""
    part = Part(what, value(quantity), Published(published, published), unit)
    return Claim(name, tag, what, (part,))


def between(
    name: str, tag: Tag, what: str, quantity: Quantity, low: float | None, high: float | None,
    unit: str,
) -> Claim:  # fmt: skip
    """A claim of a range, or of a bound where one end is None."""
    part = Part(what, value(quantity), Published(low, high), unit)
    return Claim(name, tag, what, (part,))


def several(name: str, tag: Tag, what: str, *parts: Part) -> Claim:
    """A claim of several numbers."""
    return Claim(name, tag, what, parts)


def order(name: str, what: str, *parts: Part) -> Claim:
    """A claim of relations, all of which have to hold."""
    return Claim(name, "order", what, parts)


def is_number(label: str, quantity: Quantity, published: float, unit: str) -> Part:
    """A part of `several`: one number."""
    return Part(label, value(quantity), Published(published, published), unit)


def is_within(
    label: str, quantity: Quantity, low: float | None, high: float | None, unit: str
) -> Part:
    """A part of `several`: a range or a bound."""
    return Part(label, value(quantity), Published(low, high), unit)


def ratio(a: Quantity, b: Quantity) -> Measure:
    """``a / b``."""
    first, second = value(a), value(b)
    return lambda values: first(values) / second(values)


def difference(a: Quantity, b: Quantity) -> Measure:
    """``a - b``."""
    first, second = value(a), value(b)
    return lambda values: first(values) - second(values)


def _named(quantity: Quantity) -> str:
    if callable(quantity):
        return "..."
    return quantity if isinstance(quantity, str) else f"{quantity:g}"


def more(a: Quantity, b: Quantity, factor: float = 1.0, label: str = "") -> Part:
    """``a > factor * b``."""
    first, second = value(a), value(b)
    times = "" if factor == 1.0 else f"{factor:g} x "
    return Part(
        label or f"{_named(a)} > {times}{_named(b)}",
        lambda values: first(values) - factor * second(values),
    )


def not_less(a: Quantity, b: Quantity, within: float = NOTICEABLE, label: str = "") -> Part:
    """``a >= b`` but for a part of `b` that does not count."""
    return more(a, b, 1.0 - within, label or f"{_named(a)} not noticeably below {_named(b)}")


def not_more(a: Quantity, b: Quantity, within: float = NOTICEABLE, label: str = "") -> Part:
    """``a <= b`` but for a part of `b` that does not count."""
    first, second = value(a), value(b)
    return Part(
        label or f"{_named(a)} not noticeably above {_named(b)}",
        lambda values: (1.0 + within) * second(values) - first(values),
    )


def alike(
    a: Quantity, b: Quantity, within: float = SIMILAR, floor: float = 1.0, label: str = ""
) -> Part:
    """``a`` and ``b`` differ by less than a part of `b`, or than `floor` in their unit."""
    first, second = value(a), value(b)

    def margin(values: Values) -> float:
        allowed = max(within * abs(second(values)), floor)
        return allowed - abs(first(values) - second(values))

    return Part(label or f"{_named(a)} ≈ {_named(b)}", margin)


def growing(*quantities: Quantity) -> tuple[Part, ...]:
    """Each is more than the one before."""
    return tuple(more(b, a) for a, b in pairwise(quantities))


def each(keys: Sequence[str], make: Callable[[str], Part]) -> tuple[Part, ...]:
    """The same part for every key."""
    return tuple(make(key) for key in keys)


def not_measured(name: str, tag: Tag, what: str) -> Claim:
    """A claim about an item that is not covered."""
    return Claim(name, tag, what, ())


def explained(claims: Sequence[Claim], differs: Mapping[str, str]) -> tuple[Claim, ...]:
    """The claims, those that do not hold with the reason.

    Args:
        claims: of a paper.
        differs: reasons by the end of the claim's name, such as ``F2-6``.

    Raises:
        KeyError: a reason belongs to no claim.
    """
    by_end = {"-".join(claim.id.split("-")[-2:]): claim for claim in claims}
    if strangers := set(differs) - set(by_end):
        raise KeyError(f"reasons for claims that are not there: {', '.join(sorted(strangers))}")
    return tuple(replace(claim, differs=differs.get(end, "")) for end, claim in by_end.items())
