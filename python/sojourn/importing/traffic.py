"""The traffic of a capture as groups of flows of a scenario."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Way = Literal["up", "down"]

_LARGEST_TRANSFER = 1_000_000_000
"""Bytes on a line of a recording; each larger transfer becomes a group."""
_LARGEST_FRAME = 9_216
"""A larger packet was joined by segmentation offload, not sent."""
_CLASSES_PER_OCTAVE = 2
_DAY_NS = 86_400_000_000_000
_LEAST_RTT_S = 1e-4


@dataclass(frozen=True)
class Traffic:
    """The flows of a capture."""

    kind: Literal["transfers", "packets"]
    """Whether TCP is simulated again, or all packets are replayed as recorded."""
    flows: list[dict[str, Any]]
    """TCP connections, as `_core.CaptureReader` reports them."""
    recordings: Mapping[tuple[Way, int, int], str]
    """Lines ``time,bytes`` by direction, DSCP and ECN field."""
    length_s: float
    largest: Mapping[Way, int]
    """Bytes of the largest packet of each direction."""


@dataclass
class Groups:
    """Groups of flows in TOML, with the recordings that they name."""

    lines: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)


def ms(seconds: float) -> str:
    """A time in milliseconds."""
    return f"{seconds * 1e3:.4g} ms"


def base_rtt_s(flow: Mapping[str, Any]) -> float | None:
    """The smallest round trip of a connection in the capture; it may include queueing."""
    found = [flow["handshake_ns"]] if flow["handshake_ns"] is not None else []
    halves = [flow[way]["rtt_least_ns"] for way in ("up", "down")]
    if None not in halves:
        found.append(sum(halves))
    # Zero is below the resolution of the capture's clock.
    return min(found) / 1e9 if found and min(found) else None


def groups(
    traffic: Traffic, links: list[str], stem: str, rtt: str, is_given: bool, cc: str
) -> Groups:
    """The groups of flows of a scenario.

    Args:
        traffic: the flows.
        links: names of the links that the scenario has: ``down``, ``up``.
        stem: stem of the names of recordings.
        rtt: base round-trip time of flows for which it is not known.
        is_given: whether the user gave `rtt`, which then holds for all flows.
        cc: the congestion control.
    """
    result = Groups()
    if traffic.kind == "transfers":
        _transfers(traffic, links, stem, rtt, is_given, cc, result)
    _replays(traffic, links, stem, rtt, result)
    return result


def _transfers(
    traffic: Traffic, links: list[str], stem: str, rtt: str, is_given: bool, cc: str, to: Groups
) -> None:
    found: dict[tuple[Way, int | None, bool, int], list[dict[str, Any]]] = {}
    left_out = {"down": 0, "up": 0}
    for flow in traffic.flows:
        for way in ("down", "up"):
            half = flow[way]
            if not half["unique_bytes"]:
                continue
            if way not in links:
                left_out[way] += half["unique_bytes"]
                continue
            key = (
                way,
                None if is_given else _rtt_class(flow),
                bool(sum(half["ecn"][1:])),
                half["dscp"],
            )
            found.setdefault(key, []).append(flow)
    for number, (key, flows) in enumerate(sorted(found.items(), key=_order), start=1):
        way, rank, has_ecn, dscp = key
        own = [value for flow in flows if (value := base_rtt_s(flow)) is not None]
        group_rtt = rtt if rank is None else span(max(statistics.median(own), _LEAST_RTT_S))
        keys = [
            f'path = ["{way}"]',
            *[f'reverse = ["{link}"]' for link in links if link != way],
            f'rtt = "{group_rtt}"',
            f'cc = "{cc}"',
            *(["ecn = true"] if has_ecn else []),
            *([f"dscp = {dscp}"] if dscp else []),
            *_segment(flows, way),
        ]
        _add_transfers(flows, way, keys, f"{way}-{number}", stem, to)
    for way, count in left_out.items():
        if count:
            to.assumed.append(
                f"the rate of link {way}: {count} bytes of TCP went that way in too few large "
                "packets to tell, and are left out; --rate adds the link"
            )
    if found:
        to.assumed.append(
            "what started each transfer: a transfer begins when its first byte was captured, and "
            "a new one after a second without data; each direction is a separate connection"
        )


def _rtt_class(flow: Mapping[str, Any]) -> int | None:
    """Connections of one class have round trips within a fifth of each other."""
    rtt_s = base_rtt_s(flow)
    return None if rtt_s is None else round(_CLASSES_PER_OCTAVE * math.log2(max(rtt_s, 1e-9)))


def _order(item: tuple[tuple[Way, int | None, bool, int], Any]) -> tuple[str, int, bool, int]:
    way, rank, has_ecn, dscp = item[0]
    return way, -(10**6) if rank is None else rank, has_ecn, dscp


def _segment(flows: list[dict[str, Any]], way: Way) -> Iterator[str]:
    """The size of full segments at IP level, if this is not the default."""
    sizes = []
    for flow in flows:
        headers = 60 if flow["client"].startswith("[") else 40
        size = flow["mss"] + headers if flow["mss"] else flow[way]["largest_bytes"]
        if flow["mss"] or size <= _LARGEST_FRAME:
            sizes.append(size)
    size = statistics.median_high(sizes) if sizes else 1500
    # Smaller ones are not full segments.
    if size != 1500 and 536 <= size <= _LARGEST_FRAME:
        yield f'packet = "{size}B"'


def _add_transfers(
    flows: list[dict[str, Any]], way: Way, keys: list[str], name: str, stem: str, to: Groups
) -> None:
    captured = sorted((t, size) for flow in flows for t, size in flow[way]["transfers"] if size)
    # Times may go back behind that of the first packet; a clock that was set explains a day.
    found = [(t, size) for t, size in captured if t > -_DAY_NS]
    if len(found) < len(captured):
        to.assumed.append(
            f"{len(captured) - len(found)} transfers of a day or more before the first packet"
        )
    shift = max(0, -found[0][0]) if found else 0
    transfers = [(t + shift, size) for t, size in found]
    lines = [f"{_seconds(t)},{size}\n" for t, size in transfers if size <= _LARGEST_TRANSFER]
    if lines:
        file = f"{stem}-{name}.csv"
        to.files[file] = "".join(lines)
        app = f'app = {{ kind = "transfers", file = {json.dumps(file)} }}'
        to.lines += ["[[flows]]", f'name = "{name}"', *keys, app, ""]
    large = [(t, size) for t, size in transfers if size > _LARGEST_TRANSFER]
    for number, (t, size) in enumerate(large, start=1):
        start = f'start = "{_seconds(t)}s"'
        app = f'app = {{ kind = "bulk", bytes = "{size}B" }}'
        to.lines += ["[[flows]]", f'name = "{name}-large-{number}"', *keys, start, app, ""]


_ECN = {0: "none", 1: "ect1", 2: "ect0"}


def _replays(traffic: Traffic, links: list[str], stem: str, rtt: str, to: Groups) -> None:
    left_out = False
    for (way, dscp, ecn), text in sorted(traffic.recordings.items()):
        if way not in links:
            left_out = True
            continue
        name = (
            f"{way}-packets" + (f"-dscp{dscp}" if dscp else "") + (f"-{_ECN[ecn]}" if ecn else "")
        )
        file = f"{stem}-{name}.csv"
        to.files[file] = text
        largest = traffic.largest[way]
        packet = largest if 1500 < largest <= _LARGEST_FRAME else 1500
        to.lines += [
            "[[flows]]",
            f'name = "{name}"',
            f'path = ["{way}"]',
            f'rtt = "{rtt}"',
            *([f'ecn = "{_ECN[ecn]}"'] if ecn else []),
            *([f"dscp = {dscp}"] if dscp else []),
            f'app = {{ kind = "replay", file = {json.dumps(file)}, packet = "{packet}B" }}',
            "",
        ]
        if largest > _LARGEST_FRAME:
            to.assumed.append(
                f"the packets of {way} as sent: offload joined some up to {largest} B, which are "
                "split into 1500 B again"
            )
    if to.lines and any(way in links for way, _, _ in traffic.recordings):
        to.assumed.append(
            "how senders would have reacted: packets are replayed open-loop, all of one direction, "
            "DSCP and ECN field as one flow"
        )
    if left_out:
        to.assumed.append(
            "the rate of a link for packets that are replayed the other way, which are left out; "
            "--rate adds it"
        )


def _seconds(ns: int) -> str:
    return f"{ns // 1_000_000_000}.{ns % 1_000_000_000:09d}"


def span(seconds: float) -> str:
    """A time as scenarios write it, to the nanosecond."""
    whole = int(seconds)
    return f"{whole}s" if whole == seconds else f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
