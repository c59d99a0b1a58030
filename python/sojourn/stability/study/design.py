"""Gains for PIE and PI2: the strongest integral action that keeps a wanted phase margin.

For a load step the area under the error of a PI loop is one over its integral gain, so the best
gains maximise alpha/tupdate under the margin (Åström, Panagopoulos and Hägglund 1998). For each
integral time (beta tupdate/alpha) the phase of the loop is lowered by the wanted margin; its gain
margin is then the factor by which both gains may grow (fact stability-5). The worst case is the
longest RTT with the fewest drops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.arrays import ArrayLike, Complexes, Floats, Indices, floats
from sojourn.stability.loops.feedback import FluidLoop, Loop
from sojourn.stability.loops.margin import Margins, margins
from sojourn.stability.model.aqms import in_jiffies
from sojourn.stability.study.kernel import kernel_gains, scenario_words, tc_words
from sojourn.stability.study.worst_case import WorstCase, worst_case

_INTEGRAL_TIMES = np.geomspace(0.1, 100.0, 160)  # beta tupdate/alpha in round-trip times
_PERIODS_S = np.asarray([1, 2, 4, 5, 8, 10, 15, 16, 20, 30, 50, 75, 100]) * 1e-3
_ENOUGH = 0.9  # of the integral gain that the shortest period allows
_CURVE_DEG = np.arange(10.0, 81.0, 5.0)


@dataclass(frozen=True)
class Design:
    """Gains for the worst case, and their trade-offs.

    Attributes:
        aqm: text form with the gains, for a scenario's ``queue``.
        tc: options of ``tc qdisc``.
        tc_note: their meaning; PIE's gains are searched separately, because tc's units are coarse.
        alpha_hz: integral gain, as configured.
        beta_hz: proportional gain, as configured.
        tupdate_s: time between updates.
        wanted_deg: wanted phase margin.
        worst: margins in the worst case.
        drop_prob: drop probabilities from the smallest to 1, shape ``(n,)``.
        phase_margin_deg: margin with these gains at those, same shape.
        curve: trade-off of margin against speed.
        periods: trade-off of the update interval.
    """

    aqm: str
    tc: str
    tc_note: str
    alpha_hz: float
    beta_hz: float
    tupdate_s: float
    wanted_deg: float
    worst: Margins
    drop_prob: Floats
    phase_margin_deg: Floats
    curve: TradeOff
    periods: TradeOff


@dataclass(frozen=True)
class TradeOff:
    """Best gains along one choice; arrays of shape ``(n,)``.

    Attributes:
        phase_margin_deg: wanted phase margin.
        tupdate_s: time between updates.
        alpha_hz: best integral gain; NaN if no gain gives the margin.
        beta_hz: its proportional gain.
        integral_gain_per_s2: effective alpha over tupdate, after step scaling; larger is faster.
        crossover_rad_per_s: loop frequency.
    """

    phase_margin_deg: Floats
    tupdate_s: Floats
    alpha_hz: Floats
    beta_hz: Floats
    integral_gain_per_s2: Floats
    crossover_rad_per_s: Floats


def design(
    aqm: str,
    longest_rtt_s: float,
    least_drop_prob: float,
    phase_margin_deg: float = 45.0,
    *,
    tupdate_s: float | None = None,
    cc: str = "reno",
    variant: str = "exact",
) -> Design:
    """Choose alpha, beta and tupdate.

    Args:
        aqm: ``pie`` or ``pi2`` in any dialect; its target and rules are kept, its gains are not.
        longest_rtt_s: longest round-trip time without queue.
        least_drop_prob: smallest drop probability at which the margin must hold.
        phase_margin_deg: wanted margin, 1 to 85 degrees.
        tupdate_s: time between updates; by default the longest common value that keeps 90 % of the
            integral gain of the shortest.
        cc: congestion control.
        variant: variant of the loop, see `feedback.VARIANTS`.

    Raises:
        InputError: the AQM is neither, an argument is out of range, or no gain is suitable.
        ScenarioError: the AQM does not exist, or a parameter is out of range.
    """
    worst = worst_case(aqm, longest_rtt_s, least_drop_prob, phase_margin_deg, cc, variant)
    allowed = _PERIODS_S[longest_rtt_s / 2.0 > _PERIODS_S]
    candidates = allowed if len(allowed) else _PERIODS_S[:1]
    periods = _best(worst, phase_margin_deg, candidates)
    is_pie = not worst.model.squared
    kernel = kernel_gains(worst, phase_margin_deg, tupdate_s) if is_pie else None
    if tupdate_s is None:
        speed = np.nan_to_num(periods.integral_gain_per_s2)
        tupdate_s = float(candidates[speed >= _ENOUGH * speed.max()].max())
    chosen = _best(worst, phase_margin_deg, tupdate_s)
    alpha_hz, beta_hz = (_round(float(gain[0])) for gain in (chosen.alpha_hz, chosen.beta_hz))
    if worst.model.settings.kind == "pie" and worst.model.settings.dialect == "linux":
        alpha_hz = beta_hz = 0.0
        if kernel is not None and kernel.is_enough:
            alpha_hz, beta_hz, tupdate_s = kernel.alpha_hz, kernel.beta_hz, kernel.tupdate_s
    if not alpha_hz > 0.0:
        raise InputError(
            f"phase_margin_deg: no gain of {worst.model.settings.text} gives "
            f"{phase_margin_deg:g} degrees at an RTT of {longest_rtt_s * 1e3:g} ms; ask for less"
        )
    prob = np.geomspace(least_drop_prob, worst.largest_prob, 200)
    over = margins(worst.loop(alpha_hz, beta_hz, tupdate_s, prob)).phase_margin_deg
    tc, note = tc_words(worst, alpha_hz, beta_hz, tupdate_s, kernel)
    return Design(
        aqm=scenario_words(worst.model, alpha_hz, beta_hz, tupdate_s),
        tc=tc,
        tc_note=note,
        alpha_hz=alpha_hz,
        beta_hz=beta_hz,
        tupdate_s=tupdate_s,
        wanted_deg=phase_margin_deg,
        worst=margins(worst.loop(alpha_hz, beta_hz, tupdate_s, least_drop_prob)),
        drop_prob=prob,
        phase_margin_deg=over,
        curve=_best(worst, _CURVE_DEG, tupdate_s),
        periods=periods,
    )


@dataclass(frozen=True)
class _Turned:
    """A loop with its phase lowered; its gain margin gives the gain for that phase margin."""

    loop: FluidLoop
    by_rad: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        return self.loop.shape

    @property
    def delay_s(self) -> Floats:
        return self.loop.delay_s

    @property
    def scale_s(self) -> Floats:
        return self.loop.scale_s

    def without_delay(self, s: Complexes, points: Indices) -> Complexes:
        turn = np.exp(-1j * self.by_rad[points])
        turned: Complexes = self.loop.without_delay(s, points) * turn.reshape(
            turn.shape + (1,) * (s.ndim - 1)
        )
        return turned


def _best(worst: WorstCase, margin_deg: ArrayLike, period_s: ArrayLike) -> TradeOff:
    """The best gains per wanted margin and period, which broadcast to one axis."""
    wanted, period = np.broadcast_arrays(np.atleast_1d(margin_deg), np.atleast_1d(period_s))
    wanted, period = floats(wanted), floats(period)
    # Start from beta = 1: the loop is linear in the pair of gains, so `allowed` becomes beta.
    alpha = period / (_INTEGRAL_TIMES[:, None] * worst.rtt_s)
    trial = worst.loop(alpha, 1.0, period, worst.drop_prob)
    turns = np.broadcast_to(np.radians(wanted), alpha.shape).ravel()
    turned: Loop = _Turned(trial, turns)
    allowed = 10.0 ** (margins(turned).gain_margin_db / 20.0)
    strength = np.where(np.isfinite(allowed), allowed * alpha, -1.0)
    at = np.argmax(strength, axis=0), np.arange(len(wanted))
    found = strength[at] > 0.0
    alpha_hz = np.where(found, (allowed * alpha)[at], 1.0)
    beta_hz = np.where(found, allowed[at], 1.0)
    reached = margins(worst.loop(alpha_hz, beta_hz, period, worst.drop_prob))
    speed = worst.step_factor * alpha_hz / in_jiffies(worst.model.settings, period)
    best = (alpha_hz, beta_hz, speed, reached.crossover_rad_per_s)
    return TradeOff(wanted, period, *(np.where(found, part, np.nan) for part in best))


def _round(gain_hz: float) -> float:
    """Three digits, which cost less than half a degree; 0 for NaN."""
    return float(f"{gain_hz:.3g}") if gain_hz > 0.0 else 0.0
