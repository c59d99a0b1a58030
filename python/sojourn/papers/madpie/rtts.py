"""Figures 10 to 12: a mix of traffic and of round-trip times (S3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.madpie.common import COLOURS, NAMES, PIES, QD, S3_AQMS, s2, s3
from sojourn.papers.madpie.values import (
    BULK_KEEP,
    FIVE,
    KEEP,
    cbr,
    download_panel,
    downloads,
    five,
    goodput_curve,
    goodput_values,
)
from sojourn.plots.boxes import boxes
from sojourn.plots.cross import CrossPanel, cross
from sojourn.plots.curves import Panel, curves
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Case, Item, Pools, Profile, Seeds, Values


def _s3_cases(_profile: Profile) -> dict[str, Case]:
    return {aqm: Case(s3(aqm), KEEP) for aqm in S3_AQMS}


def _f10_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for group in (100, 500):
        for aqm in S3_AQMS:
            found = cbr(pools[aqm], f"cbr{group}", group)
            values |= measures.under(f"rtt{group}.{aqm}", found)
            for q in FIVE:
                qd = found[f"qd.{q}_ms"]
                values[f"rtt{group}.{aqm}.qd.{q}_of_owd_pct"] = 100 * qd / (group / 2 + qd)
        for aqm in ("madpie", "codel"):
            for q in FIVE:
                pie = values[f"rtt{group}.pie.qd.{q}_ms"]
                reduction = (
                    100 * (1 - values[f"rtt{group}.{aqm}.qd.{q}_ms"] / pie) if pie else np.nan
                )
                values[f"rtt{group}.{aqm}.qd.{q}_reduction_pct"] = reduction
                one_way = (f"rtt{group}.{a}.owd.{q}_ms" for a in ("pie", aqm))
                before, after = (values[name] for name in one_way)
                values[f"rtt{group}.{aqm}.owd.{q}_reduction_pct"] = 100 * (1 - after / before)
    return values


def _f10_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = []
    for group in (100, 500):
        crosses = {
            NAMES[aqm]: (
                five(values, f"rtt{group}.{aqm}.qd", "ms"),
                five(values, f"rtt{group}.{aqm}.goodput", "kbps"),
            )
            for aqm in S3_AQMS
        }
        panels.append(
            CrossPanel(
                f"{group} ms path", crosses, QD, "goodput of a flow [kbit/s]", (0, None), (60, None)
            )
        )
    return {"F10": cross("S3: CBR flows, 5/25/50/75/95 percentiles", panels, COLOURS, columns=2)}


def _f11_cases(profile: Profile) -> dict[str, Case]:
    return _s3_cases(profile) | {f"s2.{aqm}": Case(s2(aqm, 100), KEEP) for aqm in ("pie", "madpie")}


def _f11_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for group in (100, 500):
        for aqm in S3_AQMS:
            values |= measures.under(f"rtt{group}.{aqm}", downloads(pools[aqm], f"files{group}"))
    for aqm in ("pie", "madpie"):
        values |= measures.under(f"s2.rtt100.{aqm}", downloads(pools[f"s2.{aqm}"], "files"))
    return values


def _f11_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = [
        download_panel(
            values, f"({letter}) {group} ms path", {NAMES[a]: f"rtt{group}.{a}" for a in S3_AQMS}
        )
        for letter, group in zip("ab", (100, 500), strict=True)
    ]
    title = "S3: download time of short files; whiskers 5 and 95 %, box 25 and 75 %"
    return {"F11": boxes(title, panels, COLOURS)}


def _f12_cases(_profile: Profile) -> dict[str, Case]:
    return {aqm: Case(s3(aqm), BULK_KEEP) for aqm in S3_AQMS}


def _f12_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for group in (100, 500):
        for aqm in S3_AQMS:
            values |= measures.under(
                f"rtt{group}.{aqm}", goodput_values(pools[aqm], f"bulk{group}")
            )
    return values


def _f12_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for letter, group in zip("ab", (100, 500), strict=True):
        lines = [
            goodput_curve(pools[aqm], f"bulk{group}", NAMES[aqm], COLOURS[NAMES[aqm]], "solid")
            for aqm in S3_AQMS
        ]
        panels.append(
            Panel(
                f"({letter}) {group} ms path",
                lines,
                "goodput per 1 s [Mbit/s]",
                "CDF",
                (0, 10),
                (0, 1.01),
            )
        )
    return {"F12": curves("S3: goodput of the two bulk flows of each path", panels)}


# fmt: off
ITEMS = (
    Item("F10", "S3: CBR traffic", cases=_s3_cases, variants=PIES,
        seeds=Seeds(3, 20), published_runs="20 runs",
        measure=_f10_measure, figures=_f10_figures,
        note="Percentages of the one-way delay refer to base plus queuing delay."),
    Item("F11", "S3: download times", cases=_f11_cases, variants=PIES,
        seeds=Seeds(3, 20),
        published_runs="20 runs", measure=_f11_measure, figures=_f11_figures),
    Item("F12", "S3: goodput of the bulk flows", cases=_f12_cases, variants=PIES,
        seeds=Seeds(3, 20),
        published_runs="20 runs", measure=_f12_measure, figures=_f12_figures,
        note="Goodput of all flows counts when it arrives, in order or not (our choice)."),
)
# fmt: on
