"""Flows of one kind where they rest."""

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
        flows: how many.
        base_rtt_s: round-trip time without queue.
        rtt_s: round-trip time at rest.
        packets: window at rest.
        signal_prob: what they are signalled with at rest.
        signal_slope: change of that per change of the controller's output.
        waits: whether they wait in the queue that is controlled.
        late_s: by how much later than a round trip the queue delay is answered, since it is
            measured late (a packet's sojourn time is as old as itself).
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
        """What they send, packets per second."""
        return self.flows * self.packets / self.rtt_s

    @cached_property
    def linear(self) -> Linear:
        """Their window equation linearised."""
        return self.window.linear(self.packets, self.rtt_s)
