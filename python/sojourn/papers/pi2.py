"""Tahiliani and Tewari 2017: PI2 for classic TCP traffic in ns-3, against PIE.

tidy: allow(length) A paper is one file: its scenarios, items and claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.plots import style
from sojourn.plots.curves import Curve, Panel, curves, distribution_curve
from sojourn.reproduce import measures
from sojourn.reproduce.claims import (
    alike,
    explained,
    is_number,
    is_within,
    more,
    not_less,
    not_more,
    number,
    order,
    several,
)
from sojourn.reproduce.paper import (
    Case,
    Cell,
    Claim,
    Item,
    Paper,
    Pools,
    Profile,
    Seeds,
    Table,
    Values,
)
from sojourn.reproduce.pool import Pool
from sojourn.reproduce.published import level
from sojourn.scenario import Bulk, Cbr, FlowGroup, Link, Record, Scenario

AQMS = {"pie": "PIE", "pi2": "PI2"}
COLOURS = {aqm: style.colour_of(aqm) for aqm in AQMS}
RATE_MBPS = 10.0
QD = "queuing delay [ms]"
_BUFFER_MS = 160.0
# TCP segments of 1000 B payload, plus headers (our choice); delayed ACKs as in ns-3; the initial
# window of ns-3 before 2017 is 1 segment (profile `pi2-ns3`).
_TCP = {"tcp": "pi2-ns3", "packet": "1040B", "header": "40B", "ack_every": 2}


def _queue(aqm: str, target_ms: int) -> str:
    """PIE or PI2 with the values of the paper's Table III."""
    common = f"target={target_ms}ms,tupdate=30ms,dq_threshold=10kB,rate_weight=0.5"
    if aqm == "pie":
        return f"pie@ns2:{common},alpha=0.125hz,beta=1.25hz"
    return f"pi2@classic:{common},alpha=0.3125hz,beta=3.125hz"


def scenario(
    aqm: str, tcp: int, udp: int = 0, *, target_ms: int = 20, udp_rate: str = "10mbit"
) -> Scenario:
    """A dumbbell of 10 Mbit/s and 80 ms; all applications start at 0 s and stop at 99 s.

    Args:
        aqm: ``pie`` or ``pi2``.
        tcp: number of NewReno flows.
        udp: number of UDP flows.
        target_ms: target of both AQMs, in ms.
        udp_rate: rate of each UDP flow; we read the paper's "at 10 Mbps" as the rate of each.
    """
    common = {"path": ["bottleneck"], "rtt": "80ms", "access_rate": "10mbit", "stop": "99s"}
    own = _TCP | common
    flows = [FlowGroup(name="tcp", count=tcp, app=Bulk(), **own)]  # type: ignore[arg-type]
    if udp:
        datagrams = Cbr(rate=udp_rate, packet="1000B")
        group = FlowGroup(name="udp", count=udp, app=datagrams, **common)  # type: ignore[arg-type]
        flows.append(group)
    return Scenario(
        name=f"pi2-{tcp}tcp-{udp}udp",
        duration="100s",
        record=Record(sample="1s"),
        links={
            "bottleneck": Link(
                rate="10mbit", delay="38ms", buffer="200kB", queue=_queue(aqm, target_ms)
            )
        },
        flows=flows,
    )


# Parameters and setup: tables I to III.


def _settings() -> dict[str, dict[str, str]]:
    return {aqm: measures.configured(scenario(aqm, 5)) for aqm in AQMS}


_T1_ROWS = {
    "tupdate": ("t_update", "interval of the probability update"),
    "delay": ("qdelay", "where the present queue delay comes from"),
    "target": ("target", "target queue delay"),
    "alpha": ("alpha", "integral gain"),
    "beta": ("beta", "proportional gain"),
    "rate_weight": ("average dequeue rate", "weight of a new sample"),
}
_T2_ROWS = {
    "limit": ("queue length", "limit"),
    "dq_threshold": ("queue threshold", "bytes to start and end a measurement"),
    "rate_weight": ("averaging weight", "fixed to 0.5 in the paper"),
}


def _own(title: str, rows: Mapping[str, tuple[str, str]]) -> Callable[[Values], list[Table]]:
    def tables(_values: Values) -> list[Table]:
        found = _settings()
        lines = [
            [theirs, own, meaning, *(found[aqm].get(own, "-") for aqm in AQMS)]
            for own, (theirs, meaning) in rows.items()
        ]
        return [Table(title, ("the paper's name", "our name", "meaning", "PIE", "PI2"), lines)]

    return tables


def _t1_measure(_pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for aqm, found in _settings().items():
        values[f"{aqm}.tupdate_ms"] = 1e3 * measures.seconds(found["tupdate"])
        values[f"{aqm}.target_ms"] = 1e3 * measures.seconds(found["target"])
        values[f"{aqm}.alpha_hz"] = float(found["alpha"].removesuffix("hz"))
        values[f"{aqm}.beta_hz"] = float(found["beta"].removesuffix("hz"))
    return values


def _t2_measure(_pools: Pools) -> dict[str, float]:
    return {f"{aqm}.rate_weight": float(found["rate_weight"]) for aqm, found in _settings().items()}


def _t3_measure(pools: Pools) -> dict[str, float]:
    group = scenario("pie", 5).flows[0]
    return (
        _t1_measure(pools)
        | _t2_measure(pools)
        | {
            "bottleneck_rate_mbps": RATE_MBPS,
            "bottleneck_rtt_ms": 2e3 * measures.seconds(_settings()["pie"]["link_delay"]),
            "base_rtt_ms": 1e3 * measures.seconds(group.rtt or ""),
            "buffer_kb": 200.0,
            "access_rate_mbps": 10.0,
            "stop_s": 99.0,
            "duration_s": 100.0,
            "payload_bytes": 1000.0,
        }
    )


def _t3_tables(values: Values) -> list[Table]:
    rows: list[tuple[str, str | Cell]] = [(key, Cell(key, "g")) for key in values]
    rows += [("TCP", "NewReno without SACK, delayed ACK, initial window 1 segment")]
    return [
        Table(
            "Table III: simulation setup as configured", ("setting", "measured / published"), rows
        )
    ]


# Figures 3 to 8: delay and throughput over time.


def _mixes(tcp: int, udp: int) -> Callable[[Profile], dict[str, Case]]:
    def cases(_profile: Profile) -> dict[str, Case]:
        keep = ("packets", "states")
        found = {aqm: Case(scenario(aqm, tcp, udp), keep) for aqm in AQMS}
        if udp:
            for aqm in AQMS:
                slower = scenario(aqm, tcp, udp, udp_rate="6mbit")
                found[f"{aqm}.udp6mbps"] = Case(slower, keep)
        return found

    return cases


def _delay_values(pool: Pool) -> dict[str, float]:
    runs = [measures.departures(packets) for packets in pool.packets()]
    values = measures.delays(measures.distribution(np.concatenate([d for _, d in runs])))
    late = measures.distribution(np.concatenate([d[t >= 10] for t, d in runs]))
    values |= measures.under("after10s", measures.delays(late))
    starts = []
    for t_s, delay_s in runs:
        middle_s, mean_s = measures.binned(t_s, delay_s, 0.1, 99.0)
        starts.append(
            {
                "initial_peak_ms": 1e3 * float(delay_s[t_s < 10].max()),
                "initial_peak_at_s": float(t_s[t_s < 10][delay_s[t_s < 10].argmax()]),
                "settled_below_40ms_s": measures.settled_s(middle_s, mean_s, 0.04),
            }
        )
    return values | {name: float(np.mean([one[name] for one in starts])) for name in starts[0]}


def _delay_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, _delay_values(pool))
    return values


def _throughput_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        series = [(t, rate * 1e-6) for t, rate in pool.throughput_bps()]
        early = [rate[(t > 1) & (t <= 15)].min() for t, rate in series]
        late = [rate[(t > 20) & (t <= 99)] for t, rate in series]
        values[f"{key}.dip_1to15s_mbps"] = float(np.mean(early))
        values[f"{key}.dip_at_s"] = float(
            np.mean(
                [t[(t > 1) & (t <= 15)][rate[(t > 1) & (t <= 15)].argmin()] for t, rate in series]
            )
        )
        values |= measures.under(f"{key}.after20s", measures.samples(np.concatenate(late), "mbps"))
        whole = np.concatenate([rate[t <= 99] for t, rate in series])
        values |= measures.under(key, measures.samples(whole, "mbps"))
    return values


def _delay_figures(name: str, title: str) -> Callable[[Pools, Values], Mapping[str, Figure]]:
    def figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
        lines = [
            Curve(label, t_s, delay_s * 1e3, COLOURS[aqm], width=0.8)
            for aqm, label in AQMS.items()
            for t_s, delay_s in [measures.departures(pools[aqm].packets()[0])]
        ]
        panel = Panel("", lines, "time [s]", QD, (0, 100), (0, 180))
        return {name: curves(f"Queuing delay, {title}", [panel], height_in=3.2)}

    return figures


def _throughput_figures(name: str, title: str) -> Callable[[Pools, Values], Mapping[str, Figure]]:
    def figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
        lines = [
            Curve.of_intervals(label, t_s, rate * 1e-6, COLOURS[aqm])
            for aqm, label in AQMS.items()
            for t_s, rate in pools[aqm].throughput_bps()[:1]
        ]
        panel = Panel("", lines, "time [s]", "throughput per 1 s [Mbit/s]", (0, 100), (0, 11))
        return {name: curves(f"Link throughput, {title}", [panel], height_in=3.2)}

    return figures


# Figures 9 and 10: CDFs for two targets.

_TARGETS_MS = (5, 20)


def _cdf_cases(tcp: int, udp: int) -> Callable[[Profile], dict[str, Case]]:
    def cases(_profile: Profile) -> dict[str, Case]:
        found = {}
        for ms in _TARGETS_MS:
            for aqm in AQMS:
                key = f"target{ms}ms.{aqm}"
                found[key] = Case(scenario(aqm, tcp, udp, target_ms=ms), ("delays",))
                if udp:
                    slower = scenario(aqm, tcp, udp, target_ms=ms, udp_rate="6mbit")
                    found[f"{key}.udp6mbps"] = Case(slower, ("delays",))
        return found

    return cases


def _cdf_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, measures.delays(pool.distribution()))
        values[f"{key}.throughput_mbps"] = 1e-6 * pool.number("queue/bottleneck/throughput")
    for ms in _TARGETS_MS:
        above = [
            pools[f"target{ms}ms.pi2"].distribution().share_below(np.array([x * 1e-3]))[0]
            - pools[f"target{ms}ms.pie"].distribution().share_below(np.array([x * 1e-3]))[0]
            for x in range(1, 101)
        ]
        values[f"target{ms}ms.pi2_above_pie_pct_of_range"] = 100 * float(
            np.mean(np.array(above) > 0)
        )
        values[f"target{ms}ms.pi2_minus_pie_mean_share_pct"] = 100 * float(np.mean(above))
    return values


def _cdf_figures(name: str, title: str) -> Callable[[Pools, Values], Mapping[str, Figure]]:
    def figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
        panels = []
        for letter, ms in zip("ab", _TARGETS_MS, strict=True):
            lines = [
                distribution_curve(label, pools[f"target{ms}ms.{aqm}"].distribution(), COLOURS[aqm])
                for aqm, label in AQMS.items()
            ]
            panels.append(
                Panel(f"({letter}) target {ms} ms", lines, QD, "CDF", (0, 100), (0, 1.01))
            )
        return {name: curves(f"Queuing delay, {title}", panels)}

    return figures


def _g_cases(_profile: Profile) -> dict[str, Case]:
    mixes = {"light": (5, 0), "heavy": (50, 0), "mix": (5, 2)}
    return {
        f"{name}.{aqm}": Case(scenario(aqm, *mix), ("packets", "states"))
        for name, mix in mixes.items()
        for aqm in AQMS
    }


_LIGHT, _HEAVY, _MIX = "scenario 1: 5 TCP", "scenario 2: 50 TCP", "scenario 3: 5 TCP and 2 UDP"
_SEEDS = Seeds(3, 20)
_TWO_UDP = "UDP sources send 10 Mbit/s each; a variant with 6 Mbit/s each is measured too."

# fmt: off
ITEMS = (
    Item("F1", "Class diagram of the ns-3 model", "structure",
        note="Nothing to measure. Here PI2 is a law that any queueing discipline can use."),
    Item("F2", "Interaction of enqueue, early drop, update and dequeue", "structure",
        note="Nothing to measure. The same hooks: on_enqueue, on_timer, on_dequeue."),
    Item("T1", "Variables of the probability update", "parameters", measure=_t1_measure,
        tables=_own("Table I", _T1_ROWS)),
    Item("T2", "Variables of the rate estimate", "parameters", measure=_t2_measure,
        tables=_own("Table II", _T2_ROWS)),
    Item("T3", "Simulation setup", "parameters", measure=_t3_measure, tables=_t3_tables),
    Item("F3", f"Queuing delay over time, {_LIGHT}", cases=_mixes(5, 0), seeds=_SEEDS,
        published_runs="one run", measure=_delay_measure, figures=_delay_figures("F3", _LIGHT)),
    Item("F4", f"Link throughput over time, {_LIGHT}", cases=_mixes(5, 0), seeds=_SEEDS,
        published_runs="one run", measure=_throughput_measure,
        figures=_throughput_figures("F4", _LIGHT),
        note="Bins of 1 s; the paper does not print its own."),
    Item("F5", f"Queuing delay over time, {_HEAVY}", cases=_mixes(50, 0), seeds=_SEEDS,
        published_runs="one run", measure=_delay_measure, figures=_delay_figures("F5", _HEAVY)),
    Item("F6", f"Link throughput over time, {_HEAVY}", cases=_mixes(50, 0), seeds=_SEEDS,
        published_runs="one run", measure=_throughput_measure,
        figures=_throughput_figures("F6", _HEAVY)),
    Item("F7", f"Queuing delay over time, {_MIX}", cases=_mixes(5, 2), seeds=_SEEDS,
        published_runs="one run", measure=_delay_measure, figures=_delay_figures("F7", _MIX),
        note=_TWO_UDP),
    Item("F8", f"Link throughput over time, {_MIX}", cases=_mixes(5, 2), seeds=_SEEDS,
        published_runs="one run", measure=_throughput_measure,
        figures=_throughput_figures("F8", _MIX), note=_TWO_UDP),
    Item("F9", "CDF of the queuing delay, 20 TCP", cases=_cdf_cases(20, 0), seeds=_SEEDS,
        published_runs="one run", measure=_cdf_measure,
        figures=_cdf_figures("F9", "scenario 4a: 20 TCP"),
        note="Better is read as: a larger share at or below the target, and a smaller p90."),
    Item("F10", "CDF of the queuing delay, 5 TCP and 2 UDP", cases=_cdf_cases(5, 2), seeds=_SEEDS,
        published_runs="one run", measure=_cdf_measure,
        figures=_cdf_figures("F10", "scenario 4b: 5 TCP and 2 UDP"), note=_TWO_UDP),
    Item("G", "Across figures: mean delays after the first seconds", cases=_g_cases, seeds=_SEEDS,
        published_runs="one run", measure=_delay_measure),
)
# fmt: on


_LATE = "after10s.mean_ms"
_SETUP = (
    ("bottleneck_rate_mbps", 10, "Mbit/s"),
    ("bottleneck_rtt_ms", 76, "ms"),
    ("base_rtt_ms", 80, "ms"),
    ("pie.target_ms", 20, "ms"),
    ("pie.tupdate_ms", 30, "ms"),
    ("pi2.tupdate_ms", 30, "ms"),
    ("pie.alpha_hz", 0.125, "Hz"),
    ("pie.beta_hz", 1.25, "Hz"),
    ("pi2.alpha_hz", 0.3125, "Hz"),
    ("pi2.beta_hz", 3.125, "Hz"),
    ("buffer_kb", 200, "kB"),
)


# fmt: off
_CLAIMS: list[Claim] = [
    number("pi2-T2-1", "exact", "averaging weight", "pi2.rate_weight", 0.5, ""),
    several("pi2-T3-1", "exact", "all values of Table III",
        *(is_number(k, k, v, u) for k, v, u in _SETUP)),
    number("pi2-F3-1", "approx", "initial peak of PIE: the full buffer", "pie.initial_peak_ms",
        _BUFFER_MS, "ms"),
    order("pi2-F3-2", "initial peak of PI2 below PIE's by a good margin",
        more("pie.initial_peak_ms", "pi2.initial_peak_ms", 1.1)),
    order("pi2-F3-3", "both bring the delay down quickly",
        *(more(5.0, f"{a}.settled_below_40ms_s") for a in AQMS)),
    several("pi2-F3-4", "approx", "afterwards both stay around 20 ms",
        *(is_number(AQMS[a], f"{a}.{_LATE}", 20, "ms") for a in AQMS)),
    order("pi2-F4-1", "both show a dip of throughput after the start",
        *(more(f"{a}.after20s.mean_mbps", f"{a}.dip_1to15s_mbps", 1.1) for a in AQMS)),
    order("pi2-F4-2", "later on alike, close to 10 Mbit/s",
        alike("pi2.after20s.mean_mbps", "pie.after20s.mean_mbps", within=0.05, floor=0.05),
        *(more(f"{a}.after20s.mean_mbps", 9.5) for a in AQMS)),
    several("pi2-F5-1", "approx", "both are brought down quickly and stay around 20 ms",
        *(is_number(AQMS[a], f"{a}.{_LATE}", 20, "ms") for a in AQMS),
        *(is_within(f"{AQMS[a]} settled", f"{a}.settled_below_40ms_s", None, 5, "s")
        for a in AQMS)),
    order("pi2-F5-2", "resembles scenario 1, although the initial burst is larger",
        *(alike(f"{a}.{_LATE}", 20.0) for a in AQMS)),
    order("pi2-F6-1", "no initial dip for either AQM",
        *(not_less(f"{a}.dip_1to15s_mbps", f"{a}.after20s.mean_mbps", 0.1) for a in AQMS)),
    several("pi2-F6-2", "approx", "throughput at link capacity",
        *(is_number(AQMS[a], f"{a}.after20s.mean_mbps", 10, "Mbit/s") for a in AQMS)),
    order("pi2-F7-1", "both keep the delay around the target; results alike",
        *(alike(f"{a}.{_LATE}", 20.0) for a in AQMS), alike(f"pi2.{_LATE}", f"pie.{_LATE}")),
    several("pi2-F8-1", "approx", "bottleneck completely used",
        *(is_number(AQMS[a], f"{a}.after20s.mean_mbps", 10, "Mbit/s") for a in AQMS)),
    *(order(f"pi2-F9-{i}", f"target {ms} ms: PI2 better than PIE",
        more(f"target{ms}ms.pi2.below_{ms}ms_pct", f"target{ms}ms.pie.below_{ms}ms_pct"),
        more(f"target{ms}ms.pie.p90_ms", f"target{ms}ms.pi2.p90_ms"))
        for i, ms in ((1, 5), (2, 20))),
    order("pi2-F10-1", "PI2 no worse than PIE",
        *(not_less(f"target{ms}ms.pi2.below_{ms}ms_pct", f"target{ms}ms.pie.below_{ms}ms_pct")
        for ms in _TARGETS_MS),
        *(not_more(f"target{ms}ms.pi2.p90_ms", f"target{ms}ms.pie.p90_ms") for ms in _TARGETS_MS)),
    order("pi2-G-1", "mean delays after the first seconds close to each other and to the target",
        *(alike(f"{mix}.pi2.{_LATE}", f"{mix}.pie.{_LATE}") for mix in ("light", "heavy", "mix")),
        *(alike(f"{mix}.{a}.{_LATE}", 20.0) for mix in ("light", "heavy", "mix") for a in AQMS)),
    order("pi2-G-2", "PI2 never clearly worse than PIE in delay",
        *(not_more(f"{mix}.pi2.{_LATE}", f"{mix}.pie.{_LATE}", within=0.25)
        for mix in ("light", "heavy", "mix"))),
]
# fmt: on


# Reasons why claims do not hold here; numbers are filled in (`sojourn.reproduce.reasons`).
DIFFERS = {
    "F4-1": "the least throughput in a second after the start is {pie.dip_1to15s_mbps:.1f} ± "
    "{± pie.dip_1to15s_mbps:.1f} Mbit/s with PIE and {pi2.dip_1to15s_mbps:.1f} ± "
    "{± pi2.dip_1to15s_mbps:.1f} with PI2: how many of the five flows lose packets of their slow "
    "start together is left to chance, and the paper shows one run.",
    "F4-2": "PIE moves {pie.after20s.mean_mbps:.2f} and PI2 {pi2.after20s.mean_mbps:.2f} Mbit/s "
    "after {=20} s: five flows without SACK leave the link idle after losses of several packets "
    "of a window.",
    "F6-1": "the least throughput in a second after the start is {pie.dip_1to15s_mbps:.1f} Mbit/s "
    "with PIE and {pi2.dip_1to15s_mbps:.1f} with PI2, {pie.after20s.mean_mbps:.1f} and "
    "{pi2.after20s.mean_mbps:.1f} later on: fifty flows that lose packets of their slow start "
    "leave the link idle for a moment; the paper shows one run and does not print its bins.",
    "F9-1": "both hold their target: the {=90}th percentile is {target5ms.pi2.p90_ms:.1f} ms with "
    "PI2 and {target5ms.pie.p90_ms:.1f} with PIE, the shares at or below {=5} ms are "
    "{target5ms.pi2.below_5ms_pct:.1f} and {target5ms.pie.below_5ms_pct:.1f} %; the margin has an "
    "interval of ± {± worst:.1f}.",
    "F9-2": "PI2's {=90}th percentile is {target20ms.pi2.p90_ms:.1f} ms, PIE's "
    "{target20ms.pie.p90_ms:.1f}. Both hold the median at the target "
    "({target20ms.pi2.p50_ms:.1f} and {target20ms.pie.p50_ms:.1f} ms), so that the shares at or "
    "below it, {target20ms.pi2.below_20ms_pct:.1f} and {target20ms.pie.below_20ms_pct:.1f} %, "
    "differ by no more than noise.",
    "G-1": "with five flows the mean after {=10} s is {light.pi2.after10s.mean_ms:.1f} ± "
    "{± light.pi2.after10s.mean_ms:.1f} ms with PI2 and {light.pie.after10s.mean_ms:.1f} with "
    "PIE: the seeds spread by about as much as the claim allows.",
}

# Positions of published values in the figures.
MARKS = (
    level("F3", 0, "F3-1"),
    level("F3", 0, "F3-4"),
    level("F5", 0, "F5-1"),
    level("F6", 0, "F6-2"),
    level("F8", 0, "F8-1"),
)

PAPER = Paper(
    key="pi2",
    title="Implementation of PI2 Queuing Discipline for Classic TCP Traffic in ns-3",
    source="Tahiliani, Tewari; IFIP Networking 2017",
    about="PI2, a PI controller whose output is squared, against PIE in ns-3: as good in delay and "
    "throughput without PIE's heuristics.",
    items=ITEMS,
    claims=explained(_CLAIMS, DIFFERS),
    marks=MARKS,
)
