"""A paper as data: items that can be reproduced, and claims about them.

A paper is one module in `sojourn.papers` with a `PAPER`. Everything here is data; running, judging
and showing it are in the other modules of this package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sojourn.errors import InputError
from sojourn.reproduce.edits import Edit
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


@dataclass(frozen=True)
class Case:
    """One scenario of an item, run under several seeds.

    Attributes:
        scenario: every parameter is the paper's or marked as our choice; or its file.
        keep: names in `sojourn.reproduce.extract.EXTRACTORS`: results that are kept in addition to
            the summary.
        edits: changes to the scenario, in order.
    """

    scenario: Scenario | Path
    keep: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()

    def changed(self, change: Callable[[Scenario], Scenario]) -> Case:
        """The case with its scenario changed; a file stays as it is."""
        if isinstance(self.scenario, Path):
            return self
        return replace(self, scenario=change(self.scenario))


@dataclass(frozen=True)
class Cell:
    """A measured value in a table, next to the published one, if any.

    Attributes:
        key: key of the item's values.
        form: format of both, as in Python.
    """

    key: str
    form: str = ".2f"


@dataclass(frozen=True)
class Table:
    """A table in the paper's layout: texts and values, the first column names the rows."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]


def listed(title: str, values: Values) -> list[Table]:
    """A table of all values of an item, such as a topology."""
    rows = [(key, Cell(key, "g")) for key in values]
    return [Table(title, ("configured", "measured / published"), rows)]


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
        """Whether the claim is one number, not a range or a bound."""
        return self.low == self.high

    def error(self, value: float) -> float:
        """Distance of a value from the range, in the unit of both; 0 within, NaN for NaN."""
        if math.isnan(value):
            return math.nan
        below = self.low - value if self.low is not None else 0.0
        above = value - self.high if self.high is not None else 0.0
        return max(below, above, 0.0)

    def nearest(self, value: float) -> float:
        """The end that tolerances refer to."""
        ends = [end for end in (self.low, self.high) if end is not None]
        return min(ends, key=lambda end: abs(end - value))

    def scaled(self, factor: float) -> Published:
        """The range in another unit."""
        low, high = (None if end is None else factor * end for end in (self.low, self.high))
        return Published(low, high)

    def __str__(self) -> str:
        """The number as text: ``3``, ``1 to 2``, ``≤ 3``."""
        if self.low is None:
            return f"≤ {self.high:g}"
        if self.high is None:
            return f"≥ {self.low:g}"
        if self.low == self.high:
            return f"{self.low:g}"
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Side:
    """One side of a relation: its name, and its value in a unit."""

    name: str
    measure: Measure
    unit: str


@dataclass(frozen=True)
class Part:
    """One number or relation of a claim.

    Attributes:
        label: a sentence or a predicate.
        measure: computes a number from an item's values; for an order a margin, positive if the
            relation holds.
        published: the published value; None for an order.
        unit: unit of both numbers; ``%`` is a share of a whole, ``% less`` and ``% more`` are
            changes.
        key: key of the item's values, if the number is one of them.
        sides: the two sides of a relation, in its order.
        factor: from the value under `key` to `unit`.
    """

    label: str
    measure: Measure
    published: Published | None = None
    unit: str = ""
    key: str = ""
    sides: tuple[Side, ...] = ()
    factor: float = 1.0

    @property
    def in_values(self) -> Published | None:
        """The published number in the unit of the item's value; None without such a value."""
        if self.published is None or not self.key:
            return None
        return self.published.scaled(1.0 / self.factor)


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
        """The item to which the claim belongs: ``F2``."""
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
class ItemVariant:
    """All cases of an item under another reading of the paper, also measured.

    Attributes:
        key: first part of the keys of its cases and values, such as ``tc_weight``.
        what: the difference, as a phrase.
        change: makes the variant's scenario from that of a case.
        edit: further changes, for a variant that a reader asks for; None for one of the paper.
        cases: a pattern for the keys of the cases that `edit` changes; the others stay.
    """

    key: str
    what: str
    change: Callable[[Scenario], Scenario] = as_written
    edit: Edit | None = None
    cases: str = "*"

    def of(self, key: str, case: Case) -> Case:
        """The variant of a case of the item."""
        if self.edit is None or not fnmatchcase(key, self.cases):
            return case.changed(self.change)
        return replace(case.changed(self.change), edits=(*case.edits, self.edit))


@dataclass(frozen=True)
class Item:
    """A numbered figure or table, or a set of results without a number.

    Attributes:
        id: its number in the paper: ``F2``, ``T1``.
        title: what it shows.
        kind: whether it is simulated, computed, or only shown.
        cases: the scenarios by key, for a profile; keys become parts of the measured keys.
        seeds: number of seeds of each case.
        published_runs: number of runs of each case in the paper, as text; empty if unstated.
        measure: computes values from pooled replicas.
        figures: makes figures, keyed by name, from pooled replicas and values.
        tables: makes tables from values.
        note: a note for readers: our choices, differences and their reasons.
        missing: why it is not covered; empty if it is.
        variants: other readings, also measured; claims judge the first.
        engine_scenario: makes the engine's scenario from that of a case.
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
    variants: tuple[ItemVariant, ...] = ()
    engine_scenario: Callable[[Scenario], Scenario] = as_written

    def all_cases(self, profile: Profile) -> dict[str, Case]:
        """The item's cases, and those of its variants, as the engine runs them."""
        own = self.cases(profile)
        changed = {
            f"{variant.key}.{key}": variant.of(key, case)
            for variant in self.variants
            for key, case in own.items()
        }
        return {key: case.changed(self.engine_scenario) for key, case in (own | changed).items()}

    def asked(self) -> dict[str, ItemVariant]:
        """The variants that a reader asks for, by key."""
        return {each.key: each for each in self.variants if each.edit is not None}

    def measure_all(self, pools: Pools) -> dict[str, float]:
        """The item's values, and those of its variants, whose keys begin with the variant's key."""
        of_variants = [_starting(f"{variant.key}.", pools) for variant in self.variants]
        changed = {key for found in of_variants for key in found}
        values = self.measure({key: pool for key, pool in pools.items() if key not in changed})
        for variant, found in zip(self.variants, of_variants, strict=True):
            own = self._measure(variant, found)
            values |= {f"{variant.key}.{key}": value for key, value in own.items()}
        return values

    def _measure(self, variant: ItemVariant, pools: Pools) -> dict[str, float]:
        """The values of a variant.

        Raises:
            InputError: a reader asked for it, and it leaves nothing to measure.
        """
        own = {key.split(".", 1)[1]: pool for key, pool in pools.items()}
        try:
            return self.measure(own)
        except (LookupError, ValueError, ArithmeticError, AssertionError) as error:
            if variant.edit is None:
                raise
            raise InputError(
                f"{self.id}, {variant.what}: what the item measures is not in these runs "
                f"({type(error).__name__}: {error}); keep its flows and its duration"
            ) from error


@dataclass(frozen=True)
class Mark:
    """Where the published number of a claim belongs in a figure.

    Attributes:
        figure: its name, such as ``F10``.
        panel: number of the pair of axes, from 0.
        claim: the end of the claim's name, such as ``F10-2``.
        part: number of its part.
        x: position on the horizontal axis; None if the published value is that position.
        y: the same for the vertical axis.
        level: instead of `x` and `y`: ``y`` for a horizontal line there, ``x`` for a vertical one.
        scale: factor from the unit of the claim to that of the axis.
        offset: added to the scaled value.
    """

    figure: str
    panel: int
    claim: str
    part: int = 0
    x: float | None = None
    y: float | None = None
    level: Literal["", "x", "y"] = ""
    scale: float = 1.0
    offset: float = 0.0


def _starting(prefix: str, pools: Pools) -> dict[str, Pool]:
    return {key: pool for key, pool in pools.items() if key.startswith(prefix)}


@dataclass(frozen=True)
class Paper:
    """A paper: `PAPER` of a module in `sojourn.papers`.

    Attributes:
        key: short name, as in ``sojourn reproduce pie``.
        title: title of the paper.
        source: authors, place, year.
        about: the paper's experiments, in two sentences.
        items: items in the paper's order.
        claims: claims in the order of the items.
        testbed: the part that was measured on a Linux testbed, if any.
        paragraphs: keyed by title: texts that several reasons refer to
            (`sojourn.reproduce.reasons`).
        marks: positions of published values in the figures.
    """

    key: str
    title: str
    source: str
    about: str
    items: tuple[Item, ...]
    claims: tuple[Claim, ...] = field(default=())
    testbed: Testbed | None = None
    paragraphs: Mapping[str, str] = field(default_factory=dict)
    marks: Sequence[Mark] = ()

    def claims_of(self, item: str) -> list[Claim]:
        """The claims about one item."""
        return [claim for claim in self.claims if claim.where == item]
