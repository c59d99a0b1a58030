"""Common parts of the paper's experiments: AQMs, the dumbbell, grids of cases over n."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sojourn.plots import style
from sojourn.reproduce.paper import Case, ItemVariant
from sojourn.scenario import Bulk, FlowGroup, Link, Record, Scenario

FLOWS = (1, 4, 16, 64)
AQMS = {"codel": "CoDel", "codel_act": "CoDel-ACT", "pie": "PIE"}
KIND = {"codel": "codel@draft", "codel_act": "codel@act", "pie": "pie@ietf_draft"}
# §II: PIE is never deactivated, and does not wait for a third of the buffer to start.
SETTINGS = {"pie": {"on_off": "false"}}
TARGET_MS = 5.0
RATE_BPS = 10e6
# A frame: 1500 B of IP and 7 B of PPP (fact papers-1).
PACKET_S = 1507 * 8 / RATE_BPS
COLOURS = {aqm: style.colour_of(aqm) for aqm in AQMS}
OF_FLOWS = dict(zip((1, 4, 8, 16, 64), style.PALETTE, strict=False))
# Averages exclude the first 10 s.
WARMUP_S = 10.0
QD = "queuing delay [ms]"
# More than one flow.
BUSY = (4, 16, 64)
FAMILY = ("codel", "codel_act")
UTIL = "util_pct"


def scenario(
    aqm: str,
    flows: int,
    rtt_ms: int = 10,
    *,
    duration_s: float = 100,
    sample: str = "1s",
    settings: Mapping[str, str | int] | None = None,
) -> Scenario:
    """Saturated clients on the one-sided dumbbell of Schwarzkopf, Veith and Menth 2016.

    Args:
        aqm: a key of `KIND`.
        flows: n.
        rtt_ms: 10 or 100; at 100 ms all of it is on the bottleneck (our choice: not printed).
        duration_s: 100 s (our choice: not printed).
        sample: time between samples.
        settings: parameters of the AQM other than the defaults.
    """
    text = KIND[aqm]
    if settings := {**SETTINGS.get(aqm, {}), **(settings or {})}:
        text += ":" + ",".join(f"{name}={value}" for name, value in settings.items())
    return Scenario(
        name=f"codel-act-n{flows}-rtt{rtt_ms}",
        duration=f"{duration_s:g}s",
        warmup=f"{min(WARMUP_S, duration_s / 2):g}s",
        record=Record(sample=sample),
        links={
            "bottleneck": Link(
                rate="10mbit",
                delay=f"{rtt_ms // 2}ms",
                framing="7B",
                buffer="250kB",
                queue=text,
            )
        },
        flows=[
            FlowGroup(
                name="bulk",
                count=flows,
                path=["bottleneck"],
                rtt=f"{rtt_ms}.2ms",
                access_rate="1gbit",
                tcp="codel-act",
                start="0s..1s",
                app=Bulk(),
            )
        ],
    )


def with_rtt_of_table_1(case: Scenario) -> Scenario:
    """The scenario with the base RTT that the grid of Table I implies (fact papers-20)."""
    (group,) = case.flows
    rtt = str(group.rtt).replace(".2ms", ".035ms")
    return replace(case, flows=[replace(group, rtt=rtt)])


RTTS = (ItemVariant("rtt_of_table_1", "a base RTT of 10.035 and 100.035 ms", with_rtt_of_table_1),)


def grid(make: Callable[[str, int], Case], flows: tuple[int, ...] = FLOWS) -> dict[str, Case]:
    """A case for every AQM and every n."""
    return {f"n{n}.{aqm}": make(aqm, n) for n in flows for aqm in AQMS}


def keys(prefix: str, flows: tuple[int, ...] = FLOWS) -> list[tuple[str, int, str]]:
    """The keys of such cases, each with its n and its AQM."""
    return [(f"{prefix}n{n}.{aqm}", n, aqm) for n in flows for aqm in AQMS]
