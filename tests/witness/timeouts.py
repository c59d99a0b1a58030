"""Explains why the second timeout of one flow under PIE is later in ours than in ns-2.

The acknowledgements of our run are fed to the estimator of RFC 6298 §2 twice: with the round trips
that our profiles take, and with those that ns-2 takes when it has timestamps. traces.py shows the
two timeouts next to the observed ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# From the sender to the queue: 1000 bytes at 100 Mbit/s and 6 ms.
TO_QUEUE_S = 0.00608
# From the head of the queue of the reverse path to the sender: 40 bytes at 10 Mbit/s and 38 ms,
# then at 100 Mbit/s and 6 ms.
FROM_BACK_S = 0.0440352
# ns-2's `minrto_`, and the floor of our profiles of ns-2.
LEAST_S = 0.2


@dataclass
class Estimator:
    """RFC 6298 §2.2 and §2.3, seconds."""

    srtt_s: float | None = None
    rttvar_s: float = 0.0

    def sample(self, rtt_s: float) -> None:
        if self.srtt_s is None:
            self.srtt_s, self.rttvar_s = rtt_s, rtt_s / 2
            return
        self.rttvar_s += (abs(rtt_s - self.srtt_s) - self.rttvar_s) / 4
        self.srtt_s += (rtt_s - self.srtt_s) / 8

    def timeout_s(self) -> float:
        assert self.srtt_s is not None, "a timeout is asked for after the first sample"
        return max(self.srtt_s + 4 * self.rttvar_s, LEAST_S)


def estimated(rows: list[dict[str, Any]], until_s: float) -> tuple[float, float, float]:
    """Timeouts after the last new acknowledgement before a time, and that acknowledgement's time.

    Args:
        rows: the packets of our run, one flow.
        until_s: a time at the queue.

    Returns:
        the timeout from round trips of packets that were sent once, the timeout from all round
        trips, and the time of that acknowledgement at the sender; all in seconds.
    """
    once, every = Estimator(), Estimator()
    sent: dict[int, list[float]] = {}
    acked, last_s = 0, 0.0
    for at_s, is_data, number in _at_sender(rows):
        if at_s >= until_s - TO_QUEUE_S:
            break
        if is_data:
            sent.setdefault(number, []).append(at_s)
        elif number > acked:
            if number - 1 in sent:
                rtt_s = at_s - sent[number - 1][-1]
                every.sample(rtt_s)
                if all(len(sent[packet]) == 1 for packet in range(acked, number)):
                    once.sample(rtt_s)
            acked, last_s = number, at_s
    return once.timeout_s(), every.timeout_s(), last_s


def _at_sender(rows: list[dict[str, Any]]) -> list[tuple[float, bool, int]]:
    """Data that the sender sends and acknowledgements that it receives, in order."""
    data = (r for r in rows if r["queue"] == "there" and r["bytes"] == 1000)
    acks = (r for r in rows if r["queue"] == "back" and r["left_ns"] is not None)
    sent = [(r["arrived_ns"] / 1e9 - TO_QUEUE_S, True, r["seq"]) for r in data]
    got = [(r["left_ns"] / 1e9 + FROM_BACK_S, False, r["seq"]) for r in acks]
    return sorted(sent + got)
