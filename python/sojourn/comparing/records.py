"""Estimates and differences of a comparison as plain records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn.comparing.rows import MetricEstimate, PairedDifference


def estimate_record(row: MetricEstimate) -> dict[str, Any]:
    """A row of `ComparedRuns.table`."""
    metric, e = row.metric, row.estimate
    return {
        "metric": metric.key, "label": metric.label, "unit": metric.unit, "aqm": row.aqm,
        "mean": e.mean, "centre": e.centre, "low": e.low, "high": e.high, "n": e.n,
        "unknown": row.unknown, "above": row.above,
    }  # fmt: skip


def difference_record(row: PairedDifference) -> dict[str, Any]:
    """A row of `ComparedRuns.differences`."""
    metric, d = row.metric, row.test.difference
    return {
        "metric": metric.key, "label": metric.label, "unit": metric.unit, "aqm": row.aqm,
        "baseline": row.baseline, "difference": d.mean, "low": d.low, "high": d.high, "n": d.n,
        "p_value": row.test.p_value, "family": "headline" if row.headline else "exploratory",
        "p_adjusted": row.p_adjusted, "margin": row.margin, "equivalent": row.is_equivalent,
        "correlation": row.correlation,
        "tolerance": row.agreement.tolerance if row.agreement else math.nan,
        "agrees": row.agreement.agrees if row.agreement else None, "verdict": row.verdict,
    }  # fmt: skip
