"""The scenario that an imported measurement becomes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise

from sojourn.errors import InputError
from sojourn.importing.measured import Measurement, StepCurve
from sojourn.importing.traffic import Groups, Traffic, groups, span

_LEAST_RTT_S = 1e-4
_ASSUMED_RTT_S = 0.04
_WARMUP_SHARE = 0.1
_LONGEST_WARMUP_S = 10.0
_ARRIVAL_S = 1.0
"""Time for the last packets of a capture to arrive."""


@dataclass(frozen=True)
class Assumptions:
    """What the user adds to a file; None leaves it to the file, or to a stated assumption."""

    rate: str | None = None
    """Rate of the link, such as ``50mbit``, if the file has none."""
    rtt: str | None = None
    """The base round-trip time, such as ``30ms``."""


@dataclass(frozen=True)
class Imported:
    """A scenario with its assumptions."""

    text: str
    """The scenario in TOML."""
    read: list[str]
    assumed: list[str]
    """Assumptions in place of missing information."""
    files: dict[str, str] = field(default_factory=dict)
    """The files that the scenario names: recordings and traces, by name."""


def imported(
    measured: Measurement, name: str, source: str, given: Assumptions, stem: str
) -> Imported:
    """Make a scenario from a measurement.

    Args:
        measured: the content of the file.
        name: name of the scenario.
        source: the file's name, for the head of the scenario.
        given: what the user adds.
        stem: stem of the names of the files that the scenario names.

    Raises:
        InputError: the measurement has no rate, and none was given.
    """
    assumed = list(measured.unknown)
    rtt = _rtt(measured, given, assumed)
    links, duration_s = _links(measured, given, source, f"{stem}.trace")
    congestion = _control(measured, assumed)
    assumed.append("the buffer and the queue of the link: 1000 packets with tail drop, as in Linux")
    if measured.traffic:
        flows = groups(measured.traffic, list(links), stem, rtt, bool(given.rtt), congestion)
        assumed += flows.assumed
    else:
        flows = Groups(_flows(list(links), rtt, congestion, measured.streams))
        assumed.append(
            "the traffic: one bulk transfer each way that the link has, and a voice call"
        )
    # Of recorded traffic everything counts.
    warmup_s = 0.0 if measured.traffic else min(_LONGEST_WARMUP_S, _WARMUP_SHARE * duration_s)
    lines = [
        f"# {measured.format}, read from {_comment(source)}.",
        "#",
        *[f"# Read: {_comment(text)}." for text in measured.read],
        *[f"# Not in the file: {_comment(text)}." for text in assumed],
        "",
        f"name = {json.dumps(name)}",
        f'duration = "{span(duration_s)}"',
        f'warmup = "{span(warmup_s)}"',
        "",
    ]
    for link, rate in links.items():
        lines += [f"[links.{link}]", f"rate = {rate}", 'buffer = "1000p"', 'queue = "taildrop"']
        if measured.loss and link == next(iter(links)):
            lines.append(
                "# The file's share of lost packets; part of it may be the queue's own drops:\n"
                f'# loss = {{ kind = "bernoulli", rate = {measured.loss:.6g} }}'
            )
        lines.append("")
    lines += flows.lines
    if measured.opportunities_ms is not None:
        trace = "".join(f"{time}\n" for time in measured.opportunities_ms)
        flows.files[f"{stem}.trace"] = trace
    return Imported("\n".join(lines), measured.read, assumed, flows.files)


def _comment(text: str) -> str:
    """A text for one line of comment."""
    return "".join(c if c.isprintable() else " " for c in text)


def _rtt(measured: Measurement, given: Assumptions, assumed: list[str]) -> str:
    if given.rtt:
        return given.rtt
    if measured.base_rtt_s is None:
        assumed.append(
            f"the base round-trip time: {_ASSUMED_RTT_S * 1e3:g} ms is assumed; --rtt sets it"
        )
        return span(_ASSUMED_RTT_S)
    if measured.rtt:
        assumed.append(
            "the base round-trip time: the least one measured stands for it; its changes up to "
            f"{max(measured.rtt.values) * 1e3:.4g} ms are not imitated"
        )
    return span(max(measured.base_rtt_s, _LEAST_RTT_S))


def _links(
    measured: Measurement, given: Assumptions, source: str, trace_file: str
) -> tuple[dict[str, str], float]:
    """The rate of each link as TOML, and the length of the recording in seconds."""
    if measured.opportunities_ms is not None:
        rate = f'{{ kind = "trace", file = {json.dumps(trace_file)} }}'
        return {"down": rate}, measured.opportunities_ms[-1] / 1e3
    curves = {"down": measured.down, "up": measured.up}
    found = {link: _schedule(rates) for link, rates in curves.items() if rates}
    if measured.traffic and given.rate:
        return _given(measured.traffic, given.rate), measured.traffic.length_s + _ARRIVAL_S
    if found:
        if measured.traffic:
            return found, measured.traffic.length_s + _ARRIVAL_S
        return found, max(rates.end_s for rates in curves.values() if rates)
    if given.rate is None:
        raise InputError(
            f"{source}: holds no rate, and a link needs one; give it, such as --rate 50mbit"
        )
    length_s = measured.rtt.end_s if measured.rtt else 60.0
    return {"down": json.dumps(given.rate)}, max(length_s, 1.0)


def _given(traffic: Traffic, rate: str) -> dict[str, str]:
    """Links of a given rate for each direction that a capture shows."""
    return {way: json.dumps(rate) for way in ("down", "up") if traffic.largest[way]}


def _schedule(rates: StepCurve) -> str:
    """A schedule in integer bit/s; successive equal rates are merged."""
    steps = [(time, round(value)) for time, value in zip(rates.times_s, rates.values, strict=True)]
    kept = [steps[0], *(now for before, now in pairwise(steps) if now[1] != before[1])]
    texts = [f'    ["{span(time)}", "{rate}bit"],' for time, rate in kept]
    return "\n".join(['{ kind = "schedule", steps = [', *texts, "] }"])


def _control(measured: Measurement, assumed: list[str]) -> str:
    """The congestion control that the file names, if we have it."""
    from sojourn import _core

    if measured.cc in {control["name"] for control in _core.ccs()}:
        return str(measured.cc)
    named = f"{measured.cc} is not one of ours" if measured.cc else "the file does not say"
    assumed.append(f"the congestion control ({named}): cubic")
    return "cubic"


def _flows(links: list[str], rtt: str, congestion: str, streams: int | None) -> list[str]:
    lines = []
    for link in links:
        back = [other for other in links if other != link]
        lines += [
            "[[flows]]",
            f'name = "{"download" if link == "down" else "upload"}"',
            *([f"count = {streams}"] if streams and streams > 1 else []),
            f'path = ["{link}"]',
            *([f'reverse = ["{back[0]}"]'] if back else []),
            f'rtt = "{rtt}"',
            f'cc = "{congestion}"',
            'start = "0s..1s"',
            'app = { kind = "bulk" }',
            "",
        ]
    return [
        *lines,
        "[[flows]]",
        'name = "call"',
        f'path = ["{links[0]}"]',
        f'rtt = "{rtt}"',
        'start = "0s..1s"',
        'app = { kind = "cbr", rate = "87kbit", packet = "218B", voice = true }',
        "",
    ]
