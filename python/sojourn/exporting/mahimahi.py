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

_OPPORTUNITY_BITS = 12_000
_MS_PER_S = 1000


def trace(scenario: _core.Scenario, link: str | None = None) -> str:
    """The lines of a trace that lasts as long as the scenario.

    Args:
        scenario: what has the link.
        link: its name; by default the only one.

    Raises:
        InputError: the link is not named, or its rate is neither constant nor a schedule.
    """
    resolved = json.loads(scenario.resolved_json())
    links = {found["name"]: found for found in resolved["links"]}
    if link is None and len(links) == 1:
        link = next(iter(links))
    if link is None or link not in links:
        raise InputError(f"--link: name one of {', '.join(links)}")
    steps = _steps(link, links[link]["rate"])
    end = round(required("duration", resolved["duration"]).size * _MS_PER_S)
    lines, sent, due = [], 0, 0.0
    for ms in range(1, end + 1):
        due += _carried(steps, ms) / _OPPORTUNITY_BITS
        # The sum of a steady rate is a little below or above a whole number.
        whole = int(due + 1e-9)
        lines += [str(ms)] * (whole - sent)
        sent = whole
    if not lines:
        raise InputError(f"links.{link}.rate: carries not one packet in {end} ms")
    if lines[-1] != str(end):
        raise InputError(
            f"links.{link}.rate: the last packet leaves at {lines[-1]} ms, from where Mahimahi "
            f"would repeat the trace, and not at {end} ms; set duration={lines[-1]}ms"
        )
    return "\n".join(lines) + "\n"


def _carried(steps: list[tuple[float, float]], ms: int) -> float:
    """The bits that the link carries in the millisecond before `ms`; past steps are removed."""
    at, bits = ms - 1.0, 0.0
    while len(steps) > 1 and steps[1][0] <= ms:
        bits += steps[0][1] * (steps[1][0] - at) / _MS_PER_S
        at = steps[1][0]
        steps.pop(0)
    return bits + steps[0][1] * (ms - at) / _MS_PER_S


def _steps(link: str, rate: Any) -> list[tuple[float, float]]:
    """From which millisecond on which rate in bit/s holds."""
    if isinstance(rate, str):
        return [(0.0, required(f"links.{link}.rate", rate).size)]
    if rate["kind"] != "schedule":
        hint = f"; it is the file {rate['file']} itself" if rate["kind"] == "trace" else ""
        raise InputError(f"links.{link}.rate: `{rate['kind']}` is not a rate over time{hint}")
    place = f"links.{link}.rate.steps"
    return [(required(place, at).size * _MS_PER_S, required(place, value).size)
            for at, value in rate["steps"]]  # fmt: skip
