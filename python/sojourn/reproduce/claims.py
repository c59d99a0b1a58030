"""Claims as data: numbers, ranges, bounds and relations, from keys of an item's values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from sojourn.reproduce.paper import Claim, Measure, Part, Published, Side, Tag, Values
from sojourn.reproduce.wording import in_words, unit_of

# Meaning of "similar", "about equal" and "do not differ noticeably" if a paper gives no number: the
# tolerance of [approx] numbers, at least 1 ms or 1 percentage point.
SIMILAR = 0.25
# Tolerance of "no loss" and "not worse".
NOTICEABLE = 0.05
# The unit of a share of a whole. Changes in percent have `LESS` or `MORE`.
SHARE, LESS, MORE = "%", "% less", "% more"

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
    return Claim(name, tag, what, (is_number(what, quantity, published, unit),))


def between(
    name: str, tag: Tag, what: str, quantity: Quantity, low: float | None, high: float | None,
    unit: str,
) -> Claim:  # fmt: skip
    """A claim of a range, or of a bound if one end is None."""
    return Claim(name, tag, what, (is_within(what, quantity, low, high, unit),))


def several(name: str, tag: Tag, what: str, *parts: Part) -> Claim:
    """A claim of several numbers."""
    return Claim(name, tag, what, parts)


def order(name: str, what: str, *parts: Part) -> Claim:
    """A claim of relations, all of which have to hold."""
    return Claim(name, "order", what, parts)


def is_number(label: str, quantity: Quantity, published: float, unit: str) -> Part:
    """A part of `several`: one number."""
    return is_within(label, quantity, published, published, unit)


def is_within(
    label: str, quantity: Quantity, low: float | None, high: float | None, unit: str
) -> Part:
    """A part of `several`: a range or a bound."""
    key = quantity if isinstance(quantity, str) else ""
    return Part(label, value(quantity), Published(low, high), unit, key)


def ratio(a: Quantity, b: Quantity) -> Measure:
    """``a / b``."""
    first, second = value(a), value(b)
    return lambda values: first(values) / second(values)


def difference(a: Quantity, b: Quantity) -> Measure:
    """``a - b``."""
    first, second = value(a), value(b)
    return lambda values: first(values) - second(values)


def _worded(a: Quantity, relation: str, b: Quantity) -> str:
    """A relation in words: ``PIE > MADPIE (RTT 500 ms, percentile 90)``."""
    if not isinstance(a, str) or not isinstance(b, str):
        return relation.format(_named(a), _named(b))
    shared = ", ".join(in_words(part) for part in a.split(".") if part in b.split("."))
    return relation.format(*side_names("", a, b)) + (f" ({shared})" if shared else "")


def _named(quantity: Quantity) -> str:
    if callable(quantity):
        return "..."
    return _words(quantity.split("."), []) if isinstance(quantity, str) else f"{quantity:g}"


def _relation(label: str, margin: Measure, a: Quantity, b: Quantity, unit: str = "") -> Part:
    keys = [one for one in (a, b) if isinstance(one, str)]
    unit = unit or next(filter(None, map(unit_of, keys)), "")
    sides = tuple(
        Side(name, value(quantity), unit)
        for name, quantity in zip(side_names(label, a, b), (a, b), strict=True)
    )
    return Part(label, margin, unit=unit, sides=sides)


def side_names(label: str, a: Quantity, b: Quantity) -> tuple[str, str]:
    """The names of the sides of a relation: the parts in which their keys differ, else its label.

    ``rtt500.pie.p90_ms`` and ``rtt500.madpie.p90_ms`` are PIE and MADPIE.
    """
    if isinstance(a, str) and isinstance(b, str):
        first, second = a.split("."), b.split(".")
        return _words(first, second), _words(second, first)
    if isinstance(a, str):
        return _words(a.split("."), []), "bound"
    if isinstance(b, str):
        return "bound", _words(b.split("."), [])
    left, found, right = label.rpartition(": ")[2].partition(" > ")
    return (left, right) if found else ("the first", "the second")


def _words(parts: Sequence[str], others: Sequence[str]) -> str:
    own = [part for part in parts if part not in others] or parts
    return ", ".join(map(in_words, own))


def more(
    a: Quantity, b: Quantity, factor: float = 1.0, label: str = "", unit: str = ""
) -> Part:  # fmt: skip
    """``a > factor * b``; both have `unit`, if their keys have none."""
    first, second = value(a), value(b)
    times = "" if factor == 1.0 else f"{factor:g} x "
    return _relation(
        label or _worded(a, f"{{}} > {times}{{}}", b),
        lambda values: first(values) - factor * second(values),
        a, b, unit,
    )  # fmt: skip


def not_less(a: Quantity, b: Quantity, within: float = NOTICEABLE, label: str = "") -> Part:
    """``a >= b``, with a tolerance relative to `b`."""
    return more(a, b, 1.0 - within, label or _worded(a, "{} not noticeably below {}", b))


def not_more(a: Quantity, b: Quantity, within: float = NOTICEABLE, label: str = "") -> Part:
    """``a <= b``, with a tolerance relative to `b`."""
    first, second = value(a), value(b)
    return _relation(
        label or _worded(a, "{} not noticeably above {}", b),
        lambda values: (1.0 + within) * second(values) - first(values),
        a, b,
    )  # fmt: skip


def alike(
    a: Quantity, b: Quantity, within: float = SIMILAR, floor: float = 1.0, label: str = ""
) -> Part:
    """``a`` and ``b`` differ by less than a fraction of `b`, or than `floor` in their unit."""
    first, second = value(a), value(b)

    def margin(values: Values) -> float:
        allowed = max(within * abs(second(values)), floor)
        return allowed - abs(first(values) - second(values))

    return _relation(label or _worded(a, "{} ≈ {}", b), margin, a, b)


def growing(*quantities: Quantity) -> tuple[Part, ...]:
    """Parts of a claim that each value is larger than the one before."""
    return tuple(more(b, a) for a, b in pairwise(quantities))


def each(keys: Sequence[str], make: Callable[[str], Part]) -> tuple[Part, ...]:
    """The same part of a claim for every key."""
    return tuple(make(key) for key in keys)


def not_measured(name: str, tag: Tag, what: str) -> Claim:
    """A claim about an item that is not covered."""
    return Claim(name, tag, what, ())


def explained(claims: Sequence[Claim], differs: Mapping[str, str]) -> tuple[Claim, ...]:
    """The claims, with reasons for those that do not hold.

    Args:
        claims: claims of a paper.
        differs: reasons by the end of the claim's name, such as ``F2-6``.

    Raises:
        KeyError: a reason belongs to no claim.
    """
    by_end = {"-".join(claim.id.split("-")[-2:]): claim for claim in claims}
    if strangers := set(differs) - set(by_end):
        raise KeyError(f"reasons for claims that are not there: {', '.join(sorted(strangers))}")
    return tuple(replace(claim, differs=differs.get(end, "")) for end, claim in by_end.items())
