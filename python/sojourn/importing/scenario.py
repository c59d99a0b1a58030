"""The scenario that an imported measurement becomes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

from sojourn.errors import InputError
from sojourn.importing.measured import Measurement, StepCurve

_LEAST_RTT_S = 1e-4
_ASSUMED_RTT_S = 0.04
_WARMUP_SHARE = 0.1
_LONGEST_WARMUP_S = 10.0


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
    trace: str | None = None
    """Content of the trace file that the scenario names, if it needs one."""


def imported(
    measured: Measurement, name: str, source: str, given: Assumptions, trace_file: str
) -> Imported:
    """Make a scenario from a measurement.

    Args:
        measured: the content of the file.
        name: of the scenario.
        source: the file's name, for the head of the scenario.
        given: what the user adds.
        trace_file: name of the file of delivery opportunities in the scenario.

    Raises:
        InputError: the measurement has no rate, and none was given.
    """
    assumed = list(measured.unknown)
    rtt = _rtt(measured, given, assumed)
    links, duration_s = _links(measured, given, source, trace_file)
    congestion = _control(measured, assumed)
    assumed += [
        "the buffer and the queue of the link: 1000 packets with tail drop, as Linux has them",
        "the traffic: one bulk transfer each way that the link has, and a voice call",
    ]
    warmup_s = min(_LONGEST_WARMUP_S, _WARMUP_SHARE * duration_s)
    lines = [
        f"# {measured.format}, read from {_comment(source)}.",
        "#",
        *[f"# Read: {_comment(text)}." for text in measured.read],
        *[f"# Not in the file: {_comment(text)}." for text in assumed],
        "",
        f"name = {json.dumps(name)}",
        f'duration = "{_span(duration_s)}"',
        f'warmup = "{_span(warmup_s)}"',
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
    lines += _flows(list(links), rtt, congestion, measured.streams)
    trace = None
    if measured.opportunities_ms is not None:
        trace = "".join(f"{time}\n" for time in measured.opportunities_ms)
    return Imported("\n".join(lines), measured.read, assumed, trace)


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
        return _span(_ASSUMED_RTT_S)
    if measured.rtt:
        assumed.append(
            "the base round-trip time: the least one measured stands for it; its changes up to "
            f"{max(measured.rtt.values) * 1e3:.4g} ms are not imitated"
        )
    return _span(max(measured.base_rtt_s, _LEAST_RTT_S))


def _links(
    measured: Measurement, given: Assumptions, source: str, trace_file: str
) -> tuple[dict[str, str], float]:
    """The rate of each link as TOML, and the length of the recording in seconds."""
    if measured.opportunities_ms is not None:
        rate = f'{{ kind = "trace", file = {json.dumps(trace_file)} }}'
        return {"down": rate}, measured.opportunities_ms[-1] / 1e3
    curves = {"down": measured.down, "up": measured.up}
    found = {link: _schedule(rates) for link, rates in curves.items() if rates}
    if found:
        return found, max(rates.end_s for rates in curves.values() if rates)
    if given.rate is None:
        raise InputError(
            f"{source}: holds no rate, and a link needs one; give it, such as --rate 50mbit"
        )
    length_s = measured.rtt.end_s if measured.rtt else 60.0
    return {"down": json.dumps(given.rate)}, max(length_s, 1.0)


def _schedule(rates: StepCurve) -> str:
    """A schedule in integer bit/s; successive equal rates are merged."""
    steps = [(time, round(value)) for time, value in zip(rates.times_s, rates.values, strict=True)]
    kept = [steps[0], *(now for before, now in pairwise(steps) if now[1] != before[1])]
    texts = [f'    ["{_span(time)}", "{rate}bit"],' for time, rate in kept]
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


def _span(seconds: float) -> str:
    """A time as scenarios write it, to the nanosecond."""
    return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
