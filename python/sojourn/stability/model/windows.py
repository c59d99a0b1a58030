"""Congestion controls in the fluid model: the window equation, nonlinear and linearised.

`W` is the window in packets, `R` the round-trip time in seconds, `p` the probability of a signal;
a suffix `late` means one round trip ago. Two families:

- additive increase, multiplicative decrease (Misra, Gong and Towsley 2000)::

      W' = a/R - b W (W_late / R_late) p_late               equilibrium  p W^2 = a/b

- scalable: a mark removes a fixed number of packets, so marks per round trip do not depend on the
  window; DCTCP (RFC 8257 §3.3) averages the marks with weight g once per round trip::

      W' = a/R - b W m/R,   m' = g (p_late - m)/R           equilibrium  p W = a/b
      W' = a/R - b (W_late / R_late) p_late                 without the average

Slow start, timeouts and the receiver's window are not part of the model.
"""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.errors import InputError
from sojourn.stability.arrays import Floats


@dataclass(frozen=True)
class Linear:
    """The window equation linearised at an operating point, all shapes ``(n_points,)``.

    ``dW' = on_window dW + on_window_late dW_late + on_rtt dR + on_rtt_late dR_late
    + on_signal_late dp_late``, the signal through a first-order average of ``average_s`` seconds.
    """

    on_window: Floats
    on_window_late: Floats
    on_rtt: Floats
    on_rtt_late: Floats
    on_signal_late: Floats
    average_s: Floats


@dataclass(frozen=True)
class Window:
    """A congestion control.

    Attributes:
        name: the name that scenarios use, if they have it.
        doc: one line.
        increase: a, packets per round trip.
        decrease: b, the share of the window that a signal removes; if scalable, packets per mark.
        scalable: whether the window is inversely proportional to the marking probability.
        average_weight: g, the weight of one round trip in the average of marks; 0 means no average.
    """

    name: str
    doc: str
    increase: float
    decrease: float
    scalable: bool = False
    average_weight: float = 0.0

    def signal_prob(self, window_packets: Floats) -> Floats:
        """The signal probability at which a window is in equilibrium."""
        power = 1 if self.scalable else 2
        prob: Floats = self.increase / (self.decrease * window_packets**power)
        return prob

    def resting_packets(self, signal_prob: Floats) -> Floats:
        """The window in equilibrium at a signal probability."""
        ratio = self.increase / (self.decrease * signal_prob)
        packets: Floats = ratio if self.scalable else ratio**0.5
        return packets

    def slope(
        self, now: Floats, rtt_s: Floats, late: Floats, late_rtt_s: Floats, signal: Floats
    ) -> Floats:
        """W' in packets per second.

        Args:
            now: window, packets.
            rtt_s: round-trip time.
            late: window one round trip ago, packets.
            late_rtt_s: round-trip time one round trip ago.
            signal: late probability; if marks are averaged, the average now.
        """
        growth = self.increase / rtt_s
        if self.average_weight:
            return growth - self.decrease * now * signal / rtt_s
        taken = self.decrease if self.scalable else self.decrease * now
        change: Floats = growth - taken * late / late_rtt_s * signal
        return change

    def linear(self, window_packets: Floats, rtt_s: Floats) -> Linear:
        """The window equation linearised at rest."""
        stiffness = -self.increase / (window_packets * rtt_s)
        nothing = 0.0 * stiffness
        growth = self.increase / rtt_s**2
        taken = self.decrease * window_packets * (1.0 if self.scalable else window_packets)
        averages = bool(self.average_weight)
        return Linear(
            on_window=nothing if self.scalable and not averages else stiffness,
            on_window_late=nothing if averages else stiffness,
            on_rtt=nothing if averages else -growth,
            on_rtt_late=nothing if averages else growth,
            on_signal_late=-taken / rtt_s,
            average_s=rtt_s / self.average_weight if averages else nothing,
        )


def _reno_friendly(beta: float) -> float:
    """Packets per round trip with which CUBIC follows Reno's throughput (RFC 9438 §4.3)."""
    return 3.0 * (1.0 - beta) / (1.0 + beta)


_CUBIC_BETA = 717.0 / 1024.0  # Linux tcp_cubic.c; RFC 9438 §4.6: 0.7

WINDOWS = {
    window.name: window
    for window in (
        Window("reno", "one packet per round trip, half the window per signal", 1.0, 0.5),
        Window(
            "cubic",
            "CUBIC in its Reno-friendly form (RFC 9438 §4.3)",
            _reno_friendly(_CUBIC_BETA),
            1.0 - _CUBIC_BETA,
        ),
        Window(
            "dctcp",
            "half a packet per mark, marks averaged with weight 1/16 (RFC 8257; also Prague)",
            1.0,
            0.5,
            scalable=True,
            average_weight=1.0 / 16.0,
        ),
        Window("scalable", "half a packet per mark, at once", 1.0, 0.5, scalable=True),
    )
}


def window(name: str) -> Window:
    """A congestion control by name.

    Raises:
        InputError: it has no fluid model.
    """
    if name not in WINDOWS:
        raise InputError(f"cc: `{name}` has no fluid model; those with one: {', '.join(WINDOWS)}")
    return WINDOWS[name]
