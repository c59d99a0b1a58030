"""The correlation of paired runs, which decides how much pairing narrows the intervals.

Runs of one seed share exogenous draws only: start times, sizes of transfers, think times, wire
losses. Senders react to the AQM, so arrivals differ from the first signal on, and values may be
hardly correlated.

Source: Law 2015 §11.2 (common random numbers): the variance of a difference is the sum of both
variances less twice the covariance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def correlation(values: Sequence[float], baseline: Sequence[float]) -> float:
    """Pearson's correlation over seeds.

    Args:
        values: one per seed, shape ``(n_seeds,)``.
        baseline: baseline of the same seeds, same shape; unknown pairs are left out.

    Returns:
        -1 to 1; NaN with fewer than three pairs, or where one does not vary.
    """
    pairs = [
        (x, y)
        for x, y in zip(values, baseline, strict=True)
        if math.isfinite(x) and math.isfinite(y)
    ]
    if len(pairs) < 3:
        return math.nan
    mean_x, mean_y = (math.fsum(column) / len(pairs) for column in zip(*pairs, strict=True))
    of_x = math.fsum((x - mean_x) ** 2 for x, _ in pairs)
    of_y = math.fsum((y - mean_y) ** 2 for _, y in pairs)
    if of_x == 0.0 or of_y == 0.0:
        return math.nan
    both = math.fsum((x - mean_x) * (y - mean_y) for x, y in pairs)
    return max(-1.0, min(1.0, both / math.sqrt(of_x * of_y)))
