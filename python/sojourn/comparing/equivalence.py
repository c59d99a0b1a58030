"""No practical difference: two one-sided tests within a stated margin.

A difference that is not significant is not thereby none. Two contenders are called equivalent where
the 90 % interval of their paired difference lies within the margin: both one-sided t tests at 5 %
reject a difference as large as the margin.

Source: Schuirmann 1987 (two one-sided tests).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sojourn.comparing.metrics import Metric
from sojourn.comparing.statistics import ALPHA

# Margins are our choice: of the baseline's mean for times and rates, with a floor for times that
# are small beside a packet's own transmission; in points for fractions.
_RELATIVE = 0.05
_FLOOR_S = 0.001
_POINTS = {"utilisation": 0.01, "jain": 0.01}
_OTHER_POINTS = 0.005
TEXT = (
    "5 % of the baseline's mean for times (at least 1 ms) and rates, 1 point of utilisation and of "
    "Jain's index, 0.5 points of other fractions"
)


def margin(metric: Metric, baseline_mean: float) -> float:
    """The largest difference that is none in practice, in the metric's unit.

    Args:
        metric: what is compared.
        baseline_mean: mean of the first AQM, in the same unit.
    """
    if metric.unit == "s":
        return max(_RELATIVE * abs(baseline_mean), _FLOOR_S)
    if metric.unit == "1":
        return _POINTS.get(metric.metric, _OTHER_POINTS)
    return _RELATIVE * abs(baseline_mean)


def is_equivalent(differences: Sequence[float], margin: float) -> bool:
    """Whether two one-sided t tests at 5 % both reject a difference as large as the margin.

    Args:
        differences: value minus baseline, one per seed, shape ``(n_seeds,)``; NaN is left out.
        margin: in the same unit, positive.
    """
    if math.isnan(margin):
        return False
    return is_above(differences, -margin) and is_above([-value for value in differences], -margin)


def is_above(differences: Sequence[float], bound: float) -> bool:
    """Whether a one-sided t test at 5 % finds the mean above a bound.

    Args:
        differences: one per seed, shape ``(n_seeds,)``; NaN is left out. False with fewer than two,
            or where one is not known.
        bound: in the same unit.
    """
    finite = [value for value in differences if not math.isnan(value)]
    n = len(finite)
    if n < 2 or any(map(math.isinf, finite)):
        return False
    mean = math.fsum(finite) / n
    variance = math.fsum((value - mean) ** 2 for value in finite) / (n - 1)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, 1 - ALPHA)) * math.sqrt(variance / n)
    return bound < mean - half
