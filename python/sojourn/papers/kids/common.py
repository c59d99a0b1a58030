"""Common parts of the report's experiments: AQMs, the wired dumbbell, measures and boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sojourn.plots import style
from sojourn.plots.boxes import BoxPanel, Five
from sojourn.plots.data import Distribution
from sojourn.reproduce import measures
from sojourn.reproduce.paper import (
    ItemVariant,
    Pools,
    Seeds,
    Values,
)
from sojourn.reproduce.pool import Pool
from sojourn.scenario import Bulk, Device, FlowGroup, Link, Record, Scenario

NAMES = {"codel": "CoDel", "pie": "PIE", "ared": "ARED", "fq_codel": "FQ_CoDel"}
AQMS = ("codel", "pie", "ared")
COLOURS = {name: style.colour_of(aqm) for aqm, name in NAMES.items()}
TARGETS_MS = (1, 5, 10, 20, 30)
# Total number of flows: 1, 4 and 16 per sender, 4 senders.
LEVELS = {"light": 4, "moderate": 16, "heavy": 64}
# Path RTT minus base RTT and queuing delay: transmission of a packet at the bottleneck and on the
# access link, and of its acknowledgement (fact papers-5).
ACK_S = 40 * 8 / 100e6
TRANSMISSION_S = 1500 * 8 / 10e6 + 1500 * 8 / 100e6 + ACK_S
BIN_S = 5
# Total number of flows in comparisons of flow queues (our choice).
FLOWS = (4, 16, 32, 64)


# Weights of RED's average. "auto" is the weight that tc computes from the thresholds without a
# burst, 1/4 at 5 ms; claims judge it, because the report's Table 5 excludes the other (fact
# papers-12). The other is that of Floyd, Gummadi and Shenker (2001), whose recommendations the
# report follows: 1 - exp(-1/C), 0.0012 at the 833 packets per second of 10 Mbit/s; Linux's nearest
# value is 2^-10.
FLOYD_WEIGHT, TC_WEIGHT = "0.0009765625", "auto"


def with_floyd_weight(case: Scenario) -> Scenario:
    """The scenario with Floyd's weight instead of the one that tc computes."""
    links = {
        name: replace(
            link, queue=str(link.queue).replace(f"w_q={TC_WEIGHT}", f"w_q={FLOYD_WEIGHT}")
        )
        for name, link in (case.links or {}).items()
    }
    return replace(case, links=links)


# For items with ARED.
WEIGHTS = (
    ItemVariant("floyd_weight", "ARED with the weight that Floyd et al. advise", with_floyd_weight),
)
# The ring of the AQM's interface, an RTL-8139, has four descriptors (fact papers-18).
RING = Device(packets=4)


def _ared(target_ms: int) -> str:
    """Thresholds of 0.5 and 1.5 target queues, or 1 and 2 MTU at 1 ms; Linux has no gentle mode."""
    low, high = (1500, 3000) if target_ms == 1 else (target_ms * 625, target_ms * 1875)
    return f"ared@kids:min_th={low}B,max_th={high}B,target_delay={target_ms}ms,w_q={TC_WEIGHT}"


def queue(
    aqm: str,
    target_ms: int = 5,
    *,
    interval_ms: int = 100,
    tupdate_ms: int = 30,
    ecn: str = "",
) -> str:
    """The AQM with a limit of 1000 packets.

    The report's PIE is a module that PIE's authors distributed; PIE here is the version published
    two months later, with ECN by an author of the report (fact papers-19). A kernel of 1000 Hz, as
    Fedora's, is our choice.
    """
    text = {
        "codel": f"codel@linux:target={target_ms}ms,interval={interval_ms}ms",
        "fq_codel": f"fq_codel@linux:target={target_ms}ms,interval={interval_ms}ms,quantum=1514B",
        "pie": f"pie@linux2013:target={target_ms}ms,tupdate={tupdate_ms}ms,"
        "alpha=0.125hz,beta=1.25hz,hz=1000",
        "ared": _ared(target_ms),
    }[aqm]
    return f"{text},limit=1000p{ecn}"


def scenario(aqm_text: str, flows: int, *, rtt_ms: int = 100, ecn: bool = False) -> Scenario:
    """The wired dumbbell: 10 Mbit/s, 60 s (300 s at 500 ms); 1500 B per packet (fact papers-4)."""
    return Scenario(
        name=f"kids-{flows}-flows-rtt{rtt_ms}",
        duration="300s" if rtt_ms == 500 else "60s",
        record=Record(sample=f"{BIN_S}s", latency=True),
        links={
            "bottleneck": Link(
                rate="10mbit", delay=f"{rtt_ms * 500}us", queue=aqm_text, device=RING
            )
        },
        flows=[
            FlowGroup(
                name="bulk",
                count=flows,
                path=["bottleneck"],
                rtt=f"{rtt_ms}ms",
                access_rate="100mbit",
                tcp="kids-3.8",
                packet="1500B",
                header="40B",
                ecn=ecn or None,
                start="0s..1s",
                app=Bulk(),
            )
        ],
    )


KEEP = ("delays", "goodput")


def round_trips(pool: Pool, rtt_ms: int = 100) -> Distribution:
    """RTTs as SPP measures them (fact papers-21), less an acknowledgement's transmission time.

    The kernel's captures have no departures of acknowledgements; on the kernel RTTs are the one-way
    delays of all packets plus the return path.
    """
    if pairs := pool.distribution("class/bulk/pair_rtt"):
        return pairs
    one_way = pool.distribution("class/bulk/owd")
    back_s = rtt_ms * 0.5e-3
    return Distribution(one_way.lower_s + back_s, one_way.upper_s + back_s, one_way.counts)


def measure_pool(pool: Pool, rtt_ms: int = 100) -> dict[str, float]:
    """Path RTT, queuing delay (RTT less base RTT) and goodput in bins of 5 s."""
    found = round_trips(pool, rtt_ms)
    values = measures.under("rtt", measures.delays(found, ACK_S))
    values |= measures.under("qd", measures.delays(found, ACK_S - rtt_ms * 1e-3))
    goodput = np.concatenate([rates.ravel() for rates in pool.goodput_bps("bulk", BIN_S, "class")])
    values |= measures.under("goodput5s", measures.samples(goodput, "mbps", 1e-6))
    values["goodput_total_mbps"] = 1e-6 * pool.number("class/bulk/goodput")
    values["util_pct"] = 100 * pool.number("queue/bottleneck/utilisation")
    values["drop_rate_pct"] = 100 * pool.number("queue/bottleneck/drop_rate")
    values["mark_rate_pct"] = 100 * pool.number("queue/bottleneck/mark_rate")
    return values


def measure(pools: Pools) -> dict[str, float]:
    """The measured values of every case."""
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, measure_pool(pool))
    return values


TEN = ("p10", "p25", "p50", "p75", "p90")


def five(values: Values, prefix: str, unit: str) -> Five:
    """The values that a box of the report shows."""
    a, b, c, d, e = (values[f"{prefix}.{q}_{unit}"] for q in TEN)
    return a, b, c, d, e


def panel(
    values: Values,
    title: str,
    metric: str,
    groups: Mapping[str, str],
    x_label: str,
    series: Sequence[str] = AQMS,
    top_mbps: float | None = 10.0,
) -> BoxPanel:
    """One panel of boxes.

    Args:
        values: values of the item.
        title: above the panel.
        metric: ``rtt``, ``qd`` or ``goodput5s``.
        groups: labels by the part of the key that names the group.
        x_label: label of the groups.
        series: AQMs.
        top_mbps: upper end of the goodput's axis; None to fit the data.
    """
    unit = "mbps" if metric == "goodput5s" else "ms"
    words = {"rtt": "RTT [ms]", "qd": "queuing delay [ms]", "goodput5s": "goodput per 5 s [Mbit/s]"}
    found = {
        NAMES[aqm]: {
            label: five(values, f"{group}.{aqm}.{metric}", unit) for group, label in groups.items()
        }
        for aqm in series
    }
    y_lim = (None, top_mbps) if unit == "mbps" else None
    return BoxPanel(title, list(groups.values()), found, x_label, words[metric], y_lim)


BOXES = "whiskers 10 and 90 %, box 25 and 75 %"
TARGET_GROUPS = {f"target{ms}ms": f"{ms}" for ms in TARGETS_MS}
SEEDS = Seeds(3, 10)
# The AQMs that Adaptive RED is compared with.
PAIR = ("codel", "pie")
GOODPUT = "goodput5s.p50_mbps"


def change_pct(values: Values, before: str, after: str) -> float:
    """Decrease of a value in percent."""
    return 100.0 * (1.0 - values[after] / values[before])
