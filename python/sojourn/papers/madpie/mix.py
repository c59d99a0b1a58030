"""Figures 6 to 8: a mix of traffic (S2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.madpie.common import COLOURS, NAMES, PIES, QD, S2_AQMS, S2_RTTS, SIZES_KB, s2
from sojourn.papers.madpie.values import (
    BULK_KEEP,
    KEEP,
    cbr,
    download_panel,
    downloads,
    five,
    goodput_curve,
    goodput_values,
)
from sojourn.plots import style
from sojourn.plots.boxes import boxes
from sojourn.plots.cross import CrossPanel, cross
from sojourn.plots.curves import Panel, curves
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Case, Item, Pools, Profile, Seeds, Values


def _s2_cases(_profile: Profile) -> dict[str, Case]:
    return {f"rtt{rtt}.{aqm}": Case(s2(aqm, rtt), KEEP) for rtt in S2_RTTS for aqm in S2_AQMS}


def _f6_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, cbr(pool, "cbr", int(key.split(".")[0][3:])))
        values |= measures.under(f"{key}.all_packets", measures.delays(pool.distribution()))
    for rtt in S2_RTTS:
        for q in ("p5", "p25", "p50", "p75", "p95"):
            pie, own = values[f"rtt{rtt}.pie.qd.{q}_ms"], values[f"rtt{rtt}.madpie.qd.{q}_ms"]
            values[f"rtt{rtt}.pie_minus_madpie.qd.{q}_ms"] = pie - own
    return values


def _f6_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    colours = dict(zip((f"RTT {rtt} ms" for rtt in S2_RTTS), style.PALETTE[1:], strict=False))
    panels = []
    for letter, aqm in zip("bcd", S2_AQMS, strict=True):
        crosses = {
            f"RTT {rtt} ms": (
                five(values, f"rtt{rtt}.{aqm}.qd", "ms"),
                five(values, f"rtt{rtt}.{aqm}.goodput", "kbps"),
            )
            for rtt in S2_RTTS
        }
        panels.append(
            CrossPanel(
                f"({letter}) {NAMES[aqm]}",
                crosses,
                # DropTail's delays are five times those of the AQMs, so it has a separate axis.
                QD.replace(" [", " of DropTail [") if aqm == "droptail" else QD,
                "goodput of a flow [kbit/s]",
                (0, None),
                (60, None),
            )
        )
    return {"F6": cross("S2: CBR flows, 5/25/50/75/95 percentiles", panels, colours)}


def _f7_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, downloads(pool, "files"))
    for rtt in S2_RTTS:
        for kb in SIZES_KB:
            for q in ("p50", "p75", "p95"):
                pie = values.get(f"rtt{rtt}.pie.{kb}kb.{q}_ms", np.nan)
                own = values.get(f"rtt{rtt}.madpie.{kb}kb.{q}_ms", np.nan)
                values[f"rtt{rtt}.pie_minus_madpie.{kb}kb.{q}_ms"] = pie - own
    return values


def _f7_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = [
        download_panel(values, f"RTT {rtt} ms", {NAMES[aqm]: f"rtt{rtt}.{aqm}" for aqm in S2_AQMS})
        for rtt in S2_RTTS
    ]
    title = "S2: download time of short files; whiskers 5 and 95 %, box 25 and 75 %"
    return {"F7": boxes(title, panels, COLOURS)}


def _f8_cases(_profile: Profile) -> dict[str, Case]:
    return {f"rtt{rtt}.{a}": Case(s2(a, rtt), BULK_KEEP) for rtt in S2_RTTS for a in S2_AQMS}


def _f8_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, goodput_values(pool, "bulk"))
    return values


_DASHES = {100: "solid", 300: (0, (5, 1.5)), 500: (0, (1.5, 1.2))}


def _f8_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    lines = [
        goodput_curve(
            pools[f"rtt{rtt}.{aqm}"],
            "bulk",
            f"{NAMES[aqm]}, RTT {rtt} ms",
            COLOURS[NAMES[aqm]],
            _DASHES[rtt],
        )
        for aqm in S2_AQMS
        for rtt in S2_RTTS
    ]
    panel = Panel(
        "all bulk flows together", lines, "goodput per 1 s [Mbit/s]", "CDF", (2, 10), (0, 1.01)
    )
    return {"F8": curves("S2: goodput of the bulk flows", [panel], height_in=3.4)}


def _g_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        found = cbr(pool, "cbr", int(key.split(".")[0][3:]))
        values |= {f"{key}.qd.{q}_ms": found[f"qd.{q}_ms"] for q in ("p50", "p75", "p95")}
    return values


# fmt: off
ITEMS = (
    Item("F6", "S2: CBR traffic", cases=_s2_cases, variants=PIES,
        seeds=Seeds(3, 20), published_runs="20 runs",
        measure=_f6_measure, figures=_f6_figures,
        note="Queuing delay of CBR packets: one-way delay less its base."),
    Item("F7", "S2: download time of the short files", cases=_s2_cases, variants=PIES,
        seeds=Seeds(3, 20),
        published_runs="20 runs", measure=_f7_measure, figures=_f7_figures,
        note="Each file comes over a new connection; the time runs from its SYN to its last byte."),
    Item("F8", "S2: goodput of the bulk flows", cases=_f8_cases, variants=PIES,
        seeds=Seeds(3, 20),
        published_runs="20 runs", measure=_f8_measure, figures=_f8_figures,
        note="Goodput of all flows counts when it arrives, in order or not (our choice)."),
)
# fmt: on


# fmt: off
ACROSS = Item("G", "Across figures: what deterministic drops change, by RTT", cases=_s2_cases,
    variants=PIES, seeds=Seeds(3, 20), published_runs="20 runs", measure=_g_measure)
# fmt: on
