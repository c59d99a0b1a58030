"""Figures 2 to 4: bulk flows alone (S1)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.madpie.common import COLOURS, NAMES, PIES, QD, RATE_BPS, S1_AQMS, S1_RTTS, s1
from sojourn.plots import style
from sojourn.plots.curves import Curve, Panel, curves, distribution_curve
from sojourn.plots.data import Floats
from sojourn.plots.shares import Share, shares
from sojourn.reproduce import measures
from sojourn.reproduce.extract import DETERMINISTIC, OVERFLOW, RANDOM
from sojourn.reproduce.paper import Case, Item, Pools, Profile, Seeds, Values
from sojourn.reproduce.pool import Packets, Pool


def _f2_cases(_profile: Profile) -> dict[str, Case]:
    keep = ("delays", "states")
    whole = {f"rtt{rtt}.{aqm}": Case(s1(aqm, rtt), keep) for rtt in S1_RTTS for aqm in S1_AQMS}
    return whole | {
        f"rtt{rtt}.{aqm}.after5s": Case(s1(aqm, rtt, 5), keep) for rtt in S1_RTTS for aqm in S1_AQMS
    }


def _utilisation(pool: Pool) -> Floats:
    return np.concatenate([100 * rate / RATE_BPS for _, rate in pool.throughput_bps()])


def _f2_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, measures.delays(pool.distribution()))
        values[f"{key}.util_mean_pct"] = 100 * pool.number("queue/bottleneck/utilisation")
        if "after5s" not in key:
            values |= measures.under(f"{key}.util", measures.samples(_utilisation(pool), "pct"))
    return values


def _f2_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for letters, aqm in (("ab", "pie"), ("cd", "madpie")):
        delay, used = [], []
        for rtt, colour in zip(S1_RTTS, (style.PALETTE[1], style.PALETTE[2]), strict=True):
            pool = pools[f"rtt{rtt}.{aqm}"]
            delay.append(distribution_curve(f"RTT {rtt} ms", pool.distribution(), colour))
            share = np.sort(_utilisation(pool))
            rank = np.arange(1, len(share) + 1) / len(share)
            used.append(Curve(f"RTT {rtt} ms", share, rank, colour, steps=True))
        name = NAMES[aqm]
        panels.append(Panel(f"({letters[0]}) {name}: delay", delay, QD, "CDF", (0, 120), (0, 1.01)))
        panels.append(
            Panel(
                f"({letters[1]}) {name}: utilisation",
                used,
                "utilisation per 1 s [%]",
                "CDF",
                (70, 101),
                (0, 1.01),
            )
        )
    return {"F2": curves("S1: queuing delay and bottleneck utilisation", panels)}


def _packet_cases(_profile: Profile) -> dict[str, Case]:
    return {
        f"rtt{rtt}.{aqm}": Case(s1(aqm, rtt), ("packets",)) for rtt in S1_RTTS for aqm in S1_AQMS
    }


_WINDOW_S = (70.0, 100.0)


def _f3_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        delay_s = np.concatenate([measures.departures(p, *_WINDOW_S)[1] for p in pool.packets()])
        found = measures.delays(measures.distribution(delay_s))
        found |= {
            "above_60ms_pct": 100 - found["below_60ms_pct"],
            "above_100ms_pct": 100 - found["below_100ms_pct"],
            "excursions_above_100ms": float(np.mean([_excursions(p) for p in pool.packets()])),
        }
        values |= measures.under(key, found)
    return values


def _excursions(packets: Packets) -> int:
    """The number of times that the delay rises above 100 ms in the window."""
    _, delay_s = measures.departures(packets, *_WINDOW_S)
    return int(np.sum(np.diff((delay_s > 0.1).astype(int)) > 0))


def _f3_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for letter, aqm in zip("ab", S1_AQMS, strict=True):
        t_s, delay_s = measures.departures(pools[f"rtt500.{aqm}"].packets()[0], *_WINDOW_S)
        line = Curve(NAMES[aqm], t_s, delay_s, COLOURS[NAMES[aqm]], width=0.8)
        panels.append(
            Panel(
                f"({letter}) {NAMES[aqm]}",
                [line],
                "time [s]",
                "queuing delay [s]",
                _WINDOW_S,
                (0, 0.14),
            )
        )
    return {"F3": curves("S1, RTT 500 ms: queuing delay from 70 to 100 s", panels)}


_CAUSES = {"dd": DETERMINISTIC, "rd": RANDOM, "bo": OVERFLOW}


def _drops(pool: Pool) -> dict[str, Floats]:
    """Queuing delay in seconds at the drops, by cause: the backlog divided by the rate."""
    found: dict[str, list[Floats]] = {cause: [] for cause in _CAUSES}
    for packets in pool.packets():
        for cause, code in _CAUSES.items():
            at_s = packets.lost_s(code)
            found[cause].append(measures.backlog_s(packets, at_s, RATE_BPS))
    return {cause: np.concatenate(parts) for cause, parts in found.items()}


def _f4_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        drops = _drops(pool)
        total = sum(map(len, drops.values()))
        for cause, delay_s in drops.items():
            values[f"{key}.n_{cause}"] = float(len(delay_s))
            values[f"{key}.r_{cause}"] = len(delay_s) / total
            values[f"{key}.r_{cause}_pct"] = 100 * len(delay_s) / total
            if len(delay_s):
                values |= measures.under(f"{key}.{cause}", measures.samples(delay_s, "ms", 1e3))
        values |= measures.under(
            f"{key}.all", measures.samples(np.concatenate([*drops.values()]), "ms", 1e3)
        )
    return values


def _f4_figures(pools: Pools, values: Values) -> Mapping[str, Figure]:
    marks = []
    for rtt, markers in zip(S1_RTTS, ("os", "^D"), strict=True):
        for aqm in S1_AQMS:
            for cause, marker in zip(("rd", "dd"), markers, strict=True):
                key = f"rtt{rtt}.{aqm}"
                if values[f"{key}.n_{cause}"]:
                    low, middle, high = (
                        values[f"{key}.{cause}.{q}_ms"] for q in ("p5", "p50", "p95")
                    )
                    delay = (low, middle, high)
                    words = "random" if cause == "rd" else "deterministic"
                    label = f"{NAMES[aqm]}, RTT {rtt} ms, {words}"
                    marks.append(
                        Share(label, values[f"{key}.r_{cause}"], delay, COLOURS[NAMES[aqm]], marker)
                    )
    return {"F4": shares("S1: drops by cause against the queuing delay at the drop", marks)}


_NO_WARMUP = "No warm-up is removed; F2 also prints a variant without the first 5 s."
_SIZE = (
    "Packets of 1500 B follow from the sizes of the files in S2, all whole segments of 1460 B; "
    "delayed ACKs are our choice: the paper prints neither."
)


# fmt: off
ITEMS = (
    Item("F2", "S1: CDF of queuing delay and utilisation", cases=_f2_cases, variants=PIES,
        seeds=Seeds(3, 5),
        measure=_f2_measure, figures=_f2_figures, note=f"{_NO_WARMUP} {_SIZE}"),
    Item("F3", "S1, RTT 500 ms: queuing delay over time", cases=_packet_cases, variants=PIES,
        seeds=Seeds(3, 5),
        measure=_f3_measure, figures=_f3_figures,
        note="The paper labels the axis ms; seconds are meant. Numbers pool the seeds' windows."),
    Item("F4", "S1: drops by cause against the queuing delay at the drop",
        cases=_packet_cases, variants=PIES,
        seeds=Seeds(3, 5), measure=_f4_measure, figures=_f4_figures,
        note="The delay at a drop is the backlog then divided by the rate."),
)
# fmt: on
