"""Gains for PIE and PI2: the strongest integral action that keeps a wanted phase margin.

For a load step the area under the error of a PI loop is one over its integral gain, so the gains
sought maximise alpha/tupdate under the margin (Åström, Panagopoulos and Hägglund 1998). For every
integral time (beta tupdate/alpha) the loop is turned by the wanted margin; its gain margin then is
exactly the factor by which both gains may grow. The worst case is the longest RTT with the fewest
drops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.aqms import Link, PiAqm, fluid, in_jiffies
from sojourn.stability.arrays import ArrayLike, Complexes, Floats, Indices, floats
from sojourn.stability.conditions import PACKET_BYTES
from sojourn.stability.loop import FluidLoop, Loop
from sojourn.stability.margins import Margins, margins
from sojourn.stability.normalised import loop_at
from sojourn.stability.windows import Window, window

_INTEGRAL_TIMES = np.geomspace(0.1, 100.0, 160)  # beta tupdate/alpha in round-trip times
_PERIODS_S = np.asarray([1, 2, 4, 5, 8, 10, 15, 16, 20, 30, 50, 75, 100]) * 1e-3
_ENOUGH = 0.9  # of the integral gain that the shortest period allows
_CURVE_DEG = np.arange(10.0, 81.0, 5.0)
_TC_SIXTEENTHS = 16.0


@dataclass(frozen=True)
class Design:
    """Gains for the worst case, and what they cost.

    Attributes:
        aqm: text form with the gains, as a scenario's ``queue`` takes it.
        tc: words for ``tc qdisc``.
        tc_note: what rounding to tc's units does, in words.
        alpha_hz: integral gain, as configured.
        beta_hz: proportional gain, as configured.
        tupdate_s: time between updates.
        wanted_deg: phase margin asked for.
        worst: margins in the worst case.
        crossover_rad_per_s: loop frequency in the worst case.
        drop_prob: drop probabilities from the least to 1, shape ``(n,)``.
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
        phase_margin_deg: that was asked for.
        tupdate_s: time between updates.
        alpha_hz: best integral gain; NaN where no gain gives the margin.
        beta_hz: with it.
        integral_gain_per_s2: alpha over tupdate as it acts, after step scaling; larger is faster.
        crossover_rad_per_s: loop frequency.
    """

    phase_margin_deg: Floats
    tupdate_s: Floats
    alpha_hz: Floats
    beta_hz: Floats
    integral_gain_per_s2: Floats
    crossover_rad_per_s: Floats


@dataclass(frozen=True)
class _Worst:
    """The worst case of a model."""

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
        least_drop_prob: least drop probability at which the margin is to hold.
        phase_margin_deg: margin wanted, 1 to 85 degrees.
        tupdate_s: time between updates; by default the longest of common values that keeps 90 % of
            the integral gain which the shortest of them allows.
        cc: congestion control.
        variant: of the loop, see `loop.VARIANTS`.

    Raises:
        InputError: the AQM is another one, an argument is out of range, or no gain will do.
        ScenarioError: there is no such AQM, or a parameter breaks its rule.
    """
    worst = _worst(aqm, longest_rtt_s, least_drop_prob, phase_margin_deg, cc, variant)
    allowed = _PERIODS_S[longest_rtt_s / 2.0 > _PERIODS_S]
    candidates = allowed if len(allowed) else _PERIODS_S[:1]
    periods = _best(worst, phase_margin_deg, candidates)
    if tupdate_s is None:
        speed = periods.integral_gain_per_s2
        tupdate_s = float(candidates[speed >= _ENOUGH * np.nanmax(speed)].max(initial=0.0))
    chosen = _best(worst, phase_margin_deg, tupdate_s)
    alpha_hz, beta_hz = (_round(float(gain[0])) for gain in (chosen.alpha_hz, chosen.beta_hz))
    if not alpha_hz > 0.0:
        raise InputError(
            f"phase_margin_deg: no gain gives {phase_margin_deg:g} degrees at an RTT of "
            f"{longest_rtt_s * 1e3:g} ms; ask for less"
        )
    prob = np.geomspace(least_drop_prob, _largest_prob(worst), 200)
    over = margins(worst.loop(alpha_hz, beta_hz, tupdate_s, prob)).phase_margin_deg
    tc, note = _tc(worst, alpha_hz, beta_hz, tupdate_s)
    return Design(
        aqm=_text(worst.model, alpha_hz, beta_hz, tupdate_s),
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


def _worst(aqm: str, rtt_s: float, prob: float, margin_deg: float, cc: str, variant: str) -> _Worst:
    if not rtt_s > 0.0:
        raise InputError(f"longest_rtt_s: {rtt_s:g} is refused; it must be positive")
    if not 0.0 < prob < 1.0:
        raise InputError(f"least_drop_prob: {prob:g} is no probability between 0 and 1")
    if not 1.0 <= margin_deg <= 85.0:
        raise InputError(f"phase_margin_deg: {margin_deg:g} is refused; give 1 to 85 degrees")
    model = fluid(aqm, Link(np.ones(1), PACKET_BYTES))
    if not isinstance(model, PiAqm) or model.settings.kind not in ("pie", "pi2"):
        raise InputError(f"aqm: `{aqm}` cannot be designed here; give pie or pi2")
    control = window(cc)
    if control.scalable:
        raise InputError(f"cc: gains are designed for classic flows; {cc} is scalable")
    return _Worst(model, rtt_s, prob, control, variant)


def _largest_prob(worst: _Worst) -> float:
    return float(worst.model.signal(floats(worst.model.largest_output), worst.window))


@dataclass(frozen=True)
class _Turned:
    """A loop with its phase lowered; its gain margin is the gain that leaves that phase margin."""

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


def _best(worst: _Worst, margin_deg: ArrayLike, period_s: ArrayLike) -> TradeOff:
    """The best gains per wanted margin and period, which broadcast to one axis."""
    wanted, period = np.broadcast_arrays(np.atleast_1d(margin_deg), np.atleast_1d(period_s))
    wanted, period = floats(wanted), floats(period)
    # Start from beta = 1: the loop is linear in both gains together.
    alpha = period / (_INTEGRAL_TIMES[:, None] * worst.rtt_s)
    trial = worst.loop(alpha, 1.0, period, worst.drop_prob)
    turns = np.broadcast_to(np.radians(wanted), alpha.shape).ravel()
    turned: Loop = _Turned(trial, turns)
    allowed = 10.0 ** (margins(turned).gain_margin_db / 20.0)
    strength = np.where(np.isfinite(allowed), allowed * alpha, -1.0)
    at = np.argmax(strength, axis=0), np.arange(len(wanted))
    alpha_hz, beta_hz = (allowed * alpha)[at], allowed[at]
    factor = float(
        worst.model.step_factor(worst.model.output(floats(worst.drop_prob), worst.window))
    )
    reached = margins(worst.loop(alpha_hz, beta_hz, period, worst.drop_prob))
    return TradeOff(
        wanted, period, alpha_hz, beta_hz,
        factor * alpha_hz / in_jiffies(worst.model.settings, period),
        reached.crossover_rad_per_s,
    )  # fmt: skip


def _round(gain_hz: float) -> float:
    """Three digits, downwards, so that rounding never costs margin."""
    if not gain_hz > 0.0:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(gain_hz)) - 2)
    return float(f"{np.floor(gain_hz / unit + 1e-9) * unit:.12g}")


def _text(model: PiAqm, alpha_hz: float, beta_hz: float, tupdate_s: float) -> str:
    """The AQM with its gains as a scenario takes it."""
    found = model.settings
    per = 1.0 / model.largest_output if found.dialect == "linux" and model.squared else 1.0
    words = {
        "alpha": f"{alpha_hz * per:.6g}hz",
        "beta": f"{beta_hz * per:.6g}hz",
        "tupdate": f"{tupdate_s * 1e3:g}ms",
        "target": found.words["target"],
    }
    if found.dialect == "linux" and found.kind == "pie":
        words |= {"alpha": f"{_sixteenths(alpha_hz) / 16:g}hz"}
        words |= {"beta": f"{_sixteenths(beta_hz) / 16:g}hz"}
    settings = ",".join(f"{name}={value}" for name, value in words.items())
    return f"{found.kind}@{found.dialect}:{settings}"


def _sixteenths(gain_hz: float) -> int:
    return round(gain_hz * _TC_SIXTEENTHS)


def _tc(worst: _Worst, alpha_hz: float, beta_hz: float, tupdate_s: float) -> tuple[str, str]:
    """Words for tc, and the margin with its units."""
    target = worst.model.settings.words["target"]
    times = f"target {target} tupdate {tupdate_s * 1e3:g}ms"
    if worst.model.squared:
        gains = f"alpha {alpha_hz:.6g} beta {beta_hz:.6g}"
        note = "mainline has PI2 as the classic queue of dualpi2, its gains in Hz on p'"
        return f"dualpi2 {times} {gains}", note
    alpha, beta = _sixteenths(alpha_hz), _sixteenths(beta_hz)
    words = f"pie {times} alpha {alpha} beta {beta}"
    if not alpha or not beta:
        return words, "tc counts in sixteenths of 1 Hz: these gains are too small for it"
    if max(alpha, beta) > 32:
        return words, "tc refuses gains above 32 sixteenths: these are too large for it"
    loop = worst.loop(alpha / 16, beta / 16, tupdate_s, worst.drop_prob)
    reached = float(margins(loop).phase_margin_deg)
    return words, (
        f"in sixteenths: {alpha / 16:g} and {beta / 16:g} Hz, with a margin of {reached:.1f} "
        "degrees in the worst case"
    )
