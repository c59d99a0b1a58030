"""Measured values and claims as text, for a terminal and a dossier."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sojourn.describing.formatting import decimals_for, show
from sojourn.reproduce.outcome import MeasuredItem, MeasuredPaper
from sojourn.reproduce.paper import Cell, Table
from sojourn.reproduce.verdict import GOOD, JudgedClaim, JudgedPart

_ORDER = ("match", "near", "differs", "holds", "weak", "fails", "no value", "not covered")


def measured(part: JudgedPart) -> str:
    """A value with half of its 95 % interval over the seeds; for an order both sides and a margin.

    ``12.3 ± 0.5 ms``; ``PIE 148 ms, PI2 110 ms; margin +38 ± 4 ms``.
    """
    if math.isnan(part.value):
        return "–"
    half, unit = part.spread.half_width, part.part.unit
    decimals = decimals_for(half, part.value)
    text = show(part.value, decimals, sign=part.part.published is None)
    if half > 0:
        text += f" ± {show(half, decimals)}"
    text = f"{text} {unit}".rstrip()
    return text if part.part.published else f"{sides(part)}margin {text}"


def named_side(name: str) -> str:
    """The name before a value; several words, such as ``RTT 5 ms``, get a colon."""
    return f"{name}:" if " " in name else name


def sides(part: JudgedPart) -> str:
    """Both sides of an order with their unit; empty if they are unknown."""
    named = [
        f"{named_side(side.name)} {show(value, decimals_for(math.nan, value))} {side.unit}".rstrip()
        for side, value in zip(part.part.sides, part.sides, strict=False)
        if math.isfinite(value)
    ]
    return f"{', '.join(named)}; " if named else ""


def published(part: JudgedPart) -> str:
    """The published value; for an order, the relation."""
    if part.part.published is None:
        return part.part.label
    return f"{part.part.published} {part.part.unit}".rstrip()


def claim_rows(judged: Iterable[JudgedClaim]) -> list[list[str]]:
    """One row per claim: id, tag, statement, published, measured, seeds, both verdicts."""
    rows = []
    for each in judged:
        part = each.worst()
        more = f" ({parts_text(each)})" if len(each.parts) > 1 else ""
        rows.append([
            each.claim.id, each.claim.tag, each.claim.what + more,
            published(part) if part else "–", measured(part) if part else "–",
            str(part.spread.n or "–") if part else "–", each.first_verdict, each.verdict,
        ])  # fmt: skip
    return rows


def parts_text(judged: JudgedClaim) -> str:
    """The number of parts of a claim that agree with the paper, and the worst part."""
    good = sum(part.verdict in GOOD for part in judged.parts)
    worst = judged.worst()
    text = f"{good} of {len(judged.parts)} parts hold or match"
    return f"{text}; the worst: {worst.part.label}" if worst else text


def table_rows(made: MeasuredItem, table: Table) -> list[list[str]]:
    """The rows of a table as texts, values as ``measured / published``."""
    known = published_values(made)

    def text(cell: str | Cell) -> str:
        if isinstance(cell, str):
            return cell
        found = made.values.get(cell.key, math.nan)
        value = "–" if math.isnan(found) else format(found, cell.form)
        return f"{value} / {known.get(cell.key, '–')}"

    return [[text(cell) for cell in row] for row in table.rows]


def published_values(made: MeasuredItem) -> dict[str, str]:
    """The published numbers, by the key of the measured value."""
    parts = [part for claim in made.claims for part in claim.claim.parts]
    return {part.key: str(part.in_values) for part in parts if part.in_values}


CLAIM_HEADER = (
    "claim",
    "tag",
    "statement",
    "published",
    "measured",
    "seeds",
    "first rule",
    "verdict",
)


def counts(made: MeasuredPaper) -> str:
    """The number of claims by verdict, as text; says so if no claim exists."""
    found = made.counts()
    named = [f"{found[verdict]} {verdict}" for verdict in _ORDER if found[verdict]]
    return ", ".join(named) or "no claims about the items chosen"


@dataclass(frozen=True)
class Score:
    """The number of claims of a group that agree with the paper.

    Attributes:
        label: the group and the verdicts that count.
        good: number of claims that agree by the rule.
        first: the same number by the first rule.
        of: number of covered claims.
    """

    label: str
    good: int
    first: int
    of: int


def scores(made: Iterable[MeasuredPaper]) -> list[Score]:
    """Claims that hold; separately, numbers that match or are near, and orders that hold."""
    covered = [one for paper in made for one in paper.judged() if one.verdict != "not covered"]
    numbers = [one for one in covered if one.claim.tag != "order"]
    orders = [one for one in covered if one.claim.tag == "order"]
    return [
        _score("claims hold or match", covered, GOOD),
        _score("numbers match or are near", numbers, ("match", "near")),
        _score("orders hold", orders, ("holds",)),
        _score("orders hold or are weak", orders, ("holds", "weak")),
    ]


def _score(label: str, judged: Sequence[JudgedClaim], good: tuple[str, ...]) -> Score:
    return Score(
        label,
        sum(one.verdict in good for one in judged),
        sum(one.first_verdict in good for one in judged),
        len(judged),
    )


def score_text(score: Score) -> str:
    """``41 of 102``, and in brackets the number by the first rule if it differs."""
    if not score.of:
        return "–"
    by_first = f" ({score.first})" if score.first != score.good else ""
    return f"{score.good} of {score.of}{by_first}"


def against(judged: JudgedClaim) -> str:
    """The worst part's measured and published value, and how many parts agree."""
    part = judged.worst()
    if part is None:
        return "–"
    others = f"; {parts_text(judged).partition(';')[0]}" if len(judged.parts) > 1 else ""
    if part.part.published is None:
        return f"{part.part.label}: {measured(part)}{others}"
    return f"{measured(part)} / {published(part)}{others}"


def failed(made: MeasuredPaper) -> list[JudgedClaim]:
    """Covered claims that neither hold nor match, the worst first."""
    bad = [one for one in made.judged() if one.verdict not in (*GOOD, "not covered")]
    return sorted(bad, key=lambda one: one.verdict in ("weak", "near"))


def seeds(made: MeasuredItem) -> str:
    """Number of runs of each case here and in the paper; empty without runs."""
    count = made.plan.seeds
    if not count:
        return ""
    here = f"{count} {'seed' if count == 1 else 'seeds'} here"
    return f"Each case: {here}, {made.item.published_runs or 'not stated'} in the paper."


def value_table(made: MeasuredItem) -> Table:
    """Every measured value of an item, with mean over the seeds and half of its interval."""
    rows = []
    known = published_values(made)
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
        rows.append([*row, known.get(key, "–")])
    header = ("key", "pooled", "mean over seeds", "± 95 %", "published")
    return Table("Every measured value", header, rows)
