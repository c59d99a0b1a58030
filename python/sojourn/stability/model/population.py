"""Flows of one kind at rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sojourn.stability.arrays import Floats
from sojourn.stability.model.windows import Linear, Window


@dataclass(frozen=True)
class Population:
    """Flows of one kind at rest, shapes ``(n_points,)``.

    Attributes:
        window: their congestion control.
        flows: number of flows.
        base_rtt_s: round-trip time without queue.
        rtt_s: round-trip time at rest.
        packets: window at rest.
        signal_prob: probability of a signal at rest.
        signal_slope: change of that per change of the controller's output.
        waits: whether the flows pass the controlled queue.
        late_s: extra lag of the response beyond one round trip, because the queue delay is measured
            late (a packet's sojourn time is as old as itself).
    """

    window: Window
    flows: Floats
    base_rtt_s: Floats
    rtt_s: Floats
    packets: Floats
    signal_prob: Floats
    signal_slope: Floats
    late_s: Floats
    waits: bool = True

    @cached_property
    def sent_pps(self) -> Floats:
        """The sending rate of the flows, packets per second."""
        return self.flows * self.packets / self.rtt_s

    @cached_property
    def linear(self) -> Linear:
        """The window equation of the flows, linearised."""
        return self.window.linear(self.packets, self.rtt_s)
