"""Recommends a set-up for a line described by the user, with its effects and costs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn import _core
from sojourn.advising.media import MEDIA, Framing
from sojourn.advising.trials import check_rtt, run_each, value
from sojourn.comparing.statistics import PairedTest, paired
from sojourn.errors import InputError
from sojourn.running.replicas import Progress
from sojourn.running.store import DEFAULT_STORE, Store

LOADS = {"household": (4, 2), "gaming": (4, 2), "server": (1, 8)}
"""Bulk transfers down and up, by purpose."""

_TINS = {"household": "diffserv3", "gaming": "diffserv4", "server": "besteffort"}
_UP_SHARE, _DOWN_SHARE = 0.95, 0.9
_MODEM = "taildrop:limit=1000p"
COST_NS = {"cake": 48, "fq_codel": 30}
"""Nanoseconds of our code for one packet in and out, 10 flows (benches/RESULTS.md)."""

GRADES = (("A+", 5.0), ("A", 30.0), ("B", 60.0), ("C", 200.0), ("D", 400.0))
"""Grades by the delay that load adds, each with its bound in ms; F is above all bounds."""


@dataclass(frozen=True)
class Line:
    """A line and its purpose.

    Attributes:
        down_bps: bit/s towards the user.
        up_bps: bit/s from the user.
        rtt_s: base round-trip time, seconds.
        medium: one of `MEDIA`.
        purpose: one of `LOADS`.
        seeds: runs of each set-up.
    """

    down_bps: int
    up_bps: int
    rtt_s: float = 0.04
    medium: str = "docsis"
    purpose: str = "household"
    seeds: int = 5


@dataclass(frozen=True)
class Outcome:
    """A set-up under load: means over seeds.

    Attributes:
        name: ``now``, ``cake`` or ``fq_codel``.
        loaded_rtt_s: round trip of a probe every 50 ms.
        added_p95_s: 95th percentile of the delay that load adds.
        rpm: responsiveness in round trips per minute (draft-ietf-ippm-responsiveness).
        grade: by the added delay.
        down_bps: goodput of the downloads.
        up_bps: goodput of the uploads.
    """

    name: str
    loaded_rtt_s: float
    added_p95_s: float
    rpm: float
    grade: str
    down_bps: float
    up_bps: float


@dataclass(frozen=True)
class Advice:
    """A recommendation.

    Attributes:
        choice: the discipline.
        outcomes: results of the simulation, the present set-up first.
        added: added delay with the choice minus without it, seconds, paired by seed.
        down: goodput of downloads likewise, bit/s.
        up: goodput of uploads likewise, bit/s.
        sure: sentences about how certain the choice is.
        commands: lines of tc.
        uci: lines of ``/etc/config/sqm``.
    """

    choice: str
    outcomes: tuple[Outcome, ...]
    added: PairedTest
    down: PairedTest
    up: PairedTest
    sure: tuple[str, ...]
    commands: tuple[str, ...]
    uci: tuple[str, ...]


def advise(
    line: Line,
    device: str = "eth0",
    *,
    progress: Progress | None = None,
    store: Store | None = DEFAULT_STORE,
) -> Advice:
    """Choose a discipline for a line, by simulations under the same seeds.

    Args:
        line: the line.
        device: the router's interface towards it.
        progress: receives the progress of the runs.
        store: the store in which earlier runs are found.

    Raises:
        InputError: a number is out of range, or no shaper can model the medium.
    """
    _check(line)
    names = ("now", "cake", "fq_codel")
    results = run_each([(name, _toml(line, name)) for name in names], line.seeds, progress, store)
    runs = {
        name: [_measured(run, line) for run in found]
        for name, found in zip(names, results, strict=True)
    }
    outcomes = tuple(_outcome(name, runs[name]) for name in names)
    between = _difference(runs["cake"], runs["fq_codel"], "added")
    usual = "fq_codel" if line.purpose == "server" else "cake"
    choice = _better(between) or usual
    links = _links(line, choice, device)
    return Advice(
        choice,
        outcomes,
        added=_difference(runs[choice], runs["now"], "added"),
        down=_difference(runs[choice], runs["now"], "down"),
        up=_difference(runs[choice], runs["now"], "up"),
        sure=_sure(line, runs, between, choice),
        commands=_with_nat(line, _core.tc_export(links, None, False)[0]),
        uci=_with_nat(line, _core.tc_export(links, None, True)[0]),
    )


def _with_nat(line: Line, commands: list[str]) -> tuple[str, ...]:
    """The commands with cake's ``nat``, which lets a router distinguish hosts behind its NAT."""
    if line.purpose == "server":
        return tuple(commands)
    named = (text.replace(" nonat", "") for text in commands)
    return tuple(
        text.replace(side, f"{side} nat")
        for text in named
        for side in [next((it for it in ("dual-srchost", "dual-dsthost") if it in text), "\0")]
    )


def of_scenario(scenario: _core.Scenario) -> tuple[int | None, int | None, float | None]:
    """A scenario's rates down and up in bit/s, and its base RTT in seconds.

    Rates that vary over time are left out.
    """
    from sojourn.describing.quantity import required

    resolved = json.loads(scenario.resolved_json())
    rates = {
        link["name"]: round(required("rate", link["rate"]).size)
        for link in resolved["links"]
        if isinstance(link["rate"], str)
    }
    only = next(iter(rates.values())) if len(resolved["links"]) == 1 and rates else None
    rtts = [required("time", flow["rtt"]).size for flow in resolved["flows"]]
    return rates.get("down", only), rates.get("up"), min(rtts, default=None)


def _check(line: Line) -> None:
    if line.medium == "wifi":
        raise InputError(
            "--medium wifi: the queue of Wi-Fi is in its driver, which has FQ-CoDel by station in "
            "Linux, and no shaper can follow its rate; describe the line behind it, such as docsis"
        )
    check_rtt(line.rtt_s)
    for option, bps in (("--down", line.down_bps), ("--up", line.up_bps)):
        if not 100_000 <= bps <= 10_000_000_000:
            raise InputError(f"{option}: from 100kbit to 10gbit")


def _shaped(line: Line) -> tuple[int, int]:
    """Rates of the shapers for download and upload, in whole kbit/s as SQM takes them."""
    down, up = line.down_bps * _DOWN_SHARE, line.up_bps * _UP_SHARE
    return math.floor(down / 1000) * 1000, math.floor(up / 1000) * 1000


def _cake(line: Line, bps: int, isolation: str) -> str:
    medium = MEDIA[line.medium]
    parts = [f"bandwidth={bps}bit", f"diffserv={_TINS[line.purpose]}", f"isolation={isolation}"]
    parts += [f"overhead={medium.overhead}B"] if medium.overhead else []
    parts += [f"cells={medium.cells}"] if medium.cells != "none" else []
    parts += [f"mpu={medium.mpu}B"] if medium.mpu else []
    return "cake:" + ",".join(parts)


def _aqms(line: Line, name: str) -> tuple[str, str]:
    """The AQM of each direction, down and up."""
    if name == "fq_codel":
        return "fq_codel@linux", "fq_codel@linux"
    down, up = _shaped(line)
    sides = ("flows", "flows") if line.purpose == "server" else ("dst", "src")
    return _cake(line, down, sides[0]), _cake(line, up, sides[1])


def _links(line: Line, name: str, device: str) -> list[Any]:
    framing = _counted(line, name)
    (down, up), (down_aqm, up_aqm) = _shaped(line), _aqms(line, name)
    return [
        (device, False, up, None, framing, up_aqm, None, None),
        (device, True, down, None, framing, down_aqm, None, None),
    ]


def _counted(line: Line, name: str) -> Framing:
    """The framing that the shaper's link counts per packet; cake counts its own."""
    return (0, 0, "none") if name == "cake" else MEDIA[line.medium].size_table


def _toml(line: Line, name: str) -> str:
    """A scenario of the line: the modem's queues, and the shapers unless the set-up is ``now``."""
    text = [f'name = "advise-{name}"\nduration = "40s"\nwarmup = "10s"\n']
    paths = {}
    for way, line_bps, bps, aqm in zip(
        ("down", "up"), (line.down_bps, line.up_bps), _shaped(line), _aqms(line, name), strict=True
    ):
        modem, shaper = f"{way}-modem", f"{way}-shaper"
        text.append(_link(modem, line_bps, MEDIA[line.medium].framing, _MODEM))
        if name != "now":
            text.append(_link(shaper, bps, _counted(line, name), aqm))
        order = [modem, shaper] if way == "down" else [shaper, modem]
        paths[way] = [it for it in order if name != "now" or it == modem]
    downloads, uploads = LOADS[line.purpose]
    for group, count, way, app in (
        ("download", downloads, "down", '{ kind = "bulk" }'),
        ("upload", uploads, "up", '{ kind = "bulk" }'),
        ("probe", 1, "up", '{ kind = "echo", interval = "50ms" }'),
    ):
        back = paths["up" if way == "down" else "down"]
        text.append(
            f'[[flows]]\nname = "{group}"\ncount = {count}\npath = {json.dumps(paths[way])}\n'
            f'reverse = {json.dumps(back)}\nrtt = "{round(line.rtt_s * 1e9)}ns"\n'
            f'start = "0s..1s"\napp = {app}\n'
        )
    return "\n".join(text)


def _link(name: str, bps: int, framing: Framing, queue: str) -> str:
    overhead, mpu, cells = framing
    return (
        f'[links.{name}]\nrate = "{bps}bit"\nframing = "{overhead}B"\nmpu = "{mpu}B"\n'
        f'cells = "{cells}"\nqueue = "{queue}"\n'
    )


def _measured(run: Any, line: Line) -> Mapping[str, float]:
    """The numbers of a run; NaN if the run failed or lacks them."""
    return {
        "rtt": value(run, "class/probe/rtt_mean"),
        "added": value(run, "class/probe/rtt_p95") - line.rtt_s,
        "rpm": value(run, "class/probe/round_trips_per_minute"),
        "down": value(run, "class/download/goodput"),
        "up": value(run, "class/upload/goodput"),
    }


def grade(added_s: float) -> str:
    """The grade of an added delay in seconds."""
    return next((name for name, below in GRADES if added_s * 1e3 < below), "F")


def _outcome(name: str, runs: list[Mapping[str, float]]) -> Outcome:
    mean = {key: math.fsum(run[key] for run in runs) / len(runs) for key in runs[0]}
    return Outcome(
        name,
        loaded_rtt_s=mean["rtt"],
        added_p95_s=mean["added"],
        rpm=mean["rpm"],
        grade=grade(mean["added"]),
        down_bps=mean["down"],
        up_bps=mean["up"],
    )


def _difference(
    after: list[Mapping[str, float]], before: list[Mapping[str, float]], key: str
) -> PairedTest:
    return paired([run[key] for run in after], [run[key] for run in before])


def _better(between: PairedTest) -> str | None:
    """The discipline whose delay is noticeably lower for users, if the seeds decide that."""
    least = 5e-3
    difference = between.difference
    if difference.high < 0 and difference.mean < -least:
        return "cake"
    return "fq_codel" if difference.low > 0 and difference.mean > least else None


def _sure(
    line: Line,
    runs: Mapping[str, list[Mapping[str, float]]],
    between: PairedTest,
    choice: str,
) -> tuple[str, ...]:
    """The conclusions that the simulation allows, and measurements that would settle the others."""
    sentences = []
    helps = _difference(runs[choice], runs["now"], "added").difference
    if not helps.high < 0:
        sentences.append(
            "the seeds do not show that a shaper lowers the delay here: measure the delay under "
            "load first"
        )
    gap = between.difference
    figures = f"{gap.mean * 1e3:+.3g} ms, {gap.low * 1e3:+.3g} to {gap.high * 1e3:+.3g}"
    if _better(between):
        sentences.append(f"the delay decides between cake and fq_codel ({figures})")
    else:
        why = (
            "it takes less CPU, and a server has no hosts to share between"
            if choice == "fq_codel"
            else "it shares between hosts, and counts the overhead itself"
        )
        sentences.append(
            f"the delay does not decide between cake and fq_codel ({figures}): {choice} is named "
            f"because {why}"
        )
    if doubt := MEDIA[line.medium].doubt:
        sentences.append(doubt)
    sentences.append(
        "the modem's queue of 1000 packets is assumed: a ping during a download shows the delay "
        "that it has"
    )
    return tuple(sentences)
