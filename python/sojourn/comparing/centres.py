"""The estimate of a metric over seeds: mean or median, as the table of metrics says.

For metrics with a long tail, a boundary or rare events, no interval of the mean has the stated
coverage with ten seeds, so the median is shown (docs/evidence/coverage.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sojourn.comparing.medians import median_estimate
from sojourn.comparing.statistics import CONFIDENCE, Estimate, estimate, share_estimate
from sojourn.describing.metric_table import Centre, MetricRow

BIN = 0.001
"""Width of the bins of delays, relative to the value."""


def rounding(values: Sequence[float], operands: int) -> float:
    """Standard deviation of the error due to binning.

    Args:
        values: the binned values.
        operands: number of binned values that a result combines: 2 for a difference, 0 for values
            without bins.
    """
    # A uniform error of width w has the variance w^2 / 12.
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return float(BIN * largest * (operands / 12.0) ** 0.5)


def estimate_of(
    row: MetricRow, values: Sequence[float], confidence: float = CONFIDENCE
) -> Estimate:
    """The estimate of a metric, as comparisons and studies show it.

    Args:
        row: the metric.
        values: see `estimate_about`.
        confidence: that of the interval.
    """
    if row.centre == "mean":
        return mean_of(row, values, confidence)
    return estimate_about(row.centre, values, operands_of(row), confidence)


def mean_of(row: MetricRow, values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """The mean of a metric, also of one that is shown as a median; see `estimate_of`."""
    if row.kind == "share" and not any(map(math.isinf, values)):
        return share_estimate(values, confidence)
    return estimate_about("mean", values, operands_of(row), confidence)


def operands_of(row: MetricRow) -> int:
    """1 if the metric's values are quantiles of a histogram, else 0."""
    return int(row.quantile is not None)


def estimate_about(
    centre: Centre, values: Sequence[float], operands: int = 0, confidence: float = CONFIDENCE
) -> Estimate:
    """The estimate of a mean or of a median.

    Args:
        centre: mean or median.
        values: one per seed, shape ``(n_seeds,)``; NaN is left out; infinite means beyond what was
            observed, and makes a mean unknown.
        operands: see `rounding`.
        confidence: that of the interval.
    """
    if centre == "median":
        return median_estimate(values, confidence)
    if any(map(math.isinf, values)):
        return Estimate(math.nan, math.nan, sum(not math.isnan(value) for value in values))
    return estimate(values, rounding(values, operands), confidence)
