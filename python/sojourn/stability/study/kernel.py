"""Gains in the form of scenarios and of Linux.

The kernel's PIE takes its gains in sixteenths of a hertz, 0 to 32 (tc-pie(8); Linux 6.1 sch_pie.c,
pie_calculate_probability), and its update interval in jiffies (pie_change). That is coarse, so its
gains are searched among all possible ones instead of rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sojourn.stability.arrays import Floats
from sojourn.stability.loops.margin import margins
from sojourn.stability.model.aqms import Link, PiAqm, fluid, in_jiffies
from sojourn.stability.model.conditions import PACKET_BYTES
from sojourn.stability.study.worst_case import WorstCase

SIXTEENTHS = 16.0
_ALL = np.arange(1.0, 33.0)
_JIFFY_S = 0.004  # Linux kernel/Kconfig.hz: 250


@dataclass(frozen=True)
class KernelGains:
    """Gains of the kernel's PIE.

    Attributes:
        alpha_sixteenths: alpha in tc's units.
        beta_sixteenths: beta in tc's units.
        tupdate_s: time between updates.
        phase_margin_deg: phase margin in the worst case.
        is_enough: whether that is the wanted margin; if not, no gains of the kernel have more.
    """

    alpha_sixteenths: int
    beta_sixteenths: int
    tupdate_s: float
    phase_margin_deg: float
    is_enough: bool

    @property
    def alpha_hz(self) -> float:
        """Integral gain."""
        return self.alpha_sixteenths / SIXTEENTHS

    @property
    def beta_hz(self) -> float:
        """Proportional gain."""
        return self.beta_sixteenths / SIXTEENTHS


def kernel_gains(
    worst: WorstCase, wanted_deg: float, tupdate_s: float | None = None
) -> KernelGains:
    """The largest alpha/tupdate of the kernel's PIE that keeps a margin, else the largest margin.

    Args:
        worst: the situation; only its AQM's target is used.
        wanted_deg: phase margin.
        tupdate_s: time between updates; by default multiples of a jiffy up to half of the round
            trip.
    """
    periods_s = _jiffies(worst.rtt_s) if tupdate_s is None else np.asarray([tupdate_s])
    target = worst.model.settings.words["target"]
    model = fluid(f"pie@linux:target={target}", Link(np.ones(1), PACKET_BYTES))
    assert isinstance(model, PiAqm), "PIE is a PI controller"
    alpha, beta = _ALL[:, None, None] / SIXTEENTHS, _ALL[:, None] / SIXTEENTHS
    loop = replace(worst, model=model).loop(alpha, beta, periods_s, worst.drop_prob)
    found = margins(loop)
    margin = found.phase_margin_deg
    # Among equally fast ones the one with the largest margin.
    speed = alpha / in_jiffies(model.settings, periods_s) + 1e-9 * margin
    enough = found.is_stable & (margin >= wanted_deg)
    rank = np.where(enough, speed, -np.inf) if enough.any() else margin
    i, j, k = np.unravel_index(np.argmax(rank), rank.shape)
    reached = float(margin[i, j, k])
    period_s = float(periods_s[k])
    return KernelGains(int(_ALL[i]), int(_ALL[j]), period_s, reached, bool(enough.any()))


def _jiffies(rtt_s: float) -> Floats:
    """Multiples of a jiffy up to half the round trip, at most 25 of them; one at least."""
    most = max(1, int(rtt_s / 2.0 / _JIFFY_S + 1e-9))
    return np.unique(np.linspace(1, most, min(most, 25)).round()) * _JIFFY_S


def tc_words(
    worst: WorstCase, alpha_hz: float, beta_hz: float, tupdate_s: float, kernel: KernelGains | None
) -> tuple[str, str]:
    """Options of ``tc qdisc``, and a remark on them."""
    target = worst.model.settings.words["target"]
    if worst.model.squared:
        gains = f"alpha {alpha_hz:.6g} beta {beta_hz:.6g}"
        note = "mainline has PI2 as the classic queue of dualpi2, its gains in Hz on p'"
        return f"dualpi2 target {target} tupdate {tupdate_s * 1e3:g}ms {gains}", note
    assert kernel is not None, "PIE has gains of the kernel"
    what = "" if kernel.is_enough else ", the most that sixteenths can have"
    return (
        f"pie target {target} tupdate {kernel.tupdate_s * 1e3:g}ms "
        f"alpha {kernel.alpha_sixteenths} beta {kernel.beta_sixteenths}",
        f"the kernel's PIE, {kernel.alpha_hz:g} and {kernel.beta_hz:g} Hz in sixteenths: "
        f"{kernel.phase_margin_deg:.1f} degrees of phase margin{what}",
    )


def scenario_words(model: PiAqm, alpha_hz: float, beta_hz: float, tupdate_s: float) -> str:
    """The AQM with its gains in text form; other parameters stay."""
    found = model.settings
    _, _, parameters = found.text.partition(":")
    words = dict(item.split("=", 1) for item in parameters.split(",") if item)
    # The gains of Linux's PI2 apply to k p'.
    per = 1.0 / model.largest_output if model.squared else 1.0
    words |= {
        "alpha": f"{alpha_hz * per:.6g}hz",
        "beta": f"{beta_hz * per:.6g}hz",
        "tupdate": f"{tupdate_s * 1e3:g}ms",
        "target": found.words["target"],
    }
    settings = ",".join(f"{name}={value}" for name, value in words.items())
    return f"{found.kind}@{found.dialect}:{settings}"
