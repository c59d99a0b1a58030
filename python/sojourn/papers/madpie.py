"""Kuhn and Ros 2016: MADPIE against PIE, DropTail and CoDel on long paths.

tidy: allow(length) A paper is one file: its scenarios, items and claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.plots import style
from sojourn.plots.boxes import BoxPanel, Five, boxes
from sojourn.plots.cross import CrossPanel, cross
from sojourn.plots.curves import Curve, Panel, curves, distribution_curve
from sojourn.plots.data import Floats
from sojourn.plots.shares import Share, shares
from sojourn.reproduce import measures
from sojourn.reproduce.keep import DETERMINISTIC, OVERFLOW, RANDOM
from sojourn.reproduce.paper import (
    Case,
    Claim,
    Item,
    Measure,
    Paper,
    Part,
    Pools,
    Profile,
    Seeds,
    Table,
    Values,
    alike,
    between,
    difference,
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
from sojourn.reproduce.pool import Packets, Pool
from sojourn.scenario import Access, Bulk, Cbr, Files, FlowGroup, Link, Record, Scenario

RATE_BPS = 10e6
NAMES = {"droptail": "DropTail", "pie": "PIE", "madpie": "MADPIE", "codel": "CoDel"}
COLOURS = {name: style.colour_of(aqm) for aqm, name in NAMES.items()}
S1_AQMS, S2_AQMS, S3_AQMS = (
    ("pie", "madpie"),
    ("droptail", "pie", "madpie"),
    ("pie", "madpie", "codel"),
)
S1_RTTS, S2_RTTS = (100, 500), (100, 300, 500)
SIZES_KB = (15, 44, 73, 102)
# A packet of 218 B on the bottleneck and on the access link: part of every one-way delay.
CBR_TRANSMISSION_S = 218 * 8 / 10e6 + 218 * 8 / 100e6
QD = "queuing delay [ms]"
# Of Linux 3.17: the Reno that CUBIC is at least as fast as counts acknowledgements, CUBIC packets.
_CUBIC = "cubic:friendly_counts_acks=true"


def _queue(aqm: str, deterministic_ms: int) -> str:
    """The AQM with the paper's parameters: target 20 ms, update 30 ms, burst allowance 100 ms.

    alpha and beta are not printed; 0.125 and 1.25 Hz are those of the PIE of that time (chosen).
    """
    return {
        "droptail": "taildrop",
        "pie": "pie@ns2:target=20ms,tupdate=30ms,max_burst=100ms,alpha=0.125hz,beta=1.25hz",
        "madpie": "madpie@ns2:target=20ms,tupdate=30ms,max_burst=100ms,alpha=0.125hz,beta=1.25hz,"
        f"deterministic_target={deterministic_ms}ms",
        "codel": "codel@draft:target=5ms,interval=100ms",
    }[aqm]


def _bottleneck(queue: str, largest_rtt_ms: int, delay_ms: int) -> dict[str, Link]:
    """10 Mbit/s; the limit is the BDP in bytes (chosen: the unit is not printed)."""
    return {
        "bottleneck": Link(
            rate="10mbit", delay=f"{delay_ms}ms", buffer=f"{largest_rtt_ms * 1250}B", queue=queue
        )
    }


def _access(rtt_ms: int, link_ms: int) -> Access:
    """Access links of 1 ms; what makes the RTT of a group in S3 longer lies with its sender."""
    return Access(sender=f"{rtt_ms // 2 - link_ms - 1}ms", receiver="1ms")


def _link_ms(rtt_ms: int) -> int:
    """The delay of the bottleneck in S1 and S2: all but 1 ms on either side."""
    return rtt_ms // 2 - 2


def _bulk(name: str, count: int, rtt_ms: int, link_ms: int) -> FlowGroup:
    """CUBIC of Linux 3.17 in ns-2; packet size and delayed ACKs as the catalogue recommends."""
    return FlowGroup(
        name=name,
        count=count,
        path=["bottleneck"],
        rtt=f"{rtt_ms}ms",
        access=_access(rtt_ms, link_ms),
        access_rate="100mbit",
        tcp="madpie",
        cc=_CUBIC,
        packet="1500B",
        header="40B",
        ack_every=2,
        start="0s..1s",
        app=Bulk(),
    )


def _mix(suffix: str, bulk: int, rtt_ms: int, link_ms: int) -> list[FlowGroup]:
    """4 CBR flows, 20 sources of short files, some bulk flows."""
    calls = FlowGroup(
        name=f"cbr{suffix}",
        count=4,
        path=["bottleneck"],
        rtt=f"{rtt_ms}ms",
        access=_access(rtt_ms, link_ms),
        access_rate="100mbit",
        start="0s..1s",
        app=Cbr(rate="87kbit", packet="218B"),
    )
    files = FlowGroup(
        name=f"files{suffix}",
        count=20,
        path=["bottleneck"],
        rtt=f"{rtt_ms}ms",
        access=_access(rtt_ms, link_ms),
        access_rate="100mbit",
        tcp="madpie",
        cc=_CUBIC,
        packet="1500B",
        header="40B",
        ack_every=2,
        start="0s..1s",
        app=Files(sizes=[f"{kb}kB" for kb in SIZES_KB], think="9.5s"),
    )
    return [calls, files, _bulk(f"bulk{suffix}", bulk, rtt_ms, link_ms)]


def s1(aqm: str, rtt_ms: int, warmup_s: int = 0) -> Scenario:
    """S1, proof of concept: 10 bulk flows for 300 s."""
    return Scenario(
        name=f"madpie-s1-rtt{rtt_ms}",
        duration="300s",
        warmup=f"{warmup_s}s",
        record=Record(sample="1s"),
        links=_bottleneck(_queue(aqm, 30), rtt_ms, _link_ms(rtt_ms)),
        flows=[_bulk("bulk", 10, rtt_ms, _link_ms(rtt_ms))],
    )


def s2(aqm: str, rtt_ms: int) -> Scenario:
    """S2, traffic mix: 100 s."""
    return Scenario(
        name=f"madpie-s2-rtt{rtt_ms}",
        duration="100s",
        record=Record(sample="1s"),
        links=_bottleneck(_queue(aqm, 25), rtt_ms, _link_ms(rtt_ms)),
        flows=_mix("", 10, rtt_ms, _link_ms(rtt_ms)),
    )


def s3(aqm: str) -> Scenario:
    """S3, traffic mix and RTT mix: two groups of all classes, 2 bulk flows each."""
    return Scenario(
        name="madpie-s3",
        duration="100s",
        record=Record(sample="1s"),
        links=_bottleneck(_queue(aqm, 25), 500, 48),
        flows=[*_mix("100", 2, 100, 48), *_mix("500", 2, 500, 48)],
    )


# Topologies: figures 1, 5 and 9.


def _topology(name: str, scenario: Scenario) -> dict[str, float]:
    link = scenario.links["bottleneck"]
    assert isinstance(link.delay, str) and isinstance(link.buffer, str), "written so above"
    values = {
        f"{name}.bottleneck_rate_mbps": 10.0,
        f"{name}.bottleneck_delay_ms": float(link.delay.removesuffix("ms")),
        f"{name}.queue_limit_bytes": float(link.buffer.removesuffix("B")),
    }
    for group in scenario.flows:
        values[f"{name}.{group.name}.base_rtt_ms"] = float((group.rtt or "").removesuffix("ms"))
        values[f"{name}.{group.name}.count"] = float(group.count or 1)
        values[f"{name}.{group.name}.access_rate_mbps"] = 100.0
        assert group.access is not None, "written so above"
        for side in ("sender", "receiver"):
            delay = getattr(group.access, side)
            values[f"{name}.{group.name}.{side}_access_delay_ms"] = float(delay.removesuffix("ms"))
    return values


def _f1_measure(_pools: Pools) -> dict[str, float]:
    return {k: v for rtt in S1_RTTS for k, v in _topology(f"rtt{rtt}", s1("pie", rtt)).items()}


def _f5_measure(_pools: Pools) -> dict[str, float]:
    return {k: v for rtt in S2_RTTS for k, v in _topology(f"rtt{rtt}", s2("pie", rtt)).items()}


def _f9_measure(_pools: Pools) -> dict[str, float]:
    return _topology("s3", s3("pie"))


def _list_table(title: str) -> Callable[[Values], list[Table]]:
    def tables(values: Values) -> list[Table]:
        return [Table(title, ("configured", "value"), [(k, f"{v:g}") for k, v in values.items()])]

    return tables


# S1: figures 2 to 4.


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
    """How often the delay goes above 100 ms in the window."""
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
    """Queuing delay in seconds at the drops, by cause: what waits divided by the rate."""
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


# S2: figures 6 to 8.


_MIX = ("delays", "goodput", "transfers", "states")


def _s2_cases(_profile: Profile) -> dict[str, Case]:
    return {f"rtt{rtt}.{aqm}": Case(s2(aqm, rtt), _MIX) for rtt in S2_RTTS for aqm in S2_AQMS}


def _s3_cases(_profile: Profile) -> dict[str, Case]:
    return {aqm: Case(s3(aqm), _MIX) for aqm in S3_AQMS}


def _cbr(pool: Pool, traffic: str, rtt_ms: int) -> dict[str, float]:
    """Queuing delay of datagrams, and their goodput per second and flow, headers included."""
    one_way = pool.distribution(f"class/{traffic}/owd")
    base_s = rtt_ms / 2e3 + CBR_TRANSMISSION_S
    values = measures.under("qd", measures.delays(one_way, -base_s))
    values |= measures.under("owd", measures.delays(one_way))
    values |= measures.under("goodput", measures.samples(_cbr_goodput(pool, traffic), "kbps", 1e-3))
    # A second holds 49.9 datagrams, so 50 are no excess.
    excess = np.mean(_cbr_goodput(pool, traffic) > 50.5 * 218 * 8)
    return values | {"goodput.above_87kbps_pct": 100 * float(excess)}


def _cbr_goodput(pool: Pool, traffic: str) -> Floats:
    """In bit/s per flow and second from 2 s on, when all flows have started; whole datagrams."""
    bins = [rates[2:].ravel() for rates in pool.goodput_bps(traffic, 1.0)]
    return np.concatenate(bins)


def _f6_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, _cbr(pool, "cbr", int(key.split(".")[0][3:])))
        values |= measures.under(f"{key}.all_packets", measures.delays(pool.distribution()))
    for rtt in S2_RTTS:
        for q in ("p5", "p25", "p50", "p75", "p95"):
            pie, own = values[f"rtt{rtt}.pie.qd.{q}_ms"], values[f"rtt{rtt}.madpie.qd.{q}_ms"]
            values[f"rtt{rtt}.pie_minus_madpie.qd.{q}_ms"] = pie - own
    return values


_FIVE = ("p5", "p25", "p50", "p75", "p95")


def _five(values: Values, prefix: str, unit: str, scale: float = 1.0) -> Five:
    a, b, c, d, e = (values[f"{prefix}.{q}_{unit}"] * scale for q in _FIVE)
    return a, b, c, d, e


def _f6_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    colours = dict(zip((f"RTT {rtt} ms" for rtt in S2_RTTS), style.PALETTE[1:], strict=False))
    panels = []
    for letter, aqm in zip("bcd", S2_AQMS, strict=True):
        crosses = {
            f"RTT {rtt} ms": (
                _five(values, f"rtt{rtt}.{aqm}.qd", "ms"),
                _five(values, f"rtt{rtt}.{aqm}.goodput", "kbps"),
            )
            for rtt in S2_RTTS
        }
        x_lim = (0, None) if aqm == "droptail" else (0, 120)
        panels.append(
            CrossPanel(
                f"({letter}) {NAMES[aqm]}",
                crosses,
                QD,
                "goodput of a flow [kbit/s]",
                x_lim,
                (60, 100),
            )
        )
    return {"F6": cross("S2: CBR flows, 5/25/50/75/95 percentiles", panels, colours)}


def _downloads(pool: Pool, traffic: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for kb in SIZES_KB:
        found = pool.completions_s(traffic, kb * 1000)
        values |= measures.under(f"{kb}kb", measures.samples(found, "ms", 1e3))
        values[f"{kb}kb.transfers"] = float(len(found))
    return values


def _f7_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, _downloads(pool, "files"))
    for rtt in S2_RTTS:
        for kb in SIZES_KB:
            for q in ("p50", "p75", "p95"):
                pie = values.get(f"rtt{rtt}.pie.{kb}kb.{q}_ms", np.nan)
                own = values.get(f"rtt{rtt}.madpie.{kb}kb.{q}_ms", np.nan)
                values[f"rtt{rtt}.pie_minus_madpie.{kb}kb.{q}_ms"] = pie - own
    return values


def _download_panel(values: Values, title: str, keys: Mapping[str, str]) -> BoxPanel:
    found = {
        name: {f"{kb} kB": _five(values, f"{key}.{kb}kb", "ms", 1e-3) for kb in SIZES_KB}
        for name, key in keys.items()
    }
    return BoxPanel(
        title, [f"{kb} kB" for kb in SIZES_KB], found, "file size", "download time [s]", (0, None)
    )


def _f7_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = [
        _download_panel(values, f"RTT {rtt} ms", {NAMES[aqm]: f"rtt{rtt}.{aqm}" for aqm in S2_AQMS})
        for rtt in S2_RTTS
    ]
    title = "S2: download time of short files; whiskers 5 and 95 %, box 25 and 75 %"
    return {"F7": boxes(title, panels, COLOURS)}


def _bulk_goodput(pool: Pool, traffic: str, per: str) -> Floats:
    return np.concatenate([rates[1:].ravel() for rates in pool.goodput_bps(traffic, 1.0, per)])


def _goodput_values(pool: Pool, traffic: str) -> dict[str, float]:
    values = measures.under(
        "total", measures.samples(_bulk_goodput(pool, traffic, "class"), "mbps", 1e-6)
    )
    per_flow = _bulk_goodput(pool, traffic, "flow")
    values |= measures.under("flow", measures.samples(per_flow, "mbps", 1e-6))
    return values | {"util_pct": 100 * pool.number("queue/bottleneck/utilisation")}


def _f8_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, _goodput_values(pool, "bulk"))
    return values


def _goodput_curve(pool: Pool, traffic: str, label: str, colour: str, dash: object) -> Curve:
    found = np.sort(_bulk_goodput(pool, traffic, "class")) * 1e-6
    return Curve(label, found, np.arange(1, len(found) + 1) / len(found), colour, dash)


_DASHES = {100: "solid", 300: (0, (5, 1.5)), 500: (0, (1.5, 1.2))}


def _f8_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    lines = [
        _goodput_curve(
            pools[f"rtt{rtt}.{aqm}"],
            "bulk",
            f"{NAMES[aqm]}, RTT {rtt} ms",
            COLOURS[NAMES[aqm]],
            _DASHES[rtt],
        )
        for aqm in S2_AQMS
        for rtt in S2_RTTS
    ]
    panel = Panel(
        "all bulk flows together", lines, "goodput per 1 s [Mbit/s]", "CDF", (2, 10.5), (0, 1.01)
    )
    return {"F8": curves("S2: goodput of the bulk flows", [panel], height_in=3.4)}


# S3: figures 10 to 12.


def _f10_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for group in (100, 500):
        for aqm in S3_AQMS:
            found = _cbr(pools[aqm], f"cbr{group}", group)
            values |= measures.under(f"rtt{group}.{aqm}", found)
            for q in _FIVE:
                qd = found[f"qd.{q}_ms"]
                values[f"rtt{group}.{aqm}.qd.{q}_of_owd_pct"] = 100 * qd / (group / 2 + qd)
        for aqm in ("madpie", "codel"):
            for q in _FIVE:
                pie = values[f"rtt{group}.pie.qd.{q}_ms"]
                reduction = (
                    100 * (1 - values[f"rtt{group}.{aqm}.qd.{q}_ms"] / pie) if pie else np.nan
                )
                values[f"rtt{group}.{aqm}.qd.{q}_reduction_pct"] = reduction
    return values


def _f10_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = []
    for group in (100, 500):
        crosses = {
            NAMES[aqm]: (
                _five(values, f"rtt{group}.{aqm}.qd", "ms"),
                _five(values, f"rtt{group}.{aqm}.goodput", "kbps"),
            )
            for aqm in S3_AQMS
        }
        panels.append(
            CrossPanel(
                f"{group} ms path", crosses, QD, "goodput of a flow [kbit/s]", (0, None), (60, 100)
            )
        )
    return {"F10": cross("S3: CBR flows, 5/25/50/75/95 percentiles", panels, COLOURS, columns=2)}


def _f11_cases(profile: Profile) -> dict[str, Case]:
    return _s3_cases(profile) | {f"s2.{aqm}": Case(s2(aqm, 100), _MIX) for aqm in ("pie", "madpie")}


def _f11_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for group in (100, 500):
        for aqm in S3_AQMS:
            values |= measures.under(f"rtt{group}.{aqm}", _downloads(pools[aqm], f"files{group}"))
    for aqm in ("pie", "madpie"):
        values |= measures.under(f"s2.rtt100.{aqm}", _downloads(pools[f"s2.{aqm}"], "files"))
    return values


def _f11_figures(_pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = [
        _download_panel(
            values, f"({letter}) {group} ms path", {NAMES[a]: f"rtt{group}.{a}" for a in S3_AQMS}
        )
        for letter, group in zip("ab", (100, 500), strict=True)
    ]
    title = "S3: download time of short files; whiskers 5 and 95 %, box 25 and 75 %"
    return {"F11": boxes(title, panels, COLOURS)}


def _f12_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for group in (100, 500):
        for aqm in S3_AQMS:
            values |= measures.under(
                f"rtt{group}.{aqm}", _goodput_values(pools[aqm], f"bulk{group}")
            )
    return values


def _f12_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for letter, group in zip("ab", (100, 500), strict=True):
        lines = [
            _goodput_curve(pools[aqm], f"bulk{group}", NAMES[aqm], COLOURS[NAMES[aqm]], "solid")
            for aqm in S3_AQMS
        ]
        panels.append(
            Panel(
                f"({letter}) {group} ms path",
                lines,
                "goodput per 1 s [Mbit/s]",
                "CDF",
                (0, 10),
                (0, 1.01),
            )
        )
    return {"F12": curves("S3: goodput of the two bulk flows of each path", panels)}


def _g_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        found = _cbr(pool, "cbr", int(key.split(".")[0][3:]))
        values |= {f"{key}.qd.{q}_ms": found[f"qd.{q}_ms"] for q in ("p50", "p75", "p95")}
    return values


_NO_WARMUP = "No warm-up is removed; F2 prints a variant without the first 5 s beside it."
_SIZE = "Packets of 1500 B and delayed ACKs are chosen: the paper prints neither."

# fmt: off
ITEMS = (
    Item("F1", "Topology of S1", "structure", measure=_f1_measure,
        tables=_list_table("S1 as configured")),
    Item("F2", "S1: CDF of queuing delay and utilisation", cases=_f2_cases, seeds=Seeds(3, 5),
        measure=_f2_measure, figures=_f2_figures, note=f"{_NO_WARMUP} {_SIZE}"),
    Item("F3", "S1, RTT 500 ms: queuing delay over time", cases=_packet_cases, seeds=Seeds(3, 5),
        measure=_f3_measure, figures=_f3_figures,
        note="The paper labels the axis ms; seconds are meant. Numbers pool the seeds' windows."),
    Item("F4", "S1: drops by cause against the queuing delay at the drop", cases=_packet_cases,
        seeds=Seeds(3, 5), measure=_f4_measure, figures=_f4_figures,
        note="The delay at a drop is what waits then divided by the rate."),
    Item("F5", "Topology and classes of S2", "structure", measure=_f5_measure,
        tables=_list_table("S2 as configured")),
    Item("F6", "S2: CBR traffic", cases=_s2_cases, seeds=Seeds(3, 20), published_runs="20 runs",
        measure=_f6_measure, figures=_f6_figures,
        note="Queuing delay of CBR packets: one-way delay less its base."),
    Item("F7", "S2: download time of the short files", cases=_s2_cases, seeds=Seeds(3, 20),
        published_runs="20 runs", measure=_f7_measure, figures=_f7_figures,
        note="Each file comes over a new connection; the time runs from its SYN to its last byte."),
    Item("F8", "S2: goodput of the bulk flows", cases=_s2_cases, seeds=Seeds(3, 20),
        published_runs="20 runs", measure=_f8_measure, figures=_f8_figures),
    Item("F9", "Topology of S3", "structure", measure=_f9_measure,
        tables=_list_table("S3 as configured")),
    Item("F10", "S3: CBR traffic", cases=_s3_cases, seeds=Seeds(3, 20), published_runs="20 runs",
        measure=_f10_measure, figures=_f10_figures,
        note="Percentages of the one-way delay refer to base plus queuing delay."),
    Item("F11", "S3: download times", cases=_f11_cases, seeds=Seeds(3, 20),
        published_runs="20 runs", measure=_f11_measure, figures=_f11_figures),
    Item("F12", "S3: goodput of the bulk flows", cases=_s3_cases, seeds=Seeds(3, 20),
        published_runs="20 runs", measure=_f12_measure, figures=_f12_figures),
    Item("G", "Across figures: what deterministic drops change, by RTT", cases=_s2_cases,
        seeds=Seeds(3, 20), published_runs="20 runs", measure=_g_measure),
)
# fmt: on


_RTT500, _RTT100 = "rtt500", "rtt100"


# fmt: off
_CLAIMS_S1: list[Claim] = [
    several("madpie-F1-1", "exact",
        "links 100 Mbit/s and 1 ms, 10 Mbit/s and d; d = 48, 248 ms; base RTT 100, 500 ms",
        *(is_number(f"d at RTT {rtt}", f"rtt{rtt}.bottleneck_delay_ms", (rtt - 4) / 2, "ms")
        for rtt in S1_RTTS),
        *(is_number(f"base RTT {rtt}", f"rtt{rtt}.bulk.base_rtt_ms", rtt, "ms") for rtt in S1_RTTS),
        *(is_number(f"{side}, RTT {rtt}", f"rtt{rtt}.bulk.{side}_access_delay_ms", 1, "ms")
        for rtt in S1_RTTS for side in ("sender", "receiver"))),
    number("madpie-F2-1", "approx", "largest delay of PIE at RTT 100 (the full buffer)",
        f"{_RTT100}.pie.max_ms", 100, "ms"),
    order("madpie-F2-2", "largest delay of MADPIE slightly below PIE's at RTT 100",
        more(f"{_RTT100}.pie.max_ms", f"{_RTT100}.madpie.max_ms")),
    order("madpie-F2-3", "otherwise delay and utilisation do not differ noticeably at RTT 100",
        *(alike(f"{_RTT100}.madpie.{q}_ms", f"{_RTT100}.pie.{q}_ms")
        for q in ("p25", "p50", "p75", "p95")),
        alike(f"{_RTT100}.madpie.util_mean_pct", f"{_RTT100}.pie.util_mean_pct", within=0.05)),
    number("madpie-F2-4", "approx", "80th percentile of MADPIE at RTT 500",
        f"{_RTT500}.madpie.p80_ms", 20, "ms"),
    number("madpie-F2-5", "approx", "80th percentile of PIE at RTT 500", f"{_RTT500}.pie.p80_ms",
        30, "ms"),
    number("madpie-F2-6", "approx", "largest delay at RTT 500, PIE less MADPIE",
        difference(f"{_RTT500}.pie.max_ms", f"{_RTT500}.madpie.max_ms"), 60, "ms"),
    between("madpie-F2-7", "approx", "90th percentile of MADPIE at RTT 500",
        f"{_RTT500}.madpie.p90_ms", None, 30, "ms"),
    order("madpie-F2-8", "90th percentile of PIE above MADPIE's at RTT 500",
        more(f"{_RTT500}.pie.p90_ms", f"{_RTT500}.madpie.p90_ms")),
    order("madpie-F2-9", "utilisation with MADPIE not lower than with PIE at RTT 500",
        not_less(f"{_RTT500}.madpie.util_mean_pct", f"{_RTT500}.pie.util_mean_pct", within=0.02)),
    order("madpie-F3-1", "oscillation of PIE wider than MADPIE's",
        more(f"{_RTT500}.pie.sd_ms", f"{_RTT500}.madpie.sd_ms")),
    order("madpie-F3-2", "with PIE the delay frequently exceeds 100 ms",
        more(f"{_RTT500}.pie.excursions_above_100ms", 1.0)),
    order("madpie-F3-3", "with PIE the buffer is empty at times",
        more(f"{_RTT500}.pie.zero_pct", 0.0)),
    order("madpie-F3-4", "fewer samples above 60 ms with MADPIE",
        more(f"{_RTT500}.pie.above_60ms_pct", f"{_RTT500}.madpie.above_60ms_pct")),
    between("madpie-F3-5", "approx", "all PIE samples below 140 ms", f"{_RTT500}.pie.max_ms", None,
        140, "ms"),
    order("madpie-F3-6", "PIE's oscillation grows with RTT",
        more(f"{_RTT500}.pie.sd_ms", f"{_RTT100}.pie.sd_ms")),
    number("madpie-F4-1", "approx", "share of deterministic drops, MADPIE, RTT 500",
        f"{_RTT500}.madpie.r_dd_pct", 70, "%"),
    number("madpie-F4-2", "approx", "5th percentile of the delay at deterministic drops, RTT 500",
        f"{_RTT500}.madpie.dd.p5_ms", 30, "ms"),
    order("madpie-F4-3", "PIE: most drops are random, not overflow",
        *(more(f"rtt{rtt}.pie.r_rd", f"rtt{rtt}.pie.r_bo") for rtt in S1_RTTS)),
    between("madpie-F4-4", "approx", "PIE at RTT 500: drops at delays up to more than 90 ms",
        f"{_RTT500}.pie.rd.p95_ms", 90, None, "ms"),
    order("madpie-F4-5", "MADPIE: random drops dominate at RTT 100, deterministic ones at RTT 500",
        more(f"{_RTT100}.madpie.r_rd", f"{_RTT100}.madpie.r_dd"),
        more(f"{_RTT500}.madpie.r_dd", f"{_RTT500}.madpie.r_rd")),
    order("madpie-F4-6", "the share of deterministic drops grows with RTT",
        more(f"{_RTT500}.madpie.r_dd", f"{_RTT100}.madpie.r_dd")),
]
# fmt: on


# fmt: off
_CLAIMS_S2: list[Claim] = [
    several("madpie-F5-1", "exact",
        "d = 48, 148, 248 ms: base RTT 100, 300, 500 ms; 4 CBR, 20 short-file, 10 bulk sources",
        *(is_number(f"d at RTT {rtt}", f"rtt{rtt}.bottleneck_delay_ms", (rtt - 4) / 2, "ms")
        for rtt in S2_RTTS),
        *(is_number(f"{n} {name}", f"rtt100.{name}.count", n, "")
        for name, n in (("cbr", 4), ("files", 20), ("bulk", 10)))),
    order("madpie-F6-1",
        "DropTail: delay very high; at RTT 500 the upper percentiles leave the others' scale",
        *(more(f"rtt{rtt}.droptail.qd.p50_ms", f"rtt{rtt}.{a}.qd.p50_ms", 2) for rtt in S2_RTTS
        for a in ("pie", "madpie")),
        *(more("rtt500.droptail.qd.p75_ms", f"rtt500.{a}.qd.p95_ms", 1.5)
        for a in ("pie", "madpie"))),
    order("madpie-F6-2", "DropTail: goodput in a second sometimes exceeds 87 kbit/s",
        more("rtt500.droptail.goodput.above_87kbps_pct", 0.0)),
    order("madpie-F6-3", "RTT 100: MADPIE and PIE hardly differ",
        *(alike(f"rtt100.madpie.qd.{q}_ms", f"rtt100.pie.qd.{q}_ms")
        for q in ("p25", "p50", "p75", "p95"))),
    number("madpie-F6-4", "approx", "75th percentile at RTT 500, PIE less MADPIE",
        "rtt500.pie_minus_madpie.qd.p75_ms", 5, "ms"),
    order("madpie-F6-5",
        "RTT 500: 95th percentile of MADPIE below PIE's, by clearly more than at p75",
        more("rtt500.pie.qd.p95_ms", "rtt500.madpie.qd.p95_ms"),
        more("rtt500.pie_minus_madpie.qd.p95_ms", "rtt500.pie_minus_madpie.qd.p75_ms", 1.5)),
    order("madpie-F6-6", "no noticeable loss of CBR goodput with MADPIE against PIE",
        *(not_less(f"rtt{rtt}.madpie.goodput.mean_kbps", f"rtt{rtt}.pie.goodput.mean_kbps")
        for rtt in S2_RTTS)),
    order("madpie-F7-1",
        "median download time of DropTail above PIE's and MADPIE's for every size and RTT",
        *(more(f"rtt{rtt}.droptail.{kb}kb.p50_ms", f"rtt{rtt}.{a}.{kb}kb.p50_ms") for rtt in S2_RTTS
        for kb in SIZES_KB for a in ("pie", "madpie"))),
    order("madpie-F7-2", "95th percentile of MADPIE not above PIE's at RTT 300 and 500",
        *(not_more(f"rtt{rtt}.madpie.{kb}kb.p95_ms", f"rtt{rtt}.pie.{kb}kb.p95_ms")
        for rtt in (300, 500) for kb in SIZES_KB)),
    number("madpie-F7-3", "approx", "95th percentile, 73 kB, RTT 300, PIE less MADPIE",
        "rtt300.pie_minus_madpie.73kb.p95_ms", 700, "ms"),
    order("madpie-F7-4", "75th percentile of MADPIE below PIE's for 102 kB at RTT 500",
        more("rtt500.pie.102kb.p75_ms", "rtt500.madpie.102kb.p75_ms")),
    order("madpie-F8-1", "DropTail: the RTT has hardly any influence on the bulk goodput",
        *(alike(f"rtt{rtt}.droptail.total.mean_mbps", "rtt100.droptail.total.mean_mbps", within=0.1,
        floor=0.05) for rtt in (300, 500))),
    order("madpie-F8-2", "bulk goodput with DropTail above PIE's and MADPIE's",
        *(more(f"rtt{rtt}.droptail.total.mean_mbps", f"rtt{rtt}.{a}.total.mean_mbps")
        for rtt in S2_RTTS for a in ("pie", "madpie"))),
    order("madpie-F8-3", "large RTT: bulk goodput of MADPIE slightly below PIE's",
        more("rtt500.pie.total.mean_mbps", "rtt500.madpie.total.mean_mbps"),
        alike("rtt500.madpie.total.mean_mbps", "rtt500.pie.total.mean_mbps", floor=0.05)),
]
# fmt: on


def _closer_to_codel(q: str) -> Measure:
    """How much farther MADPIE's percentile is from PIE's than from CoDel's."""
    pie, own, codel = (f"rtt100.{aqm}.qd.{q}_ms" for aqm in ("pie", "madpie", "codel"))
    return lambda v: v[pie] - v[own] - abs(v[own] - v[codel])


# fmt: off
_CLAIMS_S3: list[Claim] = [
    several("madpie-F9-1", "exact", "bottleneck 10 Mbit/s and 48 ms; base RTT 100 and 500 ms",
        is_number("bottleneck delay", "s3.bottleneck_delay_ms", 48, "ms"),
        is_number("access link of group 100", "s3.bulk100.sender_access_delay_ms", 1, "ms"),
        is_number("access link of group 500", "s3.bulk500.sender_access_delay_ms", 201, "ms"),
        *(is_number(f"base RTT {g}", f"s3.bulk{g}.base_rtt_ms", g, "ms") for g in (100, 500))),
    several("madpie-F10-1", "approx",
        "PIE, 100 ms path: upper percentiles above 60 ms, 55 % of the one-way delay",
        is_within("p95", "rtt100.pie.qd.p95_ms", 60, None, "ms"),
        is_within("p95 of the one-way delay", "rtt100.pie.qd.p95_of_owd_pct", 55, None, "%")),
    order("madpie-F10-2", "delay of CoDel below PIE's (median, upper percentiles)",
        *(more(f"rtt100.pie.qd.{q}_ms", f"rtt100.codel.qd.{q}_ms") for q in ("p50", "p75", "p95"))),
    order("madpie-F10-3", "median of MADPIE below PIE's",
        more("rtt100.pie.qd.p50_ms", "rtt100.madpie.qd.p50_ms")),
    order("madpie-F10-4", "upper percentiles of MADPIE closer to CoDel's than to PIE's",
        *(Part(q, _closer_to_codel(q)) for q in ("p75", "p95"))),
    number("madpie-F10-5", "approx", "reduction of the 95th percentile, MADPIE against PIE",
        "rtt100.madpie.qd.p95_reduction_pct", 21, "%"),
    order("madpie-F10-6",
        "75th percentile of MADPIE below PIE's, relative reduction smaller than at p95",
        more("rtt100.pie.qd.p75_ms", "rtt100.madpie.qd.p75_ms"),
        more("rtt100.madpie.qd.p95_reduction_pct", "rtt100.madpie.qd.p75_reduction_pct")),
    order("madpie-F11-1", "100 ms path: download times below those of F7 at RTT 100",
        *(more(f"s2.rtt100.{a}.{kb}kb.p50_ms", f"rtt100.{a}.{kb}kb.p50_ms")
        for a in ("pie", "madpie") for kb in SIZES_KB)),
    order("madpie-F11-2", "100 ms path: p5, p25, p50, p75 about equal for all three",
        *(alike(f"rtt100.{a}.{kb}kb.{q}_ms", f"rtt100.pie.{kb}kb.{q}_ms", floor=1)
        for a in ("madpie", "codel") for kb in SIZES_KB for q in ("p5", "p25", "p50", "p75"))),
    order("madpie-F11-3", "100 ms path: 95th percentile of MADPIE the lowest for every size",
        *(more(f"rtt100.{a}.{kb}kb.p95_ms", f"rtt100.madpie.{kb}kb.p95_ms")
        for a in ("pie", "codel") for kb in SIZES_KB)),
    order("madpie-F11-4", "500 ms path: CoDel and PIE about equal",
        *(alike(f"rtt500.codel.{kb}kb.p50_ms", f"rtt500.pie.{kb}kb.p50_ms", floor=1)
        for kb in SIZES_KB)),
    order("madpie-F12-1", "goodput of CoDel below PIE's on both paths",
        *(more(f"rtt{g}.pie.total.mean_mbps", f"rtt{g}.codel.total.mean_mbps")
        for g in (100, 500))),
    order("madpie-F12-2", "goodput of MADPIE slightly below PIE's on both paths",
        *(more(f"rtt{g}.pie.total.mean_mbps", f"rtt{g}.madpie.total.mean_mbps")
        for g in (100, 500)),
        *(alike(f"rtt{g}.madpie.total.mean_mbps", f"rtt{g}.pie.total.mean_mbps", floor=0.05)
        for g in (100, 500))),
    order("madpie-G-1", "nothing changes up to RTT 100 ms; the benefit shows from 300 ms on",
        *(alike(f"rtt100.madpie.qd.{q}_ms", f"rtt100.pie.qd.{q}_ms")
        for q in ("p50", "p75", "p95")),
        *(more(f"rtt{rtt}.pie.qd.p95_ms", f"rtt{rtt}.madpie.qd.p95_ms") for rtt in (300, 500))),
]
# fmt: on


# Why claims do not hold here, with the experiment that shows it.
_STRONGER = (
    "on the 100 ms path MADPIE comes as close to CoDel as the paper says, but PIE is farther "
    "off, so the reduction at p95 is 36 % and at p75 more. With a Reno-friendly CUBIC that counts "
    "acknowledgements along its whole curve, as kernels before the delayed-ACK ratio did, PIE's "
    "p95 was 68 ms and MADPIE's 44 ms; then with 1040 B packets 61 and 37 ms, with an "
    "acknowledgement for every packet 77 and 47 ms, with the flag cleared when the delay falls 69 "
    "and 44 ms, on the PIE of RFC 8033 90 and 50 ms. Only the PIE of 2013, whose steps are scaled "
    "in three classes, came near the paper: 56 and 40 ms, 28 % at p95."
)
_FEW = (
    "the 95th percentile of one file size rests on about 50 transfers per run, mostly those that "
    "waited for a timeout; over 20 runs its difference has an interval as wide as itself."
)
DIFFERS = {
    "F2-2": "both fill the buffer in the first seconds of nearly every run, where MADPIE lets the "
    "same burst through: the two maxima are within 0.2 ms of one another.",
    "F2-4": "26.7 ms. With CUBIC at half the growth per acknowledgement, a wrong reading of Linux "
    "3.17 under delayed acknowledgements, it was 25.4 ms.",
    "F3-2": "between 70 and 100 s PIE's delay goes above 100 ms once in five runs here. With CUBIC "
    "at half the growth per acknowledgement, which falls behind its curve and then catches up in "
    "bursts, it did so six times a run; that CUBIC is not Linux 3.17's.",
    "F6-4": "75th percentiles at RTT 500 ms differ by 9.5 ms. With CUBIC at half the growth per "
    "acknowledgement it was 7.4 ms; 6.9 ms with 1040 B packets, 4.9 ms with these and an "
    "acknowledgement for every packet.",
    "F7-3": f"{_FEW} Measured at RTT 300 ms: 250 with an interval of 216 ms.",
    "F10-5": _STRONGER,
    "F10-6": _STRONGER,
    "F11-3": f"{_FEW} MADPIE and CoDel are within each other's intervals.",
}

PAPER = Paper(
    key="madpie",
    title="Improving PIE's performance over high-delay paths",
    source="Kuhn, Ros; arXiv 1602.00569, 2016",
    about="PIE on paths of 100 to 500 ms in ns-2, and MADPIE: one certain drop per update interval "
    "while the delay is above a bound.",
    items=ITEMS,
    claims=explained([*_CLAIMS_S1, *_CLAIMS_S2, *_CLAIMS_S3], DIFFERS),
)
