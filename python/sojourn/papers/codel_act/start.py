"""Figure 1: the queuing delay from the start on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.codel_act.common import AQMS, COLOURS, FLOWS, QD, grid, scenario
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Case, Item, Pools, Profile, Seeds, Values
from sojourn.reproduce.pool import Packets


def _f1_cases(_profile: Profile) -> dict[str, Case]:
    cases = grid(lambda aqm, n: Case(scenario(aqm, n, duration_s=10), ("packets",)))
    for aqm in ("codel", "codel_act"):
        wider = scenario(aqm, 64, duration_s=20, settings={"interval": "200ms"})
        cases[f"n64.{aqm}.interval200ms"] = Case(wider, ("packets",))
    return cases


def _start(packets: Packets, end_s: float) -> dict[str, float]:
    """The initial phase: until the delay, averaged over 0.25 s, is first down to half its peak."""
    t_s, delay_s = measures.departures(packets)
    middle_s, fine_s = measures.binned(t_s, delay_s, 0.05, end_s)
    mean_s = np.convolve(np.nan_to_num(fine_s), np.full(5, 0.2), mode="same")
    top = int(np.argmax(mean_s))
    down = np.flatnonzero(mean_s[top:] <= mean_s[top] / 2)
    up = np.flatnonzero(mean_s >= mean_s[top] / 2)
    end = float(middle_s[top + down[0]]) if down.size else end_s
    return {
        "peak_ms": 1e3 * float(delay_s.max()),
        "peak_at_s": float(t_s[int(delay_s.argmax())]),
        "initial_end_s": end,
        "initial_duration_s": end - float(middle_s[up[0]]),
    }


def _f1_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        end_s = 20.0 if "interval" in key else 10.0
        found = [_start(packets, end_s) for packets in pool.packets()]
        mean = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
        values |= measures.under(key, mean)
        if "interval" not in key:
            first = np.concatenate([measures.departures(p, 0, 3)[1] for p in pool.packets()])
            late = np.concatenate([measures.departures(p, 7, 10)[1] for p in pool.packets()])
            values[f"{key}.mean_0to3s_ms"] = 1e3 * float(first.mean())
            values[f"{key}.mean_7to10s_ms"] = 1e3 * float(late.mean())
    for n in FLOWS:
        one, two = pools[f"n{n}.codel"].packets()[0], pools[f"n{n}.codel_act"].packets()[0]
        values[f"n{n}.same_until_s"] = _same_until(one, two)
        values[f"n{n}.same_drops"] = float(
            np.sum(measures.losses_s(one) < values[f"n{n}.same_until_s"])
        )
    return values


def _same_until(one: Packets, two: Packets) -> float:
    """When two runs diverge: the first packet that leaves at different times."""
    a, b = np.sort(one.left_s[one.is_sent]), np.sort(two.left_s[two.is_sent])
    shorter = min(len(a), len(b))
    diverged = np.flatnonzero(np.abs(a[:shorter] - b[:shorter]) > 1e-9)
    return float(a[diverged[0]]) if diverged.size else float(a[shorter - 1])


def _f1_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for n in FLOWS:
        lines = []
        for aqm, label in AQMS.items():
            t_s, delay_s = measures.departures(pools[f"n{n}.{aqm}"].packets()[0])
            lines.append(Curve(label, t_s, delay_s * 1e3, COLOURS[aqm], width=0.9))
        panels.append(Panel(f"n = {n}", lines, "time [s]", QD, (0, 10), (0, None)))
    return {"F1": curves("Queuing delay of consecutive packets at the start, RTT 10 ms", panels)}


# fmt: off
ITEM = Item("F1", "Queuing delay of consecutive packets from the start", cases=_f1_cases,
    seeds=Seeds(3, 10), published_runs="one run", measure=_f1_measure, figures=_f1_figures,
    note="The end of the initial phase is read as the time at which the delay, averaged over "
    "0.25 s, is first down to half of its peak. Additional runs with an interval of 200 ms.")
# fmt: on
