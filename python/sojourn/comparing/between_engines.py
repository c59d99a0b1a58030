"""Two engines on one metric: whether they agree, not which one is better.

The tolerance is that of `sojourn agree`: 10 % of the reference's value, at least a millisecond for
times. The last engine is the reference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sojourn.comparing.metrics import Metric
from sojourn.comparing.statistics import Estimate

RELATIVE = 0.10
DELAY_S = 0.001
"""The tolerance, and its minimum for times."""
CLOSE_RELATIVE = RELATIVE / 2
CLOSE_DELAY_S = DELAY_S / 2
"""Half of both: engines agree closely within these."""


@dataclass(frozen=True)
class EngineAgreement:
    """A metric of one AQM on two engines, in the metric's unit.

    Attributes:
        difference: the value on this engine minus that on the reference.
        tolerance: the largest difference that agrees.
        noise: half of the 95 % interval of the difference, seeds taken as independent; NaN with too
            few seeds for an interval.
    """

    difference: float
    tolerance: float
    noise: float

    @classmethod
    def of(cls, metric: Metric, own: Estimate, reference: Estimate) -> EngineAgreement:
        """The agreement of two estimates."""
        floor = DELAY_S if metric.row.kind == "time" else 0.0
        noise = math.hypot(own.half_width, reference.half_width)
        return cls(
            own.mean - reference.mean,
            max(RELATIVE * abs(reference.mean), floor),
            noise,
        )

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the tolerance."""
        return abs(self.difference) <= self.tolerance

    @property
    def verdict(self) -> Literal["agrees", "differs", ""]:
        """``differs`` if the noise is known and no value within it would agree."""
        if self.agrees:
            return "agrees"
        return "differs" if abs(self.difference) > self.tolerance + self.noise else ""
