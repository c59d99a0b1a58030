"""Reports of `iperf3 --json`, and of `--json-stream`.

Source: iperf3 3.12 and 3.17; with --reverse the intervals are those of the receiver.
"""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import Any

from sojourn.errors import InputError
from sojourn.importing.measured import Measurement, StepCurve, rate_curve, share_curve

_SHORT = 0.1
"""A last interval shorter than this share of the one before is joined with it."""


def from_stream(events: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """One report from the lines of `--json-stream`.

    Raises:
        InputError: a line is not an event of iperf3.
    """
    report: dict[str, Any] = {"intervals": [], "end": {}}
    if "intervals" in events[-1]:
        # With --json-stream-full-output the whole report follows.
        return events[-1]
    if sum(event.get("event") == "start" for event in events) > 1:
        raise InputError(f"{name}: holds several tests of iperf3; split it into one file for each")
    for number, event in enumerate(events, start=1):
        match event.get("event"):
            case "interval":
                report["intervals"].append(event["data"])
            case "start" | "end" | "error" | "server_output_json" as kind:
                report[kind] = event["data"]
            case "server_output_text":
                pass  # The server's report for people.
            case other:
                raise InputError(f"{name}, document {number}: `{other}` is not an event of iperf3")
    return report


def read(report: dict[str, Any], name: str) -> Measurement:
    """The rates over time of a report, with its round-trip times.

    Raises:
        InputError: iperf3 failed, or its output has no intervals.
    """
    intervals, error = _counted(report), report.get("error")
    is_interrupted = str(error).startswith("interrupt") and len(intervals) > 1
    if error and not is_interrupted:
        raise InputError(f"{name}: iperf3 failed: {error}")
    if not intervals:
        raise InputError(f"{name}: has no intervals; run iperf3 with --json and an --interval")
    test = report.get("start", {}).get("test_start", {})
    protocol = test.get("protocol", "TCP")
    result = Measurement(f"iperf3 report ({protocol})", streams=test.get("num_streams"))
    if is_interrupted:
        result.unknown.append(f"the rest of the test ({error})")
    forward = _rates(intervals, "sum", name)
    is_reverse = bool(test.get("reverse"))
    # A server's report tells of the same flows from the other end.
    is_server = "accepted_connection" in report.get("start", {})
    is_received = is_reverse != is_server
    received = _counted(report.get("server_output_json") or {})
    if is_received:
        result.down, received = forward, intervals
    elif received:
        result.up, is_received = _rates(received, "sum", name), True
        result.read.append("what arrived over time, from the server's report")
    else:
        result.up = _without_idle(forward, test, result)
    result.read.append(_counted_text(len(intervals), protocol, is_reverse, forward))
    is_bidir = all("sum_bidir_reverse" in row for row in intervals)
    if is_bidir:
        back = _rates(intervals, "sum_bidir_reverse", name)
        result.down, result.up = (result.down or back), (result.up or back)
        result.read.append(_counted_text(len(intervals), protocol, not is_reverse, back))
    if not is_received:
        result.unknown.append(
            "what arrived over time: the intervals are the sender's (the receiver's with -R, or "
            "with --get-server-output and a server that runs with --json)"
        )
    result.unknown.append("the rate of the link itself: it carries at least what the flows got")
    result.is_loaded = True
    if protocol == "UDP" and (target := test.get("target_bitrate")):
        # The rate that -b sets is that of each stream.
        target *= test.get("num_streams") or 1
        result.unknown.append(
            f"whether the link is faster: datagrams were sent at {target / 1e6:.4g} Mbit/s"
        )
    _transport(report.get("end", {}), intervals, protocol, result)
    if not is_received and result.loss and result.up:
        share = 1 - result.loss
        result.up = replace(result.up, values=tuple(rate * share for rate in result.up.values))
        result.read.append("the rates upstream as what was sent, less the share that was lost")
    if protocol == "UDP":
        # The first link is the one downstream.
        key = "sum_bidir_reverse" if is_bidir and not is_server else "sum"
        _losses_over_time(intervals if is_bidir else received, key, name, result)
    return result


def _without_idle(sent: StepCurve, test: dict[str, Any], result: Measurement) -> StepCurve:
    """A sender that limits its rate is idle at times: the rate before holds on meanwhile."""
    if not test.get("target_bitrate") or all(sent.values) or not any(sent.values):
        return sent
    values, held = [], next(value for value in sent.values if value)
    for value in sent.values:
        held = value or held
        values.append(held)
    idle = sum(not value for value in sent.values)
    result.unknown.append(f"the rate in {idle} intervals without data, by iperf3's own limit (-b)")
    return replace(sent, values=tuple(values))


def _counted_text(count: int, protocol: str, is_reverse: bool, rates: StepCurve) -> str:
    way = "from the server" if is_reverse else "to the server"
    return f"{count} intervals of {protocol} {way}, {rates.mean / 1e6:.4g} Mbit/s in the mean"


def _losses_over_time(
    intervals: list[dict[str, Any]], key: str, name: str, result: Measurement
) -> None:
    """The share of datagrams lost in each interval, which the receiver counts."""
    counted = [
        (float(row[key]["start"]), row[key]["lost_percent"] / 100, f"interval {number}")
        for number, row in enumerate(intervals, start=1)
        if not isnan(row[key].get("lost_percent", float("nan")))
    ]
    if len(counted) < 2 or len(counted) < len(intervals):
        return
    result.losses = share_curve(counted, name, intervals[-1][key]["end"] - counted[0][0])
    result.loss = result.losses.mean
    if any(result.losses.values):
        least, most = (100 * of(result.losses.values) for of in (min, max))
        result.read.append(f"losses of {least:.3g} to {most:.3g} % of an interval's datagrams")


def _counted(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The intervals of a report that iperf3 counts."""
    return [row for row in report.get("intervals", []) if not row["sum"].get("omitted")]


def _rates(intervals: list[dict[str, Any]], key: str, name: str) -> StepCurve:
    points = [
        (float(row[key]["start"]), float(row[key]["bits_per_second"]), f"interval {number}")
        for number, row in enumerate(intervals, start=1)
    ]
    end_s = float(intervals[-1][key]["end"])
    if len(points) == 1:
        # With `--interval 0` or a test of one second: the mean of the whole test.
        rate_curve([*points, (end_s, points[0][1], "interval 1")], name)
        return StepCurve((0.0,), (points[0][1],), end_s - points[0][0])
    if len(points) > 2:
        # The last interval may be of a few microseconds, where a burst says nothing about the rate.
        (before, rate, place), (last, last_rate, _) = points[-2:]
        if end_s - last < _SHORT * (last - before):
            bits = rate * (last - before) + last_rate * (end_s - last)
            points[-2:] = [(before, bits / (end_s - before), place)]
    return rate_curve(points, name, end_s - points[0][0])


def _transport(
    end: dict[str, Any], intervals: list[dict[str, Any]], protocol: str, result: Measurement
) -> None:
    """Congestion control, round-trip time and losses from the end of a report."""
    if protocol == "UDP":
        lost = end.get("sum", {}).get("lost_percent")
        if lost is not None and not isnan(lost):
            result.loss = lost / 100
            result.read.append(f"{lost:.3g} % of the datagrams were lost")
        return
    if control := end.get("sender_tcp_congestion"):
        result.cc = control
        result.read.append(f"the sender ran {control}")
    senders = [stream.get("sender", {}) for stream in end.get("streams", [])]
    rtts_s = [sender["min_rtt"] / 1e6 for sender in senders if sender.get("min_rtt")]
    if not rtts_s:
        # Before iperf 3.1.5, only the intervals have round trips.
        streams = [stream for row in intervals for stream in row.get("streams", [])]
        rtts_s = [stream["rtt"] / 1e6 for stream in streams if stream.get("rtt")]
    if rtts_s:
        result.base_rtt_s = min(rtts_s)
        result.read.append(f"the least round trip that TCP saw is {min(rtts_s) * 1e3:.4g} ms")
