"""The levels of a comparison's tests and intervals where seeds are added until it is decided.

If the number of seeds simply depended on the outcome, tests and intervals would err more often than
stated. Here it is one of a few planned looks, which share the level by Pocock's constant bound
(`sojourn.study.until`). The interval of a look is a repeated confidence interval, and its p-value
is the probability that some look shows as much (Jennison and Turnbull 2000 §9.2; §4.4 for Student's
t). Both hold for any rule that stops at a look. Holm's correction applies as with a fixed number of
seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sojourn.comparing.statistics import ALPHA, CONFIDENCE


@dataclass(frozen=True)
class Looks:
    """The numbers of seeds at which a comparison is tested.

    Attributes:
        counts: these numbers, increasing; empty if the number of seeds was fixed.
    """

    counts: tuple[int, ...] = ()

    @cached_property
    def confidence(self) -> float:
        """Confidence of one look's interval, so that the intervals of all looks hold with 95 %."""
        return 1.0 - self._level(ALPHA) if len(self.counts) > 1 else CONFIDENCE

    @cached_property
    def one_sided(self) -> float:
        """Level of a one-sided test at one look; 5 % over all looks."""
        return self._level(2.0 * ALPHA) / 2.0 if len(self.counts) > 1 else ALPHA

    def p_value(self, p_value: float) -> float:
        """Convert a two-sided p-value of a single look to one over all looks; NaN stays NaN."""
        if len(self.counts) < 2 or not p_value < 1.0:
            return p_value
        from sojourn.study.until import repeated_p_value

        return repeated_p_value(self.counts, p_value)

    def _level(self, alpha: float) -> float:
        from sojourn.study.until import pocock_level

        return pocock_level(self.counts, alpha)
