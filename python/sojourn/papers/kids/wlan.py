"""The wireless part: Figures 1, 9 and 10, an access point of 802.11g and four stations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.kids.common import (
    AQMS,
    BIN_S,
    BOXES,
    COLOURS,
    GOODPUT,
    LEVELS,
    NAMES,
    SEEDS,
    TC_WEIGHT,
    panel,
    queue,
)
from sojourn.plots.boxes import boxes
from sojourn.reproduce import measures
from sojourn.reproduce.claims import alike, is_number, is_within, more, order, several
from sojourn.reproduce.paper import (
    Case,
    Claim,
    Item,
    ItemVariant,
    Pools,
    Profile,
    Table,
    Values,
)
from sojourn.reproduce.pool import Pool
from sojourn.scenario import (
    Bulk,
    Device,
    FlowGroup,
    Link,
    Record,
    Scenario,
    Wireless,
    Wlan,
)

STATIONS = 4
RTT_S = 0.1
# Socket buffers hold the BDP of 27 Mbit/s and the base RTT (fact papers-13).
WINDOW = f"{27_000_000 * 0.1 / 8:.0f}B"
# ath5k holds 50 frames per queue (base.h: ATH5K_TXQ_LEN_MAX, a quarter of ATH_TXBUF = 200).
DRIVER = Device(packets=50)
# Minstrel, as in the report, near the access point: 1 to 5 % of frames fail on such a channel at
# any rate (our choice: the middle, because the report gives no error rate).
CELL = Wlan(rate="minstrel", error_rate=0.03)
# The report sizes ARED by 27 Mbit/s (fact papers-6).
_ARED = f"ared@kids:min_th=8437B,max_th=25312B,target_delay=5ms,w_q={TC_WEIGHT},limit=1000p"


def scenario(aqm: str, flows: int, *, mixed: bool = False) -> Scenario:
    """Downloads to four stations for 180 s; if `mixed`, each station uploads as many.

    Stations queue 1000 packets (Linux's txqueuelen) above the same driver (our choice).

    Args:
        aqm: the AQM at the access point, target 5 ms.
        flows: total number of downloads.
        mixed: whether there are uploads.
    """
    air = Wireless(wlan="cell")
    stations = [f"station-{i}" for i in range(1, STATIONS + 1)]
    text = _ARED if aqm == "ared" else queue(aqm)
    links = {"access-point": Link(rate=air, queue=text, device=DRIVER)}
    links |= {
        name: Link(rate=air, queue="taildrop:limit=1000p", device=DRIVER) for name in stations
    }
    groups = []
    for name in stations:
        groups.append(_bulk("download", name, ["access-point"], [name], flows // STATIONS))
        if mixed:
            groups.append(_bulk("upload", name, [name], ["access-point"], flows // STATIONS))
    return Scenario(
        name=f"kids-wlan-{'mixed' if mixed else 'downlink'}-{flows}-flows",
        duration="180s",
        record=Record(sample=f"{BIN_S}s", latency=True),
        links=links,
        wlans={"cell": CELL},
        flows=groups,
    )


def _bulk(way: str, station: str, path: list[str], reverse: list[str], count: int) -> FlowGroup:
    return FlowGroup(
        name=f"{way}-{station}",
        class_=way,
        count=count,
        path=path,
        reverse=reverse,
        rtt="100ms",
        access_rate="100mbit",
        tcp="kids-3.8",
        packet="1500B",
        header="40B",
        receive_window=WINDOW,
        start="0s..1s",
        app=Bulk(),
    )


def _cases(mixed: bool) -> dict[str, Case]:
    return {
        f"{level}.{aqm}": Case(scenario(aqm, flows, mixed=mixed), ("delays", "goodput"))
        for level, flows in LEVELS.items()
        for aqm in AQMS
    }


def _of_class(pool: Pool, way: str) -> dict[str, float]:
    """Path RTT, the part of it above the base RTT, and goodput per 5 s, of one direction."""
    rtt = pool.distribution(f"class/{way}/rtt")
    values = measures.under("rtt", measures.delays(rtt))
    values |= measures.under("qd", measures.delays(rtt, -RTT_S))
    goodput = np.concatenate([rates.ravel() for rates in pool.goodput_bps(way, BIN_S, "class")])
    values |= measures.under("goodput5s", measures.samples(goodput, "mbps", 1e-6))
    values["goodput_total_mbps"] = 1e-6 * pool.number(f"class/{way}/goodput")
    return values


def _measure(pools: Pools, way: str, other: str = "") -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        found = _of_class(pool, way)
        if other:
            found |= measures.under(other, _of_class(pool, other))
        waited = measures.delays(pool.distribution("queue/access-point/delay"))
        found |= measures.under("ap.qd", waited)
        for name in ("drop_rate", "frame_failure_rate"):
            found[f"ap.{name}_pct"] = 100 * pool.number(f"queue/access-point/{name}")
        values |= measures.under(key, found)
    return values


def _figure(name: str, title: str, values: Values) -> Mapping[str, Figure]:
    groups = {level: level for level in LEVELS}
    panels = [
        panel(values, f"({letter})", metric, groups, "congestion", top_mbps=None)
        for letter, metric in (("a", "rtt"), ("b", "goodput5s"))
    ]
    return {name: boxes(f"{title}; {BOXES}", panels, COLOURS, columns=2)}


def _topology(_values: Values) -> list[Table]:
    rows = [["servers", "access point", "wired, 100 Mbit/s, 100 ms there and back", ""]]
    rows.append(["access point", "stations", "802.11g, Minstrel", "the AQM, 50 frames below it"])
    rows += [
        [f"station {i}", "access point", "802.11g, Minstrel", "1000 packets, 50 frames below"]
        for i in range(1, STATIONS + 1)
    ]
    return [Table("Links; those over 802.11g contend", ("from", "to", "over", "queue"), rows)]


def _with_floyd_weight(case: Scenario) -> Scenario:
    """1 - exp(-1/C) at 2250 packets per second is 0.00044; Linux's nearest value is 2^-11."""
    links = case.links or {}
    link = links["access-point"]
    queue = str(link.queue).replace(f"w_q={TC_WEIGHT}", "w_q=0.00048828125")
    return replace(case, links={**links, "access-point": replace(link, queue=queue)})


WEIGHTS = (
    ItemVariant(
        "floyd_weight", "ARED with the weight that Floyd et al. advise", _with_floyd_weight
    ),
)

_NOTE = (
    "A model of 802.11g: contention, collisions, Minstrel and its retries; 3 % of the frames fail "
    "at any rate. ath5k's 50 frames lie below every queue, beyond the reach of an AQM. "
    "RTTs are those of data packets until their acknowledgement."
)


def _f9_cases(_profile: Profile) -> dict[str, Case]:
    return _cases(mixed=False)


def _f10_cases(_profile: Profile) -> dict[str, Case]:
    return _cases(mixed=True)


TOPOLOGY = Item("F1", "Wireless topology", "structure", tables=_topology, note=_NOTE)
DOWNLINK = Item(
    "F9",
    "802.11 downlink: RTT and goodput",
    cases=_f9_cases,
    variants=WEIGHTS,
    seeds=SEEDS,
    measure=lambda pools: _measure(pools, "download"),
    figures=lambda _pools, values: _figure("F9", "802.11g: downloads", values),
    note=_NOTE,
)
MIXED = Item(
    "F10",
    "802.11 mixed up- and downlink: RTT and goodput",
    cases=_f10_cases,
    variants=WEIGHTS,
    seeds=SEEDS,
    measure=lambda pools: _measure(pools, "upload", "download"),
    figures=lambda _pools, values: _figure("F10", "802.11g: uploads of the mix", values),
    note=f"{_NOTE} Every station has as many uploads as downloads, so that `light` "
    "is four of each (our choice).",
)

_PAIR = ("codel", "pie")

CLAIMS: list[Claim] = [
    order(
        "kids-F9-1",
        "ARED: significantly lower latency than CoDel and PIE",
        *(more(f"{lv}.{a}.rtt.p50_ms", f"{lv}.ared.rtt.p50_ms") for lv in LEVELS for a in _PAIR),
    ),
    several(
        "kids-F9-2",
        "exact",
        "light, ARED: median goodput 18.6 Mbit/s",
        is_number("median", f"light.ared.{GOODPUT}", 18.6, "Mbit/s"),
    ),
    several(
        "kids-F9-3",
        "approx",
        "light, PIE: median goodput 21 Mbit/s",
        is_number("median", f"light.pie.{GOODPUT}", 21, "Mbit/s"),
    ),
    order(
        "kids-F9-4",
        "light: ARED below CoDel and PIE in goodput, improving with congestion",
        *(more(f"light.{a}.{GOODPUT}", f"light.ared.{GOODPUT}") for a in _PAIR),
        more(f"moderate.ared.{GOODPUT}", f"light.ared.{GOODPUT}"),
    ),
    several(
        "kids-F10-1",
        "approx",
        "light: median RTT 440 to 530 ms",
        *(is_within(NAMES[a], f"light.{a}.rtt.p50_ms", 440, 530, "ms") for a in AQMS),
    ),
    order(
        "kids-F10-2",
        "moderate: CoDel and ARED rise above light, further with heavy load",
        *(
            more(f"{b}.{q}.rtt.p50_ms", f"{a}.{q}.rtt.p50_ms")
            for q in ("codel", "ared")
            for a, b in (("light", "moderate"), ("moderate", "heavy"))
        ),
    ),
    order(
        "kids-F10-3",
        "PIE: median RTT nearly constant over the levels",
        *(alike(f"{lv}.pie.rtt.p50_ms", "light.pie.rtt.p50_ms") for lv in ("moderate", "heavy")),
    ),
    order(
        "kids-F10-4",
        "moderate and heavy: median RTT of PIE below CoDel's and ARED's",
        *(
            more(f"{lv}.{a}.rtt.p50_ms", f"{lv}.pie.rtt.p50_ms")
            for lv in ("moderate", "heavy")
            for a in ("codel", "ared")
        ),
    ),
]
