"""Data files of Flent, versions 1 to 4.

Source: flent 2.1, flent/resultset.py: rates in Mbit/s, times in ms, null for no value.
"""

from __future__ import annotations

import re
from typing import Any

from sojourn.errors import InputError
from sojourn.importing.measured import Measurement, StepCurve, curve, rate_curve

_NEWEST = 4
_SHOWN = 8
"""Names of series in an error."""
_BEFORE_LOAD_S = 5.0
"""Flent starts its transfers this long after its pings (the parameter DELAY)."""

# `TCP upload` with one stream, `TCP upload::3`, `TCP upload BE`, `TCP upload BE1 HOST`;
# `TCP upload BE::tcp_cwnd` and the like are states of a socket.
_STREAM = {
    way: re.compile(rf"TCP {way}(?:::\d+| (?!avg$|sum$|fairness$)[^\s:]+(?: [^\s:]+)*)?$")
    for way in ("download", "upload")
}
_PING = re.compile(r"Ping \(ms\)(?:::| )(.+)$")


def read(data: dict[str, Any], name: str) -> Measurement:
    """Rates and round-trip times of a test.

    Raises:
        InputError: the version is newer than known, a series has another length than the times,
            or the file has neither rates nor pings.
    """
    version = data.get("version")
    if not isinstance(version, int) or not 1 <= version <= _NEWEST:
        raise InputError(
            f"{name}: is a Flent file of version {version}; 1 to {_NEWEST} can be read"
        )
    times, series = data["x_values"], data["results"]
    for label, values in series.items():
        if len(values) != len(times):
            raise InputError(
                f"{name}: the series `{label}` has {len(values)} values for {len(times)} times"
            )
    title = data.get("metadata", {}).get("NAME", "test")
    result = Measurement(f"Flent file of {title}")
    result.down = _rates(times, series, "download", name)
    result.up = _rates(times, series, "upload", name)
    # So do UDP floods and web pages.
    result.is_loaded = any(
        value is not None
        for label, values in series.items()
        if not label.startswith("Ping")
        for value in values
    )
    _pings(times, series, name, result)
    if not (result.down or result.up or result.rtt):
        labels = ", ".join(f"`{label}`" for label in list(series)[:_SHOWN]) or "no series"
        labels += f" and {len(series) - _SHOWN} more" if len(series) > _SHOWN else ""
        raise InputError(f"{name}: has no series of TCP rates and no pings; it has {labels}")
    counts = []
    for way, found in (("download", result.down), ("upload", result.up)):
        if found:
            count = sum(bool(_STREAM[way].match(label)) for label in series)
            counts.append(count)
            result.read.append(
                f"TCP {way}: {max(count, 1)} stream{'s' if count > 1 else ''}, "
                f"{found.mean / 1e6:.4g} Mbit/s in the mean"
            )
    if len(set(counts)) == 1 and counts[0] > 1:
        result.streams = counts[0]
    _left_out(series, result)
    if result.down or result.up:
        result.unknown.append("the rate of the link itself: it carries at least what the flows got")
    _host(data.get("metadata", {}), result)
    return result


def _rates(
    times: list[float], series: dict[str, list[Any]], way: str, name: str
) -> StepCurve | None:
    """The sum of all transfers of one direction, in bit/s."""
    totals = [series.get(f"TCP {way}{mark}sum") or [] for mark in (" ", "::")]
    total = next((values for values in totals if any(v is not None for v in values)), None)
    if total is not None:
        streams = [total]
    else:
        streams = [values for label, values in series.items() if _STREAM[way].match(label)]
    points = []
    for index, time in enumerate(times):
        known = [values[index] for values in streams if values[index] is not None]
        if known:
            points.append((float(time), sum(known) * 1e6, f"time {time:g}"))
    return rate_curve(points, name) if points else None


def _pings(
    times: list[float], series: dict[str, list[Any]], name: str, result: Measurement
) -> None:
    labels = {found[1]: label for label in series if (found := _PING.match(label))}
    kind = next((kind for kind in ("ICMP", "avg") if kind in labels), next(iter(labels), None))
    if kind is None:
        return
    label = labels[kind]
    if kind == "avg" and any(" " in other for other in labels):
        result.unknown.append(
            "one base round trip for all flows: the pings are of several hosts, their mean is taken"
        )
    points = [
        (float(time), value / 1e3, f"time {time:g}")
        for time, value in zip(times, series[label], strict=True)
        if value is not None
    ]
    if len(points) < 2:
        return
    result.rtt = curve(points, name)
    is_before = (time < _BEFORE_LOAD_S or not result.is_loaded for time, _, _ in points)
    before = [value for (_, value, _), is_it in zip(points, is_before, strict=True) if is_it]
    result.base_rtt_s = min(before or [value for _, value, _ in points])
    result.read.append(f"`{label}`: {result.rtt.mean * 1e3:.4g} ms in the mean")
    if not before:
        result.unknown.append("the round trip before the load: the least under load is taken")


_USED = re.compile(r"TCP (download|upload|totals)|Ping \(ms\)|(?!VoIP).+::")
"""Series that are read, are their sums, or are states of sockets, qdiscs and CPUs."""


def _left_out(series: dict[str, list[Any]], result: Measurement) -> None:
    others = [
        f"`{label}`"
        for label, values in series.items()
        if not _USED.match(label) and any(value is not None for value in values)
    ]
    if others:
        result.read.append(f"nothing of {', '.join(others)}, which has no counterpart")


def _host(metadata: dict[str, Any], result: Measurement) -> None:
    """The sender's congestion control and queueing discipline from the metadata."""
    sysctls = metadata.get("SYSCTLS") or {}
    key = "tcp_congestion_control"
    # The test may set a control other than the host's.
    control = (metadata.get("TEST_PARAMETERS") or {}).get("tcp_cong_control")
    control = control or sysctls.get(key) or sysctls.get(f"net.ipv4.{key}")
    if control:
        result.cc = control
        result.read.append(f"the host ran {control}")
    qdiscs = (metadata.get("EGRESS_INFO") or {}).get("qdiscs") or []
    names = [qdisc["name"] for qdisc in qdiscs if isinstance(qdisc, dict) and "name" in qdisc]
    if names:
        result.read.append(f"qdiscs of the host's interface: {', '.join(names)}")
