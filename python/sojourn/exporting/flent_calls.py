"""A voice call of a run as the series of Flent's tests voip, voip-1up and voip-rrul.

Source: flent 2.3, flent/tests/voip.inc, IrttRunner in runners.py, MosReducer in combiners.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Series = list[float | None]


@dataclass(frozen=True)
class Call:
    """One call: the values of each step."""

    delay_ms: Series
    """Mean one-way delay; null if nothing arrived."""
    jitter_ms: Series
    """Mean difference between consecutive delays."""
    arrived: list[int]
    """Packets that arrived."""
    lost: list[int]
    """Packets that a later one overtook for good."""
    kbits: Series
    """Payload that arrived, kbit/s."""

    def series(self) -> dict[str, Series]:
        """The values of each step, by Flent's names."""
        return {
            "VoIP": self.delay_ms,
            "VoIP::bitrate": self.kbits,
            "VoIP::delay": self.delay_ms,
            "VoIP::jitter": self.jitter_ms,
            "VoIP::loss": [float(count) for count in self.lost],
            "VoIP::induced_delay": _above_least(self.delay_ms),
        }

    def packets(self, times: Sequence[float]) -> list[dict[str, Any]]:
        """The packets, evenly in each step, with the step's delay and jitter."""
        found: list[dict[str, Any]] = []
        begin = 0.0
        for step, end in enumerate(times):
            arrived, lost = self.arrived[step], self.lost[step]
            for n in range(arrived + lost):
                packet: dict[str, Any] = {
                    "t": begin + (end - begin) * (n + 1) / (arrived + lost), "seq": len(found),
                }  # fmt: skip
                if n < lost:
                    packet |= {"lost": True, "lost_dir": "up"}
                else:
                    delay, jitter = self.delay_ms[step], self.jitter_ms[step]
                    packet |= {"val": delay, "owd_up": delay, "ipdv_up": jitter}
                found.append(packet)
            begin = end
        return found


UNITS = {"bitrate": "Kbits/s", "loss": "count"}
"""Units of Flent's series; milliseconds for others."""


def call(
    states: Mapping[str, Mapping[int, float]],
    delivered: Mapping[int, float],
    parts: Sequence[Sequence[int]],
    payload: float,
) -> Call:
    """The call of a flow.

    Args:
        states: ``owd``, ``jitter`` (in seconds) and ``missing`` of the flow, by time in ns.
        delivered: bytes of payload delivered, by time in ns.
        parts: the times of the run's samples, of each step.
        payload: bytes of payload of a packet.
    """
    before_bytes, before_missing, last = 0.0, 0.0, 0
    found = Call([], [], [], [], [])
    for part in parts:
        end = part[-1]
        total = delivered.get(end, before_bytes)
        missing = max([before_missing, *(states["missing"].get(t, 0.0) for t in part)])
        found.delay_ms.append(_mean_ms(states["owd"], part))
        found.jitter_ms.append(_mean_ms(states["jitter"], part))
        arrived = round((total - before_bytes) / payload) if found.delay_ms[-1] is not None else 0
        found.arrived.append(arrived)
        found.lost.append(round(missing - before_missing))
        found.kbits.append(8e6 * (total - before_bytes) / (end - last))
        before_bytes, before_missing, last = total, missing, end
    return found


def _mean_ms(values: Mapping[int, float], part: Sequence[int]) -> float | None:
    known = [values[t] for t in part if t in values]
    return 1e3 * sum(known) / len(known) if known else None


def _above_least(values: Series) -> Series:
    least = min((value for value in values if value is not None), default=0.0)
    return [None if value is None else value - least for value in values]
