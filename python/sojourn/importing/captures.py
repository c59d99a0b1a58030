"""Captures of packets, pcap and pcapng: flows, rates over time, and recordings of packets."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from sojourn import reading
from sojourn.errors import InputError
from sojourn.importing.capture_rates import (
    FEWEST_LARGE,
    acknowledged,
    is_before_path,
    rates_of,
    window_bins,
)
from sojourn.importing.compressed import CutError, plain
from sojourn.importing.measured import APART_S, Measurement, curve, loss_curve
from sojourn.importing.part import part_text
from sojourn.importing.traffic import Traffic, Way, base_rtt_s, ms

As = Literal["transfers", "packets"]

_MAGIC = (
    b"\x0a\x0d\x0d\x0a",
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
)
_LONGEST_S = 86_400.0
_LATEST_NS = (1 << 64) - 1
_SECOND_NS = 1_000_000_000
_COARSE_NS = 1_000_000
"""Round trips and rates of a clock with a coarser resolution are named as uncertain."""
_FEWEST_TIMES = 10
"""Times of fewer packets may be multiples of a large number by chance."""
_TCP = 6
_WAYS: tuple[Way, Way] = ("up", "down")


def is_capture(path: Path) -> bool:
    """Whether a file, possibly compressed, begins as a capture does."""
    start = b""
    try:
        for block in plain(reading.blocks(path, "capture")):
            start += block
            if len(start) >= 4:
                break
    except (InputError, CutError):
        pass
    return start[:4] in _MAGIC


def read(
    path: Path, name: str, kind: As, begin_s: float = 0.0, end_s: float | None = None
) -> Measurement:
    """Read a capture as a stream.

    Args:
        path: the file, possibly compressed (gzip, bzip2, xz, zstd, lz4).
        name: name of the file, for messages.
        kind: ``transfers`` simulates the data of TCP again and replays other packets; ``packets``
            replays all packets.
        begin_s: where the part that is read begins, in seconds since the first packet.
        end_s: where it ends; None is the end of the file.

    Raises:
        InputError: no packet can be read, or the recording of packets has no room.
    """
    from sojourn import _core

    is_part = bool(begin_s) or end_s is not None
    reader = _core.CaptureReader(kind == "packets", _range_ns(begin_s, end_s) if is_part else None)
    recordings = _Recordings(name, kind)
    cut = ""
    try:
        for block in plain(reading.blocks(path, "capture")):
            lines, goes_on = reader.feed(block)
            recordings.add(lines)
            if not goes_on:
                break
    except CutError as error:
        cut = str(error)
    try:
        lines, text = reader.finish()
    except _core.ScenarioError as error:
        place = f"{name}, {error.place}" if error.place else name
        raise InputError(f"{place}: {cut or error.message}") from None
    recordings.add(lines)
    report = json.loads(text)
    result = _measurement(report, name, recordings, cut)
    if is_part:
        result.read.insert(0, part_text(begin_s, end_s))
    return result


def _range_ns(begin_s: float, end_s: float | None) -> tuple[int, int]:
    last = _LATEST_NS if end_s is None else min(round(end_s * 1e9), _LATEST_NS)
    return min(round(begin_s * 1e9), _LATEST_NS), last


class _Recordings:
    """Lines of replays by direction, DSCP and ECN field, as long as they fit into a scenario."""

    def __init__(self, name: str, kind: As) -> None:
        self.name = name
        self.kind: As = kind
        self.lines: dict[tuple[Way, int, int], list[str]] = {}
        self.bytes = 0

    def add(self, lines: Iterable[tuple[int, int, int, str]]) -> None:
        for way, dscp, ecn, text in lines:
            if text and self.bytes <= reading.LARGEST_BYTES:
                self.lines.setdefault((_WAYS[way], dscp, ecn), []).append(text)
                self.bytes += len(text)
        if self.bytes <= reading.LARGEST_BYTES:
            return
        self.lines.clear()
        if self.kind == "packets":
            raise InputError(
                f"{self.name}: the list of its packets takes more than the "
                f"{reading.LARGEST_BYTES // 1_000_000} MB that a recording may have; take a "
                "part with --from and --to, or use --as transfers"
            )

    @property
    def are_left_out(self) -> bool:
        return self.bytes > reading.LARGEST_BYTES


def _measurement(
    report: dict[str, Any], name: str, recordings: _Recordings, cut: str
) -> Measurement:
    length_s = report["length_ns"] / 1e9
    if length_s > _LONGEST_S:
        raise InputError(
            f"{name}: its packets span {length_s / 86_400:.3g} days, more than the one that can be "
            "simulated; a clock that was set while capturing does that too; take a part with "
            "--from and --to"
        )
    result = Measurement(report["format"], details=report)
    flows, coarse_ns = report["flows"], _coarse_ns(report)
    tcp = [flow for flow in flows if flow["protocol"] == _TCP]
    for flow in tcp:
        _forget_below(coarse_ns, flow)
    result.down, result.up = (rates_of(report, tcp, way, coarse_ns) for way in ("down", "up"))
    known = [rtt for flow in tcp if (rtt := base_rtt_s(flow)) is not None]
    if known:
        result.base_rtt_s = statistics.median(known)
    result.traffic = Traffic(
        kind=recordings.kind,
        flows=tcp,
        recordings={key: "".join(lines) for key, lines in recordings.lines.items()},
        length_s=length_s,
        largest={way: max((flow[way]["largest_bytes"] for flow in flows), default=0)
                 for way in _WAYS},
    )  # fmt: skip
    _tell(report, tcp, known, result)
    _pings(report, name, coarse_ns, result)
    _warn(report, cut, recordings, result)
    return result


def _coarse_ns(report: Mapping[str, Any]) -> int:
    """What all times are multiples of, if that is coarse; else 0."""
    is_known = report["packets"] >= _FEWEST_TIMES and report["resolution_ns"] >= _COARSE_NS
    return int(report["resolution_ns"]) if is_known else 0


def _forget_below(coarse_ns: int, flow: dict[str, Any]) -> None:
    """Remove round trips that the clock is too coarse to tell."""
    halves = [flow[way] for way in _WAYS]
    if (flow["handshake_ns"] or 0) < coarse_ns:
        flow["handshake_ns"] = None
    if sum(half["rtt_least_ns"] or 0 for half in halves) < coarse_ns:
        for half in halves:
            half |= {"round_trips": 0, "rtt_least_ns": None, "rtt_most_ns": None}


def _tell(
    report: dict[str, Any], tcp: list[dict[str, Any]], known: list[float], result: Measurement
) -> None:
    others = len(report["flows"]) - len(tcp)
    result.read.append(
        f"{report['packets']} packets in {report['length_ns'] / 1e9:.6g} s: {len(tcp)} TCP "
        f"connections and {others} other flows"
    )
    if report["tunnelled"]:
        result.read.append(
            f"{report['tunnelled']} packets in tunnels: the flows are those within, the sizes "
            "those of the outer packets"
        )
    for way in _WAYS:
        if rates := result.down if way == "down" else result.up:
            is_before = is_before_path(tcp, way)
            if is_before and acknowledged(report, tcp, way, _coarse_ns(report)):
                result.read.append(
                    f"acknowledgements of data {_TOWARDS[way]}: up to "
                    f"{max(rates.values) / 1e6:.4g} Mbit/s"
                )
                continue
            window = window_bins(report[way], _coarse_ns(report), is_before)
            window_ms = window * report[way]["width_ns"] / 1e6
            result.read.append(
                f"arrivals {_TOWARDS[way]}: up to {max(rates.values) / 1e6:.4g} Mbit/s over "
                f"{window_ms:g} ms"
            )
    if known:
        result.read.append(
            f"base round trips of {len(known)} connections: {ms(min(known))} to {ms(max(known))}"
        )
    for way in _WAYS:
        trips = [flow[way] for flow in tcp if flow[way]["round_trips"]]
        if trips:
            least = min(half["rtt_least_ns"] for half in trips) / 1e9
            most = max(half["rtt_most_ns"] for half in trips) / 1e9
            result.read.append(
                f"from data {_TOWARDS[way]} to its acknowledgement, seen from the capture: "
                f"{ms(least)} to {ms(most)}"
            )


def _pings(report: Mapping[str, Any], name: str, coarse_ns: int, result: Measurement) -> None:
    """Round trips and losses over time of the hosts with the most echo requests."""
    pairs = sorted(report["echoes"], key=lambda pair: len(pair["round_trips_ns"]))
    if not pairs:
        return
    pair = pairs[-1]
    sent = [(t / 1e9, rtt) for t, rtt in sorted(pair["round_trips_ns"], key=lambda trip: trip[0])]
    points: list[tuple[float, float, str]] = []
    for t, rtt in sent:
        # A flood may send two at the same time.
        if rtt and rtt >= coarse_ns and (not points or t - points[-1][0] > APART_S):
            points.append((t, rtt / 1e9, f"the echo request at {t:.6f} s"))
    answered = sum(rtt is not None for _, rtt in sent)
    text = f"{answered} of {len(sent)} echo requests from {pair['client']} to {pair['server']}"
    if len(points) > 1:
        values = [value for _, value, _ in points]
        text += f" were answered, after {ms(min(values))} to {ms(max(values))} at the capture"
        result.rtt = curve(points, name)
        result.is_loaded = bool(result.down or result.up)
        if result.base_rtt_s is None:
            result.base_rtt_s = min(values)
        result.loss = 1 - answered / len(sent)
        result.losses = loss_curve((t, rtt is None) for t, rtt in sent)
    else:
        text += " were answered"
    result.read.append(text)
    if len(pairs) > 1:
        result.unknown.append(f"the echo requests between {len(pairs) - 1} other pairs of hosts")
    if report["echoes_left_out"]:
        result.unknown.append(f"{report['echoes_left_out']} echo requests after the first ones")


_TOWARDS = {"down": "to the clients", "up": "from the clients"}


def _warn(report: dict[str, Any], cut: str, recordings: _Recordings, result: Measurement) -> None:
    tcp = [flow for flow in report["flows"] if flow["protocol"] == _TCP]
    if stop := report["stop"]:
        result.unknown.append(
            f"everything from byte {stop['offset']} on: {cut or stop['why']}; "
            f"{report['packets']} packets before it were read"
        )
    elif cut:
        result.unknown.append(f"the end of the file: {cut}")
    if report["interfaces"] > 1:
        result.unknown.append(
            f"whether a packet passed several of the {report['interfaces']} interfaces: all are "
            f"read as one, and {report['repeats']} packets that another interface had seen count "
            "once (tshark -Y frame.interface_id==0 keeps one interface)"
        )
    elif report["repeats"]:
        result.read.append(
            f"{report['repeats']} packets a second time, as sent after they were received: each "
            "counts once"
        )
    result.unknown += [f"packets that could not be read: {text}" for text in report["unread"]]
    coarse_ns = _coarse_ns(report)
    if coarse_ns >= _SECOND_NS or (coarse_ns and (tcp or report["echoes"])):
        result.unknown.append(
            f"times finer than {ms(coarse_ns / 1e9)}: all are multiples of it, so shorter round "
            "trips are unknown and longer ones uncertain; capture with microseconds"
        )
    if report["fragments"]:
        result.unknown.append(
            f"the ports of {report['fragments']} later fragments: they count as flows without ports"
        )
    if report["backwards"]:
        result.unknown.append(
            f"the order of {report['backwards']} packets: their times go back (reordercap sorts)"
        )
    if report["before_begin"] or report["late"]:
        result.unknown.append(
            f"{max(report['before_begin'], report['late'])} packets whose times lie too far back: "
            "rates and replays leave them out"
        )
    if recordings.are_left_out:
        result.unknown.append(
            "packets other than TCP's: their recording would be too large, so they are left out"
        )
    if missing := sum(not flow["has_syn"] for flow in tcp):
        result.unknown.append(
            f"the handshakes of {missing} of {len(tcp)} TCP connections: who opened them follows "
            "the ports (below 1024, ephemeral) or the first packet, the segment size the largest"
        )
    if single := sum(not (flow["up"]["packets"] and flow["down"]["packets"]) for flow in tcp):
        result.unknown.append(
            f"the other direction of {single} of {len(tcp)} TCP connections, and with it their "
            "round trips"
        )
    _warn_of_rates(report, tcp, result)


def _warn_of_rates(
    report: Mapping[str, Any], tcp: list[dict[str, Any]], result: Measurement
) -> None:
    is_after = False
    for way in _WAYS:
        if (result.down if way == "down" else result.up) is None:
            continue
        if not is_before_path(tcp, way):
            is_after = True
            continue
        if acknowledged(report, tcp, way, _coarse_ns(report)):
            result.unknown.append(
                f"the rate of link {way} itself: data {_TOWARDS[way]} were captured before the "
                "path, which delivered at least what was acknowledged; where fewer than "
                f"{FEWEST_LARGE} packets of 1000 B were acknowledged in a step, the rate before "
                "holds on"
            )
            continue
        result.unknown.append(
            f"the rate of link {way}: data {_TOWARDS[way]} were captured before the path, so this "
            "is the senders' rate, which may exceed the link's; capture where data arrive, or "
            "give --rate"
        )
    if is_after:
        result.unknown.append(
            "the rate of the link itself: it carried at least what arrived; where fewer than "
            f"{FEWEST_LARGE} packets of 1000 B arrived in a step, the rate before holds on"
        )
