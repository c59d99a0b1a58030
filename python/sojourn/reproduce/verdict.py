"""The rule by which claims are judged. It was fixed before any result was looked at.

Numbers (`exact`, `approx`): *match* within 15 % of the published value (exact) or 25 % (approx), or
within 1 ms or 0.05 Mbit/s if that is more; *near* within twice that; otherwise *differs*. The value
is that of all seeds pooled.

Orders: *holds* if the margin is positive in the mean over the seeds and its 95 % interval does not
reach zero; *weak* if it is positive but the interval reaches zero, or if there is one seed and so
no interval; otherwise *fails*. What is computed without chance holds or fails.

A claim of several parts is as good as its worst part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sojourn.comparing.statistics import Estimate, estimate
from sojourn.reproduce.paper import Claim, Part, Tag, Values

ClaimVerdict = Literal[
    "match", "near", "differs", "holds", "weak", "fails", "no value", "not covered"
]

TOLERANCE = {"exact": 0.15, "approx": 0.25}
# Differences that never matter, whatever the published value.
FLOORS = {"ms": 1.0, "s": 1e-3, "Mbit/s": 0.05, "kbit/s": 50.0}
_RANK: tuple[ClaimVerdict, ...] = (
    "holds", "match", "weak", "near", "fails", "differs", "no value", "not covered"
)  # fmt: skip


@dataclass(frozen=True)
class JudgedPart:
    """A part of a claim, measured.

    Attributes:
        part: what was claimed.
        value: of all seeds pooled; of an order the mean margin over the seeds.
        spread: mean and 95 % interval over the seeds.
        verdict: by the rule of this module.
    """

    part: Part
    value: float
    spread: Estimate
    verdict: ClaimVerdict


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, measured: the verdict is that of its worst part."""

    claim: Claim
    parts: tuple[JudgedPart, ...]
    verdict: ClaimVerdict


def judge(claim: Claim, pooled: Values, by_seed: Sequence[Values]) -> JudgedClaim:
    """Measure and judge a claim.

    Args:
        claim: what is claimed.
        pooled: the item's values, all seeds pooled.
        by_seed: the item's values seed by seed; none where nothing is left to chance.
    """
    parts = tuple(_judge_part(claim.tag, part, pooled, by_seed) for part in claim.parts)
    verdicts: list[ClaimVerdict] = [part.verdict for part in parts] or ["no value"]
    return JudgedClaim(claim, parts, max(verdicts, key=_RANK.index))


def not_covered(claim: Claim) -> JudgedClaim:
    """A claim about an item that is not covered."""
    return JudgedClaim(claim, (), "not covered")


def _judge_part(tag: Tag, part: Part, pooled: Values, by_seed: Sequence[Values]) -> JudgedPart:
    spread = estimate([_measure(part, values) for values in by_seed])
    if part.published is None:
        margin = spread.mean if by_seed else _measure(part, pooled)
        return JudgedPart(part, margin, spread, _of_order(margin, spread, bool(by_seed)))
    found = _measure(part, pooled)
    return JudgedPart(part, found, spread, _of_number(tag, part, found))


def _measure(part: Part, values: Values) -> float:
    """The part's value; NaN where a value it needs could not be measured."""
    try:
        return float(part.measure(values))
    except (KeyError, ZeroDivisionError):
        return math.nan


def _of_order(margin: float, spread: Estimate, by_chance: bool) -> ClaimVerdict:
    if math.isnan(margin):
        return "no value"
    if margin <= 0:
        return "fails"
    return "holds" if spread.low > 0 or not by_chance else "weak"


def _of_number(tag: Tag, part: Part, found: float) -> ClaimVerdict:
    assert part.published is not None, "numbers are published"
    if math.isnan(found):
        return "no value"
    allowed = TOLERANCE[tag] * abs(part.published.nearest(found))
    allowed = max(allowed, FLOORS.get(part.unit, 0.0))
    # A rounding of binary fractions is no error.
    error = part.published.error(found) * (1.0 - 1e-12)
    if error <= allowed:
        return "match"
    return "near" if error <= 2 * allowed else "differs"
