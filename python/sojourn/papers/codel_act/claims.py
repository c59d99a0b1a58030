"""The paper's claims about delays: the start, distributions, the windows of Figure 6."""

from __future__ import annotations

from sojourn.papers.codel_act.common import AQMS, BUSY, FAMILY, FLOWS
from sojourn.reproduce.claims import (
    alike,
    between,
    each,
    growing,
    is_number,
    is_within,
    more,
    not_more,
    number,
    order,
    several,
)
from sojourn.reproduce.paper import Claim, Part, Values


def _t1_numbers() -> list[Claim]:
    """T1-1 to T1-18: cells of Table I, row by row."""
    cells = {
        1: ((4.54, 9.22), (4.54, 9.22), (16.13, 32.14)),
        4: ((8.79, 17.67), (6.60, 11.63), (15.79, 24.89)),
        16: ((14.19, 35.75), (7.16, 15.25), (15.95, 28.51)),
    }
    rows = [
        (n, aqm, metric, value)
        for n, row in cells.items()
        for aqm, pair in zip(AQMS, row, strict=True)
        for metric, value in zip(("mean", "p99"), pair, strict=True)
    ]
    return [
        number(
            f"codel-act-T1-{i}",
            "exact",
            f"{metric} delay, {AQMS[aqm]}, n = {n}, RTT 10 ms",
            f"rtt10.n{n}.{aqm}.{metric}_ms",
            value,
            "ms",
        )
        for i, (n, aqm, metric, value) in enumerate(rows, 1)
    ]


def _over_flows(
    aqm: str, before: str, metric: str, flows: tuple[int, ...] = FLOWS
) -> tuple[Part, ...]:
    """The metric grows with the number of flows."""
    return growing(*(f"{before}n{n}.{aqm}.{metric}" for n in flows))


_NAMES = [f"n{n}.{aqm}" for n in FLOWS for aqm in AQMS]


# fmt: off
CLAIMS_F1_F2: list[Claim] = [
    several("codel-act-F1-1", "approx",
        "a large initial spike within the first 1 to 5 s, then low delay",
        *each(_NAMES, lambda k: is_within(f"end of the spike, {k}", f"{k}.initial_end_s", None, 5,
        "s"))),
    order("codel-act-F1-2", "PIE: duration of the initial delay almost independent of n",
        *(alike(f"n{n}.pie.initial_duration_s", "n1.pie.initial_duration_s", floor=0.25)
        for n in BUSY)),
    order("codel-act-F1-3", "CoDel: height of the initial spike grows with n",
        *_over_flows("codel", "", "peak_ms")),
    order("codel-act-F1-4", "CoDel: duration of the initial delay grows with n",
        *growing(*(f"n{n}.codel.initial_duration_s" for n in BUSY))),
    order("codel-act-F1-5", "n = 64: the initial maximum of CoDel is about that of PIE",
        alike("n64.codel.peak_ms", "n64.pie.peak_ms")),
    number("codel-act-F1-6", "approx", "n = 64: CoDel's large delays last almost 5 s",
        "n64.codel.initial_end_s", 5, "s"),
    order("codel-act-F1-7", "CoDel-ACT coincides with CoDel in the first few drop phases",
        *(more(f"n{n}.same_drops", 2) for n in FLOWS)),
    order("codel-act-F1-8", "PIE ends the initial phase earlier than CoDel (n = 64)",
        more("n64.codel.initial_end_s", "n64.pie.initial_end_s")),
    order("codel-act-F1-9", "a larger interval lengthens the initial phase of CoDel and CoDel-ACT",
        *(more(f"n64.{a}.interval200ms.initial_end_s", f"n64.{a}.initial_end_s")
        for a in ("codel", "codel_act"))),
    order("codel-act-F2-1",
        "a visible share of packets has no delay with CoDel, a smaller one with CoDel-ACT",
        more("n16.codel.delay.zero_pct", 1.0),
        more("n16.codel.delay.zero_pct", "n16.codel_act.delay.zero_pct")),
    several(
        "codel-act-F2-2",
        "approx",
        "CoDel: the rest spread almost evenly between 0 and 20 ms",
        is_number(
            "share from 0 to 10 ms over share from 10 to 20 ms",
            lambda v: (
                v["n16.codel.delay.below_10ms_pct"]
                / (v["n16.codel.delay.below_20ms_pct"] - v["n16.codel.delay.below_10ms_pct"])
            ),
            1.0,
            "",
        ),
    ),
    between("codel-act-F2-3", "approx", "CoDel-ACT: most packets below 10 ms",
        "n16.codel_act.delay.below_10ms_pct", 50, None, "%"),
    between("codel-act-F2-4", "approx", "CoDel-ACT: mass centred between 4 and 8 ms",
        "n16.codel_act.delay.p50_ms", 4, 8, "ms"),
    order("codel-act-F2-5", "PIE bell-shaped too, with a larger mean than CoDel-ACT",
        more("n16.pie.delay.mean_ms", "n16.codel_act.delay.mean_ms")),
    order("codel-act-F2-6", "PIE: larger variance than CoDel-ACT",
        more("n16.pie.delay.sd_ms", "n16.codel_act.delay.sd_ms")),
    order("codel-act-F2-7", "PIE's median above CoDel's, but CoDel's upper tail heavier",
        more("n16.pie.delay.p50_ms", "n16.codel.delay.p50_ms"),
        more("n16.codel.delay.p99_ms", "n16.pie.delay.p99_ms")),
    order("codel-act-F2-8",
        "queue length resembles the delay with PIE, is biased upwards with CoDel and CoDel-ACT",
        alike("n16.pie.queue_bias_packets", 0.0, floor=1.0),
        more("n16.codel.queue_bias_packets", "n16.pie.queue_bias_packets"),
        more("n16.codel_act.queue_bias_packets", "n16.pie.queue_bias_packets")),
    several("codel-act-F2-9", "approx", "the bias is 2 to 3 packets",
        *(is_within(AQMS[a], f"n16.{a}.queue_bias_packets", 2, 3, "packets")
        for a in ("codel", "codel_act"))),
]
# fmt: on


# fmt: off
CLAIMS_T1: list[Claim] = [
    *_t1_numbers(),
    order("codel-act-T1-19", "mean and p99 of CoDel and CoDel-ACT grow with n",
        *(part for rtt in (10, 100) for a in FAMILY for m in ("mean_ms", "p99_ms")
        for part in _over_flows(a, f"rtt{rtt}.", m))),
    order("codel-act-T1-20", "mean of PIE about 16 ms whatever n, RTT 10",
        *(alike(f"rtt10.n{n}.pie.mean_ms", 16.0, within=0.1) for n in FLOWS)),
    order("codel-act-T1-21", "CoDel below PIE at small n, its p99 above PIE's from some n on",
        more("rtt10.n1.pie.mean_ms", "rtt10.n1.codel.mean_ms"),
        more("rtt10.n1.pie.p99_ms", "rtt10.n1.codel.p99_ms"),
        more("rtt10.n64.codel.p99_ms", "rtt10.n64.pie.p99_ms")),
    order("codel-act-T1-22", "CoDel-ACT has the smallest mean delay of the three (RTT 10)",
        *(not_more(f"rtt10.n{n}.codel_act.mean_ms", f"rtt10.n{n}.codel.mean_ms") for n in FLOWS),
        *(more(f"rtt10.n{n}.pie.mean_ms", f"rtt10.n{n}.codel_act.mean_ms") for n in FLOWS)),
    order("codel-act-T1-23", "n = 1: CoDel and CoDel-ACT identical",
        *(alike(f"rtt10.n1.codel_act.{m}", f"rtt10.n1.codel.{m}", within=0.01, floor=0.05)
        for m in ("mean_ms", "p99_ms"))),
]
# fmt: on


def _at(n: int, aqm: str, window: int, metric: str) -> str:
    return f"n{n}.{aqm}.at{window}s.{metric}"


_GAP = "between_losses_mean_ms"
_AFTER = [
    _at(16, "codel", 500, f"after_phase.at_{ms}ms_ms")
    for ms in (0, 2, 5, 10, 15, 20, 30, 40, 60, 80, 100)
]


def _dip(v: Values) -> float:
    """The amount by which the delay falls again: a peak within 15 ms minus a later value."""
    first = max(v[key] for key in _AFTER[:5])
    return first - min(v[key] for key in _AFTER[3:8])


# fmt: off
CLAIMS_F6: list[Claim] = [
    order("codel-act-F6-1", "n = 1, 50 s: each drops a single packet per congestion event",
        *(more(_at(1, a, 50, "single_drops_pct"), 95.0) for a in AQMS)),
    order("codel-act-F6-2",
        "n = 1: time between losses equal for CoDel and CoDel-ACT, longer for PIE",
        alike(f"n1.codel_act.{_GAP}", f"n1.codel.{_GAP}", within=0.05),
        more(f"n1.pie.{_GAP}", f"n1.codel.{_GAP}")),
    order("codel-act-F6-3",
        "n = 1: the delay falls later after the loss with PIE than with the CoDel family",
        *(more("n1.pie.fall_after_loss_ms", f"n1.{a}.fall_after_loss_ms")
        for a in ("codel", "codel_act"))),
    order("codel-act-F6-4",
        "n >= 4: CoDel alternates short drop phases of very high drop rate with drop-free phases",
        *(more(_at(n, "codel", 50, "free_mean_ms"), _at(n, "codel", 50, "phase_mean_ms"))
        for n in BUSY),
        *(more(_at(n, "codel", 50, "rate_within_phases_per_s"), _at(n, "codel", 50, "drops_per_s"),
        2) for n in BUSY)),
    several("codel-act-F6-5", "approx", "n >= 4, 50 s: CoDel drains the queue within 10 to 60 ms",
        *(is_within(f"length of a drop phase, n = {n}", _at(n, "codel", 50, "phase_mean_ms"), 10,
        60, "ms") for n in BUSY)),
    several("codel-act-F6-6", "exact", "n >= 4: drop-free phases of CoDel last at least 100 ms",
        *(is_within(f"least, n = {n}", _at(n, "codel", 50, "free_min_ms"), 100, None, "ms")
        for n in BUSY)),
    order("codel-act-F6-7", "drop-free phases of CoDel longer for few flows than for many",
        *growing(*(_at(n, "codel", 50, "free_mean_ms") for n in (64, 16, 4)))),
    order("codel-act-F6-8",
        "CoDel-ACT against CoDel: lower drop rate in phases, longer phases, shorter drop-free ones",
        *(more(_at(n, "codel", 50, "rate_within_phases_per_s"),
        _at(n, "codel_act", 50, "rate_within_phases_per_s")) for n in BUSY),
        *(more(_at(n, "codel_act", 50, "phase_mean_ms"), _at(n, "codel", 50, "phase_mean_ms"))
        for n in BUSY),
        *(more(_at(n, "codel", 50, "free_mean_ms"), _at(n, "codel_act", 50, "free_mean_ms"))
        for n in BUSY)),
    several("codel-act-F6-9", "approx", "CoDel-ACT: least time between drops",
        *(is_number(f"n = {n}", _at(n, "codel_act", 50, "spacing_p10_ms"), ms, "ms")
        for n, ms in ((4, 14.1), (16, 5.8), (64, 2.8)))),
    several("codel-act-F6-10", "approx", "CoDel-ACT: drop-free phases",
        is_within("n = 4", _at(4, "codel_act", 50, "free_min_ms"), 14, 19, "ms"),
        *(is_number(f"n = {n}", _at(n, "codel_act", 50, "free_min_ms"), ms, "ms")
        for n, ms in ((16, 5.8), (64, 2.8)))),
    order("codel-act-F6-11", "PIE drops continuously; its drops correlate weakly with the delay",
        *(more(0.5, f"n{n}.pie.at50s.drop_delay_correlation") for n in BUSY)),
    order("codel-act-F6-12",
        "oscillation: CoDel-ACT around a short delay, PIE around a longer one, CoDel large",
        *(more(_at(n, "codel", 50, "sd_ms"), _at(n, a, 50, "sd_ms")) for n in (16, 64)
        for a in ("codel_act", "pie")),
        *(more(_at(n, "pie", 50, "mean_ms"), _at(n, "codel_act", 50, "mean_ms")) for n in BUSY)),
    order("codel-act-F6-13",
        "50 s: zero delays with CoDel for n = 4 and 16; never for n = 1; mostly none for n = 64",
        *(more(_at(n, "codel", 50, "zero_pct"), 0.1) for n in (4, 16)),
        more(0.1, _at(1, "codel", 50, "zero_pct")), more(1.0, _at(64, "codel", 50, "zero_pct"))),
    order("codel-act-F6-14", "CoDel drop phases: long at 5 s, shorter at 50 s, very short at 500 s",
        *(part for n in (4, 16)
        for part in growing(*(_at(n, "codel", w, "phase_mean_ms") for w in (500, 50, 5))))),
    order("codel-act-F6-15",
        "n = 16 at 5 s: delay gets short at the end of a phase but stays above zero",
        more(_at(16, "codel", 5, "min_ms"), 0.0),
        more(10.0, _at(16, "codel", 5, "phase_end_delay_ms"))),
    order("codel-act-F6-16", "n = 16 at 50 s: delay sometimes falls to zero",
        more(_at(16, "codel", 50, "zero_pct"), 0.0)),
    order("codel-act-F6-17",
        "n = 16 at 500 s: phases stop at larger delays than at 50 s, zero delays mostly avoided, "
        "several packets dropped at one instant",
        more(_at(16, "codel", 500, "phase_end_delay_ms"),
        _at(16, "codel", 50, "phase_end_delay_ms")),
        more(_at(16, "codel", 50, "zero_pct"), _at(16, "codel", 500, "zero_pct")),
        more(_at(16, "codel", 500, "same_instant_pct"), 10.0)),
    order("codel-act-F6-18",
        "n = 16 at 500 s: after a phase the delay rises a little, then falls, then rises again",
        Part("a rise within 15 ms", lambda v: max(v[key] for key in _AFTER[1:5]) - v[_AFTER[0]],
        unit="ms"),
        Part("a fall within 40 ms", _dip, unit="ms"),
        Part("a rise until 100 ms", lambda v: v[_AFTER[-1]] - min(v[key] for key in _AFTER[3:8]),
        unit="ms")),
]
# fmt: on
