"""Figures 4 and 5: delay and throughput under three loads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.pie.common import COLOURS, PIE, QD, SEEDS, WIRE, dumbbell, tcp_flows, udp_flows
from sojourn.plots import style
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.plots.data import Floats
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Case, Item, Pools, Profile, Values
from sojourn.reproduce.pool import Packets

LOADS = {"light": "5 TCP", "heavy": "50 TCP", "mix": "5 TCP and 2 UDP of 6 Mbit/s"}


def _loads(_profile: Profile) -> dict[str, Case]:
    flows = {"light": [tcp_flows(5)], "heavy": [tcp_flows(50)], "mix": [tcp_flows(5), udp_flows(2)]}
    keep = ("packets", "states", "goodput")
    return {key: Case(dumbbell(key, PIE, found), keep) for key, found in flows.items()}


def _f4_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        runs = [measures.departures(packets) for packets in pool.packets()]
        whole = measures.distribution(np.concatenate([delay_s for _, delay_s in runs]))
        late = measures.distribution(np.concatenate([d[t >= 10] for t, d in runs]))
        values |= measures.under(key, measures.delays(whole))
        values |= measures.under(f"{key}.after10s", measures.delays(late))
        prob = np.concatenate([p[t >= 10] for t, p in pool.states("drop_prob")])
        values |= measures.under(f"{key}.drop_prob", measures.samples(prob, "1"))
        values[f"{key}.peak_0to5s_ms"] = 1e3 * float(np.mean([d[t < 5].max() for t, d in runs]))
        rhythm = [_rhythm(t, d) for t, d in runs]
        values[f"{key}.sawtooth_autocorrelation"] = float(np.mean(rhythm))
    return values


def _rhythm(t_s: Floats, delay_s: Floats) -> float:
    """Largest autocorrelation of the delay (means over 0.1 s) at lags of 1 to 10 s."""
    _, mean = measures.binned(t_s - 10, delay_s, 0.1, 90.0)
    centred = np.nan_to_num(mean - np.nanmean(mean))
    power = float(np.sum(centred**2))
    lags = [float(np.sum(centred[lag:] * centred[:-lag])) / power for lag in range(10, 101)]
    return max(lags)


def _f4_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for letter, (key, words) in zip("abc", LOADS.items(), strict=True):
        t_s, delay_s = measures.departures(pools[key].packets()[0])
        line = Curve("PIE", t_s, delay_s * 1e3, COLOURS["pie"], width=0.7)
        levels = [(20.0, "")]
        panels.append(
            Panel(f"({letter}) {words}", [line], "time [s]", QD, (0, 100), (0, 180), levels=levels)
        )
    return {"F4": curves("PIE: queuing delay under three loads", panels, columns=1, height_in=1.9)}


def _f5_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        rates = [(t, rate * 1e-6) for t, rate in pool.throughput_bps()]
        for name, start in (("", 0), (".after10s", 10)):
            found = np.concatenate([rate[t > start] for t, rate in rates])
            values |= measures.under(f"{key}.throughput{name}", measures.samples(found, "mbps"))
        values[f"{key}.util_pct"] = 100 * pool.number("queue/bottleneck/utilisation")
        flows = [_per_flow(packets) for packets in pool.packets()]
        tcp = 50 if key == "heavy" else 5
        for i in range(min(tcp, 5)):
            values[f"{key}.flow{i + 1}.throughput_mbps"] = float(np.mean([run[i] for run in flows]))
        share = [run[:tcp] for run in flows]
        values[f"{key}.jain"] = float(
            np.mean([run.sum() ** 2 / (tcp * np.sum(run**2)) for run in share])
        )
        values[f"{key}.flow_min_over_fair"] = float(
            np.mean([run.min() / run.mean() for run in share])
        )
        values[f"{key}.flow_max_over_fair"] = float(
            np.mean([run.max() / run.mean() for run in share])
        )
    return values


def _per_flow(packets: Packets) -> Floats:
    """Mbit/s per flow that left the bottleneck over 100 s."""
    sent = packets.is_sent
    total = np.bincount(packets.flow[sent], packets.bytes[sent].astype(float))
    return np.asarray(total * 8e-6 / 100.0, np.float64)


def _f5_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for letter, (key, words) in zip("abc", LOADS.items(), strict=True):
        t_s, rate = pools[key].throughput_bps()[0]
        lines = [Curve.of_intervals("total", t_s, rate * 1e-6, COLOURS["pie"])]
        if key == "light":
            lines += [_flow_curve(pools[key].packets()[0], i) for i in range(5)]
        panels.append(
            Panel(
                f"({letter}) {words}", lines, "time [s]", "throughput [Mbit/s]", (0, 100), (0, 11)
            )
        )
    title = "PIE: throughput under three loads; in (a) also of each flow"
    return {"F5": curves(title, panels, columns=1, height_in=1.9)}


def _flow_curve(packets: Packets, flow: int) -> Curve:
    here = packets.is_sent & (packets.flow == flow)
    edges = np.arange(0.0, 101.0)
    total, _ = np.histogram(packets.left_s[here], edges, weights=packets.bytes[here])
    label = "single flows" if flow == 0 else ""
    return Curve(label, edges[1:], total * 8e-6, style.PALETTE[2], width=0.6)


# fmt: off
ITEMS = (
    Item("F4", "Queuing delay under three loads", cases=_loads, seeds=SEEDS,
        published_runs="one run", measure=_f4_measure, figures=_f4_figures,
        note=f"{WIRE} Flows start within the first second; 100 s; both our choice."),
    Item("F5", "Throughput under three loads", cases=_loads, seeds=SEEDS, published_runs="one run",
        measure=_f5_measure, figures=_f5_figures, note=WIRE),
)
# fmt: on
