"""Measured values and claims as text, for a terminal and a dossier."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sojourn.describing.formatting import decimals_for, show
from sojourn.reproduce.outcome import MeasuredItem, MeasuredPaper
from sojourn.reproduce.paper import Table
from sojourn.reproduce.verdict import JudgedClaim, JudgedPart

_ORDER = ("match", "near", "differs", "holds", "weak", "fails", "no value", "not covered")


def measured(part: JudgedPart) -> str:
    """A value with half of its 95 % interval over the seeds and its unit."""
    if math.isnan(part.value):
        return "–"
    half = part.spread.half_width
    decimals = decimals_for(half, part.value)
    text = show(part.value, decimals, sign=part.part.published is None)
    if half > 0:
        text += f" ± {show(half, decimals)}"
    return f"{text} {part.part.unit}".rstrip()


def published(part: JudgedPart) -> str:
    """The published value; for an order, that the margin is above zero."""
    if part.part.published is None:
        return "margin > 0"
    return f"{part.part.published} {part.part.unit}".rstrip()


def claim_rows(judged: Iterable[JudgedClaim]) -> list[list[str]]:
    """One row per claim: id, tag, statement, published, measured, seeds, verdict."""
    rows = []
    for each in judged:
        part = each.worst()
        more = f" ({len(each.parts)} parts, the worst shown)" if len(each.parts) > 1 else ""
        rows.append([
            each.claim.id, each.claim.tag, each.claim.what + more,
            published(part) if part else "–", measured(part) if part else "–",
            str(part.spread.n or "–") if part else "–", each.verdict,
        ])  # fmt: skip
    return rows


CLAIM_HEADER = ("claim", "tag", "statement", "published", "measured", "seeds", "verdict")


def counts(made: MeasuredPaper) -> str:
    """How many claims have which verdict, as text."""
    found = made.counts()
    return ", ".join(f"{found[verdict]} {verdict}" for verdict in _ORDER if found[verdict])


def scores(made: MeasuredPaper) -> list[tuple[str, int, int]]:
    """Numbers that match or are near, and orders that hold: label, how many, of how many."""
    judged = [each for item in made.items for each in item.claims if each.verdict != "not covered"]
    numbers = [each for each in judged if each.claim.tag != "order"]
    orders = [each for each in judged if each.claim.tag == "order"]
    return [
        ("numbers match or are near", _good(numbers, ("match", "near")), len(numbers)),
        ("orders hold", _good(orders, ("holds",)), len(orders)),
        ("orders hold or are weak", _good(orders, ("holds", "weak")), len(orders)),
    ]


def _good(judged: Sequence[JudgedClaim], verdicts: tuple[str, ...]) -> int:
    return sum(each.verdict in verdicts for each in judged)


def seeds(made: MeasuredItem) -> str:
    """How often each case was run here and in the paper; empty where nothing is run."""
    count = made.plan.seeds
    if not count:
        return ""
    here = f"{count} {'seed' if count == 1 else 'seeds'} here"
    return f"Each case: {here}, {made.item.published_runs or 'not stated'} in the paper."


def value_table(made: MeasuredItem) -> Table:
    """Every measured value of an item with mean over the seeds and half of its interval."""
    rows = []
    for key, value in made.values.items():
        spread = made.spread(key)
        decimals = decimals_for(math.nan, value) if math.isfinite(value) else 0
        row = [key, show(value, decimals)]
        several = len(made.by_seed) > 1
        row += (
            [show(spread.mean, decimals), show(spread.half_width, decimals)]
            if several
            else ["", ""]
        )
        rows.append(row)
    return Table("Every measured value", ("key", "pooled", "mean over seeds", "± 95 %"), rows)
