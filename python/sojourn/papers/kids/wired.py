"""Targets, time scales and round-trip times on the wired dumbbell: Figures 2 to 8."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from matplotlib.figure import Figure

from sojourn.papers.kids.common import (
    AQMS,
    BOXES,
    COLOURS,
    KEEP,
    LEVELS,
    NAMES,
    SEEDS,
    TARGET_GROUPS,
    TARGETS_MS,
    WEIGHTS,
    change_pct,
    five,
    measure,
    measure_pool,
    panel,
    queue,
    scenario,
)
from sojourn.plots import style
from sojourn.plots.boxes import BoxPanel, boxes
from sojourn.reproduce import measures
from sojourn.reproduce.paper import (
    Case,
    Cell,
    Item,
    Pools,
    Profile,
    Table,
    Values,
    listed,
)

# Parameter tables and other items that are not experiments.


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


# Figures 2 to 4: against the target.


def _f2_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"target{ms}ms.{aqm}": Case(scenario(queue(aqm, ms), 1), KEEP)
        for ms in TARGETS_MS
        for aqm in AQMS
    }


def _f2_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = [
        panel(values, f"({letter})", metric, TARGET_GROUPS, "target [ms]")
        for letter, metric in (("a", "rtt"), ("b", "goodput5s"))
    ]
    return {"F2": boxes(f"One TCP flow: RTT and goodput; {BOXES}", panels, COLOURS, columns=2)}


def _f2_measure(pools: Pools) -> dict[str, float]:
    values = measure(pools)
    for aqm in AQMS:
        totals = [values[f"target{ms}ms.{aqm}.goodput_total_mbps"] for ms in TARGETS_MS]
        values |= {f"{aqm}.least_mbps": min(totals), f"{aqm}.largest_mbps": max(totals)}
    return values


def _total_tables(_values: Values) -> list[Table]:
    keys = [f"target{ms}ms" for ms in TARGETS_MS]
    rows: list[list[str | Cell]] = [
        [
            NAMES[aqm],
            *(Cell(f"{key}.{aqm}.goodput_total_mbps") for key in keys),
            *(Cell(f"{aqm}.{end}_mbps") for end in ("least", "largest")),
        ]
        for aqm in AQMS
    ]
    header = ["AQM", *(f"{ms} ms" for ms in TARGETS_MS), "least", "largest"]
    return [
        Table("Total goodput in Mbit/s by target, one flow: measured / published", header, rows)
    ]


def _f3_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"{level}.target{ms}ms.{aqm}": Case(scenario(queue(aqm, ms), flows), KEEP)
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
            panel(
                values,
                f"({letter}) {level}",
                metric,
                {f"{level}.{group}": label for group, label in groups.items()},
                x_label,
            )
            for letter, level in zip("abc", LEVELS, strict=True)
        ]
        return {name: boxes(f"{title}; {BOXES}", panels, COLOURS, columns=3)}

    return figures


# Figures 5 and 6: the time scales of CoDel and PIE.

_SCALES_MS = (5, 30, 100)


def _f5_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"{level}.interval{ms}ms.codel": Case(scenario(queue("codel", interval_ms=ms), flows), KEEP)
        for level, flows in LEVELS.items()
        for ms in _SCALES_MS
    }


def _f6_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"{level}.tupdate{ms}ms.pie": Case(scenario(queue("pie", tupdate_ms=ms), flows), KEEP)
        for level, flows in LEVELS.items()
        for ms in _SCALES_MS
    }


def _scale_measure(name: str, aqm: str, base: int) -> Callable[[Pools], dict[str, float]]:
    """Values, and the decrease of medians in percent from the default time scale."""

    def measured(pools: Pools) -> dict[str, float]:
        values = measure(pools)
        for level in LEVELS:
            for ms in _SCALES_MS:
                here, there = f"{level}.{name}{ms}ms.{aqm}", f"{level}.{name}{base}ms.{aqm}"
                for metric in ("qd.p50_ms", "rtt.p50_ms", "goodput5s.p50_mbps"):
                    fall = change_pct(values, f"{there}.{metric}", f"{here}.{metric}")
                    words = metric.replace("_ms", "").replace("_mbps", "").replace(".", "_")
                    values[f"{here}.{words}_fall_pct"] = fall
        return values

    return measured


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
                    level: five(values, f"{level}.{name}{ms}ms.{aqm}.{metric}", unit)
                    for level in LEVELS
                }
                for ms in _SCALES_MS
            }
            y_lim = (None, 10.0) if unit == "mbps" else None
            panels.append(BoxPanel(f"({letter})", list(LEVELS), found, "congestion", words, y_lim))
        title = f"{NAMES[aqm]}: {name} of 5, 30 and 100 ms, target 5 ms; {BOXES}"
        return {item: boxes(title, panels, colours, columns=2)}

    return figures


# Figures 7 and 8: the base RTT.

_RTTS_MS = (5, 100, 500)


def _f7_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"{level}.rtt{rtt}ms.{aqm}": Case(scenario(queue(aqm), flows, rtt_ms=rtt), KEEP)
        for level, flows in LEVELS.items()
        for rtt in _RTTS_MS
        for aqm in AQMS
    }


def _f7_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        rtt = int(key.split(".")[1].removeprefix("rtt").removesuffix("ms"))
        values |= measures.under(key, measure_pool(pool, rtt))
    return values


RTT_GROUPS = {f"rtt{rtt}ms": f"{rtt}" for rtt in _RTTS_MS}


PARAMETERS = (
    Item("T1", "Literature coverage", "external", missing="not an experiment"),
    Item(
        "T2",
        "PIE parameters",
        "parameters",
        measure=_t2_measure,
        tables=partial(listed, "PIE as configured"),
    ),
    Item(
        "T3",
        "ARED parameters",
        "parameters",
        measure=_t3_measure,
        tables=partial(listed, "ARED as configured"),
        note="By the guidelines that the report follows the weight w_q is 0.0012 at 10 Mbit/s; "
        "Linux has powers of two only. tc computes 0.25 by itself, which is judged; both are "
        "measured.",
    ),
    Item(
        "T4",
        "Hardware and software",
        "parameters",
        note="Published: Linux 3.8.2 hosts, a 3.10.4 router, four senders and receivers. Here: the "
        "TCP profile kids-3.8, codel@linux, fq_codel@linux, pie@linux2013, ared@kids without "
        "gentle mode, a ring of four packets below.",
    ),
)

ITEMS = (
    Item(
        "F2",
        "One TCP flow: RTT and goodput against the target",
        cases=_f2_cases,
        variants=WEIGHTS,
        seeds=SEEDS,
        measure=_f2_measure,
        figures=_f2_figures,
        tables=_total_tables,
        note="Percentiles pool the runs; means of per-run percentiles stand next to them.",
    ),
    Item(
        "F3",
        "RTT against the target at three congestion levels",
        cases=_f3_cases,
        variants=WEIGHTS,
        seeds=SEEDS,
        measure=measure,
        figures=_by_level("F3", "rtt", "RTT", TARGET_GROUPS, "target [ms]"),
    ),
    Item(
        "F4",
        "Goodput against the target at three congestion levels",
        cases=_f3_cases,
        variants=WEIGHTS,
        seeds=SEEDS,
        measure=measure,
        figures=_by_level("F4", "goodput5s", "Goodput", TARGET_GROUPS, "target [ms]"),
    ),
    Item(
        "F5",
        "CoDel with intervals of 5, 30 and 100 ms",
        cases=_f5_cases,
        seeds=SEEDS,
        measure=_scale_measure("interval", "codel", 100),
        figures=_scale_figures("F5", "interval", "codel"),
    ),
    Item(
        "F6",
        "PIE with t_update of 5, 30 and 100 ms",
        cases=_f6_cases,
        seeds=SEEDS,
        measure=_scale_measure("tupdate", "pie", 30),
        figures=_scale_figures("F6", "tupdate", "pie"),
    ),
    Item(
        "F7",
        "Queuing delay for base RTTs of 5, 100 and 500 ms",
        cases=_f7_cases,
        variants=WEIGHTS,
        seeds=SEEDS,
        measure=_f7_measure,
        figures=_by_level("F7", "qd", "Queuing delay", RTT_GROUPS, "base RTT [ms]"),
    ),
    Item(
        "F8",
        "Goodput for base RTTs of 5, 100 and 500 ms",
        cases=_f7_cases,
        variants=WEIGHTS,
        seeds=SEEDS,
        measure=_f7_measure,
        figures=_by_level("F8", "goodput5s", "Goodput", RTT_GROUPS, "base RTT [ms]"),
    ),
)

ACROSS = (
    Item(
        "G",
        "Across figures: ARED against CoDel and PIE",
        cases=_f3_cases,
        variants=WEIGHTS,
        seeds=SEEDS,
        measure=measure,
    ),
)
