"""The claims of the paper."""

from __future__ import annotations

from sojourn.papers.madpie.common import S1_RTTS, S2_RTTS, SIZES_KB
from sojourn.reproduce.claims import (
    LESS,
    alike,
    between,
    difference,
    is_number,
    is_within,
    more,
    not_less,
    not_more,
    number,
    order,
    several,
)
from sojourn.reproduce.paper import Claim, Measure, Part

_RTT500, _RTT100 = "rtt500", "rtt100"


# fmt: off
CLAIMS_S1: list[Claim] = [
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
    number("madpie-F2-6", "approx", "largest delay at RTT 500, PIE minus MADPIE",
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
CLAIMS_S2: list[Claim] = [
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
    number("madpie-F6-4", "approx", "75th percentile at RTT 500, PIE minus MADPIE",
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
    number("madpie-F7-3", "approx", "95th percentile, 73 kB, RTT 300, PIE minus MADPIE",
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
    """The distance of MADPIE's percentile from PIE's minus its distance from CoDel's."""
    pie, own, codel = (f"rtt100.{aqm}.qd.{q}_ms" for aqm in ("pie", "madpie", "codel"))
    return lambda v: v[pie] - v[own] - abs(v[own] - v[codel])


# fmt: off
CLAIMS_S3: list[Claim] = [
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
        *(Part(q, _closer_to_codel(q), unit="ms") for q in ("p75", "p95"))),
    number("madpie-F10-5", "approx",
        "reduction of the 95th percentile of the one-way delay, MADPIE against PIE",
        "rtt100.madpie.owd.p95_reduction_pct", 21, LESS),
    order("madpie-F10-6",
        "75th percentile of MADPIE below PIE's, relative reduction smaller than at p95",
        more("rtt100.pie.qd.p75_ms", "rtt100.madpie.qd.p75_ms"),
        more("rtt100.madpie.owd.p95_reduction_pct", "rtt100.madpie.owd.p75_reduction_pct")),
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
