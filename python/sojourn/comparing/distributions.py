"""Student's t, the normal and the sign test's binomial distribution.

Student's t is a regularised incomplete beta function (DLMF §8.17), here by its continued fraction
(DLMF 8.17.22) in Lentz' form (Press et al., Numerical Recipes, §5.2 and §6.4).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from statistics import NormalDist

NORMAL = NormalDist()

_SMALL = 1e-300
_LAST_STEP = 1e-16
_MOST_STEPS = 10_000


def t_cdf(degrees: int, t: float) -> float:
    """The probability that Student's t is at most `t`; small ones to 12 digits.

    Args:
        degrees: degrees of freedom, at least 1.
        t: any number; NaN gives NaN.
    """
    if math.isnan(t):
        return math.nan
    ratio = t * t / degrees
    # On either side the fraction converges quickly (Numerical Recipes, §6.4).
    if ratio / (1.0 + ratio) < 1.5 / (degrees / 2 + 2.5):
        tail = (1.0 - _beta(0.5, degrees / 2, ratio / (1.0 + ratio), odds=ratio)) / 2
    elif math.isinf(ratio):
        tail = 0.0
    else:
        tail = _beta(degrees / 2, 0.5, 1.0 / (1.0 + ratio), odds=1.0 / ratio) / 2
    return tail if t < 0 else 1.0 - tail


@functools.cache
def t_quantile(degrees: int, probability: float) -> float:
    """The value that Student's t exceeds with probability ``1 - probability``.

    Args:
        degrees: degrees of freedom, at least 1.
        probability: between 0 and 1.
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"{probability} is not the probability of a quantile")
    if probability > 0.5:
        return -t_quantile(degrees, 1.0 - probability)
    low = -1.0
    while t_cdf(degrees, low) > probability:
        low *= 2.0
    high = 0.0
    while low < (middle := (low + high) / 2) < high:
        if t_cdf(degrees, middle) < probability:
            low = middle
        else:
            high = middle
    return high


def outside_median(values: int, level: float) -> int:
    """The number of order statistics to exclude at either end of an interval of the median.

    Args:
        values: the number of values.
        level: the interval misses the median with at most this probability (Conover 1999 §3.2).
    """
    ways, either = 1 << values, 0
    outside, term = 0, 1
    while 2 * outside < values and (either + 2 * term) / ways <= level:
        either += 2 * term
        outside += 1
        term = term * (values - outside + 1) // outside
    return outside


def root(function: Callable[[float], float], low: float, high: float, *, tolerance: float) -> float:
    """The argument at which a function changes its sign, by regula falsi in the Illinois form.

    Args:
        function: has different signs at both ends.
        low: one end.
        high: the other end.
        tolerance: the largest error of the result.

    Source: https://doi.org/10.1007/BF01934364 (the Illinois algorithm).
    """
    at_low, at_high = function(low), function(high)
    assert at_low * at_high <= 0.0, "there is a root between the ends"
    before = math.inf
    while at_low != at_high:
        new = high - at_high * (high - low) / (at_high - at_low)
        value = function(new)
        if value * at_high < 0.0:
            low, at_low = high, at_high
        else:
            at_low /= 2.0
        high, at_high = new, value
        if value == 0.0 or abs(new - before) < tolerance:
            break
        before = new
    return high


def _beta(a: float, b: float, x: float, odds: float) -> float:
    """The regularised incomplete beta function of `x`; `odds` is ``x / (1 - x)``."""
    if x == 0.0:
        return 0.0
    # Computed from `odds`, as x or 1 - x may be almost 1.
    powers = -a * math.log1p(1.0 / odds) - b * math.log1p(odds)
    front = math.exp(powers - _log_beta(a, b)) / a
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    fraction = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d, c = 1.0 / _away(1.0 + step * d), _away(1.0 + step / c)
            fraction *= c * d
        if abs(c * d - 1.0) <= _LAST_STEP:
            break
    return front * fraction


def _log_beta(a: float, b: float) -> float:
    """The logarithm of the beta function of a number and a half, without cancellation.

    For large n, DLMF 5.11.13 gives the series of Gamma(n) / Gamma(n + 1/2).
    """
    n = max(a, b)
    if n < 100.0:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    series = 1.0 + (1 / 8 + (1 / 128 - (5 / 1024 + 21 / (32768 * n)) / n) / n) / n
    return math.log(math.pi) / 2 - math.log(n) / 2 + math.log(series)


def _away(value: float) -> float:
    return value if abs(value) > _SMALL else _SMALL
