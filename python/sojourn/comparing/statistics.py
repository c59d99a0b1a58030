"""Intervals over seeds, paired differences and Holm's correction.

All intervals are two-sided 95 % intervals of a mean from Student's t distribution over independent
replicas. Two AQMs are compared by the differences between runs of the same seed: such runs meet the
same arrivals (common random numbers), so what the seeds have in common cancels.

Sources: Law, Simulation Modeling and Analysis, 5th ed., §4.5 (t interval), §10.2.1 (paired-t) and
§11.2 (common random numbers); Holm, Scand. J. Statist. 6 (1979) 65-70.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
ALPHA = 0.05  # not 1 - CONFIDENCE, which is a little more


@dataclass(frozen=True)
class Estimate:
    """A mean over replicas with its interval.

    Attributes:
        mean: in the unit of the values; NaN without values.
        half_width: half of the 95 % interval; NaN with fewer than two values.
        n: number of values.
    """

    mean: float
    half_width: float
    n: int

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half_width


@dataclass(frozen=True)
class PairedTest:
    """A mean of paired differences with its interval and p-value.

    Attributes:
        difference: mean of value minus baseline, with its unadjusted 95 % interval.
        p_value: of the two-sided paired t test for a mean of zero; NaN with fewer than two pairs.
    """

    difference: Estimate
    p_value: float


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and 95 % interval of values from independent replicas.

    Args:
        values: one per replica, shape ``(n_seeds,)``; NaN means "no value" and is left out.
    """
    finite = [value for value in values if not math.isnan(value)]
    n = len(finite)
    if n == 0:
        return Estimate(math.nan, math.nan, 0)
    mean = math.fsum(finite) / n
    if n == 1:
        return Estimate(mean, math.nan, 1)
    return Estimate(mean, _t_quantile(n - 1) * _standard_error(finite, mean), n)


def paired(values: Sequence[float], baseline: Sequence[float]) -> PairedTest:
    """Test whether values differ from a baseline that met the same seeds.

    Args:
        values: one per seed, shape ``(n_seeds,)``.
        baseline: of the same seeds in the same order, same shape; a pair with a NaN is left out.

    Raises:
        ValueError: the two are not equally long.
    """
    differences = [x - y for x, y in zip(values, baseline, strict=True)]
    difference = estimate(differences)
    return PairedTest(difference, _p_value(differences, difference))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of one family of tests so that the family-wise error rate is kept.

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


def _p_value(differences: Sequence[float], difference: Estimate) -> float:
    if difference.n < 2:
        return math.nan
    if difference.half_width == 0.0:
        # Every seed shows the same difference: exactly none, or one that is certain.
        return 1.0 if difference.mean == 0.0 else 0.0
    from scipy.special import stdtr

    finite = [value for value in differences if not math.isnan(value)]
    t = difference.mean / _standard_error(finite, difference.mean)
    return float(2.0 * stdtr(difference.n - 1, -abs(t)))


def _standard_error(values: Sequence[float], mean: float) -> float:
    n = len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)


def _t_quantile(degrees: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + CONFIDENCE / 2))
