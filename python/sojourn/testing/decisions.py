"""Decisions about expectations: passed, failed, undecided or invalid, and why.

An expectation passes once its interval lies within the bounds, and fails once it lies outside. The
intervals of all looks together hold with the stated confidence (`sojourn.study.until`), so further
looks do not raise the error rate.

With a reference the value is the ratio to it, seed by seed, or the difference if the bound is an
amount; runs of one seed share their exogenous draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sojourn.describing.formatting import Scale, counted, decimals_for, scale_of, show
from sojourn.describing.metrics import row_of
from sojourn.testing.expectations import Expected

Outcome = Literal["passed", "failed", "undecided", "invalid"]
_RANK: dict[str, int] = {"failed": 0, "invalid": 1, "undecided": 2, "passed": 3}


@dataclass(frozen=True)
class Decision:
    """The outcome of one expectation.

    Attributes:
        expected: the expectation.
        outcome: the decision.
        centre: mean or median over seeds of the value, or of its ratio or difference.
        low: lower end of the interval.
        high: upper end of it.
        values: one per seed, shape ``(n_seeds,)``.
        reason: why it is invalid, or undecided before its last look; else empty.
        worst_seed: the seed whose value is furthest from the bounds, or nearest to them.
        seconds: its share of the time that all decisions took.
        warnings: those of its runs, of each kind the first.
    """

    expected: Expected
    outcome: Outcome
    centre: float = math.nan
    low: float = math.nan
    high: float = math.nan
    values: Sequence[float] = ()
    reason: str = ""
    worst_seed: int = 1
    seconds: float = field(default=0.0, compare=False)
    warnings: Sequence[str] = ()

    @property
    def severity(self) -> tuple[int, float]:
        """Sorts the worst first: by outcome, then by the distance of the value from its bounds."""
        return _RANK[self.outcome], -_excess(self.expected, self.centre)

    @property
    def measured(self) -> str:
        """What was measured, with interval and seeds: ``24.1 ms (23.8 to 24.5), 8 seeds``.

        No interval is shown if the seeds do not matter: one of width zero would look exact.
        """
        if self.reason:
            return self.reason
        centre, interval = _shown(self)
        seeds = counted(len(self.values), "seed")
        if len(set(self.values)) == 1:
            return f"{centre}, the same under each of {seeds}"
        return f"{centre} {interval}, {seeds}"


def decide(
    expected: Expected, values: Sequence[float], first_seed: int,
    least: Sequence[float] | None = None,
) -> Decision:  # fmt: skip
    """The decision after some seeds.

    Args:
        expected: the expectation.
        values: one per seed, shape ``(n_seeds,)``, ratios or differences already taken; infinite
            where only a lower bound is known.
        first_seed: the seed of the first value.
        least: the lower bounds, equal to the values that are known.
    """
    centre, _, high = expected.rule.interval(values)
    _, low, _ = expected.rule.interval(values if least is None else least)
    outcome: Outcome = "undecided"
    if expected.low < low and (high < expected.high or expected.high == math.inf):
        outcome = "passed"
    elif high <= expected.low or low >= expected.high:
        outcome = "failed"
    worst = max(range(len(values)), key=lambda i: _excess(expected, values[i]))
    return Decision(
        expected, outcome, centre, low, high, tuple(values), worst_seed=first_seed + worst
    )


def scale_of_expected(expected: Expected, values: Iterable[float]) -> Scale:
    """The unit in which the values of an expectation are shown; ratios in percent.

    Args:
        expected: the expectation.
        values: the values to show.
    """
    if expected.is_ratio:
        return Scale(f"% of {expected.against}", 100.0)
    return scale_of(row_of(expected.metric), values)


def _excess(expected: Expected, value: float) -> float:
    """Distance of a value beyond the nearer bound, relative to it; negative within."""
    if math.isnan(value):
        return -math.inf
    beyond = [
        sign * (value - bound) / (abs(bound) or 1.0)
        for sign, bound in ((1.0, expected.high), (-1.0, expected.low))
        if math.isfinite(bound)
    ]
    return max(beyond)


def _shown(decision: Decision) -> tuple[str, str]:
    known = decision.centre if math.isfinite(decision.centre) else decision.low
    scale = scale_of_expected(decision.expected, [known])
    unit, factor = scale.unit, scale.factor
    half = (decision.high - decision.low) / 2 * factor
    decimals = decimals_for(half if math.isfinite(half) else math.nan, known * factor)
    centre, low, high = (
        "∞" if value == math.inf else show(value * factor, decimals)
        for value in (known, decision.low, decision.high)
    )
    above = "" if known == decision.centre else "> "
    return f"{above}{centre} {unit}".strip(), f"({low} to {high})"
