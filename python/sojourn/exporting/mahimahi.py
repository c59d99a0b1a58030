"""The rate of a link as a Mahimahi trace.

Source: mahimahi, src/packet/link_queue.cc: a line is the millisecond of an opportunity to send
1,504 bytes with the tunnel's header, so 1,500 bytes of IP; the trace repeats from its last time on.
"""

from __future__ import annotations

import json
from typing import Any

from sojourn import _core
from sojourn.describing.quantity import required
from sojourn.errors import InputError

_NS_PER_S = 1_000_000_000
_NS_PER_MS = 1_000_000
# The unit is bit * ns / s, so that integers add up: a sum of floats loses a packet in minutes.
_OPPORTUNITY = 12_000 * _NS_PER_S


def trace(scenario: _core.Scenario, link: str | None = None) -> str:
    """The lines of a trace that lasts as long as the scenario.

    Args:
        scenario: the scenario with the link.
        link: its name; by default the only one.

    Raises:
        InputError: the link is not named, its rate is neither constant nor a schedule, or the
            trace would not repeat when the scenario ends.
    """
    resolved = json.loads(scenario.resolved_json())
    links = {found["name"]: found for found in resolved["links"]}
    if link is None and len(links) == 1:
        link = next(iter(links))
    if link is None or link not in links:
        raise InputError(f"--link: name one of {', '.join(links)}")
    steps = _steps(link, links[link]["rate"])
    end, rest = divmod(_ns("duration", resolved["duration"]), _NS_PER_MS)
    if rest:
        raise InputError(
            f"duration: {resolved['duration']} is not a whole number of milliseconds, as the times "
            f"of a trace are; set duration={end}ms"
        )
    lines, due = [], 0
    for ms in range(1, end + 1):
        due += _carried(steps, ms * _NS_PER_MS)
        whole, due = divmod(due, _OPPORTUNITY)
        lines += [str(ms)] * whole
    if not lines:
        raise InputError(f"links.{link}.rate: carries not one packet in {end} ms")
    if lines[-1] != str(end):
        raise InputError(
            f"links.{link}.rate: the last packet leaves at {lines[-1]} ms, from where Mahimahi "
            f"would repeat the trace, and not at {end} ms; set duration={lines[-1]}ms"
        )
    return "\n".join(lines) + "\n"


def _carried(steps: list[tuple[int, int]], end_ns: int) -> int:
    """The amount that the link carries in the millisecond until `end_ns`; removes past steps."""
    at, carried = end_ns - _NS_PER_MS, 0
    while len(steps) > 1 and steps[1][0] <= end_ns:
        carried += steps[0][1] * (steps[1][0] - at)
        at = steps[1][0]
        steps.pop(0)
    return carried + steps[0][1] * (end_ns - at)


def _steps(link: str, rate: Any) -> list[tuple[int, int]]:
    """Pairs of time in ns and the rate in bit/s that holds from then on."""
    if isinstance(rate, str):
        return [(0, round(required(f"links.{link}.rate", rate).size))]
    if rate["kind"] != "schedule":
        hint = f"; it is the file {rate['file']} itself" if rate["kind"] == "trace" else ""
        raise InputError(f"links.{link}.rate: `{rate['kind']}` is not a rate over time{hint}")
    place = f"links.{link}.rate.steps"
    return [(_ns(place, at), round(required(place, value).size)) for at, value in rate["steps"]]


def _ns(place: str, time: str) -> int:
    return round(required(place, time).size * _NS_PER_S)
