"""Figures 7 and 8: changing capacity and changing load, against RED."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.pie.common import COLOURS, NAMES, PIE, QD, RED, SEEDS, dumbbell, tcp_flows
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.plots.data import Floats
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Case, Item, ItemVariant, Pools, Profile, Values
from sojourn.reproduce.pool import Pool
from sojourn.scenario import FlowGroup, Scenario, Schedule

_REDS = {"pie": PIE, "red": RED, "red_gentle": f"{RED},gentle=true"}
_LABELS = {aqm: NAMES[aqm] for aqm in _REDS}


def _f7_cases(_profile: Profile) -> dict[str, Case]:
    rate = Schedule(steps=[("0s", "100mbit"), ("50s", "20mbit"), ("100s", "100mbit")])
    return {
        aqm: Case(
            dumbbell(
                "capacity",
                queue,
                [tcp_flows(100)],
                rate=rate,
                duration_s=150,
                buffer="2MB",
                sample="100ms",
            ),
            ("states",),
        )
        for aqm, queue in _REDS.items()
    }


def _between(pool: Pool, start: float, end: float, var: str = "delay_mean") -> list[Floats]:
    return [v[(t > start) & (t <= end)] for t, v in pool.states(var)]


def back_s(t_s: Floats, delay_s: Floats) -> float:
    """When the delay, averaged over 0.5 s, stays around 20 ms for a second; NaN if never.

    8 to 32 ms count as around 20 ms: an empty queue is not at the equilibrium (fact papers-16).

    Args:
        t_s: every 0.1 s, shape ``(n,)``.
        delay_s: the same shape.
    """
    smooth = np.convolve(np.nan_to_num(delay_s), np.full(5, 0.2), mode="valid")
    is_around = (smooth >= 8e-3) & (smooth <= 32e-3)
    first = np.flatnonzero(np.convolve(is_around, np.ones(10), mode="valid") > 9.5)
    return float(t_s[4 + first[0]]) if first.size else np.nan


def _back(pool: Pool, start: float, end: float) -> float:
    """Seconds after `start` until the delay is back around 20 ms."""
    found = []
    for t_s, delay_s in pool.states("delay_mean"):
        here = (t_s > start) & (t_s <= end)
        found.append(back_s(t_s[here] - start, delay_s[here]))
    return measures.mean_of_finite(found)


def _settling(pool: Pool, start: float, end: float, level_s: float = 0.03) -> float:
    """Seconds after `start` until the delay, averaged over 0.5 s, is first below a level."""
    found = []
    for t_s, delay_s in pool.states("delay_mean"):
        here = (t_s > start) & (t_s <= end)
        smooth = np.convolve(np.nan_to_num(delay_s[here]), np.full(5, 0.2), mode="valid")
        found.append(measures.settled_s(t_s[here][4:] - start, smooth, level_s))
    return measures.mean_of_finite(found)


_F7_PHASES = {"phase1": (0, 50), "phase2": (50, 100), "phase3": (100, 150)}


def _f7_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for aqm, pool in pools.items():
        for phase, (start, end) in _F7_PHASES.items():
            key = f"{aqm}.{phase}"
            late = np.concatenate(_between(pool, start + 10, end))
            values |= measures.under(key, measures.samples(late, "ms", 1e3))
            peak = [np.nanmax(v) for v in _between(pool, start, start + 5, "delay_max")]
            values[f"{key}.peak_ms"] = 1e3 * float(np.mean(peak))
            values[f"{key}.settled_below_30ms_s"] = _settling(pool, start, end)
            values[f"{key}.back_around_20ms_s"] = _back(pool, start, end)
            level = 1.5 * float(np.nanmean(late))
            values[f"{key}.equilibrium_s"] = _settling(pool, start, end, level)
    return values


def _time_figures(
    name: str, title: str, keys: Mapping[str, str], end: float
) -> Callable[[Pools, Values], Mapping[str, Figure]]:
    def figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
        lines = []
        for key, label in keys.items():
            t_s, delay_s = pools[key].states("delay_mean")[0]
            aqm = key.split(".")[-1]
            dash = (0, (3, 1.5)) if aqm == "red_gentle" else "solid"
            lines.append(Curve(label, t_s, delay_s * 1e3, COLOURS[aqm], dash, width=1.0))
        panel = Panel("", lines, "time [s]", QD, (0, end), (0, None))
        return {name: curves(title, [panel], height_in=3.2)}

    return figures


def _f8_flows() -> list[FlowGroup]:
    """10 flows, 30 from 50 s, 50 from 100 s, 30 from 150 s, 10 from 200 s."""
    return [
        tcp_flows(10, name="always"),
        tcp_flows(20, name="from50", start="50s..51s", stop="200s"),
        tcp_flows(20, name="from100", start="100s..101s", stop="150s"),
    ]


def _f8_cases(_profile: Profile) -> dict[str, Case]:
    cases = {}
    for rate in (10, 100):
        for aqm, queue in _REDS.items():
            scenario = dumbbell(
                "load",
                queue,
                _f8_flows(),
                rate=f"{rate}mbit",
                duration_s=250,
                buffer="2MB",
                sample="100ms",
            )
            cases[f"rate{rate}mbps.{aqm}"] = Case(scenario, ("states",))
    return cases


F8_PHASES = {
    "flows10": (0, 50),
    "flows30": (50, 100),
    "flows50": (100, 150),
    "flows30_again": (150, 200),
    "flows10_again": (200, 250),
}


def _f8_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        for phase, (start, end) in F8_PHASES.items():
            late = np.concatenate(_between(pool, start + 20, end))
            values |= measures.under(f"{key}.{phase}", measures.samples(late, "ms", 1e3))
            values[f"{key}.{phase}.settled_below_30ms_s"] = _settling(pool, start, end)
            values[f"{key}.{phase}.back_around_20ms_s"] = _back(pool, start, end)
            peak = [np.nanmax(v) for v in _between(pool, start, start + 5, "delay_max")]
            values[f"{key}.{phase}.peak_ms"] = 1e3 * float(np.mean(peak))
    return values


def _with_ns2_pie(case: Scenario) -> Scenario:
    link = (case.links or {})["bottleneck"]
    if not str(link.queue).startswith("pie@"):
        return case
    text = "pie@ns2:target=20ms,tupdate=30ms,alpha=0.125hz,beta=1.25hz,max_burst=100ms"
    return replace(case, links={"bottleneck": replace(link, queue=text)})


NS2 = (ItemVariant("ns2_pie", "the PIE of its authors' ns-2 code", _with_ns2_pie),)

# fmt: off
ITEMS = (
    Item("F7", "PIE and RED under changing capacity", cases=_f7_cases, seeds=SEEDS,
        published_runs="one run", measure=_f7_measure,
        figures=_time_figures("F7", "100, 20, 100 Mbit/s: queuing delay (means over 0.1 s)",
        _LABELS, 150), variants=NS2,
        note="RED in byte mode, mean packet 1000 B; numbers of a phase leave out its first 10 s."),
    Item("F8", "PIE and RED under changing load", cases=_f8_cases, seeds=SEEDS,
        published_runs="one run", measure=_f8_measure,
        figures=_time_figures("F8", "10, 30, 50, 30, 10 flows: queuing delay (means over 0.1 s)",
        {f"rate100mbps.{a}": n for a, n in _LABELS.items()}, 250),
        note="The paper does not repeat the rate: 100 Mbit/s, at which the thresholds of RED are "
        "30 and 130 ms, and also 10. Changes at 50, 100, "
        "150 and 200 s, as the prose has them. Numbers of a phase leave out its first 20 s."),
)
# fmt: on
