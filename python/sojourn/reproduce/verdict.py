"""The rule by which claims are judged; it was fixed before its results were seen.

Numbers (`exact`, `approx`): *match* within 15 % of the published value (exact) or 25 % (approx), or
within 1 ms or 0.05 Mbit/s if that is more; *near* within twice that; otherwise *differs*. The value
is that of all seeds pooled.

Shares of a whole (unit ``%``), also numbers, are judged in percentage points: *match* within 3
points (exact) or 5 (approx), near 0 and 100 % within half of the distance to that end, but at least
1 point; *near* within twice that. Changes (``% less``, ``% more``) are numbers like others.

Bounds ("more than 90 %") and ranges, whose ends are bounds: *match* only if met; *near* if missed
by at most 5 % of the bound, or by 1 ms, 0.05 Mbit/s or, for shares, 1 point.

Orders: *holds* if the margin is positive in the mean over the seeds and its 95 % interval does not
reach zero; *weak* if it is positive but the interval reaches zero, or if one seed gives no
interval; otherwise *fails*. Results without randomness hold or fail.

A claim of several parts is as good as its worst part.

The first rule, used until November 2026, judged shares, bounds and ranges like other numbers, by
their distance from the published value or from the nearer end. It is kept to show the scores by
both rules side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sojourn.comparing.statistics import Estimate, estimate
from sojourn.reproduce.claims import NOTICEABLE, SHARE
from sojourn.reproduce.paper import Claim, Measure, Part, Tag, Values

ClaimVerdict = Literal[
    "match", "near", "differs", "holds", "weak", "fails", "no value", "not covered"
]

TOLERANCE = {"exact": 0.15, "approx": 0.25}
# Differences that never matter, for any published value.
FLOORS = {"ms": 1.0, "s": 1e-3, "Mbit/s": 0.05, "kbit/s": 50.0}
# Tolerances of shares, in percentage points.
SHARE_TOLERANCE = {"exact": 3.0, "approx": 5.0}
SHARE_FLOOR = 1.0
# Verdicts that count as agreement; for numbers, near counts as close.
GOOD: tuple[ClaimVerdict, ...] = ("match", "holds")
_RANK: tuple[ClaimVerdict, ...] = (
    "holds", "match", "weak", "near", "fails", "differs", "no value", "not covered"
)  # fmt: skip


@dataclass(frozen=True)
class JudgedPart:
    """A part of a claim, measured.

    Attributes:
        part: the claimed part.
        value: the value of all seeds pooled; for an order the mean margin over the seeds.
        spread: mean and 95 % interval over the seeds.
        verdict: the verdict by the rule of this module.
        sides: the values of both sides of an order, means over the seeds.
    """

    part: Part
    value: float
    spread: Estimate
    verdict: ClaimVerdict
    sides: tuple[float, ...] = ()


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, measured: the verdict is that of its worst part.

    Attributes:
        claim: the claim.
        parts: each with its value.
        verdict: the verdict by the rule of this module.
        first_verdict: the verdict by the first rule, for comparison.
    """

    claim: Claim
    parts: tuple[JudgedPart, ...]
    verdict: ClaimVerdict
    first_verdict: ClaimVerdict

    def worst(self) -> JudgedPart | None:
        """The part that decided the verdict; the first of several."""
        return next((part for part in self.parts if part.verdict == self.verdict), None)


def judge(claim: Claim, pooled: Values, by_seed: Sequence[Values]) -> JudgedClaim:
    """Measure and judge a claim.

    Args:
        claim: the claim.
        pooled: the item's values, all seeds pooled.
        by_seed: the item's values seed by seed; empty without randomness.
    """
    parts = tuple(_judge_part(claim.tag, part, pooled, by_seed) for part in claim.parts)
    first = [_by_first_rule(claim.tag, part) for part in parts]
    return JudgedClaim(claim, parts, _worst([part.verdict for part in parts]), _worst(first))


def not_covered(claim: Claim) -> JudgedClaim:
    """A claim about an item that is not covered."""
    return JudgedClaim(claim, (), "not covered", "not covered")


def _worst(verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict:
    return max(verdicts, key=_RANK.index, default="no value")


def _judge_part(tag: Tag, part: Part, pooled: Values, by_seed: Sequence[Values]) -> JudgedPart:
    spread = estimate([_measured(part.measure, values) for values in by_seed])
    if part.published is None:
        margin = spread.mean if by_seed else _measured(part.measure, pooled)
        seen = by_seed or [pooled]
        sides = tuple(
            estimate([_measured(side.measure, one) for one in seen]).mean for side in part.sides
        )
        return JudgedPart(part, margin, spread, _of_order(margin, spread, bool(by_seed)), sides)
    found = _measured(part.measure, pooled)
    return JudgedPart(part, found, spread, _of_number(tag, part, found))


def _by_first_rule(tag: Tag, judged: JudgedPart) -> ClaimVerdict:
    published = judged.part.published
    if published is None:
        return judged.verdict
    matches = max(
        TOLERANCE[tag] * abs(published.nearest(judged.value)), FLOORS.get(judged.part.unit, 0.0)
    )
    return _of_error(published.error(judged.value), matches, 2 * matches)


def _measured(measure: Measure, values: Values) -> float:
    """A value; NaN if a value that it needs could not be measured."""
    try:
        return float(measure(values))
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
    if part.published.is_number:
        matches = _tolerance(tag, part.unit, part.published.nearest(found))
        return _of_error(part.published.error(found), matches, 2 * matches)
    return _of_error(part.published.error(found), 0.0, _missed(part, found))


def _tolerance(tag: Tag, unit: str, published: float) -> float:
    """Tolerance of a number around the published one."""
    if unit == SHARE:
        to_end = min(published, 100.0 - published)
        return max(min(SHARE_TOLERANCE[tag], to_end / 2), SHARE_FLOOR)
    return max(TOLERANCE[tag] * abs(published), FLOORS.get(unit, 0.0))


def _missed(part: Part, found: float) -> float:
    """The amount by which a bound may be missed and still count as near."""
    assert part.published is not None, "bounds are published"
    if part.unit == SHARE:
        return SHARE_FLOOR
    return max(NOTICEABLE * abs(part.published.nearest(found)), FLOORS.get(part.unit, 0.0))


def _of_error(error: float, matches: float, is_near: float) -> ClaimVerdict:
    if math.isnan(error):
        return "no value"
    # Allows for the rounding of binary fractions.
    error *= 1.0 - 1e-12
    if error <= matches:
        return "match"
    return "near" if error <= is_near else "differs"
