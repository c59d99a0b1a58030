"""No practical difference: two one-sided tests within a stated margin.

A difference that is not significant need not be zero. Two contenders are called equivalent if
the 90 % interval of their paired difference lies within the margin: then both one-sided t tests
at 5 % reject a difference as large as the margin.

Source: Schuirmann 1987 (two one-sided tests).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sojourn.comparing.distributions import t_quantile
from sojourn.comparing.metrics import Metric
from sojourn.comparing.statistics import ALPHA
from sojourn.describing.metric_table import USUAL_MARGINS, MetricRow
from sojourn.describing.metrics import shown_in


def text() -> str:
    """The margins of the metrics that comparisons show, in words."""
    relative, least = USUAL_MARGINS["time"]
    _, share = USUAL_MARGINS["share"]
    special = [
        f"{_amount(row)} of {row.label}"
        for row in shown_in("compare")
        if (row.relative, row.least) != USUAL_MARGINS[row.kind]
    ]
    return (
        f"{100 * relative:g} % of the baseline's mean for times (at least {1e3 * least:g} ms) and "
        f"rates, {', '.join(special)}, {100 * share:g} points of other fractions"
    )


def _amount(row: MetricRow) -> str:
    if row.kind != "share":
        return f"{row.least:g}"
    points = 100 * row.least
    return f"{points:g} {'point' if points == 1 else 'points'}"


def margin(metric: Metric, baseline_mean: float) -> float:
    """The largest difference without practical relevance, in the metric's unit.

    Args:
        metric: the compared metric.
        baseline_mean: mean of the first AQM, in the same unit.
    """
    return max(metric.row.relative * abs(baseline_mean), metric.row.least)


def is_equivalent(differences: Sequence[float], margin: float, level: float = ALPHA) -> bool:
    """Whether two one-sided t tests both reject a difference as large as the margin.

    Args:
        differences: value minus baseline, one per seed, shape ``(n_seeds,)``; NaN is left out.
        margin: margin in the same unit, positive.
        level: level of each test.
    """
    if math.isnan(margin):
        return False
    below = [-value for value in differences]
    return is_above(differences, -margin, level) and is_above(below, -margin, level)


def is_above(differences: Sequence[float], bound: float, level: float = ALPHA) -> bool:
    """Whether a one-sided t test finds the mean above a bound.

    Args:
        differences: one per seed, shape ``(n_seeds,)``; NaN is left out. False with fewer than two,
            or if one is unknown.
        bound: bound in the same unit.
        level: level of the test.
    """
    finite = [value for value in differences if not math.isnan(value)]
    n = len(finite)
    if n < 2 or any(map(math.isinf, finite)):
        return False
    mean = math.fsum(finite) / n
    variance = math.fsum((value - mean) ** 2 for value in finite) / (n - 1)
    half = t_quantile(n - 1, 1 - level) * math.sqrt(variance / n)
    return bound < mean - half
