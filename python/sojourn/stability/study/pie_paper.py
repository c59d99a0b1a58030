"""Figures 13 to 16 of the PIE paper (Pan et al. 2013, section V) as plain data.

The paper's loop is `feedback.VARIANTS` "derived" or "printed": its printed gain is twice the one
that follows from its own equations (fact stability-1), and its statement about Figure 13 holds only
without the pure delay (fact stability-2). So every figure is computed in all four readings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sojourn.stability.arrays import ArrayLike, Floats
from sojourn.stability.loops.feedback import FluidLoop
from sojourn.stability.loops.margin import margins
from sojourn.stability.loops.normalised import loop_at
from sojourn.stability.loops.open_loop import bode

PERIOD_S = 0.03
LONGEST_RTT_S = 0.1
LEAST_DROP_PROB = 1e-4


class Reading(NamedTuple):
    """A reading of the paper's loop.

    Attributes:
        variant: ``derived`` or ``printed``.
        with_delay: whether the factor exp(-s R0) is included.
    """

    variant: str
    with_delay: bool

    def __str__(self) -> str:
        """For example ``derived, with delay``."""
        return f"{self.variant}, {'with' if self.with_delay else 'without'} delay"


READINGS = tuple(Reading(name, delay) for name in ("derived", "printed") for delay in (True, False))


class Gains(NamedTuple):
    """A pair of gains as the paper writes it, alpha:beta in hertz."""

    alpha_hz: float
    beta_hz: float

    def __str__(self) -> str:
        """For example ``0.125:1.25``."""
        return f"{self.alpha_hz:g}:{self.beta_hz:g}"


PAIRS = (Gains(0.125, 1.25), Gains(0.0625, 0.625), Gains(0.0156, 0.156))


def paper_loop(
    alpha_hz: ArrayLike,
    beta_hz: ArrayLike,
    drop_prob: ArrayLike,
    rtt_s: ArrayLike,
    reading: Reading,
    period_s: float = PERIOD_S,
) -> FluidLoop:
    """The paper's open loop; `rtt_s` is R0, the queue's share included."""
    return loop_at(
        rtt_s, drop_prob, alpha_hz, beta_hz, period_s,
        name=reading.variant, with_delay=reading.with_delay,
    )  # fmt: skip


@dataclass(frozen=True)
class Figure13:
    """Phase margin over both gains at the longest RTT and the least drop probability.

    Attributes:
        alpha_hz: shape ``(n_alpha,)``.
        beta_hz: shape ``(n_beta,)``.
        phase_margin_deg: per reading, shape ``(n_alpha, n_beta)``.
        stated_pair: the gains whose margin the paper states as about 25 degrees.
        at_stated_deg: that margin, per reading.
    """

    alpha_hz: Floats
    beta_hz: Floats
    phase_margin_deg: dict[Reading, Floats]
    stated_pair: Gains
    at_stated_deg: dict[Reading, float]


def figure_13(n: int = 60) -> Figure13:
    """Compute Figure 13 on ``n`` by ``n`` gains in logarithmic steps."""
    alpha, beta = np.geomspace(0.001, 0.2, n), np.geomspace(0.01, 2.0, n)
    pair = PAIRS[-1]

    def margin(a: ArrayLike, b: ArrayLike, reading: Reading) -> Floats:
        loop = paper_loop(a, b, LEAST_DROP_PROB, LONGEST_RTT_S, reading)
        return margins(loop).phase_margin_deg

    return Figure13(
        alpha,
        beta,
        {reading: margin(alpha[:, None], beta, reading) for reading in READINGS},
        pair,
        {reading: float(margin(*pair, reading)) for reading in READINGS},
    )


@dataclass(frozen=True)
class BodeCurve:
    """One curve of Figure 14 with its margins.

    Attributes:
        rtt_s: R0.
        drop_prob: p0.
        same_flows: whether p0 follows from R0 at constant flows and rate.
        reading: reading of the loop.
        frequency_rad_per_s: shape ``(n_frequencies,)``.
        gain_db: same shape.
        phase_deg: same shape.
        phase_margin_deg: phase margin of the loop.
        gain_margin_db: gain margin of the loop.
        crossover_rad_per_s: crossover of the loop.
        poles_rad_per_s: s1 and s2.
    """

    rtt_s: float
    drop_prob: float
    same_flows: bool
    reading: Reading
    frequency_rad_per_s: Floats
    gain_db: Floats
    phase_deg: Floats
    phase_margin_deg: float
    gain_margin_db: float
    crossover_rad_per_s: float
    poles_rad_per_s: tuple[float, float]


def figure_14(gains: Gains = PAIRS[-1]) -> list[BodeCurve]:
    """Compute Figure 14: R0 of 100 and 50 ms, the latter with the same p0 and with four times p0.

    At constant flows and rate, half the RTT halves the window, which needs four times the drops.
    """
    frequency = np.geomspace(0.05, 100.0, 600)
    cases = (
        (LONGEST_RTT_S, LEAST_DROP_PROB, True),
        (LONGEST_RTT_S / 2, LEAST_DROP_PROB, False),
        (LONGEST_RTT_S / 2, 4 * LEAST_DROP_PROB, True),
    )
    curves = []
    for reading in READINGS:
        for rtt_s, drop_prob, same_flows in cases:
            loop = paper_loop(*gains, drop_prob, rtt_s, reading)
            found, curve = margins(loop), bode(loop, frequency)
            curves.append(
                BodeCurve(
                    rtt_s, drop_prob, same_flows, reading,
                    frequency, curve.gain_db, curve.phase_deg,
                    float(found.phase_margin_deg), float(found.gain_margin_db),
                    float(found.crossover_rad_per_s),
                    (float(np.sqrt(2 * drop_prob)) / rtt_s, 1 / rtt_s),
                )
            )  # fmt: skip
    return curves


@dataclass(frozen=True)
class OverDropProb:
    """Figures 15 and 16: margins of three pairs of gains over the drop probability.

    Attributes:
        sqrt_drop_prob: square root of p0, shape ``(n,)``.
        phase_margin_deg: per reading and pair, shape ``(n,)``.
        loop_frequency_rad_per_s: where the gain is 1, same shape.
    """

    sqrt_drop_prob: Floats
    phase_margin_deg: dict[Reading, dict[Gains, Floats]]
    loop_frequency_rad_per_s: dict[Reading, dict[Gains, Floats]]


def figures_15_16(n: int = 200) -> OverDropProb:
    """Compute Figures 15 and 16 for p0 from 0.01 % to 100 %."""
    root = np.linspace(0.01, 1.0, n)
    found = {
        reading: {
            pair: margins(paper_loop(*pair, root**2, LONGEST_RTT_S, reading)) for pair in PAIRS
        }
        for reading in READINGS
    }
    return OverDropProb(
        root,
        {r: {pair: m.phase_margin_deg for pair, m in row.items()} for r, row in found.items()},
        {r: {pair: m.crossover_rad_per_s for pair, m in row.items()} for r, row in found.items()},
    )
