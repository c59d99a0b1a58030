"""Reasons why the paper's claims fail here; numbers are filled in (`sojourn.reproduce.reasons`).

`pie_2013.` begins the keys of the runs with the PIE of Pan et al. 2013.
"""

from __future__ import annotations

_FEW = (
    "a high percentile of one file size rests on few transfers per run, mostly those that waited "
    "for a timeout"
)
_GOODPUT = (
    "the PIE of the ns-2 code keeps the link busier than that of Pan et al. {=2013}, which empties "
    "its queue after every burst that it has let through. "
)
_BOTH = (
    "PIE's one-way delay is {rtt100.pie.owd.p75_ms:.0f} ms at p75 and "
    "{rtt100.pie.owd.p95_ms:.0f} at p95, MADPIE's {rtt100.madpie.owd.p75_ms:.0f} and "
    "{rtt100.madpie.owd.p95_ms:.0f}: reductions of "
    "{rtt100.madpie.owd.p75_reduction_pct:.1f} and {rtt100.madpie.owd.p95_reduction_pct:.1f} %; "
    "with the PIE of Pan et al. {=2013} {pie_2013.rtt100.madpie.owd.p75_reduction_pct:.1f} and "
    "{pie_2013.rtt100.madpie.owd.p95_reduction_pct:.1f} %."
)
_CODEL = (
    "the median is {rtt100.pie.qd.p50_ms:.1f} ms with PIE, {rtt100.madpie.qd.p50_ms:.1f} with "
    "MADPIE and {rtt100.codel.qd.p50_ms:.1f} with CoDel, p75 {rtt100.pie.qd.p75_ms:.1f}, "
    "{rtt100.madpie.qd.p75_ms:.1f} and {rtt100.codel.qd.p75_ms:.1f}; the margin has an interval of "
    "± {± worst:.1f} ms. With the PIE of Pan et al. {=2013} PIE's median is "
    "{pie_2013.rtt100.pie.qd.p50_ms:.1f} ms and its p75 {pie_2013.rtt100.pie.qd.p75_ms:.1f}."
)
DIFFERS = {
    "F2-2": "both fill the buffer in the first seconds, where MADPIE lets the same burst through: "
    "the maxima are {rtt100.pie.max_ms:.2f} and {rtt100.madpie.max_ms:.2f} ms.",
    "F2-3": "MADPIE's {=95}th percentile is {rtt100.madpie.p95_ms:.1f} ms, PIE's "
    "{rtt100.pie.p95_ms:.1f}; what the claim allows is left with an interval of ± {± worst:.1f}.",
    "F2-4": "{worst:.1f} ms; with the PIE of Pan et al. {=2013} "
    "{pie_2013.rtt500.madpie.p80_ms:.1f}.",
    "F2-7": "{worst:.1f} ms; with the PIE of Pan et al. {=2013} "
    "{pie_2013.rtt500.madpie.p90_ms:.1f}. A "
    "deterministic drop comes after an update has found the excess, and takes a round trip to "
    "have an effect.",
    "F3-2": "{rtt500.pie.excursions_above_100ms:.1f} times in {=30} s; with the PIE of "
    "Pan et al. {=2013} {pie_2013.rtt500.pie.excursions_above_100ms:.1f} times.",
    "F6-3": "at p25, p50, p75 and p95 PIE has {rtt100.pie.qd.p25_ms:.1f}, "
    "{rtt100.pie.qd.p50_ms:.1f}, {rtt100.pie.qd.p75_ms:.1f} and {rtt100.pie.qd.p95_ms:.1f} ms, "
    "MADPIE {rtt100.madpie.qd.p25_ms:.1f}, {rtt100.madpie.qd.p50_ms:.1f}, "
    "{rtt100.madpie.qd.p75_ms:.1f} and {rtt100.madpie.qd.p95_ms:.1f}: the margin that fails is "
    "{worst:.1f} ms.",
    "F6-4": "they differ by {worst:.1f} ms: p75 is {rtt500.pie.qd.p75_ms:.1f} ms with PIE and "
    "{rtt500.madpie.qd.p75_ms:.1f} with MADPIE. "
    "With the PIE of Pan et al. {=2013} the difference is "
    "{pie_2013.rtt500.pie_minus_madpie.qd.p75_ms:.1f} ms.",
    "F7-1": f"{_FEW}: at RTT {{=100}} ms the median of {{=15}} kB is "
    "{rtt100.droptail.15kb.p50_ms:.0f} ± {± rtt100.droptail.15kb.p50_ms:.0f} ms with DropTail, "
    "{rtt100.pie.15kb.p50_ms:.0f} with PIE.",
    "F7-2": f"{_FEW}: at RTT {{=300}} ms the margin of {{=44}} kB has an interval of ± "
    "{± rtt300.pie_minus_madpie.44kb.p95_ms:.0f} ms; MADPIE's p95 is below PIE's by "
    "{rtt300.pie_minus_madpie.15kb.p95_ms:.0f}, {rtt300.pie_minus_madpie.44kb.p95_ms:.0f}, "
    "{rtt300.pie_minus_madpie.73kb.p95_ms:.0f} and {rtt300.pie_minus_madpie.102kb.p95_ms:.0f} ms "
    "for {=15}, {=44}, {=73} and {=102} kB.",
    "F7-3": f"{_FEW}. Measured: {{worst:.0f}} ms with an interval of ± {{± worst:.0f}}.",
    "F7-4": f"{_FEW}. Measured: {{worst:.0f}} ms with an interval of ± {{± worst:.0f}}.",
    "F8-3": _GOODPUT + "bulk flows move {pie_2013.rtt500.pie.total.mean_mbps:.2f} Mbit/s, and "
    "{pie_2013.rtt500.madpie.total.mean_mbps:.2f} under MADPIE; here "
    "{rtt500.pie.total.mean_mbps:.2f} and {rtt500.madpie.total.mean_mbps:.2f}.",
    "F10-2": _CODEL,
    "F10-3": _CODEL,
    "F10-4": _CODEL,
    "F10-5": _BOTH,
    "F10-6": _BOTH,
    "F11-1": f"{_FEW}. On the {{=100}} ms path the median of {{=15}} kB is "
    "{rtt100.pie.15kb.p50_ms:.0f} ms here and {s2.rtt100.pie.15kb.p50_ms:.0f} in S2 with PIE, "
    "{rtt100.madpie.15kb.p50_ms:.0f} and {s2.rtt100.madpie.15kb.p50_ms:.0f} with MADPIE.",
    "F11-2": f"{_FEW}. p75 of {{=44}} kB is {{rtt100.pie.44kb.p75_ms:.0f}} ms with PIE, "
    "{rtt100.madpie.44kb.p75_ms:.0f} with MADPIE and {rtt100.codel.44kb.p75_ms:.0f} with CoDel.",
    "F11-3": f"{_FEW}. For {{=44}} kB it is {{rtt100.pie.44kb.p95_ms:.0f}} ± "
    "{± rtt100.pie.44kb.p95_ms:.0f} ms with PIE, {rtt100.madpie.44kb.p95_ms:.0f} ± "
    "{± rtt100.madpie.44kb.p95_ms:.0f} with MADPIE, {rtt100.codel.44kb.p95_ms:.0f} ± "
    "{± rtt100.codel.44kb.p95_ms:.0f} with CoDel.",
    "F11-4": f"{_FEW}. The median of {{=102}} kB is {{rtt500.codel.102kb.p50_ms:.0f}} ms with "
    "CoDel and {rtt500.pie.102kb.p50_ms:.0f} with PIE.",
    "F12-1": _GOODPUT + "flows of the {=500} ms path move "
    "{pie_2013.rtt500.pie.total.mean_mbps:.2f} Mbit/s; here {rtt500.pie.total.mean_mbps:.2f}, and "
    "{rtt500.codel.total.mean_mbps:.2f} with CoDel.",
    "F12-2": _GOODPUT + "flows of the {=500} ms path move "
    "{pie_2013.rtt500.pie.total.mean_mbps:.2f} Mbit/s, and "
    "{pie_2013.rtt500.madpie.total.mean_mbps:.2f} under MADPIE; here "
    "{rtt500.pie.total.mean_mbps:.2f} and {rtt500.madpie.total.mean_mbps:.2f}.",
    "G-1": "at RTT {=100} ms p75 is {rtt100.pie.qd.p75_ms:.1f} ms with PIE and "
    "{rtt100.madpie.qd.p75_ms:.1f} with MADPIE, p95 {rtt100.pie.qd.p95_ms:.1f} and "
    "{rtt100.madpie.qd.p95_ms:.1f}; what the claim allows is left with an interval of ± "
    "{± worst:.1f} ms.",
}
