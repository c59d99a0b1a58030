"""Flow queues and ECN on the wired dumbbell: Figures 11 to 14, Table 5."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.kids.common import (
    ACK_S,
    AQMS,
    BOXES,
    COLOURS,
    FLOWS,
    KEEP,
    LEVELS,
    NAMES,
    SEEDS,
    TEN,
    TRANSMISSION_S,
    WEIGHTS,
    change_pct,
    measure,
    panel,
    queue,
    round_trips,
    scenario,
)
from sojourn.plots.boxes import boxes
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.plots.data import Floats
from sojourn.reproduce import measures
from sojourn.reproduce.paper import (
    Case,
    Cell,
    Item,
    Pools,
    Profile,
    Seeds,
    Table,
    Values,
)
from sojourn.reproduce.pool import Packets

# Figures 11 and 12: flow queues.


def _f11_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"target{ms}ms.flows{n}.{aqm}": Case(scenario(queue(aqm, ms), n), KEEP)
        for ms in (5, 20)
        for n in FLOWS
        for aqm in ("codel", "fq_codel")
    }


def _f11_measure(pools: Pools) -> dict[str, float]:
    values = measure(pools)
    for ms in (5, 20):
        for n in FLOWS:
            for q in TEN:
                for metric in ("qd", "rtt"):
                    one, two = (
                        f"target{ms}ms.flows{n}.{a}.{metric}.{q}_ms" for a in ("codel", "fq_codel")
                    )
                    key = f"target{ms}ms.flows{n}.fq_codel.{metric}.{q}_reduction_pct"
                    values[key] = change_pct(values, one, two)
    return values


def _f11_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = [
        panel(
            values,
            f"({letter}) target {ms} ms",
            "rtt",
            {f"target{ms}ms.flows{n}": f"{n}" for n in FLOWS},
            "flows",
            ("codel", "fq_codel"),
        )
        for letter, ms in (("a", 5), ("b", 20))
    ]
    return {"F11": boxes(f"CoDel and FQ_CoDel: RTT; {BOXES}", panels, COLOURS, columns=2)}


def _f12_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"{level}.{aqm}": Case(scenario(queue(aqm), flows), ("packets", "delays"))
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
        values |= measures.under(f"{key}.rtt", measures.delays(round_trips(pool), ACK_S))
        jitter = np.concatenate([np.abs(np.diff(rtt)) for rtt in flows])
        values |= measures.under(f"{key}.jitter", measures.samples(jitter, "ms"))
    return values


# The delay peak of all flows' slow start exceeds any later spike, and ends within 10 s.
_AFTER_START_S = (10, 40)


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
        panels.append(Panel(level, lines, "time [s]", "RTT [ms]", _AFTER_START_S, (95, 320)))
    title = "RTT of the packets of one flow, target 5 ms, after the start"
    return {"F12": curves(title, panels, columns=1, height_in=2.4)}


# Figures 13 and 14, Table 5: ECN.

_PER_SENDER = (1, 4, 8, 16)
_MARK = {"codel": ",ecn=true", "pie": ",ecn=true,ecn_mark_limit=1", "ared": ",ecn=true"}


def _f13_cases(_profile: Profile) -> dict[str, Case]:
    cases = {}
    for n in _PER_SENDER:
        for aqm in AQMS:
            cases[f"n{n}.without.{aqm}"] = Case(scenario(queue(aqm), 4 * n), KEEP)
            with_ecn = scenario(queue(aqm, ecn=_MARK[aqm]), 4 * n, ecn=True)
            cases[f"n{n}.ecn.{aqm}"] = Case(with_ecn, KEEP)
        fallback = scenario(queue("pie", ecn=",ecn=true,ecn_mark_limit=0.1"), 4 * n, ecn=True)
        cases[f"n{n}.ecn.pie.dropping_above_10pct"] = Case(fallback, KEEP)
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


def _t5_tables(_values: Values) -> list[Table]:
    columns = [*AQMS, "floyd"]
    keys = {aqm: f"{{}}.{aqm}.ratio" for aqm in AQMS} | {"floyd": "floyd_weight.{}.ared.ratio"}
    rows: list[list[str | Cell]] = [
        [f"{n}", *(Cell(keys[name].format(f"n{n}"), ".3f") for name in columns)]
        for n in _PER_SENDER
    ]
    header = ["flows per sender", *(NAMES[aqm] for aqm in AQMS), "ARED, Floyd's weight"]
    title = "Marking rate with ECN over dropping rate without: measured / published"
    return [Table(title, header, rows)]


def _ecn_figures(
    name: str, metric: str, words: str
) -> Callable[[Pools, Values], Mapping[str, Figure]]:
    def figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
        panels = [
            panel(
                values,
                f"({letter}) {label}",
                metric,
                {f"n{n}.{case}": f"{n}" for n in _PER_SENDER},
                "flows per sender",
            )
            for letter, case, label in (("a", "without", "without ECN"), ("b", "ecn", "with ECN"))
        ]
        return {name: boxes(f"{words}, target 5 ms; {BOXES}", panels, COLOURS, columns=2)}

    return figures


ITEMS = (
    Item(
        "F11",
        "CoDel against FQ_CoDel: RTT by number of flows",
        cases=_f11_cases,
        seeds=SEEDS,
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
        note="RTTs are those of all flows by SPP (fact papers-21). Jitter and the figure are of "
        "all packets of the first four flows and of one: queue, transmission and base RTT.",
    ),
    Item(
        "T5",
        "Marking rate with ECN over dropping rate without",
        cases=_f13_cases,
        variants=WEIGHTS,
        seeds=SEEDS,
        measure=_t5_measure,
        tables=_t5_tables,
        note="Marks per arrival over drops per arrival. PIE marks at any probability here; a "
        "variant that drops above 10 % is measured too.",
    ),
    Item(
        "F13",
        "RTT with and without ECN",
        cases=_f13_cases,
        variants=WEIGHTS,
        seeds=SEEDS,
        measure=measure,
        figures=_ecn_figures("F13", "rtt", "RTT"),
    ),
    Item(
        "F14",
        "Goodput with and without ECN",
        cases=_f13_cases,
        variants=WEIGHTS,
        seeds=SEEDS,
        measure=measure,
        figures=_ecn_figures("F14", "goodput5s", "Goodput"),
    ),
)
