"""The median over seeds with its interval, and the sign test: valid for any distribution.

A mean of ten values with a long tail has no interval that covers 95 %: those of Student's t, of
the bootstrap and of a skewness correction all miss the tail that ten seeds did not show
(docs/evidence/coverage.md). The median's interval lies between ordered values and assumes no
distribution. It also allows values of which only a lower bound is known, which are infinite here.

Sources: Hettmansperger and Sheather 1986 (interpolation between ordered values); Conover 1999 §3.4
(sign test).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sojourn.comparing.statistics import CONFIDENCE, Estimate

LEAST = 6
"""With fewer values even the extremes do not enclose the median in 95 % of cases."""


def median_estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """The median of values from independent replicas and its interval.

    Args:
        values: one per replica, shape ``(n_seeds,)``; NaN means "no value" and is left out;
            infinite means "longer than was observed".
        confidence: that of the interval.
    """
    ordered = sorted(value for value in values if not math.isnan(value))
    n = len(ordered)
    if n == 0:
        return Estimate(math.nan, math.nan, 0, centre="median")
    is_known = n >= LEAST and _coverage(1, n) >= confidence
    low, high = _interval(ordered, confidence) if is_known else (math.nan, math.nan)
    middle = _between(ordered[(n - 1) // 2], ordered[n // 2], 0.5)
    return Estimate(middle, _half(low, high), n, "median", (low, high))


def sign_test(differences: Sequence[float]) -> float:
    """The two-sided p-value of a median of zero, at least ``2 ** (1 - n)``; NaN below two values.

    Args:
        differences: shape ``(n_pairs,)``; NaN is left out, zeros favour neither side.
    """
    if sum(not math.isnan(value) for value in differences) < 2:
        return math.nan
    above = sum(value > 0.0 for value in differences)
    below = sum(value < 0.0 for value in differences)
    n = above + below
    return min(1.0, 2.0 * _at_most(min(above, below), n)) if n else 1.0


def _interval(ordered: Sequence[float], confidence: float) -> tuple[float, float]:
    """Interpolate between the k-th and the next value from each end to get this coverage."""
    n = len(ordered)
    k = max(k for k in range(1, n // 2 + 1) if _coverage(k, n) >= confidence)
    wide, narrow = _coverage(k, n), _coverage(k + 1, n)
    excess = (wide - confidence) / (wide - narrow)
    inwards = (n - k) * excess / (k + (n - 2 * k) * excess)
    return (
        _between(ordered[k - 1], ordered[k], inwards),
        _between(ordered[n - k], ordered[n - k - 1], inwards),
    )


def _coverage(k: int, n: int) -> float:
    """Probability that the k-th values from both ends enclose the median."""
    return 1.0 - 2.0 * _at_most(k - 1, n)


def _at_most(k: int, n: int) -> float:
    """The probability of at most ``k`` heads of ``n``."""
    return math.fsum(math.comb(n, i) for i in range(k + 1)) / 2.0**n


def _between(start: float, end: float, part: float) -> float:
    """Interpolate between two values; the result is infinite if one is."""
    if start == end or part == 0.0:
        return start
    return (1.0 - part) * start + part * end


def _half(low: float, high: float) -> float:
    return math.nan if math.isinf(low) else (high - low) / 2.0
