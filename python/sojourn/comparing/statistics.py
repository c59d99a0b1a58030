"""Intervals over seeds, paired differences and Holm's correction.

All intervals are two-sided 95 % intervals over independent replicas: of a mean, from Student's t
distribution, of a share on the scale of its logit, or of a median (`sojourn.comparing.medians`).
Two AQMs are compared by the differences between runs of the same seed: such runs have the same
exogenous draws (common random numbers).

No p-value is zero: if every seed shows the same difference, it is ``2 ** (1 - n)``, the smallest of
a sign-flip test of n pairs.

Sources: Law 2015 §4.5 (t interval), §10.2.1 (paired t) and §11.2 (common random numbers); Holm
1979; Agresti 2013 §16.1 (delta method).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.comparing.distributions import t_cdf, t_quantile
from sojourn.describing.metric_table import Centre

CONFIDENCE = 0.95
ALPHA = 0.05  # not 1 - CONFIDENCE, which is slightly more

# A spread below this fraction of the values is floating-point rounding.
_NOTHING = 1e-12


@dataclass(frozen=True)
class Estimate:
    """A mean, or a median, over replicas with its interval.

    Attributes:
        mean: the mean, or the median (see `centre`), in the unit of the values; NaN without values.
        half_width: half of the interval; NaN with too few values: two for a mean, six for a
            median.
        n: number of values.
        centre: whether `mean` is a mean or a median.
        ends: ends of an interval that is not symmetric about `mean`.
    """

    mean: float
    half_width: float
    n: int
    centre: Centre = "mean"
    ends: tuple[float, float] | None = None

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.ends[0] if self.ends else self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval; infinite if values beyond what was observed reach it."""
        return self.ends[1] if self.ends else self.mean + self.half_width


@dataclass(frozen=True)
class PairedTest:
    """A mean, or a median, of paired differences with its interval and p-value.

    Attributes:
        difference: value minus baseline, with its unadjusted 95 % interval.
        p_value: p-value of the two-sided paired t test for a mean of zero, or of the sign test for
            a median of zero; never 0, NaN with fewer than two pairs.
    """

    difference: Estimate
    p_value: float


def estimate(
    values: Sequence[float], rounding: float = 0.0, confidence: float = CONFIDENCE
) -> Estimate:
    """Mean and interval of values from independent replicas.

    Args:
        values: one per replica, shape ``(n_seeds,)``; NaN means "no value" and is left out.
        rounding: standard deviation of the rounding error of each value, in its unit; it widens the
            interval, so values in one bin of a histogram do not count as equal.
        confidence: that of the interval.
    """
    finite = [value for value in values if not math.isnan(value)]
    n = len(finite)
    if n == 0:
        return Estimate(math.nan, math.nan, 0)
    mean = math.fsum(finite) / n
    if n == 1:
        return Estimate(mean, math.nan, 1)
    return Estimate(
        mean, _t_quantile(n - 1, confidence) * _standard_error(finite, mean, rounding), n
    )


def share_estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Mean and interval of shares; its ends lie within 0 to 1.

    Student's interval of the logit of the mean, with a standard error by the delta method,
    transformed back; for rare events it is longer above than below.

    Args:
        values: from 0 to 1, one per replica, shape ``(n_seeds,)``; NaN is left out.
        confidence: that of the interval.
    """
    found = estimate(values, 0.0, confidence)
    mean, half = found.mean, found.half_width
    if math.isnan(half) or half == 0.0:
        return found
    # Not all values are equal, so the mean is neither 0 nor 1.
    odds, reach = mean / (1.0 - mean), math.exp(half / (mean * (1.0 - mean)))
    low, high = (each / (1.0 + each) for each in (odds / reach, odds * reach))
    return Estimate(mean, (high - low) / 2.0, found.n, ends=(low, high))


def paired(
    values: Sequence[float], baseline: Sequence[float], rounding: float = 0.0,
    confidence: float = CONFIDENCE,
) -> PairedTest:  # fmt: skip
    """Test whether the mean of values differs from a baseline under the same seeds.

    Args:
        values: one per seed, shape ``(n_seeds,)``.
        baseline: baseline of the same seeds in the same order, same shape; a pair with a NaN is
            left out.
        rounding: see `estimate`; here of a difference.
        confidence: that of the interval.

    Raises:
        ValueError: the two are not equally long.
    """
    differences = [x - y for x, y in zip(values, baseline, strict=True)]
    difference = estimate(differences, rounding, confidence)
    return PairedTest(difference, _p_value(differences, difference, rounding))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of one family of tests to control the family-wise error rate.

    Args:
        p_values: shape ``(n_tests,)``; NaN means that no test was made and stays NaN.

    Returns:
        Adjusted p-values in the same order; compare each with ``ALPHA``.
    """
    tested = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    adjusted = [math.nan] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - rank)))
        adjusted[i] = largest
    return adjusted


def _p_value(differences: Sequence[float], difference: Estimate, rounding: float) -> float:
    if difference.n < 2:
        return math.nan
    smallest = 2.0 ** (1 - difference.n)
    finite = [value for value in differences if not math.isnan(value)]
    error = _standard_error(finite, difference.mean, rounding)
    if error == 0.0:
        # Every seed shows the same difference, which may be zero.
        return 1.0 if difference.mean == 0.0 else smallest
    p_value = 2.0 * t_cdf(difference.n - 1, -abs(difference.mean / error))
    return p_value or math.ulp(0.0)


def _standard_error(values: Sequence[float], mean: float, rounding: float) -> float:
    n = len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    if math.sqrt(variance) <= _NOTHING * max(map(abs, values)):
        variance = 0.0
    return math.sqrt((variance + rounding**2) / n)


def _t_quantile(degrees: int, confidence: float) -> float:
    return t_quantile(degrees, 0.5 + confidence / 2)
