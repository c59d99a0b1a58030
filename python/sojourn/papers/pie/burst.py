"""Figure 6: drops of a burst of datagrams."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.pie.common import PIE_2013, SEEDS, dumbbell
from sojourn.plots import style
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.reproduce import measures
from sojourn.reproduce.extract import OVERFLOW, RANDOM
from sojourn.reproduce.paper import Case, Item, Pools, Profile, Values
from sojourn.scenario import Cbr, FlowGroup


def _f6_cases(_profile: Profile) -> dict[str, Case]:
    cases = {}
    for burst in (100, 200):
        for allowance in (0, 100):
            source = FlowGroup(
                name="burst",
                path=["bottleneck"],
                rtt="100ms",
                access_rate="1gbit",
                start="1s",
                stop=f"{1000 + burst}ms",
                app=Cbr(rate="25mbit", packet="1000B"),
            )
            queue = f"{PIE_2013},target=20ms,max_burst={allowance}ms"
            scenario = dumbbell("burst", queue, [source], duration_s=2)
            cases[f"burst{burst}ms.maxburst{allowance}ms"] = Case(scenario, ("packets",))
    return cases


def _f6_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        runs = pool.packets()
        early = [p.lost_s(RANDOM) for p in runs]
        full = [p.lost_s(OVERFLOW) for p in runs]
        every = [measures.losses_s(p) for p in runs]
        values[f"{key}.drops"] = float(np.mean([len(t) for t in every]))
        values[f"{key}.early_drops"] = float(np.mean([len(t) for t in early]))
        values[f"{key}.overflow_drops"] = float(np.mean([len(t) for t in full]))
        firsts = [t[0] for t in every if len(t)]
        if firsts:
            values[f"{key}.first_drop_s"] = float(np.mean(firsts))
            values[f"{key}.last_drop_s"] = float(np.mean([t[-1] for t in every if len(t)]))
        for at_ms in (1050, 1100, 1150, 1200):
            count = [np.sum(t * 1e3 <= at_ms) for t in every]
            values[f"{key}.drops_until_{at_ms}ms"] = float(np.mean(count))
    return values


def _f6_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    lines = []
    for burst, colour in ((100, style.PALETTE[2]), (200, style.PALETTE[1])):
        for allowance, dash in ((0, (0, (3, 1.5))), (100, "solid")):
            lost = measures.losses_s(pools[f"burst{burst}ms.maxburst{allowance}ms"].packets()[0])
            x = np.concatenate([[0.9], lost, [1.4]])
            y = np.concatenate([np.arange(len(lost) + 1), [len(lost)]])
            label = f"burst {burst} ms, max_burst {allowance} ms"
            lines.append(Curve(label, x, y, colour, dash, steps=True, width=1.6))
    panel = Panel("", lines, "time [s]", "dropped packets, cumulated", (0.95, 1.35), (0, None))
    return {"F6": curves("PIE: drops of a burst of 25 Mbit/s from 1 s on", [panel], height_in=3.2)}


# fmt: off
ITEM = Item("F6", "Burst test", cases=_f6_cases, seeds=SEEDS, published_runs="one run",
    measure=_f6_measure, figures=_f6_figures,
    note="Early drops and those of a full buffer are counted separately.")
# fmt: on
