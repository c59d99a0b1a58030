"""Loops by round-trip time and signal probability; flows and rate enter only through these."""

from __future__ import annotations

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.arrays import ArrayLike, Floats, floats
from sojourn.stability.loops.feedback import FluidLoop, variant
from sojourn.stability.model.controllers import PiControl
from sojourn.stability.model.population import Population
from sojourn.stability.model.windows import WINDOWS, Window


def loop_at(
    rtt_s: ArrayLike,
    signal_prob: ArrayLike,
    alpha_hz: ArrayLike,
    beta_hz: ArrayLike,
    period_s: ArrayLike,
    *,
    signal_slope: ArrayLike = 1.0,
    late_s: ArrayLike = 0.0,
    window: Window = WINDOWS["reno"],
    name: str = "exact",
    with_delay: bool = True,
) -> FluidLoop:
    """The loop of a PI controller at a given operating point; all arguments broadcast.

    Args:
        rtt_s: round-trip time at rest, queue included.
        signal_prob: probability of a signal at rest.
        alpha_hz: effective integral gain.
        beta_hz: effective proportional gain.
        period_s: time between updates.
        signal_slope: change of the probability per change of the controller's output.
        late_s: lag of the delay measurement.
        window: congestion control.
        name: variant, see `feedback.VARIANTS`.
        with_delay: whether the pure delay is included.

    Raises:
        InputError: a time or gain is not positive, or a probability not within 0 to 1.
    """
    times = {"rtt_s": rtt_s, "period_s": period_s, "alpha_hz": alpha_hz, "beta_hz": beta_hz}
    for key, value in times.items():
        if not (floats(value) > 0.0).all():
            raise InputError(f"{key}: {np.min(value):g} is refused; it must be positive")
    prob = floats(signal_prob)
    if not ((prob > 0.0) & (prob <= 1.0)).all():
        wrong = prob[~((prob > 0.0) & (prob <= 1.0))].flat[0]
        raise InputError(f"signal_prob: {wrong:g} is not a probability above 0 and at most 1")
    given = (rtt_s, prob, alpha_hz, beta_hz, period_s, signal_slope, late_s)
    grid = np.broadcast_arrays(*map(floats, given))
    rtt, prob, alpha, beta, period, slope, late = (part.ravel() for part in grid)
    packets: Floats = window.resting_packets(prob)
    one = np.ones_like(rtt)
    flows = Population(window, one, rtt, rtt, packets, prob, slope, late)
    control = PiControl(alpha, beta, period)
    return FluidLoop(grid[0].shape, (flows,), control, packets / rtt, variant(name), with_delay)
