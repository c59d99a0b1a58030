"""The situation for which gains are chosen: longest round trip, fewest drops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.arrays import ArrayLike, floats
from sojourn.stability.loops.feedback import FluidLoop
from sojourn.stability.loops.normalised import loop_at
from sojourn.stability.model.aqms import Link, PiAqm, fluid, in_jiffies
from sojourn.stability.model.conditions import PACKET_BYTES
from sojourn.stability.model.windows import Window, window


@dataclass(frozen=True)
class WorstCase:
    """The situation for which gains are chosen.

    Attributes:
        model: the AQM; its target and rules are used, its gains are not.
        rtt_s: round-trip time without queue.
        drop_prob: drop probability.
        window: congestion control.
        variant: variant of the loop.
    """

    model: PiAqm
    rtt_s: float
    drop_prob: float
    window: Window
    variant: str

    def loop(
        self, alpha_hz: ArrayLike, beta_hz: ArrayLike, period_s: ArrayLike, prob: ArrayLike
    ) -> FluidLoop:
        """The loop with gains as configured; the model's step scaling and slope act on them."""
        signal, period = floats(prob), in_jiffies(self.model.settings, floats(period_s))
        output = self.model.output(signal, self.window)
        factor = self.model.step_factor(output)
        target = float(self.model.target_s)
        return loop_at(
            self.rtt_s + target, signal,
            factor * floats(alpha_hz), factor * floats(beta_hz), period,
            signal_slope=self.model.signal_slope(output, self.window),
            late_s=target if self.model.stamped else 0.0,
            window=self.window, name=self.variant,
        )  # fmt: skip

    @property
    def largest_prob(self) -> float:
        """The largest drop probability that the AQM can give."""
        return float(self.model.signal(floats(self.model.largest_output), self.window))

    @property
    def step_factor(self) -> float:
        """The factor by which the AQM scales its steps here."""
        output = self.model.output(floats(self.drop_prob), self.window)
        return float(self.model.step_factor(output))


def worst_case(
    aqm: str, rtt_s: float, prob: float, margin_deg: float, cc: str, variant: str
) -> WorstCase:
    """Check and return the worst case for which gains are designed.

    Raises:
        InputError: an argument is out of range, or the AQM's gains cannot be chosen.
        ScenarioError: the AQM does not exist, or a parameter is out of range.
    """
    if not rtt_s > 0.0:
        raise InputError(f"longest_rtt_s: {rtt_s:g} is refused; it must be positive")
    if not 0.0 < prob < 1.0:
        raise InputError(f"least_drop_prob: {prob:g} is not a probability between 0 and 1")
    if not 1.0 <= margin_deg <= 85.0:
        raise InputError(f"phase_margin_deg: {margin_deg:g} is refused; give 1 to 85 degrees")
    model = fluid(aqm, Link(np.ones(1), PACKET_BYTES))
    if not isinstance(model, PiAqm) or model.settings.kind not in ("pie", "pi2"):
        raise InputError(f"aqm: `{aqm}` cannot be designed here; give pie or pi2")
    control = window(cc)
    if control.scalable:
        raise InputError(f"cc: gains are designed for classic flows; {cc} is scalable")
    worst = WorstCase(model, rtt_s, prob, control, variant)
    if not prob < worst.largest_prob:
        raise InputError(
            f"least_drop_prob: {prob:g} is beyond what {model.settings.text} gives, "
            f"{worst.largest_prob:g} at most"
        )
    return worst
