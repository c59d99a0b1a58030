"""Figures 4 and 5: count, p and the drop rate over the first 100 s."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.codel_act.common import AQMS, COLOURS, FLOWS, OF_FLOWS, grid, keys, scenario
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.plots.data import Floats
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Case, Item, Pools, Profile, Seeds, Values
from sojourn.reproduce.pool import Packets
from sojourn.running import series


def _f4_cases(_profile: Profile) -> dict[str, Case]:
    return grid(lambda aqm, n: Case(scenario(aqm, n, sample="100ms"), ("states", "packets")))


def _variable(aqm: str) -> str:
    return "drop_prob" if aqm == "pie" else "count"


def _f4_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, _n, aqm in keys(""):
        each_run = []
        for t_s, level in pools[key].states(_variable(aqm)):
            late = t_s >= 20
            rise, straight = measures.slope(t_s[t_s >= 10], level[t_s >= 10])
            settled = float(level[late].mean())
            each_run.append(
                {
                    "level": settled,
                    "sd": float(level[late].std()),
                    "max": float(level.max()),
                    "end": float(level[-10:].mean()),
                    "slope_per_s": rise,
                    "straightness": straight,
                    "reached_s": measures.reached_s(t_s, level, 0.9 * settled),
                    "overshoot": float(level[t_s < 10].max()) / settled if settled else np.nan,
                }
            )
        for name in each_run[0]:
            values[f"{key}.{_variable(aqm)}.{name}"] = float(
                np.mean([run[name] for run in each_run])
            )
    return values


def _f4_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for aqm, label in AQMS.items():
        lines = [
            Curve(
                f"n = {n}", *pools[f"n{n}.{aqm}"].states(_variable(aqm))[0], OF_FLOWS[n], width=1.0
            )
            for n in FLOWS
        ]
        # CoDel-ACT's count is a twentieth of CoDel's: axes with one label share their limits.
        what = "drop probability p" if aqm == "pie" else f"count of {label}"
        panels.append(Panel(label, lines, "time [s]", what, (0, 100), (0, None)))
    return {"F4": curves("State variables over the first 100 s of one run", panels, columns=3)}


GRID_S = np.arange(0.0, 100.0, 0.02)


def _drop_rate(packets: Packets) -> Floats:
    return np.asarray(series.tewma(measures.losses_s(packets).tolist(), GRID_S.tolist()))


def _f5_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    late = GRID_S >= 20
    for key, _n, _aqm in keys(""):
        rates = [_drop_rate(packets) for packets in pools[key].packets()]
        each_run = []
        for rate in rates:
            level = float(rate[late].mean())
            second = np.convolve(rate, np.full(50, 1 / 50), mode="same")
            each_run.append(
                {
                    "level_per_s": level,
                    "sd_per_s": float(rate[late].std()),
                    "max_per_s": float(rate[late].max()),
                    "min_per_s": float(rate[late].min()),
                    "reached_s": measures.reached_s(GRID_S, second, 0.9 * level),
                    "peak_0to10s_per_s": float(rate[GRID_S < 10].max()),
                    "relative_sd": float(rate[late].std()) / level if level else np.nan,
                }
            )
        for name in each_run[0]:
            values[f"{key}.drop_rate.{name}"] = float(np.mean([run[name] for run in each_run]))
    return values


def _f5_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for n in FLOWS:
        lines = [
            Curve(
                label,
                GRID_S,
                _drop_rate(pools[f"n{n}.{aqm}"].packets()[0]),
                COLOURS[aqm],
                width=0.9,
            )
            for aqm, label in AQMS.items()
        ]
        panels.append(Panel(f"n = {n}", lines, "time [s]", "drop rate [1/s]", (0, 100), (0, None)))
    return {"F5": curves("Drop rate, moving average with a memory of 500 ms", panels)}


# fmt: off
ITEMS = (
    Item("F4", "State variables over time", cases=_f4_cases, seeds=Seeds(3, 10),
        published_runs="one run", measure=_f4_measure, figures=_f4_figures,
        note="The level is the mean from 20 s on; reached at 90 % of it."),
    Item("F5", "Drop rate over time", cases=_f4_cases, seeds=Seeds(3, 10), published_runs="one run",
        measure=_f5_measure, figures=_f5_figures,
        note="The level is the mean from 20 s on; it is reached when the mean over a second is "
        "first at 90 % of it."),
)
# fmt: on
