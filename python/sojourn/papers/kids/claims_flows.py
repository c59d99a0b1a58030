"""The report's claims about flow queues and ECN: Figures 11 to 14, Table 5, across figures."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from sojourn.papers.kids.common import (
    AQMS,
    FLOWS,
    GOODPUT,
    LEVELS,
    NAMES,
    PAIR,
)
from sojourn.reproduce.claims import LESS, MORE, is_number, is_within, more, order, several
from sojourn.reproduce.paper import Claim, Measure, Part, Values


def _fq(ms: int, n: int, q: str) -> Part:
    return more(
        f"target{ms}ms.flows{n}.codel.qd.{q}_ms", f"target{ms}ms.flows{n}.fq_codel.qd.{q}_ms"
    )


def _largest_rise(v: Values) -> float:
    return max(-v[f"target5ms.flows{n}.fq_codel.qd.p90_reduction_pct"] for n in FLOWS)


CLAIMS_F11_F12: list[Claim] = [
    order(
        "kids-F11-1",
        "CoDel: median, p10, p90 of RTT grow with the number of flows",
        *(
            more(
                f"target{ms}ms.flows{b}.codel.rtt.{q}_ms", f"target{ms}ms.flows{a}.codel.rtt.{q}_ms"
            )
            for ms in (5, 20)
            for q in ("p10", "p50", "p90")
            for a, b in pairwise(FLOWS)
        ),
    ),
    several(
        "kids-F11-2",
        "exact",
        "5 ms: FQ_CoDel lowers the median queuing delay by 25 to 57 %",
        *(
            is_within(
                f"{n} flows", f"target5ms.flows{n}.fq_codel.qd.p50_reduction_pct", 25, 57, LESS
            )
            for n in FLOWS
        ),
    ),
    order(
        "kids-F11-3",
        "5 ms: FQ_CoDel lowers the 10th percentile",
        *(_fq(5, n, "p10") for n in FLOWS),
    ),
    several(
        "kids-F11-4",
        "approx",
        "5 ms: FQ_CoDel raises the 90th percentile in some cases by 13 to 20 %",
        is_within("largest rise", _largest_rise, 13, 20, MORE),
    ),
    order(
        "kids-F11-5",
        "20 ms: median and p10 lower with FQ_CoDel",
        *(_fq(20, n, q) for n in FLOWS for q in ("p10", "p50")),
    ),
    order(
        "kids-F12-1",
        "FQ_CoDel: lower latency in general",
        *(more(f"{lv}.codel.rtt.p50_ms", f"{lv}.fq_codel.rtt.p50_ms") for lv in LEVELS),
    ),
    order(
        "kids-F12-2",
        "FQ_CoDel: larger jitter (spikes) than CoDel",
        *(more(f"{lv}.fq_codel.jitter.mean_ms", f"{lv}.codel.jitter.mean_ms") for lv in LEVELS),
    ),
    order(
        "kids-F12-3",
        "both effects grow with congestion",
        more(
            lambda v: v["heavy.codel.rtt.p50_ms"] - v["heavy.fq_codel.rtt.p50_ms"],
            lambda v: v["light.codel.rtt.p50_ms"] - v["light.fq_codel.rtt.p50_ms"],
            label="lower latency: heavy > light",
            unit="ms",
        ),
        more(
            lambda v: v["heavy.fq_codel.jitter.mean_ms"] - v["heavy.codel.jitter.mean_ms"],
            lambda v: v["light.fq_codel.jitter.mean_ms"] - v["light.codel.jitter.mean_ms"],
            label="jitter: heavy > light",
            unit="ms",
        ),
    ),
]


_T5 = {1: (1.256, 1.156, 6.621), 4: (1.356, 1.106, 3.465)}


_CELLS = [(n, aqm, value) for n, row in _T5.items() for aqm, value in zip(AQMS, row, strict=True)]


def _ecn_effect(n: int, aqm: str) -> Measure:
    """Difference of the medians with and without ECN, in percent."""
    with_ecn, without = (f"n{n}.{case}.{aqm}.qd.p50_ms" for case in ("ecn", "without"))
    return lambda v: 100 * abs(v[with_ecn] / v[without] - 1)


def _rise(aqm: str) -> Callable[[Values], float]:
    return lambda v: v[f"n16.ecn.{aqm}.rtt.p50_ms"] - v[f"n1.ecn.{aqm}.rtt.p50_ms"]


CLAIMS_ECN: list[Claim] = [
    *(
        several(
            f"kids-T5-{i}",
            "exact",
            f"{NAMES[a]}, {n} per sender",
            is_number("ratio", f"n{n}.{a}.ratio", value, ""),
        )
        for i, (n, a, value) in enumerate(_CELLS, 1)
    ),
    order(
        "kids-T5-7",
        "1 and 4 per sender: ARED's ratio far above CoDel's and PIE's",
        *(more(f"n{n}.ared.ratio", f"n{n}.{a}.ratio", 2) for n in (1, 4) for a in PAIR),
    ),
    order(
        "kids-T5-8",
        "1 and 4 per sender: every ratio above 1",
        *(more(f"n{n}.{a}.ratio", 1.0) for n in (1, 4) for a in AQMS),
    ),
    order(
        "kids-F13-1",
        "significant difference between ECN and non-ECN",
        *(
            more(
                _ecn_effect(n, a),
                5.0,
                label=f"{NAMES[a]}, n = {n}: difference of the medians > bound",
                unit="%",
            )
            for n in (4, 16)
            for a in AQMS
        ),
    ),
    order(
        "kids-F13-2",
        "without ECN: ARED has a better RTT than CoDel and PIE",
        *(
            more(f"n{n}.without.{a}.rtt.p50_ms", f"n{n}.without.ared.rtt.p50_ms")
            for n in (4, 8, 16)
            for a in PAIR
        ),
    ),
    order(
        "kids-F13-3",
        "with ECN: ARED's RTT is badly affected as congestion grows",
        more(
            _rise("ared"),
            5.0,
            label="rise of ARED's median from 1 to 16 per sender > bound",
            unit="ms",
        ),
        *(
            more(_rise("ared"), _rise(a), label=f"rise of the median: ARED > {NAMES[a]}", unit="ms")
            for a in PAIR
        ),
    ),
    order(
        "kids-F14-1",
        "ECN: ARED's goodput falls as congestion decreases",
        *(
            more(f"n{b}.ecn.ared.{GOODPUT}", f"n{a}.ecn.ared.{GOODPUT}")
            for a, b in ((1, 4), (4, 16))
        ),
    ),
    order(
        "kids-F14-2",
        "ARED CE-marks more than the others at small loads",
        *(more("n1.ecn.ared.mark_rate_pct", f"n1.ecn.{a}.mark_rate_pct") for a in PAIR),
    ),
    order(
        "kids-G-1",
        "ARED beats CoDel and PIE in delay at every level (target 5 ms)",
        *(
            more(f"{lv}.target5ms.{a}.qd.p50_ms", f"{lv}.target5ms.ared.qd.p50_ms")
            for lv in LEVELS
            for a in PAIR
        ),
    ),
]
