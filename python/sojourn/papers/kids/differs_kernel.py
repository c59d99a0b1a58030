"""Why claims of the report do not hold on today's kernel; numbers are filled in.

Templates are those of `sojourn.reproduce.reasons`, filled with what was measured on the kernel.
Delays are defined and ARED's weight is chosen as in `differs`.
"""

from sojourn.papers.kids import differs
from sojourn.papers.kids.common import LEVELS

PIE_HOLDS, OTHER_PIE, FALLBACK = (
    "PIE holds its target",
    "the PIE of Linux 6.1 drops above 10 %",
    "flows without ECN",
)


def _medians(aqm: str) -> str:
    cells = [f"{{F3/{level}.target5ms.{aqm}.qd.p50_ms:.1f}}" for level in LEVELS]
    return f"{cells[0]}, {cells[1]} and {cells[2]}"


PARAGRAPHS = {
    PIE_HOLDS: "the PIE of Linux {=6.1} holds its target at every load: medians at {=5} ms are "
    f"{_medians('pie')} ms under light, moderate and heavy load, {{=90}}th percentiles "
    "{F3/light.target5ms.pie.qd.p90_ms:.1f}, {F3/moderate.target5ms.pie.qd.p90_ms:.1f} and "
    "{F3/heavy.target5ms.pie.qd.p90_ms:.1f} ms; ARED's medians are "
    f"{_medians('ared')}, CoDel's {_medians('codel')}. "
    "The module of {=2013} decays otherwise ({=fact aqm-131}).",
    OTHER_PIE: "the PIE of Linux {=6.1} marks up to a probability of {=10} % and drops above, and "
    "its probability passes {=10} % in slow start and under load; most of what it signals with ECN "
    "are drops.",
    FALLBACK: "a flow whose SYN is lost goes on without ECN on Linux since {=4.1}, not on the "
    "{=3.8} of the report (net.ipv4.tcp_ecn_fallback): what it sends is dropped instead of marked.",
}
_PIE = f"{{see {PIE_HOLDS}}}"
_OTHER = f"{{see {OTHER_PIE}}}"
_FALLBACK = f"{{see {FALLBACK}}}"
_OF_PIE_NOT = f"true of CoDel but for noise. Of PIE not: {_PIE}."
_SEEDS = "the margin has an interval of ± {± worst:.2f}: few seeds."
_AS_IN_THE_SIMULATOR = (
    "F2-4", "F2-5", "F3-3", "F3-4", "F3-5", "F3-7", "F4-1", "F4-2", "F4-3", "F4-4", "F5-1", "F5-2",
    "F5-3", "F6-4", "F6-5", "F8-1", "F8-2", "F11-1", "F11-2", "F11-3", "F11-4", "F11-5", "F12-1",
    "T5-3", "T5-6", "T5-7",
)  # fmt: skip


def _of_kernel(text: str) -> str:
    """The text with the kernel's paragraph on PIE and without the simulator's on weights."""
    text = text.replace(f"see {differs.PIE_HOLDS}", f"see {PIE_HOLDS}")
    return text.replace(": {see the weight of ARED's average}", "").replace(
        "{see the weight of ARED's average}", "the weight of its average decides"
    )


KERNEL = {end: _of_kernel(differs.DIFFERS[end]) for end in _AS_IN_THE_SIMULATOR} | {
    "F3-1": _OF_PIE_NOT,
    "F3-2": _OF_PIE_NOT,
    "F3-6": f"{_PIE}.",
    "F3-8": _OF_PIE_NOT,
    "F6-1": "updates every {=5} ms make gains six times as high; under moderate load the median is "
    "{moderate.tupdate5ms.pie.qd.p50_ms:.1f} ms with them and "
    f"{{moderate.tupdate100ms.pie.qd.p50_ms:.1f}} at {{=100}} ms: {_PIE}.",
    "F6-2": "{light.tupdate5ms.pie.goodput5s.p50_mbps:.2f} Mbit/s with updates every {=5} ms, "
    "{light.tupdate100ms.pie.goodput5s.p50_mbps:.2f} with {=100} ms; " + _SEEDS,
    "F6-3": "the median changes from {light.tupdate30ms.pie.qd.p50_ms:.1f} to "
    "{light.tupdate5ms.pie.qd.p50_ms:.1f} ms under light load and from "
    "{heavy.tupdate30ms.pie.qd.p50_ms:.1f} to {heavy.tupdate5ms.pie.qd.p50_ms:.1f} under heavy: "
    f"{_PIE}.",
    "F7-2": _OF_PIE_NOT,
    "F7-3": "true of CoDel but where the link is not full, under light load at {=500} ms. Of PIE "
    f"not: {_PIE}.",
    "T5-1": "{worst:.2f} ± {± worst:.2f}: CoDel signals at set times, whether it drops or marks.",
    "T5-2": f"{_OTHER}.",
    "T5-4": "{worst:.2f} ± {± worst:.2f}: CoDel signals at set times, whether it drops or marks.",
    "T5-5": f"{_OTHER}.",
    "T5-6": f"{_FALLBACK}.",
    "T5-7": f"{_FALLBACK}.",
    "T5-8": f"CoDel and ARED are above {{=1}} but for noise. Of PIE not: {_OTHER}.",
    "F13-1": f"true of CoDel and ARED. PIE's medians are the same with ECN and without: {_OTHER}.",
    "F13-2": _OF_PIE_NOT,
    "F13-3": "from {=1} to {=16} flows per sender ARED's median changes by "
    "{n16.ecn.ared.rtt.p50_ms - n1.ecn.ared.rtt.p50_ms:.1f} ms, CoDel's by "
    f"{{n16.ecn.codel.rtt.p50_ms - n1.ecn.codel.rtt.p50_ms:.1f}}: {_FALLBACK}.",
    "F14-1": "goodput is {n1.ecn.ared.goodput5s.p50_mbps:.1f}, "
    "{n4.ecn.ared.goodput5s.p50_mbps:.1f}, {n8.ecn.ared.goodput5s.p50_mbps:.1f} and "
    "{n16.ecn.ared.goodput5s.p50_mbps:.1f} Mbit/s at {=1}, {=4}, {=8} and {=16} flows per sender; "
    + _SEEDS,
    "F14-2": "{n1.ecn.ared.mark_rate_pct:.1f} % of arrivals are marked, CoDel marks "
    "{n1.ecn.codel.mark_rate_pct:.1f} % and PIE {n1.ecn.pie.mark_rate_pct:.1f}; " + _SEEDS,
    "G-1": _OF_PIE_NOT,
}
