"""The estimate of a metric over seeds: mean or median, as the table of metrics says.

Metrics with a long tail, a border or rare events have no interval of the mean that holds with ten
seeds; of them the median is shown. docs/evidence/coverage.md has the measurement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sojourn.comparing.medians import median_estimate
from sojourn.comparing.statistics import Estimate, estimate, share_estimate
from sojourn.describing.metric_table import Centre, MetricRow

BIN = 0.001
"""Width of the bins of delays, as a part of the value."""


def rounding(values: Sequence[float], operands: int) -> float:
    """Standard deviation of the error that bins make.

    Args:
        values: of which a bin is a part.
        operands: in how many of them a result has such an error: 2 for a difference, 0 for none.
    """
    # A uniform error of width w has the variance w^2 / 12.
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return float(BIN * largest * (operands / 12.0) ** 0.5)


def estimate_of(row: MetricRow, values: Sequence[float]) -> Estimate:
    """The estimate of a metric, as comparisons and studies show it.

    Args:
        row: the metric.
        values: as for `estimate_about`.
    """
    if row.kind == "share" and row.centre == "mean" and not any(map(math.isinf, values)):
        return share_estimate(values)
    return estimate_about(row.centre, values, operands_of(row))


def operands_of(row: MetricRow) -> int:
    """1 where its values are quantiles, known to a bin of a histogram, else 0."""
    return int(row.quantile is not None)


def estimate_about(centre: Centre, values: Sequence[float], operands: int = 0) -> Estimate:
    """The estimate of a mean or of a median.

    Args:
        centre: which of the two.
        values: one per seed, shape ``(n_seeds,)``; NaN is left out, infinite is "not known, beyond
            what was observed" and makes a mean unknown.
        operands: see `rounding`.
    """
    if centre == "median":
        return median_estimate(values)
    if any(map(math.isinf, values)):
        return Estimate(math.nan, math.nan, sum(not math.isnan(value) for value in values))
    return estimate(values, rounding(values, operands))
