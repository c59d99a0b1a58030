"""Utilisation over time, and a frozen count."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.codel_act.common import AQMS, COLOURS, RATE_BPS, scenario
from sojourn.plots import style
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Case, Item, Pools, Profile, Seeds, Values

_FROZEN_COUNTS = (600, 6000, 60000)
_FROZEN_COLOURS = (style.PALETTE[3], style.PALETTE[4], style.PALETTE[6])
# The AQM and its frozen count; 0 if the count grows.
_X2 = {aqm: (aqm, 0) for aqm in AQMS} | {f"codel_count{n}": ("codel", n) for n in _FROZEN_COUNTS}


def _x2_cases(_profile: Profile) -> dict[str, Case]:
    cases = {}
    for key, (aqm, count) in _X2.items():
        settings = {"count": count} if count else {}
        cases[key] = Case(scenario(aqm, 16, duration_s=500, settings=settings), ("states",))
    return cases


_X2_SPANS = {
    "1to5s": (1, 5),
    "25to35s": (25, 35),
    "35to45s": (35, 45),
    "90to110s": (90, 110),
    "200to250s": (200, 250),
    "450to500s": (450, 500),
    "10to500s": (10, 500),
}


def _x2_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        series = [(t, 100.0 * rate / RATE_BPS) for t, rate in pool.throughput_bps()]
        for name, (start, end) in _X2_SPANS.items():
            means = [util[(t > start) & (t <= end)].mean() for t, util in series]
            values[f"{key}.util_{name}_pct"] = float(np.mean(means))
        low = [util[t > 10].min() for t, util in series]
        values[f"{key}.util_min_pct"] = float(np.mean(low))
        slopes = [measures.slope(t[t > 60], util[t > 60])[0] for t, util in series]
        values[f"{key}.util_slope_60to500s_pct_per_100s"] = 100.0 * float(np.mean(slopes))
    return values


def _x2_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    def lines(keys: Mapping[str, tuple[str, str]]) -> list[Curve]:
        return [
            Curve(label, t, 100 * rate / RATE_BPS, colour, width=0.9)
            for key, (label, colour) in keys.items()
            for t, rate in pools[key].throughput_bps()[:1]
        ]

    own = {aqm: (label, COLOURS[aqm]) for aqm, label in AQMS.items()}
    frozen = {
        f"codel_count{n}": (f"CoDel, count {n}", colour)
        for n, colour in zip(_FROZEN_COUNTS, _FROZEN_COLOURS, strict=True)
    }
    axes = ("time [s]", "utilisation per 1 s [%]", (0, 500), (85, 100.5))
    panels = [
        Panel("growing count", lines(own), *axes),
        Panel("frozen count", lines(frozen), *axes),
    ]
    return {"X2": curves("Utilisation, n = 16, RTT 10 ms", panels)}


# fmt: off
ITEM = Item("X2", "Utilisation over time, and with a frozen count (prose)", cases=_x2_cases,
    seeds=Seeds(3, 5), measure=_x2_measure, figures=_x2_figures)
# fmt: on
