"""Labels, units and scales of metrics in the figures of a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.comparing.statistics import Estimate
from sojourn.describing.formatting import scale_of
from sojourn.describing.metrics import row_of

# From this ratio of the largest to the smallest value on, a scale is logarithmic.
_WIDE = 30.0
# The share of values beyond each end of a colour scale, and the number of values from which on one
# at each end may be an outlier.
_TAIL = 0.02
_FEW = 12


@dataclass(frozen=True)
class MetricAxis:
    """A metric as figures show it.

    Attributes:
        key: the key as in the study.
        label: label of the axis, in words.
        unit: the shown unit: ms if the store has s.
        scale: factor from the unit of the store.
        is_log: whether its scale is logarithmic.
        has_log_ends: whether the scale of its intervals can be, too, because none reaches 0.
    """

    key: str
    label: str
    unit: str
    scale: float
    is_log: bool
    has_log_ends: bool

    @property
    def title(self) -> str:
        """The label with its unit: ``queue delay p95 of bottleneck (ms)``."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


def metric_axis(key: str, unit: str, values: Sequence[Estimate]) -> MetricAxis:
    """The form in which a metric is shown.

    Args:
        key: key of the metric.
        unit: unit in the store.
        values: the values that figures show.
    """
    known = [value.mean for value in values if math.isfinite(value.mean)]
    name = key.partition("/")[2].rpartition("/")[0]
    shown = scale_of(row_of(key, unit))
    is_log = bool(known) and min(known) > 0.0 and max(known) / min(known) > _WIDE
    has_log_ends = is_log and not any(value.low <= 0.0 for value in values)
    return MetricAxis(key, _label(key, name), shown.unit, shown.factor, is_log, has_log_ends)


def _label(key: str, name: str) -> str:
    """The label of a metric, as in comparisons: ``queue delay p95 of bottleneck``."""
    label = row_of(key).label.replace("_", " ")
    return f"{label} of {name}" if name else label


def robust_ends(values: Sequence[float]) -> tuple[float, float]:
    """Both ends of a colour scale: quantiles, so a single outlier does not flatten the rest."""
    ordered = sorted(values) or [0.0]
    place = _TAIL * (len(ordered) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(len(ordered) - 1 - place)]
    if len(ordered) >= _FEW:
        low, high = ordered[max(1, math.ceil(place))], ordered[-1 - max(1, math.ceil(place))]
    return (low, high) if low < high else (ordered[0], ordered[-1])
