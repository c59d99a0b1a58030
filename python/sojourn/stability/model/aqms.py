"""The AQMs that have a fluid model, with the parameters of the registry.

A model has two parts: the delay and output at equilibrium, and how output and signals change
around it. Rules for large deviations (burst allowance, caps, exemptions, decay when idle) are not
part of it; docs/how-to/stability.md lists them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.describing.quantity import required
from sojourn.errors import InputError
from sojourn.stability.arrays import Floats
from sojourn.stability.model.parameters import Settings, StepRows, settings, step_rows
from sojourn.stability.model.windows import Window

# RFC 8033 §5.4: no signal until the probabilities since the last sum to this, then with p.
_SILENT_SUM = 0.85


@dataclass(frozen=True)
class PiAqm:
    """An AQM that moves its output by a PI controller of queue delay.

    Attributes:
        settings: its source.
        target_s: target queue delay; one value, or one per operating point.
        alpha_hz: integral gain on the output, same shape.
        beta_hz: proportional gain on the output, same shape.
        period_s: time between updates.
        steps: rows of (output below which a row holds, factor on the steps of the controller), as
            in the registry; empty for no scaling.
        derandomised: whether signals are spaced, which makes them rarer than the output.
        squared: whether the probability is the square of the output (PI2).
        coupling: k: the mark probability of scalable traffic is k times the output, if squared.
        stamped: whether the delay is measured on departing packets.
        two_queues: whether scalable traffic has a separate queue (DualPI2).
        largest_output: bound of the output.
    """

    settings: Settings
    target_s: Floats
    alpha_hz: Floats
    beta_hz: Floats
    period_s: float
    steps: StepRows = ()
    derandomised: bool = False
    squared: bool = False
    coupling: float = 1.0
    stamped: bool = False
    two_queues: bool = False
    largest_output: float = 1.0

    def signal(self, output: Floats, window: Window) -> Floats:
        """The probability with which flows are signalled at an output.

        Derandomised (RFC 8033 §5.4), the mean gap between signals is about max(1, 0.85/p) + 1/p - 1
        packets, which gives p/(1.85 - p) up to 0.85 and p above (fact stability-3).
        """
        if self.squared:
            return self.coupling * output if window.scalable else output * output
        if not self.derandomised:
            return output
        return np.where(output < _SILENT_SUM, output / (1.0 + _SILENT_SUM - output), output)

    def signal_slope(self, output: Floats, window: Window) -> Floats:
        """The derivative of `signal`."""
        one = np.ones_like(output)
        if self.squared:
            return self.coupling * one if window.scalable else 2.0 * output
        if not self.derandomised:
            return one
        rest = 1.0 + _SILENT_SUM - output
        return np.where(output < _SILENT_SUM, (1.0 + _SILENT_SUM) / rest**2, one)

    def output(self, signal_prob: Floats, window: Window) -> Floats:
        """The output that gives a probability."""
        if self.squared:
            return signal_prob / self.coupling if window.scalable else np.sqrt(signal_prob)
        if not self.derandomised:
            return signal_prob
        thinned = (1.0 + _SILENT_SUM) * signal_prob / (1.0 + signal_prob)
        return np.where(signal_prob < _SILENT_SUM, thinned, signal_prob)

    def step_factor(self, output: Floats) -> Floats:
        """The factor on a step at an output."""
        if not self.steps:
            return np.ones_like(output)
        below, factors = zip(*self.steps, strict=True)
        # A row ends before its bound; the last one has none.
        rows = np.searchsorted(below[:-1], output, side="right")
        scaled: Floats = np.asarray(factors)[rows]
        return scaled


@dataclass(frozen=True)
class RedAqm:
    """RED: a probability that grows along a line with the averaged backlog.

    Attributes:
        settings: its source.
        lower_s: queue delay at ``min_th``, one per operating point.
        upper_s: queue delay at ``max_th``, same shape.
        max_p: probability on the line at ``max_th``.
        gentle: whether a second line continues to 1 at twice ``max_th``.
        gap_mode: how signals are spread (`uniform`, `wait`, `geometric`).
        average_s: time constant of the average, one per operating point.
    """

    settings: Settings
    lower_s: Floats
    upper_s: Floats
    max_p: float
    gentle: bool
    gap_mode: str
    average_s: Floats

    @property
    def largest_s(self) -> Floats:
        """The queue delay above which all packets are dropped."""
        return 2.0 * self.upper_s if self.gentle else self.upper_s

    def signal(self, delay_s: Floats) -> Floats:
        """The rate of signals per packet at an averaged queue delay.

        Spreading signals changes their rate: gaps uniform on 1 to 1/p_b (Floyd and Jacobson 1993
        §4, method 2) have the mean 1/(2 p_b), those of ns-2's ``wait``, on 1/p_b to 2/p_b, the mean
        (3/p_b - 1)/2 (fact aqm-42).
        """
        base = self._base(delay_s)
        if self.gap_mode == "uniform":
            return np.minimum(1.0, 2.0 * base)
        return 2.0 * base / (3.0 - base) if self.gap_mode == "wait" else base

    def signal_slope_per_s(self, delay_s: Floats) -> Floats:
        """The derivative of `signal`."""
        steep = self.max_p / (self.upper_s - self.lower_s)
        slope = np.where(delay_s < self.upper_s, steep, (1.0 - self.max_p) / self.upper_s)
        if self.gap_mode == "uniform":
            return 2.0 * slope
        if self.gap_mode == "wait":
            slope = slope * 6.0 / (3.0 - self._base(delay_s)) ** 2
        return slope

    def _base(self, delay_s: Floats) -> Floats:
        """p_b, the value of the line."""
        share = (delay_s - self.lower_s) / (self.upper_s - self.lower_s)
        gently = self.max_p + (1.0 - self.max_p) * (delay_s / self.upper_s - 1.0)
        line = np.where(delay_s < self.upper_s, self.max_p * share, gently)
        return np.clip(line, 0.0, 1.0)


FluidAqm = PiAqm | RedAqm


@dataclass(frozen=True)
class Link:
    """The link, on which automatic parameters depend.

    Attributes:
        capacity_pps: packets per second, shape ``(n_points,)``.
        packet_bytes: size of every packet.
    """

    capacity_pps: Floats
    packet_bytes: float


def _pi(found: Settings, link: Link) -> PiAqm:
    a, b = found.number("a"), found.number("b")
    return PiAqm(
        found,
        target_s=found.number("q_ref") / link.capacity_pps,
        alpha_hz=(a - b) * link.capacity_pps,
        beta_hz=b * link.capacity_pps,
        period_s=1.0 / found.number("sample_rate"),
    )


def _gains(found: Settings, per: float = 1.0) -> dict[str, Any]:
    names = {"target_s": "target", "alpha_hz": "alpha", "beta_hz": "beta"}
    values = {key: np.asarray(found.number(name)) for key, name in names.items()}
    return values | {key: values[key] / per for key in ("alpha_hz", "beta_hz")}


# The kernel's timer wheel (Linux 6.1 kernel/time/timer.c, LVL_START and LVL_CLK_SHIFT).
_WHEEL_STEP = 8.0
_WHEEL_JIFFIES = 63.0 * _WHEEL_STEP ** np.arange(4)


def _period_s(found: Settings) -> float:
    return float(in_jiffies(found, np.asarray(found.number("tupdate"))))


def in_jiffies(found: Settings, period_s: Floats) -> Floats:
    """Times between updates; in whole jiffies if the kernel's timer is modelled.

    PIE's timer expires a step of the kernel's timer wheel late (fact aqm-4); that of PI2, from an
    older kernel, expires on time.
    """
    hz = found.words.get("hz", "off")
    if hz == "off":
        return period_s
    jiffies = np.ceil(period_s * float(hz) - 1e-9)
    if found.kind in ("pie", "madpie"):
        level = np.searchsorted(_WHEEL_JIFFIES, jiffies, side="right")
        step = _WHEEL_STEP**level
        jiffies = (jiffies // step + 1.0) * step
    whole: Floats = jiffies / float(hz)
    return whole


def _pie(found: Settings, _link: Link) -> PiAqm:
    # Dialects in which the parameter has no effect.
    always = {"linux": True, "docsis": True, "paper2013": False}
    derandomised = always.get(found.dialect, found.flag("derandomise"))
    return PiAqm(
        found,
        **_gains(found),
        period_s=_period_s(found),
        steps=step_rows("pie", "tune", found.words["tune"]),
        derandomised=derandomised,
        stamped=found.words["delay"] == "stamps",
    )


def _pi2(found: Settings, _link: Link) -> PiAqm:
    # Linux controls p_s = k p', so its gains on p' are 1/k of those, and p' stays below 1/k.
    k = found.number("coupling_k")
    per = k if found.dialect == "linux" else 1.0
    return PiAqm(
        found,
        **_gains(found, per),
        period_s=_period_s(found),
        squared=True,
        coupling=k,
        stamped=found.words["delay"] == "stamps",
        largest_output=1.0 / per,
    )


def _dualpi2(found: Settings, _link: Link) -> PiAqm:
    k = found.number("k")
    return PiAqm(
        found,
        **_gains(found),
        period_s=_period_s(found),
        squared=True,
        coupling=k,
        stamped=True,
        two_queues=True,
        largest_output=1.0 / k,
    )


def _red(found: Settings, link: Link) -> RedAqm:
    if found.dialect == "linux":
        raise InputError(
            "aqm: red@linux has no fluid model, since its weight and thresholds come from tc's "
            "tables; give red with min_th, max_th, max_p and w_q"
        )
    mean_bytes = found.words["mean_packet_bytes"]
    packet = link.packet_bytes if mean_bytes == "auto" else found.number("mean_packet_bytes")
    capacity_pps = link.capacity_pps
    automatic = np.maximum(5.0, found.number("target_delay") * capacity_pps / 2.0)
    lower = _backlog(found.words["min_th"], packet, automatic)
    upper = _backlog(found.words["max_th"], packet, 3.0 * lower)
    return RedAqm(
        found,
        lower_s=lower / capacity_pps,
        upper_s=upper / capacity_pps,
        max_p=found.number("max_p"),
        gentle=found.flag("gentle"),
        gap_mode=found.words["gap_mode"],
        average_s=-1.0 / (capacity_pps * np.log1p(-_weight(found, capacity_pps))),
    )


def _backlog(word: str, packet_bytes: float, automatic: Floats) -> Floats:
    """A threshold in packets."""
    if word == "auto":
        return automatic
    found = required("threshold", word)
    return np.full_like(automatic, found.size if found.unit == "p" else found.size / packet_bytes)


def _weight(found: Settings, capacity_pps: Floats) -> Floats:
    if found.words["w_q"] != "auto":
        return np.full_like(capacity_pps, found.number("w_q"))
    # ns-2 red.cc, q_weight -1: ten round trips of at least 100 ms.
    ns2 = 10.0 * np.maximum(0.1, 3.0 / capacity_pps) if found.dialect == "ns2" else 1.0
    return -np.expm1(-1.0 / (capacity_pps * ns2))


MODELS: dict[str, Callable[[Settings, Link], FluidAqm]] = {
    "pi": _pi,
    "pie": _pie,
    "madpie": _pie,
    "pi2": _pi2,
    "dualpi2": _dualpi2,
    "red": _red,
}


def fluid(aqm: str, link: Link, *, step_scaling: bool = True) -> FluidAqm:
    """The fluid model of an AQM.

    Args:
        aqm: text form, such as ``pie@linux:target=5ms``; defaults are those of its dialect.
        link: link of the AQM.
        step_scaling: whether PIE scales its steps by the probability.

    Raises:
        ScenarioError: the AQM does not exist, or a parameter is out of range.
        InputError: it has no fluid model.
    """
    found = settings(aqm)
    if found.kind not in MODELS:
        raise InputError(f"aqm: `{aqm}` has no fluid model; AQMs with one: {', '.join(MODELS)}")
    model = MODELS[found.kind](found, link)
    if not isinstance(model, PiAqm):
        return model
    if not np.all(model.alpha_hz > 0.0):
        raise InputError(
            f"aqm: `{aqm}` has no integral gain, so that nothing brings its delay to the target; "
            "give an alpha above 0"
        )
    return model if step_scaling else dataclasses.replace(model, steps=())
