"""The scenario that an imported measurement becomes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Literal

from sojourn.errors import InputError
from sojourn.importing.measured import JITTER_MEAN, JITTER_MOST, Measurement, StepCurve
from sojourn.importing.traffic import Groups, Traffic, groups, span

_LEAST_RTT_S = 1e-4
_ASSUMED_RTT_S = 0.04
_WARMUP_SHARE = 0.1
_LONGEST_WARMUP_S = 10.0
_MOST_PACKETS = 4_294_967_295
_PACKET_BITS = 12_000
_ARRIVAL_S = 1.0
"""Time for the last packets of a capture to arrive."""
_CALL_KBPS, _CALL_BYTES = 87, 218
_CALL = f'kind = "cbr", rate = "{_CALL_KBPS}kbit", packet = "{_CALL_BYTES}B", voice = true'
CALL_PACKETS_PER_S = _CALL_KBPS * 1e3 / 8 / _CALL_BYTES
"""Packets that flow ``call`` sends in a second."""


@dataclass(frozen=True)
class Assumptions:
    """The user's additions to a file; for None the file's value or a stated assumption holds."""

    rate: str | None = None
    """Rate of the link, such as ``50mbit``, if the file has none."""
    rtt: str | None = None
    """The base round-trip time, such as ``30ms``."""
    delay: Literal["recorded", "least"] | None = None
    """Whether round trips over time become a schedule of delays, or the smallest holds throughout;
    by default the smallest if a transfer filled the queue meanwhile."""


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


PROBES = "probes"
"""The flow that measures round trips in a scenario without load."""


def imported(
    measured: Measurement,
    name: str,
    source: str,
    given: Assumptions,
    stem: str,
    *,
    is_loaded: bool = True,
) -> Imported:
    """Make a scenario from a measurement.

    Args:
        measured: the content of the file.
        name: name of the scenario.
        source: the file's name, for the head of the scenario.
        given: what the user adds.
        stem: stem of the names of the files that the scenario names.
        is_loaded: whether transfers fill the link; if not, probes alone measure its round trips.

    Raises:
        InputError: the measurement has no rate, and none was given.
    """
    assumed = list(measured.unknown)
    measured = _spread(measured, assumed)
    path, rtt = _path(measured, given, assumed)
    links, duration_s = _links(measured, given, source, f"{stem}.trace")
    congestion = _control(measured, assumed)
    assumed.append("the buffer and the queue of the link: 1000 packets with tail drop, as in Linux")
    if measured.traffic:
        flows = groups(measured.traffic, list(links), stem, rtt, bool(given.rtt), congestion)
        if not flows.lines:
            raise InputError(f"{source}: {_nothing(measured.traffic)}")
        assumed += flows.assumed
    else:
        start = f"0s..{span(min(1.0, duration_s / 10))}"
        transfers = _transfers(list(links), rtt, congestion, measured.streams, start)
        alone = _datagrams(PROBES, list(links), rtt, "0s", 'kind = "echo", interval = "20ms"')
        call = _datagrams("call", list(links), rtt, start, _CALL)
        flows = Groups([*(transfers if is_loaded else alone), *call])
        assumed.append(
            "the traffic: one bulk transfer each way that the link has, and a voice call"
        )
    # All recorded traffic counts.
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
        lines += [*(path if link == next(iter(links)) else []), ""]
    lines += flows.lines
    if measured.opportunities_ms is not None:
        trace = "".join(f"{time}\n" for time in measured.opportunities_ms)
        flows.files[f"{stem}.trace"] = trace
    return Imported("\n".join(lines), measured.read, assumed, flows.files)


def _nothing(traffic: Traffic) -> str:
    """Why no flow of a scenario comes from a capture."""
    if traffic.kind == "transfers" and traffic.flows:
        return (
            "its TCP connections carry no data that can be simulated; --as packets replays their "
            "packets"
        )
    return "none of its packets can be replayed; take a part with --from and --to"


def _comment(text: str) -> str:
    """A text for one line of comment."""
    return "".join(c if c.isprintable() else " " for c in text)


def _path(measured: Measurement, given: Assumptions, assumed: list[str]) -> tuple[list[str], str]:
    """Delay and loss of the first link, and the base round-trip time of the flows."""
    lines, rtt = [*_jitter(measured, assumed), *_loss(measured, assumed)], None
    if measured.delay:
        lines += _delays(measured.delay, 0.0)
        rtt = 2 * min(measured.delay.values)
        if not given.rtt:
            assumed.append(
                f"the way back: it takes as long as the least delay, {rtt * 500:.4g} ms; --rtt "
                "sets the base round-trip time"
            )
    elif measured.rtt and measured.base_rtt_s is not None:
        rtt = measured.base_rtt_s
        if (given.delay or ("least" if measured.is_loaded else "recorded")) == "recorded":
            rtt = min(measured.rtt.values)
            lines += _delays(measured.rtt, rtt)
            assumed.append(
                "where the round trip changes: on the way of the first link; --delay least leaves "
                "its changes out"
            )
        else:
            assumed.append(
                "the base round-trip time: the least one measured stands for it; its changes up to "
                f"{max(measured.rtt.values) * 1e3:.4g} ms are not imitated (--delay recorded does)"
            )
    elif measured.base_rtt_s is not None:
        rtt = measured.base_rtt_s
    if given.rtt:
        return lines, given.rtt
    if rtt is None:
        rtt = _ASSUMED_RTT_S
        assumed.append(f"the base round-trip time: {rtt * 1e3:g} ms is assumed; --rtt sets it")
    return lines, span(max(rtt, _LEAST_RTT_S))


def _delays(delays: StepCurve, least_s: float) -> list[str]:
    """A schedule of the delay above the smallest one."""
    if len(set(delays.values)) == 1 and least_s:
        return []
    steps = [f'"{span(round(value - least_s, 9))}"' for value in delays.values]
    return [f"delay = {_steps(delays, steps)}"]


def _spread(measured: Measurement, assumed: list[str]) -> Measurement:
    """Lower the delays by the mean that the jitter adds, so that their means stay as read."""
    jitter = measured.jitter
    if not jitter or not any(jitter.values):
        return measured
    found: dict[str, StepCurve] = {}
    for name in ("rtt", "delay"):
        curve: StepCurve | None = getattr(measured, name)
        if curve is None:
            continue
        pairs = zip(curve.times_s, curve.values, strict=True)
        values = [value - JITTER_MEAN * jitter.at(time) for time, value in pairs]
        if min(values) < 0:
            assumed.append("delays as low as the jitter of their time allows: they are zero there")
        found[name] = replace(curve, values=tuple(max(value, 0.0) for value in values))
    base_rtt_s = min(found["rtt"].values) if "rtt" in found else measured.base_rtt_s
    return replace(
        measured,
        base_rtt_s=base_rtt_s,
        rtt=found.get("rtt"),
        delay=found.get("delay"),
    )


def _jitter(measured: Measurement, assumed: list[str]) -> list[str]:
    """Extra delays whose successive differences have the mean that was read."""
    if not measured.jitter or not any(measured.jitter.values):
        return []
    assumed.append(
        "how delays vary: evenly up to three times the jitter, so that successive delays differ by "
        "it on average (RFC 3550), without overtaking; means of delays stay as read"
    )
    most = [f'"{span(round(JITTER_MOST * value, 9))}"' for value in measured.jitter.values]
    return [f"jitter = {_steps(measured.jitter, most)}"]


def _loss(measured: Measurement, assumed: list[str]) -> list[str]:
    if measured.losses and any(measured.losses.values) and not measured.is_loaded:
        assumed.append("where packets were lost: on the way of the first link")
        return [f"loss = {_loss_steps(measured.losses)}"]
    if not measured.loss:
        return []
    lines = ["# The file's share of lost packets; part of it may be the queue's own drops:"]
    if measured.losses:
        return lines + [
            f"# {line}" for line in f"loss = {_loss_steps(measured.losses)}".split("\n")
        ]
    return [*lines, f'# loss = {{ kind = "bernoulli", rate = {measured.loss:.6g} }}']


def _loss_steps(losses: StepCurve) -> str:
    return _steps(losses, [f"{value:.6g}" for value in losses.values])


def _links(
    measured: Measurement, given: Assumptions, source: str, trace_file: str
) -> tuple[dict[str, str], float]:
    """The rate of each link as TOML, and the length of the recording in seconds."""
    if measured.opportunities_ms is not None:
        rate = f'{{ kind = "trace", file = {json.dumps(trace_file)} }}'
        return {"down": rate}, measured.opportunities_ms[-1] / 1e3
    rates = {"down": measured.down, "up": measured.up}
    found = {link: _schedule(steps) for link, steps in rates.items() if steps}
    if measured.traffic and given.rate:
        return _given(measured.traffic, given.rate), measured.traffic.length_s + _ARRIVAL_S
    if found:
        if measured.traffic:
            return found, measured.traffic.length_s + _ARRIVAL_S
        length_s = max(steps.end_s for steps in rates.values() if steps)
        largest = max(max(steps.values) for steps in rates.values() if steps)
        if largest * length_s / _PACKET_BITS > _MOST_PACKETS:
            raise InputError(
                f"{source}: {length_s / 3600:.4g} h at up to {largest / 1e6:.4g} Mbit/s are more "
                "packets than one flow may send; take a part with --from and --to"
            )
        return found, length_s
    if given.rate is None:
        raise InputError(
            f"{source}: holds no rate, and a link needs one; give it, such as --rate 50mbit"
        )
    curves = (measured.rtt, measured.delay, measured.losses)
    length_s = max((found.end_s for found in curves if found), default=60.0)
    return {"down": json.dumps(given.rate)}, max(length_s, 1.0)


def _given(traffic: Traffic, rate: str) -> dict[str, str]:
    """Links of a given rate for each direction that a capture shows."""
    return {way: json.dumps(rate) for way in ("down", "up") if traffic.largest[way]}


def _schedule(rates: StepCurve) -> str:
    """A schedule in integer bit/s."""
    return _steps(rates, [f'"{round(value)}bit"' for value in rates.values])


def _steps(of: StepCurve, values: list[str]) -> str:
    """A schedule; of successive equal values only the first is kept."""
    before = [None, *values]
    pairs = zip(of.times_s, values, before[:-1], strict=True)
    texts = [f'    ["{span(time)}", {value}],' for time, value, old in pairs if value != old]
    return "\n".join(['{ kind = "schedule", steps = [', *texts, "] }"])


def _control(measured: Measurement, assumed: list[str]) -> str:
    """The congestion control that the file names, if Sojourn has it."""
    from sojourn import _core

    if measured.cc in {control["name"] for control in _core.ccs()}:
        return str(measured.cc)
    named = f"{measured.cc} is not one of ours" if measured.cc else "the file does not say"
    assumed.append(f"the congestion control ({named}): cubic")
    return "cubic"


def _transfers(
    links: list[str], rtt: str, congestion: str, streams: int | None, start: str
) -> list[str]:
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
            f'start = "{start}"',
            'app = { kind = "bulk" }',
            "",
        ]
    return lines


def _datagrams(name: str, links: list[str], rtt: str, start: str, app: str) -> list[str]:
    return [
        "[[flows]]",
        f'name = "{name}"',
        f'path = ["{links[0]}"]',
        f'rtt = "{rtt}"',
        f'start = "{start}"',
        f"app = {{ {app} }}",
        "",
    ]
