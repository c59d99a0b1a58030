"""Khademi, Ros and Welzl 2013: the new AQM kids on the block; CoDel, PIE and Adaptive RED.

tidy: allow(length) A paper is one file: its scenarios, items and claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

from sojourn.plots import style
from sojourn.plots.boxes import BoxPanel, Five, boxes
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.plots.data import Floats
from sojourn.reproduce import measures
from sojourn.reproduce.paper import (
    Case,
    Claim,
    Item,
    Measure,
    Paper,
    Part,
    Pools,
    Profile,
    Seeds,
    Table,
    Values,
    alike,
    explained,
    is_number,
    is_within,
    more,
    not_less,
    not_measured,
    order,
    several,
)
from sojourn.reproduce.pool import Packets, Pool
from sojourn.reproduce.testbed import Testbed
from sojourn.scenario import Bulk, FlowGroup, Link, Record, Scenario

NAMES = {"codel": "CoDel", "pie": "PIE", "ared": "ARED", "fq_codel": "FQ_CoDel"}
AQMS = ("codel", "pie", "ared")
COLOURS = {name: style.colour_of(aqm) for aqm, name in NAMES.items()}
TARGETS_MS = (1, 5, 10, 20, 30)
# Flows in all: 1, 4 and 16 per sender, 4 senders.
LEVELS = {"light": 4, "moderate": 16, "heavy": 64}
# What a packet's path RTT has beside base RTT and queuing delay: its transmission at the bottleneck
# and on the access link, and that of its acknowledgement.
TRANSMISSION_S = 1500 * 8 / 10e6 + 1500 * 8 / 100e6 + 40 * 8 / 100e6
BIN_S = 5


def _ared(target_ms: int) -> str:
    """Thresholds of 0.5 and 1.5 target queues, at 1 ms of 1 and 2 MTU; Linux has no gentle mode."""
    low, high = (1500, 3000) if target_ms == 1 else (target_ms * 625, target_ms * 1875)
    return f"ared@kids:min_th={low}B,max_th={high}B,target_delay={target_ms}ms"


def queue(
    aqm: str, target_ms: int = 5, *, interval_ms: int = 100, tupdate_ms: int = 30, ecn: str = ""
) -> str:
    """The AQM with 1000 packets of room.

    The PIE of the report is a kernel module that was not published; its heuristics are those of the
    first mainline version (chosen).
    """
    text = {
        "codel": f"codel@linux:target={target_ms}ms,interval={interval_ms}ms",
        "fq_codel": f"fq_codel@linux:target={target_ms}ms,interval={interval_ms}ms,quantum=1514B",
        "pie": f"pie@paper2013:heuristics=linux2013,target={target_ms}ms,tupdate={tupdate_ms}ms,"
        "alpha=0.125hz,beta=1.25hz",
        "ared": _ared(target_ms),
    }[aqm]
    return f"{text},limit=1000p{ecn}"


def scenario(aqm_text: str, flows: int, *, rtt_ms: int = 100, ecn: bool = False) -> Scenario:
    """The wired dumbbell: 10 Mbit/s counting 1500 B per full packet, 60 s (300 s at 500 ms)."""
    return Scenario(
        name=f"kids-{flows}-flows-rtt{rtt_ms}",
        duration="300s" if rtt_ms == 500 else "60s",
        record=Record(sample=f"{BIN_S}s"),
        links={"bottleneck": Link(rate="10mbit", delay=f"{rtt_ms * 500}us", queue=aqm_text)},
        flows=[
            FlowGroup(
                name="bulk",
                count=flows,
                path=["bottleneck"],
                rtt=f"{rtt_ms}ms",
                access_rate="100mbit",
                tcp="kids-3.8",
                packet="1500B",
                header="40B",
                ecn=ecn or None,
                start="0s..1s",
                app=Bulk(),
            )
        ],
    )


_KEEP = ("delays", "goodput")


def _measure_pool(pool: Pool, rtt_ms: int = 100) -> dict[str, float]:
    """Path RTT, queuing delay (RTT less base RTT) and goodput in bins of 5 s."""
    delay = pool.distribution()
    values = measures.under("rtt", measures.delays(delay, rtt_ms * 1e-3 + TRANSMISSION_S))
    values |= measures.under("qd", measures.delays(delay, TRANSMISSION_S))
    goodput = np.concatenate([rates.ravel() for rates in pool.goodput_bps("bulk", BIN_S, "class")])
    values |= measures.under("goodput5s", measures.samples(goodput, "mbps", 1e-6))
    values["goodput_total_mbps"] = 1e-6 * pool.number("class/bulk/goodput")
    values["util_pct"] = 100 * pool.number("queue/bottleneck/utilisation")
    values["drop_rate_pct"] = 100 * pool.number("queue/bottleneck/drop_rate")
    values["mark_rate_pct"] = 100 * pool.number("queue/bottleneck/mark_rate")
    return values


def _measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, _measure_pool(pool))
    return values


_TEN = ("p10", "p25", "p50", "p75", "p90")


def _five(values: Values, prefix: str, unit: str) -> Five:
    a, b, c, d, e = (values[f"{prefix}.{q}_{unit}"] for q in _TEN)
    return a, b, c, d, e


def _panel(
    values: Values,
    title: str,
    metric: str,
    groups: Mapping[str, str],
    x_label: str,
    series: Sequence[str] = AQMS,
    key: Callable[[str, str], str] = lambda group, aqm: f"{group}.{aqm}",
) -> BoxPanel:
    """One panel of boxes.

    Args:
        values: of the item.
        title: above the panel.
        metric: ``rtt``, ``qd`` or ``goodput5s``.
        groups: labels by the part of the key that names the group.
        x_label: what the groups are.
        series: AQMs.
        key: from a group and an AQM to the key of the case.
    """
    unit = "mbps" if metric == "goodput5s" else "ms"
    words = {"rtt": "RTT [ms]", "qd": "queuing delay [ms]", "goodput5s": "goodput per 5 s [Mbit/s]"}
    found = {
        NAMES[aqm]: {
            label: _five(values, f"{key(group, aqm)}.{metric}", unit)
            for group, label in groups.items()
        }
        for aqm in series
    }
    y_lim = (None, 10.0) if unit == "mbps" else None
    return BoxPanel(title, list(groups.values()), found, x_label, words[metric], y_lim)


_BOXES = "whiskers 10 and 90 %, box 25 and 75 %"
_TARGET_GROUPS = {f"target{ms}ms": f"{ms}" for ms in TARGETS_MS}


# Parameter tables and what is not an experiment.


def _t2_measure(_pools: Pools) -> dict[str, float]:
    found = measures.configured(scenario(queue("pie", 20), 4))
    return {
        "tupdate_ms": 1e3 * measures.seconds(found["tupdate"]),
        "target_ms": 1e3 * measures.seconds(found["target"]),
        "alpha_sixteenths": 16 * float(found["alpha"].removesuffix("hz")),
        "beta_sixteenths": 16 * float(found["beta"].removesuffix("hz")),
    }


def _t3_measure(_pools: Pools) -> dict[str, float]:
    found = measures.configured(scenario(queue("ared"), 4))
    return {
        "adapt_interval_ms": 1e3 * measures.seconds(found["adapt_interval"]),
        "adapt_alpha": float(found["adapt_alpha"]),
        "adapt_beta": float(found["adapt_beta"]),
    }


def _listed(title: str) -> Callable[[Values], list[Table]]:
    def tables(values: Values) -> list[Table]:
        return [
            Table(title, ("parameter", "configured"), [(k, f"{v:g}") for k, v in values.items()])
        ]

    return tables


# Figures 2 to 4: against the target.


def _f2_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"target{ms}ms.{aqm}": Case(scenario(queue(aqm, ms), 1), _KEEP)
        for ms in TARGETS_MS
        for aqm in AQMS
    }


def _f2_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = [
        _panel(values, f"({letter})", metric, _TARGET_GROUPS, "target [ms]")
        for letter, metric in (("a", "rtt"), ("b", "goodput5s"))
    ]
    return {"F2": boxes(f"One TCP flow: RTT and goodput; {_BOXES}", panels, COLOURS, columns=2)}


def _total_tables(values: Values) -> list[Table]:
    rows = [
        [
            NAMES[aqm],
            *(f"{values[f'target{ms}ms.{aqm}.goodput_total_mbps']:.2f}" for ms in TARGETS_MS),
        ]
        for aqm in AQMS
    ]
    header = ["AQM", *(f"{ms} ms" for ms in TARGETS_MS)]
    return [Table("Total goodput in Mbit/s by target, one flow", header, rows)]


def _f3_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"{level}.target{ms}ms.{aqm}": Case(scenario(queue(aqm, ms), flows), _KEEP)
        for level, flows in LEVELS.items()
        for ms in TARGETS_MS
        for aqm in AQMS
    }


def _by_level(
    name: str, metric: str, title: str, groups: Mapping[str, str], x_label: str
) -> Callable[[Pools, Values], Mapping[str, Figure]]:
    """Three panels, one for each congestion level."""

    def figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
        panels = [
            _panel(
                values,
                f"({letter}) {level}",
                metric,
                {f"{level}.{group}": label for group, label in groups.items()},
                x_label,
            )
            for letter, level in zip("abc", LEVELS, strict=True)
        ]
        return {name: boxes(f"{title}; {_BOXES}", panels, COLOURS, columns=3)}

    return figures


# Figures 5 and 6: the time scales of CoDel and PIE.

_SCALES_MS = (5, 30, 100)


def _f5_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"{level}.interval{ms}ms.codel": Case(
            scenario(queue("codel", interval_ms=ms), flows), _KEEP
        )
        for level, flows in LEVELS.items()
        for ms in _SCALES_MS
    }


def _f6_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"{level}.tupdate{ms}ms.pie": Case(scenario(queue("pie", tupdate_ms=ms), flows), _KEEP)
        for level, flows in LEVELS.items()
        for ms in _SCALES_MS
    }


def _change_pct(values: Values, before: str, after: str) -> float:
    return 100.0 * (1.0 - values[after] / values[before])


def _scale_measure(name: str, aqm: str, base: int) -> Callable[[Pools], dict[str, float]]:
    """Values, and by how many percent medians fall against the default time scale."""

    def measure(pools: Pools) -> dict[str, float]:
        values = _measure(pools)
        for level in LEVELS:
            for ms in _SCALES_MS:
                here, there = f"{level}.{name}{ms}ms.{aqm}", f"{level}.{name}{base}ms.{aqm}"
                for metric in ("qd.p50_ms", "rtt.p50_ms", "goodput5s.p50_mbps"):
                    fall = _change_pct(values, f"{there}.{metric}", f"{here}.{metric}")
                    words = metric.replace("_ms", "").replace("_mbps", "").replace(".", "_")
                    values[f"{here}.{words}_fall_pct"] = fall
        return values

    return measure


def _scale_figures(
    item: str, name: str, aqm: str
) -> Callable[[Pools, Values], Mapping[str, Figure]]:
    def figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
        colours = dict(zip((f"{ms} ms" for ms in _SCALES_MS), style.PALETTE[1:], strict=False))
        panels = []
        for letter, metric, unit, words in (
            ("a", "rtt", "ms", "RTT [ms]"),
            ("b", "goodput5s", "mbps", "goodput per 5 s [Mbit/s]"),
        ):
            found = {
                f"{ms} ms": {
                    level: _five(values, f"{level}.{name}{ms}ms.{aqm}.{metric}", unit)
                    for level in LEVELS
                }
                for ms in _SCALES_MS
            }
            y_lim = (None, 10.0) if unit == "mbps" else None
            panels.append(BoxPanel(f"({letter})", list(LEVELS), found, "congestion", words, y_lim))
        title = f"{NAMES[aqm]}: {name} of 5, 30 and 100 ms, target 5 ms; {_BOXES}"
        return {item: boxes(title, panels, colours, columns=2)}

    return figures


# Figures 7 and 8: the base RTT.

_RTTS_MS = (5, 100, 500)


def _f7_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"{level}.rtt{rtt}ms.{aqm}": Case(scenario(queue(aqm), flows, rtt_ms=rtt), _KEEP)
        for level, flows in LEVELS.items()
        for rtt in _RTTS_MS
        for aqm in AQMS
    }


def _f7_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        rtt = int(key.split(".")[1].removeprefix("rtt").removesuffix("ms"))
        values |= measures.under(key, _measure_pool(pool, rtt))
    return values


_RTT_GROUPS = {f"rtt{rtt}ms": f"{rtt}" for rtt in _RTTS_MS}


# Figures 11 and 12: flow queues.

_FLOWS = (4, 16, 32, 64)


def _f11_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"target{ms}ms.flows{n}.{aqm}": Case(scenario(queue(aqm, ms), n), _KEEP)
        for ms in (5, 20)
        for n in _FLOWS
        for aqm in ("codel", "fq_codel")
    }


def _f11_measure(pools: Pools) -> dict[str, float]:
    values = _measure(pools)
    for ms in (5, 20):
        for n in _FLOWS:
            for q in _TEN:
                for metric in ("qd", "rtt"):
                    one, two = (
                        f"target{ms}ms.flows{n}.{a}.{metric}.{q}_ms" for a in ("codel", "fq_codel")
                    )
                    key = f"target{ms}ms.flows{n}.fq_codel.{metric}.{q}_reduction_pct"
                    values[key] = _change_pct(values, one, two)
    return values


def _f11_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = [
        _panel(
            values,
            f"({letter}) target {ms} ms",
            "rtt",
            {f"target{ms}ms.flows{n}": f"{n}" for n in _FLOWS},
            "flows",
            ("codel", "fq_codel"),
        )
        for letter, ms in (("a", 5), ("b", 20))
    ]
    return {"F11": boxes(f"CoDel and FQ_CoDel: RTT; {_BOXES}", panels, COLOURS, columns=2)}


def _f12_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"{level}.{aqm}": Case(scenario(queue(aqm), flows), ("packets",))
        for level, flows in LEVELS.items()
        for aqm in ("codel", "fq_codel")
    }


def _one_flow(packets: Packets, flow: int = 0) -> tuple[Floats, Floats]:
    """Times and path RTTs in ms of one flow's packets."""
    here = packets.is_sent & (packets.flow == flow)
    return packets.left_s[here], 1e3 * (packets.delay_s[here] + 0.1 + TRANSMISSION_S)


def _f12_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        flows = [_one_flow(packets, flow)[1] for packets in pool.packets() for flow in range(4)]
        every = np.concatenate(flows)
        values |= measures.under(f"{key}.rtt", measures.samples(every, "ms"))
        jitter = np.concatenate([np.abs(np.diff(rtt)) for rtt in flows])
        values |= measures.under(f"{key}.jitter", measures.samples(jitter, "ms"))
    return values


def _f12_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for level in LEVELS:
        lines = [
            Curve(
                NAMES[aqm],
                *_one_flow(pools[f"{level}.{aqm}"].packets()[0]),
                COLOURS[NAMES[aqm]],
                width=0.7,
            )
            for aqm in ("codel", "fq_codel")
        ]
        panels.append(Panel(level, lines, "time [s]", "RTT [ms]", (0, 60), (95, None)))
    title = "RTT of the packets of one flow, target 5 ms"
    return {"F12": curves(title, panels, columns=1, height_in=1.9)}


# Figures 13 and 14, Table 5: ECN.

_PER_SENDER = (1, 4, 8, 16)
_MARK = {"codel": ",ecn=true", "pie": ",ecn=true,ecn_mark_limit=1", "ared": ",ecn=true"}


def _f13_cases(_profile: Profile) -> dict[str, Case]:
    cases = {}
    for n in _PER_SENDER:
        for aqm in AQMS:
            cases[f"n{n}.without.{aqm}"] = Case(scenario(queue(aqm), 4 * n), _KEEP)
            with_ecn = scenario(queue(aqm, ecn=_MARK[aqm]), 4 * n, ecn=True)
            cases[f"n{n}.ecn.{aqm}"] = Case(with_ecn, _KEEP)
        fallback = scenario(queue("pie", ecn=",ecn=true,ecn_mark_limit=0.1"), 4 * n, ecn=True)
        cases[f"n{n}.ecn.pie.dropping_above_10pct"] = Case(fallback, _KEEP)
    return cases


def _t5_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for n in _PER_SENDER:
        for aqm in (*AQMS, "pie.dropping_above_10pct"):
            with_ecn, without = pools[f"n{n}.ecn.{aqm}"], pools[f"n{n}.without.{aqm.split('.')[0]}"]
            marked = with_ecn.number("queue/bottleneck/mark_rate")
            dropped = without.number("queue/bottleneck/drop_rate")
            marks_per_s = marked * with_ecn.number("queue/bottleneck/arrived") / 60
            drops_per_s = dropped * without.number("queue/bottleneck/arrived") / 60
            also = with_ecn.number("queue/bottleneck/drop_rate")
            values |= measures.under(
                f"n{n}.{aqm}",
                {
                    "ratio": marked / dropped,
                    "ratio_of_rates_per_s": marks_per_s / drops_per_s,
                    "ratio_with_drops": (marked + also) / dropped,
                    "mark_rate_ecn_pct": 100 * marked,
                    "drop_rate_without_pct": 100 * dropped,
                    "drop_rate_ecn_pct": 100 * also,
                    "marks_per_s": marks_per_s,
                    "drops_per_s": drops_per_s,
                },
            )
    return values


def _t5_tables(values: Values) -> list[Table]:
    rows = [[f"{n}", *(f"{values[f'n{n}.{aqm}.ratio']:.3f}" for aqm in AQMS)] for n in _PER_SENDER]
    header = ["flows per sender", *(NAMES[aqm] for aqm in AQMS)]
    return [Table("Marking rate with ECN over dropping rate without", header, rows)]


def _ecn_figures(
    name: str, metric: str, words: str
) -> Callable[[Pools, Values], Mapping[str, Figure]]:
    def figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
        panels = [
            _panel(
                values,
                f"({letter}) {label}",
                metric,
                {f"n{n}.{case}": f"{n}" for n in _PER_SENDER},
                "flows per sender",
            )
            for letter, case, label in (("a", "without", "without ECN"), ("b", "ecn", "with ECN"))
        ]
        return {name: boxes(f"{words}, target 5 ms; {_BOXES}", panels, COLOURS, columns=2)}

    return figures


_SEEDS = Seeds(3, 10)
_WLAN = "an access point of 802.11g: the engine has no model of a wireless LAN yet"

ITEMS = (
    Item("T1", "Literature coverage", "external", missing="not an experiment"),
    Item(
        "T2",
        "PIE parameters",
        "parameters",
        measure=_t2_measure,
        tables=_listed("PIE as configured"),
    ),
    Item(
        "T3",
        "ARED parameters",
        "parameters",
        measure=_t3_measure,
        tables=_listed("ARED as configured"),
    ),
    Item(
        "T4",
        "Hardware and software",
        "parameters",
        note="Published: Linux 3.8.2 hosts, a 3.10.4 router, four senders and receivers. Here: the "
        "TCP profile kids-3.8, codel@linux, fq_codel@linux, pie@paper2013 with the heuristics of "
        "the first mainline version, ared@kids without gentle mode.",
    ),
    Item("F1", "Wireless topology", "structure", missing=_WLAN),
    Item(
        "F2",
        "One TCP flow: RTT and goodput against the target",
        cases=_f2_cases,
        seeds=_SEEDS,
        measure=_measure,
        figures=_f2_figures,
        tables=_total_tables,
        note="Percentiles pool the runs; means of per-run percentiles stand beside them.",
    ),
    Item(
        "F3",
        "RTT against the target at three congestion levels",
        cases=_f3_cases,
        seeds=_SEEDS,
        measure=_measure,
        figures=_by_level("F3", "rtt", "RTT", _TARGET_GROUPS, "target [ms]"),
    ),
    Item(
        "F4",
        "Goodput against the target at three congestion levels",
        cases=_f3_cases,
        seeds=_SEEDS,
        measure=_measure,
        figures=_by_level("F4", "goodput5s", "Goodput", _TARGET_GROUPS, "target [ms]"),
    ),
    Item(
        "F5",
        "CoDel with intervals of 5, 30 and 100 ms",
        cases=_f5_cases,
        seeds=_SEEDS,
        measure=_scale_measure("interval", "codel", 100),
        figures=_scale_figures("F5", "interval", "codel"),
    ),
    Item(
        "F6",
        "PIE with t_update of 5, 30 and 100 ms",
        cases=_f6_cases,
        seeds=_SEEDS,
        measure=_scale_measure("tupdate", "pie", 30),
        figures=_scale_figures("F6", "tupdate", "pie"),
    ),
    Item(
        "F7",
        "Queuing delay for base RTTs of 5, 100 and 500 ms",
        cases=_f7_cases,
        seeds=_SEEDS,
        measure=_f7_measure,
        figures=_by_level("F7", "qd", "Queuing delay", _RTT_GROUPS, "base RTT [ms]"),
    ),
    Item(
        "F8",
        "Goodput for base RTTs of 5, 100 and 500 ms",
        cases=_f7_cases,
        seeds=_SEEDS,
        measure=_f7_measure,
        figures=_by_level("F8", "goodput5s", "Goodput", _RTT_GROUPS, "base RTT [ms]"),
    ),
    Item("F9", "802.11 downlink: RTT and goodput", missing=_WLAN),
    Item("F10", "802.11 mixed up- and downlink: RTT and goodput", missing=_WLAN),
    Item(
        "F11",
        "CoDel against FQ_CoDel: RTT by number of flows",
        cases=_f11_cases,
        seeds=_SEEDS,
        measure=_f11_measure,
        figures=_f11_figures,
    ),
    Item(
        "F12",
        "RTT of one flow over time, CoDel and FQ_CoDel",
        cases=_f12_cases,
        seeds=Seeds(2, 5),
        measure=_f12_measure,
        figures=_f12_figures,
        note="Numbers pool the first four flows; jitter is the change from packet to packet.",
    ),
    Item(
        "T5",
        "Marking rate with ECN over dropping rate without",
        cases=_f13_cases,
        seeds=_SEEDS,
        measure=_t5_measure,
        tables=_t5_tables,
        note="Marks per arrival over drops per arrival. PIE marks at any probability here; a "
        "variant that drops above 10 % is measured beside it.",
    ),
    Item(
        "F13",
        "RTT with and without ECN",
        cases=_f13_cases,
        seeds=_SEEDS,
        measure=_measure,
        figures=_ecn_figures("F13", "rtt", "RTT"),
    ),
    Item(
        "F14",
        "Goodput with and without ECN",
        cases=_f13_cases,
        seeds=_SEEDS,
        measure=_measure,
        figures=_ecn_figures("F14", "goodput5s", "Goodput"),
    ),
    Item(
        "G",
        "Across figures: ARED against CoDel and PIE",
        cases=_f3_cases,
        seeds=_SEEDS,
        measure=_measure,
    ),
)


def _mean(found: list[float]) -> float:
    return float(np.mean(found))


def _all(
    keys: Iterable[str], metric: str, kind: Callable[[list[float]], float]
) -> Callable[[Values], float]:
    names = [f"{key}.{metric}" for key in keys]
    return lambda v: kind([v[name] for name in names])


def _over(aqm: str) -> list[str]:
    return [f"target{ms}ms.{aqm}" for ms in TARGETS_MS]


_TOTAL = "goodput_total_mbps"


_CLAIMS_F2: list[Claim] = [
    several(
        "kids-T2-1",
        "exact",
        "t_update 30 ms, target 20 ms, alpha 2, beta 20 (sixteenths)",
        is_number("t_update", "tupdate_ms", 30, "ms"),
        is_number("target", "target_ms", 20, "ms"),
        is_number("alpha", "alpha_sixteenths", 2, ""),
        is_number("beta", "beta_sixteenths", 20, ""),
    ),
    several(
        "kids-T3-1",
        "exact",
        "interval 500 ms, alpha min(0.01, max_p/4), beta 0.9",
        is_number("interval", "adapt_interval_ms", 500, "ms"),
        is_number("alpha", "adapt_alpha", 0.01, ""),
        is_number("beta", "adapt_beta", 0.9, ""),
    ),
    *(
        several(
            f"kids-F2-{i}",
            "exact",
            f"total goodput over the targets, {NAMES[a]}",
            is_number("least", _all(_over(a), _TOTAL, min), low, "Mbit/s"),
            is_number("largest", _all(_over(a), _TOTAL, max), high, "Mbit/s"),
        )
        for i, a, low, high in ((1, "codel", 8.20, 8.94), (2, "ared", 7.06, 8.71))
    ),
    order(
        "kids-F2-3",
        "targets above 1 ms: median queuing delay not above the target",
        *(more(float(ms), f"target{ms}ms.{a}.qd.p50_ms") for ms in TARGETS_MS[1:] for a in AQMS),
    ),
    order(
        "kids-F2-4",
        "CoDel and PIE: higher maximum and longer upper tail than ARED",
        *(
            more(f"target{ms}ms.{a}.qd.p99_ms", f"target{ms}ms.ared.qd.p99_ms")
            for ms in (5, 10, 20)
            for a in ("codel", "pie")
        ),
    ),
    order(
        "kids-F2-5",
        "CoDel has the best goodput of the three",
        *(
            more(
                _all(_over("codel"), _TOTAL, _mean),
                _all(_over(a), _TOTAL, _mean),
                label=f"mean over targets, CoDel > {NAMES[a]}",
            )
            for a in ("pie", "ared")
        ),
    ),
    order(
        "kids-F2-6",
        "ARED underuses the link for targets up to 10 ms",
        *(more(9.5, f"target{ms}ms.ared.{_TOTAL}") for ms in (1, 5, 10)),
    ),
]


def _tail(prefix: str) -> Callable[[Values], float]:
    return lambda v: v[f"{prefix}.qd.p90_ms"] - v[f"{prefix}.qd.p10_ms"]


def _off_target(level: str, aqm: str) -> Callable[[Values], float]:
    """Mean distance of the median from the target, targets from 5 ms on."""
    return lambda v: float(
        np.mean([abs(v[f"{level}.target{ms}ms.{aqm}.qd.p50_ms"] - ms) for ms in TARGETS_MS[1:]])
    )


def _target_slope(level: str, aqm: str) -> Callable[[Values], float]:
    """Rise of the median per ms of target, from 1 to 30 ms."""
    return lambda v: (
        (v[f"{level}.target30ms.{aqm}.qd.p50_ms"] - v[f"{level}.target1ms.{aqm}.qd.p50_ms"]) / 29.0
    )


_PAIR, _GOOD = ("codel", "pie"), "goodput5s.p50_mbps"


def _rising(aqm: str, q: str) -> tuple[Part, ...]:
    return tuple(
        more(f"{b}.target5ms.{aqm}.qd.{q}_ms", f"{a}.target5ms.{aqm}.qd.{q}_ms")
        for a, b in (("light", "moderate"), ("moderate", "heavy"))
    )


_CLAIMS_F3_F4: list[Claim] = [
    order(
        "kids-F3-1",
        "CoDel, PIE: median, p10, p90 grow with congestion",
        *(p for a in _PAIR for q in ("p50", "p10", "p90") for p in _rising(a, q)),
    ),
    order(
        "kids-F3-2",
        "ARED: median closer to the target than CoDel and PIE at all levels",
        *(
            more(
                _off_target(lv, a),
                _off_target(lv, "ared"),
                label=f"distance from the target, {lv}: {NAMES[a]} > ARED",
            )
            for lv in LEVELS
            for a in _PAIR
        ),
    ),
    order(
        "kids-F3-3",
        "ARED: median and percentiles fall as the target falls",
        *(
            more(f"{lv}.target{b}ms.ared.qd.{q}_ms", f"{lv}.target{a}ms.ared.qd.{q}_ms")
            for lv in LEVELS
            for q in ("p10", "p50", "p90")
            for a, b in pairwise(TARGETS_MS)
        ),
    ),
    order(
        "kids-F3-4",
        "CoDel and PIE: correlation with the target weaker at higher congestion",
        *(
            more(
                _target_slope("light", a),
                _target_slope("heavy", a),
                label=f"rise of the median with the target, {NAMES[a]}: light > heavy",
            )
            for a in _PAIR
        ),
    ),
    order(
        "kids-F3-5",
        "CoDel and PIE: longer tails than ARED, clearest under heavy load",
        *(
            more(
                _tail(f"{lv}.target5ms.{a}"),
                _tail(f"{lv}.target5ms.ared"),
                label=f"p90 - p10 at 5 ms, {lv}: {NAMES[a]} > ARED",
            )
            for lv in LEVELS
            for a in _PAIR
        ),
    ),
    order(
        "kids-F3-6",
        "PIE, heavy, target up to 10 ms: very large fluctuation",
        *(
            more(
                _tail(f"heavy.target{ms}ms.pie"),
                float(2 * ms),
                label=f"p90 - p10 at {ms} ms > twice the target",
            )
            for ms in (1, 5, 10)
        ),
    ),
    order(
        "kids-F3-7",
        "ARED: tail length falls as the target falls",
        *(
            more(
                _tail(f"{lv}.target{b}ms.ared"),
                _tail(f"{lv}.target{a}ms.ared"),
                label=f"p90 - p10, {lv}: {b} ms > {a} ms",
            )
            for lv in LEVELS
            for a, b in ((1, 10), (10, 30))
        ),
    ),
    order(
        "kids-F3-8",
        "moderate and heavy: ARED's median below CoDel's and PIE's at the same target",
        *(
            more(f"{lv}.target{ms}ms.{a}.qd.p50_ms", f"{lv}.target{ms}ms.ared.qd.p50_ms")
            for lv in ("moderate", "heavy")
            for ms in TARGETS_MS
            for a in _PAIR
        ),
    ),
    several(
        "kids-F4-1",
        "exact",
        "light, ARED: median between 9.26 and 9.73 Mbit/s, targets 5 to 30 ms",
        *(
            is_within(f"{ms} ms", f"light.target{ms}ms.ared.{_GOOD}", 9.26, 9.73, "Mbit/s")
            for ms in TARGETS_MS[1:]
        ),
    ),
    several(
        "kids-F4-2",
        "exact",
        "light, PIE: median between 9.46 and 9.72 Mbit/s for all targets",
        *(
            is_within(f"{ms} ms", f"light.target{ms}ms.pie.{_GOOD}", 9.46, 9.72, "Mbit/s")
            for ms in TARGETS_MS
        ),
    ),
    order(
        "kids-F4-3",
        "light: ARED's median falls clearly at 1 ms",
        more(f"light.target5ms.ared.{_GOOD}", f"light.target1ms.ared.{_GOOD}", 1.02),
    ),
    order(
        "kids-F4-4",
        "moderate: ARED equals PIE and CoDel except at 1 ms (lower)",
        *(
            alike(
                f"moderate.target{ms}ms.ared.{_GOOD}",
                f"moderate.target{ms}ms.{a}.{_GOOD}",
                within=0.05,
                floor=0.05,
            )
            for ms in TARGETS_MS[1:]
            for a in _PAIR
        ),
        *(
            more(f"moderate.target1ms.{a}.{_GOOD}", f"moderate.target1ms.ared.{_GOOD}")
            for a in _PAIR
        ),
    ),
    several(
        "kids-F4-5",
        "approx",
        "heavy: all three about 9.7 Mbit/s",
        *(
            is_number(f"{NAMES[a]}, {ms} ms", f"heavy.target{ms}ms.{a}.{_GOOD}", 9.7, "Mbit/s")
            for a in AQMS
            for ms in TARGETS_MS
        ),
    ),
]


_PAIR = ("codel", "pie")


def _middle(level: str, a: int, b: int) -> Callable[[Values], float]:
    return lambda v: float(
        np.median(
            [
                v[f"{level}.rtt{a}ms.{q}.qd.p50_ms"] - v[f"{level}.rtt{b}ms.{q}.qd.p50_ms"]
                for q in AQMS
            ]
        )
    )


_CLAIMS_F5_F8: list[Claim] = [
    order(
        "kids-F5-1",
        "an interval below 100 ms lowers the median queuing delay at every level",
        *(
            more(f"{lv}.interval100ms.codel.qd.p50_ms", f"{lv}.interval{ms}ms.codel.qd.p50_ms")
            for lv in LEVELS
            for ms in (5, 30)
        ),
    ),
    several(
        "kids-F5-2",
        "exact",
        "light: median goodput loses 3.56 % at the small interval",
        is_number("fall at 5 ms", "light.interval5ms.codel.goodput5s_p50_fall_pct", 3.56, "%"),
    ),
    order(
        "kids-F5-3",
        "moderate and heavy: no noticeable loss of goodput",
        *(
            not_less(
                f"{lv}.interval5ms.codel.goodput5s.p50_mbps",
                f"{lv}.interval100ms.codel.goodput5s.p50_mbps",
            )
            for lv in ("moderate", "heavy")
        ),
    ),
    order(
        "kids-F6-1",
        "finer t_update: lower queuing delay",
        *(
            more(f"{lv}.tupdate100ms.pie.qd.p50_ms", f"{lv}.tupdate5ms.pie.qd.p50_ms")
            for lv in LEVELS
        ),
    ),
    order(
        "kids-F6-2",
        "coarser t_update: better goodput",
        more(
            "light.tupdate100ms.pie.goodput5s.p50_mbps", "light.tupdate5ms.pie.goodput5s.p50_mbps"
        ),
    ),
    order(
        "kids-F6-3",
        "the delay trend is clearer under light load",
        more("light.tupdate5ms.pie.qd_p50_fall_pct", "heavy.tupdate5ms.pie.qd_p50_fall_pct"),
    ),
    several(
        "kids-F6-4",
        "exact",
        "light: median queuing delay falls by 28.6 % from 30 to 5 ms",
        is_number("fall", "light.tupdate5ms.pie.qd_p50_fall_pct", 28.6, "%"),
    ),
    several(
        "kids-F6-5",
        "exact",
        "light: median goodput falls by 1.86 % from 30 to 5 ms",
        is_number("fall", "light.tupdate5ms.pie.goodput5s_p50_fall_pct", 1.86, "%"),
    ),
    order(
        "kids-F7-1",
        "for most AQMs the queuing delay is lower at a large base RTT",
        *(
            Part(f"{lv}: median over the AQMs of the fall from 5 to 500 ms", _middle(lv, 5, 500))
            for lv in LEVELS
        ),
    ),
    order(
        "kids-F7-2",
        "base RTT 5 ms: ARED's queuing delay below CoDel's and PIE's at all levels",
        *(
            more(f"{lv}.rtt5ms.{a}.qd.p50_ms", f"{lv}.rtt5ms.ared.qd.p50_ms")
            for lv in LEVELS
            for a in _PAIR
        ),
    ),
    order(
        "kids-F7-3",
        "base RTT 100 and 500 ms: ARED's queuing delay below CoDel's and PIE's",
        *(
            more(f"{lv}.rtt{rtt}ms.{a}.qd.p50_ms", f"{lv}.rtt{rtt}ms.ared.qd.p50_ms")
            for rtt in (100, 500)
            for lv in LEVELS
            for a in _PAIR
        ),
    ),
    order(
        "kids-F8-1",
        "goodput deteriorates at a large base RTT",
        *(
            more(f"{lv}.rtt5ms.{a}.goodput5s.p50_mbps", f"{lv}.rtt500ms.{a}.goodput5s.p50_mbps")
            for lv in LEVELS
            for a in AQMS
        ),
    ),
    order(
        "kids-F8-2",
        "base RTT 5 ms: goodput of the three almost exactly equal",
        *(
            alike(
                f"{lv}.rtt5ms.{a}.goodput5s.p50_mbps",
                f"{lv}.rtt5ms.codel.goodput5s.p50_mbps",
                within=0.02,
                floor=0.05,
            )
            for lv in LEVELS
            for a in ("pie", "ared")
        ),
    ),
]


_CLAIMS_WLAN = [
    not_measured("kids-F9-1", "order", "ARED: significantly lower latency than CoDel and PIE"),
    not_measured("kids-F9-2", "exact", "light, ARED: median goodput 18.6 Mbit/s"),
    not_measured("kids-F9-3", "approx", "light, PIE: median goodput 21 Mbit/s"),
    not_measured(
        "kids-F9-4",
        "order",
        "light: ARED below CoDel and PIE in goodput, improving with congestion",
    ),
    not_measured("kids-F10-1", "approx", "light: median RTT 440 to 530 ms"),
    not_measured(
        "kids-F10-2", "order", "moderate: CoDel and ARED rise above light, further with heavy load"
    ),
    not_measured("kids-F10-3", "order", "PIE: median RTT nearly constant over the levels"),
    not_measured(
        "kids-F10-4", "order", "moderate and heavy: median RTT of PIE below CoDel's and ARED's"
    ),
]


def _fq(ms: int, n: int, q: str) -> Part:
    return more(
        f"target{ms}ms.flows{n}.codel.qd.{q}_ms", f"target{ms}ms.flows{n}.fq_codel.qd.{q}_ms"
    )


def _largest_rise(v: Values) -> float:
    return max(-v[f"target5ms.flows{n}.fq_codel.qd.p90_reduction_pct"] for n in _FLOWS)


_CLAIMS_F11_F12: list[Claim] = [
    order(
        "kids-F11-1",
        "CoDel: median, p10, p90 of RTT grow with the number of flows",
        *(
            more(
                f"target{ms}ms.flows{b}.codel.rtt.{q}_ms", f"target{ms}ms.flows{a}.codel.rtt.{q}_ms"
            )
            for ms in (5, 20)
            for q in ("p10", "p50", "p90")
            for a, b in pairwise(_FLOWS)
        ),
    ),
    several(
        "kids-F11-2",
        "exact",
        "5 ms: FQ_CoDel lowers the median queuing delay by 25 to 57 %",
        *(
            is_within(
                f"{n} flows", f"target5ms.flows{n}.fq_codel.qd.p50_reduction_pct", 25, 57, "%"
            )
            for n in _FLOWS
        ),
    ),
    order(
        "kids-F11-3",
        "5 ms: FQ_CoDel lowers the 10th percentile",
        *(_fq(5, n, "p10") for n in _FLOWS),
    ),
    several(
        "kids-F11-4",
        "approx",
        "5 ms: FQ_CoDel raises the 90th percentile in some cases by 13 to 20 %",
        is_within("largest rise", _largest_rise, 13, 20, "%"),
    ),
    order(
        "kids-F11-5",
        "20 ms: median and p10 lower with FQ_CoDel",
        *(_fq(20, n, q) for n in _FLOWS for q in ("p10", "p50")),
    ),
    order(
        "kids-F12-1",
        "FQ_CoDel: lower latency in general",
        *(more(f"{lv}.codel.rtt.p50_ms", f"{lv}.fq_codel.rtt.p50_ms") for lv in LEVELS),
    ),
    order(
        "kids-F12-2",
        "FQ_CoDel: larger jitter (spikes) than CoDel",
        *(more(f"{lv}.fq_codel.jitter.mean_ms", f"{lv}.codel.jitter.mean_ms") for lv in LEVELS),
    ),
    order(
        "kids-F12-3",
        "both effects grow with congestion",
        more(
            lambda v: v["heavy.codel.rtt.p50_ms"] - v["heavy.fq_codel.rtt.p50_ms"],
            lambda v: v["light.codel.rtt.p50_ms"] - v["light.fq_codel.rtt.p50_ms"],
            label="lower latency: heavy > light",
        ),
        more(
            lambda v: v["heavy.fq_codel.jitter.mean_ms"] - v["heavy.codel.jitter.mean_ms"],
            lambda v: v["light.fq_codel.jitter.mean_ms"] - v["light.codel.jitter.mean_ms"],
            label="jitter: heavy > light",
        ),
    ),
]


_T5 = {1: (1.256, 1.156, 6.621), 4: (1.356, 1.106, 3.465)}


_CELLS = [(n, aqm, value) for n, row in _T5.items() for aqm, value in zip(AQMS, row, strict=True)]
_PAIR, _GOOD = ("codel", "pie"), "goodput5s.p50_mbps"


def _apart(n: int, aqm: str) -> Measure:
    """By how much more than 5 % medians with and without ECN differ."""
    with_ecn, without = (f"n{n}.{case}.{aqm}.qd.p50_ms" for case in ("ecn", "without"))
    return lambda v: abs(v[with_ecn] / v[without] - 1) - 0.05


def _rise(aqm: str) -> Callable[[Values], float]:
    return lambda v: v[f"n16.ecn.{aqm}.rtt.p50_ms"] - v[f"n1.ecn.{aqm}.rtt.p50_ms"]


_CLAIMS_ECN: list[Claim] = [
    *(
        several(
            f"kids-T5-{i}",
            "exact",
            f"{NAMES[a]}, {n} per sender",
            is_number("ratio", f"n{n}.{a}.ratio", value, ""),
        )
        for i, (n, a, value) in enumerate(_CELLS, 1)
    ),
    order(
        "kids-T5-7",
        "1 and 4 per sender: ARED's ratio far above CoDel's and PIE's",
        *(more(f"n{n}.ared.ratio", f"n{n}.{a}.ratio", 2) for n in (1, 4) for a in _PAIR),
    ),
    order(
        "kids-T5-8",
        "1 and 4 per sender: every ratio above 1",
        *(more(f"n{n}.{a}.ratio", 1.0) for n in (1, 4) for a in AQMS),
    ),
    order(
        "kids-F13-1",
        "significant difference between ECN and non-ECN",
        *(
            Part(
                f"{NAMES[a]}, n = {n}: medians differ by more than 5 %",
                _apart(n, a),
            )
            for n in (4, 16)
            for a in AQMS
        ),
    ),
    order(
        "kids-F13-2",
        "without ECN: ARED has a better RTT than CoDel and PIE",
        *(
            more(f"n{n}.without.{a}.rtt.p50_ms", f"n{n}.without.ared.rtt.p50_ms")
            for n in (4, 8, 16)
            for a in _PAIR
        ),
    ),
    order(
        "kids-F13-3",
        "with ECN: ARED's RTT is badly affected as congestion grows",
        more(_rise("ared"), 5.0, label="rise of ARED's median from 1 to 16 per sender > 5 ms"),
        *(
            more(_rise("ared"), _rise(a), label=f"rise of the median: ARED > {NAMES[a]}")
            for a in _PAIR
        ),
    ),
    order(
        "kids-F14-1",
        "ECN: ARED's goodput falls as congestion decreases",
        *(more(f"n{b}.ecn.ared.{_GOOD}", f"n{a}.ecn.ared.{_GOOD}") for a, b in ((1, 4), (4, 16))),
    ),
    order(
        "kids-F14-2",
        "ARED CE-marks more than the others at small loads",
        *(more("n1.ecn.ared.mark_rate_pct", f"n1.ecn.{a}.mark_rate_pct") for a in _PAIR),
    ),
    order(
        "kids-G-1",
        "ARED beats CoDel and PIE in delay at every level (target 5 ms)",
        *(
            more(f"{lv}.target5ms.{a}.qd.p50_ms", f"{lv}.target5ms.ared.qd.p50_ms")
            for lv in LEVELS
            for a in _PAIR
        ),
    ),
]


# Why claims do not hold here, with the experiment that shows it.
_HOLDS_TARGET = (
    "PIE holds its target here at every load, and no PIE we have does what the report saw. "
    "Median queuing delay at 64 flows and a target of 5 ms (three seeds): 3.6 ms with the "
    "heuristics of the first mainline version, 3.6 without, 4.1 with mainline Linux in its "
    "integers, 4.9 with the ns-2 code, 5.2 with RFC 8033; ARED 5.7. The report's module of 2013 "
    "is not published. Queues that a law cannot see (HTB, driver, hosts) are not in this model "
    "and would add to all three."
)
_ISOLATED = (
    "flow queues do more here: the median falls by 14 % at 4 flows (3.6 to 3.1 ms) and by 87 % "
    "at 64 (33.1 to 4.4 ms), while the 90th percentile rises from 76 to 88 ms. The report "
    "measured RTTs between hosts; delays outside this queue, which it subtracts as base RTT only "
    "in part, would lessen what the queue gains."
)
_SHORT = (
    "the medians rest on 12 bins of 5 s per run, of which one or two are slow start; the noise of "
    "the runs is as large as the change that is asked for."
)
DIFFERS = {
    "F2-5": "CoDel is above ARED. PIE is above CoDel at targets of 1 and 5 ms (7.54 and 7.74 "
    "against 7.34 and 7.48 Mbit/s): its rule against early drops lets short queues be.",
    "F3-1": _HOLDS_TARGET,
    "F3-2": f"true of CoDel. Of PIE not: {_HOLDS_TARGET}",
    "F3-3": "medians fall with the target. The 10th percentile under light load is zero for the "
    "targets 1, 5 and 10 ms: the queue is empty a tenth of the time, and cannot be emptier.",
    "F3-4": "from a target of 1 ms to 30 ms PIE's median rises by 23 (light) and 26 ms (heavy), "
    "CoDel's by 14 and 25 ms: the load lifts CoDel's medians without flattening them. ",
    "F3-6": _HOLDS_TARGET,
    "F3-8": f"true of CoDel. Of PIE not: {_HOLDS_TARGET}",
    "F5-2": _SHORT,
    "F5-3": f"heavy: none. Moderate: about 5 %. {_SHORT}",
    "F6-1": f"light and moderate as in the report. Heavy: {_HOLDS_TARGET}",
    "F6-4": _SHORT,
    "F6-5": _SHORT,
    "F7-2": f"true of CoDel. Of PIE not: {_HOLDS_TARGET}",
    "F7-3": "true of CoDel, and of PIE but under heavy load. At 500 ms and 4 flows all medians are "
    f"zero: the link is not full. {_HOLDS_TARGET}",
    "F11-1": "from 32 to 64 flows the 90th percentile is that of slow start, which lasts as long.",
    "F11-2": _ISOLATED,
    "F11-3": "with 4 flows a tenth of the packets do not wait with either.",
    "F11-4": "the largest rise is 35 %, at 4 flows (11.6 to 15.7 ms); at 64 flows it is 16 %.",
    "F11-5": "medians are lower; with 4 flows a tenth of the packets do not wait with either.",
    "T5-1": "marks per arrival and drops per arrival are alike here at one flow per sender (0.94): "
    "CoDel's law counts signals, whatever they are.",
    "T5-3": "marking is frequent (5.8 % of arrivals) where dropping is rare (0.6 %): the order "
    "is the report's, the ratio is larger (9.6 against 6.6).",
    "T5-8": "CoDel at one flow per sender has 0.94 with an interval of 0.18: no difference.",
    "F13-2": f"true of CoDel. Of PIE not: {_HOLDS_TARGET}",
    "F13-3": "ARED's median rises by 10 ms from 1 to 16 flows per sender, CoDel's by 50 ms. "
    "PIE's rises by 95 ms if it marks at any probability, the reading chosen, and not at all if "
    "it drops above 10 %.",
    "F14-1": "at one and four flows per sender ARED's median goodput differs by less than the "
    "noise.",
    "G-1": f"true of CoDel at every level, of PIE under light and moderate load. {_HOLDS_TARGET}",
}

_READ_BACK = "compares what the simulator is told; what the kernel is told is read back in every run"
_TESTBED = Testbed(
    items=("T4", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F11", "F12", "T5", "F13", "F14", "G"),
    note="On engine linux hosts and router are the kernel named above, not Linux 3.8 and 3.10: its "
    "reno has RACK and tail loss probes, its PIE is RFC 8033's (no early drop below half the target "
    "and 20 %, drops instead of marks above 10 %, a burst allowance of 150 ms). ARED and the thresholds are the report's. The shaper is CBS, not HTB, "
    "under which RED never learns that it is idle. Access links of 100 Mbit/s are one for a group.",
    notes={
        "T4": "Published: Linux 3.8.2 hosts, a 3.10.4 router, four senders and receivers. Here: one "
        "guest kernel in virtual time, its own TCP (reno, SACK, initial window 10, no timestamps), "
        "codel, fq_codel, pie and red through tc; all of it is in the manifest of a run.",
        "T5": "Marks per arrival over drops per arrival. The kernel's PIE drops above 10 %, so both "
        "variants of PIE are the same runs here.",
    },
    missing={"T2": _READ_BACK, "T3": _READ_BACK},
)

PAPER = Paper(
    key="kids",
    title="The New AQM Kids on the Block: Much Ado About Nothing?",
    source="Khademi, Ros, Welzl; University of Oslo, Technical Report 434, 2013",
    about="CoDel and PIE against Adaptive RED, which is twelve years older, in a Linux testbed of "
    "10 Mbit/s: different targets, loads, time scales and round-trip times, flow queues and ECN.",
    items=ITEMS,
    claims=explained(
        [
            *_CLAIMS_F2,
            *_CLAIMS_F3_F4,
            *_CLAIMS_F5_F8,
            *_CLAIMS_WLAN,
            *_CLAIMS_F11_F12,
            *_CLAIMS_ECN,
        ],
        DIFFERS,
    ),
    testbed=_TESTBED,
)
