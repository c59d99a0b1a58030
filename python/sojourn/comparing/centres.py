"""Mean or median: what is estimated of each metric over seeds, declared in one place.

Metrics with a long tail, a border or rare events have no interval of the mean that holds with ten
seeds; of them the median is shown. docs/evidence/coverage.md has the measurement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sojourn.comparing.medians import median_estimate
from sojourn.comparing.statistics import Centre, Estimate, estimate, share_estimate

_MEDIAN = frozenset({
    # Extremes, and quantiles that one event of a run decides.
    "delay_p99", "delay_max", "owd_p50", "owd_p95", "owd_p99", "owd_max",
    "rtt_mean", "rtt_p50", "rtt_p95", "rtt_p99", "rtt_max",
    # Of transfers a few are slow; some are not finished, and their time is not known.
    "completion_mean", "completion_p50", "completion_p95", "completion_p99", "completion_max",
    "unfinished_share",
    # Values at a border: an index of at most 1, counts and rates of what is rare.
    "jain", "waiting", "ecn_share", "mark_rate", "mark_rate_random", "mark_rate_deterministic",
    "drop_rate_overflow", "drop_rate_random", "drop_rate_deterministic",
})  # fmt: skip

# Those of the others that are from 0 to 1, so that their intervals are, too.
_SHARES = frozenset({
    "utilisation", "drop_rate", "loss_rate", "wire_loss_rate", "frame_failure_rate",
})  # fmt: skip

BIN = 0.001
"""Width of the bins of delays, as a part of the value."""
_QUANTILES = ("p50", "p95", "p99")


def centre_of(metric: str) -> Centre:
    """What is estimated of a metric of table ``summary``."""
    return "median" if metric in _MEDIAN else "mean"


def is_in_bins(metric: str) -> bool:
    """Whether its values are quantiles, known to a bin of a histogram."""
    return metric.rpartition("_")[2] in _QUANTILES


def rounding(values: Sequence[float], operands: int) -> float:
    """Standard deviation of the error that bins make.

    Args:
        values: of which a bin is a part.
        operands: in how many of them a result has such an error: 2 for a difference, 0 for none.
    """
    # A uniform error of width w has the variance w^2 / 12.
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return float(BIN * largest * (operands / 12.0) ** 0.5)


def estimate_of(metric: str, values: Sequence[float]) -> Estimate:
    """The estimate of a metric of table ``summary``, as comparisons and studies show it.

    Args:
        metric: its name, such as ``drop_rate``.
        values: as of `estimate_about`.
    """
    if metric in _SHARES and not any(map(math.isinf, values)):
        return share_estimate(values)
    return estimate_about(centre_of(metric), values, int(is_in_bins(metric)))


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
