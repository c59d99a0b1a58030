"""Figure 2 and Table I: distributions of the queuing delay."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.codel_act.common import (
    AQMS,
    COLOURS,
    FLOWS,
    PACKET_S,
    RATE_BPS,
    RTTS,
    WARMUP_S,
    grid,
    keys,
    scenario,
)
from sojourn.plots.curves import Curve, Panel, curves, distribution_curve
from sojourn.plots.data import Floats
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Case, Cell, Item, Pools, Profile, Seeds, Table, Values
from sojourn.reproduce.pool import Packets, Pool


def _f2_cases(_profile: Profile) -> dict[str, Case]:
    return grid(lambda aqm, n: Case(scenario(aqm, n), ("packets",)), (16,))


def _seen(packets: Packets) -> Floats:
    """Queue length in packets at the arrival of each accepted packet that left after 10 s.

    Packets that CoDel drops at the head are included; they found a longer queue than most.
    """
    accepted = packets.left_s != packets.arrived_s
    arrived = packets.arrived_s[accepted & (packets.left_s >= WARMUP_S)]
    return measures.backlog_s(packets, arrived, RATE_BPS) / PACKET_S


def _after_warmup(pool: Pool) -> Floats:
    return np.concatenate([measures.departures(p, WARMUP_S)[1] for p in pool.packets()])


def _f2_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        delay_s = _after_warmup(pool)
        seen = np.concatenate([_seen(packets) for packets in pool.packets()])
        values |= measures.under(f"{key}.delay", measures.delays(measures.distribution(delay_s)))
        values |= measures.under(f"{key}.queue", measures.samples(seen, "packets"))
        queue_s = measures.distribution(seen * PACKET_S)
        values |= measures.under(f"{key}.queue_as_delay", measures.delays(queue_s))
        values[f"{key}.queue_bias_packets"] = float(seen.mean() - delay_s.mean() / PACKET_S)
        counts, _ = np.histogram(delay_s, np.arange(0, 0.0601, 0.002))
        for i, share in enumerate(100.0 * counts / len(delay_s)):
            values[f"{key}.delay.from_{2 * i}_to_{2 * i + 2}ms_pct"] = float(share)
        values[f"{key}.mode_ms"] = 2.0 * float(np.argmax(counts)) + 1.0
        low, high = np.quantile(delay_s, [0.05, 0.95])
        even = np.histogram(delay_s, np.linspace(low, high, 9))[0]
        values[f"{key}.evenness"] = float(even.min() / even.max())
    return values


def _f2_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    delay, queue = {}, {}
    for aqm in AQMS:
        pool = pools[f"n16.{aqm}"]
        delay[aqm] = measures.distribution(_after_warmup(pool))
        seen = np.concatenate([_seen(packets) for packets in pool.packets()])
        queue[aqm] = measures.distribution(seen * PACKET_S)

    def lines(complement: bool) -> list[Curve]:
        whole = [("delay", delay, "solid"), ("queue length", queue, (0, (2, 1.3)))]
        return [
            distribution_curve(
                f"{label}, {name}", found[aqm], COLOURS[aqm], dash, complement=complement
            )
            for aqm, label in AQMS.items()
            for name, found, dash in whole
        ]

    x_label = "queuing delay; queue length x packet time [ms]"
    panels = [
        Panel("CDF", lines(False), x_label, "fraction at or below", (0, 45), (0, 1.01)),
        Panel(
            "complement", lines(True), x_label, "fraction above", (0, 45), (1e-4, 1.1), log_y=True
        ),
    ]
    return {"F2": curves("Delay and queue length, n = 16, RTT 10 ms, after 10 s", panels)}


# Table I.


def _t1_cases(profile: Profile) -> dict[str, Case]:
    cases = {}
    for rtt in (10, 100):
        for key, n, aqm in keys(f"rtt{rtt}."):
            cases[key] = Case(scenario(aqm, n, rtt), ("delays",))
            if profile == "full":
                cases[f"{key}.to510s"] = Case(scenario(aqm, n, rtt, duration_s=510), ("delays",))
    return cases


def _t1_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, measures.delays(pool.distribution()))
        values[f"{key}.util_pct"] = 100 * pool.number("queue/bottleneck/utilisation")
        values[f"{key}.drop_rate_pct"] = 100 * pool.number("queue/bottleneck/drop_rate")
    return values


def _t1_tables(values: Values) -> list[Table]:
    header = [
        "RTT [ms]",
        "n",
        *(f"{label} {w}" for label in AQMS.values() for w in ("mean", "p99")),
    ]
    tables = []
    for suffix, words in (("", "10 to 100 s"), (".to510s", "10 to 510 s")):
        rows: list[list[str | Cell]] = [
            [
                str(rtt),
                str(n),
                *(
                    Cell(f"rtt{rtt}.n{n}.{aqm}{suffix}.{metric}")
                    for aqm in AQMS
                    for metric in ("mean_ms", "p99_ms")
                ),
            ]
            for rtt in (10, 100)
            for n in FLOWS
            if f"rtt{rtt}.n{n}.pie{suffix}.mean_ms" in values
        ]
        if rows:
            tables.append(
                Table(
                    f"Table I: packet delay in ms, window {words}: measured / published",
                    header,
                    rows,
                )
            )
    return tables


# fmt: off
ITEMS = (
    Item("F2", "Distributions of queuing delay and queue length, n = 16", cases=_f2_cases,
        seeds=Seeds(3, 10), measure=_f2_measure, figures=_f2_figures,
        note="Queue length: as each accepted packet found it, times 1.2056 ms per packet; "
        "packets dropped at the head count, since they were in the queue."),
    Item(
        "T1",
        "Mean and 99 % quantile of the packet delay",
        cases=_t1_cases,
        variants=RTTS,
        seeds=Seeds(3, 20),
        published_runs="20 runs",
        measure=_t1_measure,
        tables=_t1_tables,
        note="The run length is not printed: 10 to 100 s is the primary window, 10 to 510 s (full "
        "profile) is printed next to it. For 100 ms all of the RTT is on the link (our choice). "
        "Socket buffers are not printed and never limit here (our choice): with INET's 80000 B a "
        "window is 40 segments. PIE is on from the start: the paper's was never deactivated.",
    ),
)
# fmt: on
