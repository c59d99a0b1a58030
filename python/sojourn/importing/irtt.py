"""Reports of irtt: round-trip times of datagrams at a constant interval.

Source: irtt 0.9, `irtt client -o`, JSON format 1: all times are in nanoseconds, and `lost` is text.
"""

from __future__ import annotations

from typing import Any

from sojourn.errors import InputError
from sojourn.importing.measured import Measurement, curve, loss_curve


def read(report: dict[str, Any], name: str) -> Measurement:
    """Round-trip times and losses of a report.

    Raises:
        InputError: no round trip was complete.
    """
    version = report.get("version", {}).get("json_format", 1)
    if version != 1:
        raise InputError(f"{name}: is irtt's JSON format {version}; format 1 can be read")
    trips = report["round_trips"]
    if not trips:
        raise InputError(f"{name}: this irtt report has no round trips")
    sent = [_sent_s(trip) for trip in trips]
    answered = [trip.get("lost", "false") == "false" and "delay" in trip for trip in trips]
    points = [
        (time_s, trip["delay"]["rtt"] / 1e9, f"round trip {trip['seqno']}")
        for time_s, trip, is_answered in zip(sent, trips, answered, strict=True)
        if is_answered
    ]
    if wrong := next((place for _, rtt_s, place in points if rtt_s < 0), None):
        raise InputError(f"{name}, {wrong}: a negative round-trip time; a clock was set back")
    if not points:
        raise InputError(f"{name}: all {len(trips)} packets of this irtt report were lost")
    result = Measurement("irtt report", loss=1 - len(points) / len(trips))
    values = [value for _, value, _ in points]
    if len(points) > 1:
        result.rtt = curve(points, name)
    result.base_rtt_s = min(values)
    result.read.append(
        f"{len(values)} round trips of {min(values) * 1e3:.4g} to {max(values) * 1e3:.4g} ms; "
        f"{len(trips) - len(points)} of {len(trips)} packets were lost"
    )
    stats = report.get("stats", {})
    shares = [stats.get(f"{way}stream_loss_percent") for way in ("up", "down")]
    if None not in shares:
        result.read.append(f"losses upstream {shares[0]:.3g} %, downstream {shares[1]:.3g} %")
    first = points[0][0]
    result.losses = loss_curve(
        (time_s - first, not is_answered)
        for time_s, is_answered in zip(sent, answered, strict=True)
        if time_s >= first
    )
    result.unknown.append(
        "how the round trip divides: one-way delays depend on both clocks, so halves are assumed"
    )
    return result


def _sent_s(trip: dict[str, Any]) -> float:
    """When a packet was sent; `--clock=wall` leaves out the monotonic clock."""
    stamps = trip["timestamps"]["client"]["send"]
    return float(stamps.get("monotonic", stamps.get("wall"))) / 1e9
