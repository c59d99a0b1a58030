"""Why claims of the report do not hold in the simulator; numbers are filled in.

Templates are those of `sojourn.reproduce.reasons`. Delays are the report's, with the transmission
that a path's RTT contains (fact papers-5). `floyd_weight.` begins the keys of the runs in which
ARED has the weight that Floyd et al. advise. `differs_kernel` covers the real kernel.
"""

from sojourn.papers.kids.common import LEVELS

PIE_HOLDS, WEIGHTS, COUNTS_SIGNALS, STATIONS = (
    "the PIE of 2013",
    "the weight of ARED's average",
    "CoDel signals at set times",
    "the windows on Wi-Fi",
)


def _medians(aqm: str, prefix: str = "") -> str:
    """Templates for the three medians at a target of 5 ms, by load."""
    cells = [f"{{F3/{prefix}{level}.target5ms.{aqm}.qd.p50_ms:.1f}}" for level in LEVELS]
    return f"{cells[0]}, {cells[1]} and {cells[2]}"


PARAGRAPHS = {
    PIE_HOLDS: "the module of {=2013} loses its drop probability when two updates find the queue "
    "empty, because its decay overflows ({=fact aqm-131}). Medians at a target of {=5} ms "
    "under light, moderate and heavy load: PIE "
    f"{_medians('pie')} ms, ARED {_medians('ared')}, CoDel {_medians('codel')}; PIE's {{=90}}th "
    "percentiles are {F3/light.target5ms.pie.qd.p90_ms:.1f}, "
    "{F3/moderate.target5ms.pie.qd.p90_ms:.1f} and {F3/heavy.target5ms.pie.qd.p90_ms:.1f} ms. "
    "Under heavy load its queue is hardly ever empty, so that it holds its target, unlike the "
    "report's.",
    WEIGHTS: "the report prints no weight and no command. Here it is the one that tc computes from "
    "the thresholds, about a quarter at {=5} ms; Floyd et al. advise {=0.0012}, which {=Table 5} "
    f"excludes ({{=fact papers-12}}). ARED's medians at {{=5}} ms are {_medians('ared')} ms by "
    f"load, with Floyd's {_medians('ared', 'floyd_weight.')}; its median goodputs are "
    "{F4/light.target5ms.ared.goodput5s.p50_mbps:.1f}, "
    "{F4/moderate.target5ms.ared.goodput5s.p50_mbps:.1f} and "
    "{F4/heavy.target5ms.ared.goodput5s.p50_mbps:.1f} Mbit/s, with Floyd's "
    "{F4/floyd_weight.light.target5ms.ared.goodput5s.p50_mbps:.1f}, "
    "{F4/floyd_weight.moderate.target5ms.ared.goodput5s.p50_mbps:.1f} and "
    "{F4/floyd_weight.heavy.target5ms.ared.goodput5s.p50_mbps:.1f}.",
    COUNTS_SIGNALS: "a CoDel that signals at set times does so whether it drops or marks. Counted "
    "per second instead of per arrival its ratios are {T5/n1.codel.ratio_of_rates_per_s:.2f} and "
    "{T5/n4.codel.ratio_of_rates_per_s:.2f} at one and four flows per sender.",
    STATIONS: "socket buffers hold what the link carries in the base RTT ({=fact papers-13}) and "
    "bound the uploads' RTT under light load; with more flows they bound less. At the access point "
    "median sojourn times are {F10/light.pie.ap.qd.p50_ms:.0f}, "
    "{F10/moderate.pie.ap.qd.p50_ms:.0f} and {F10/heavy.pie.ap.qd.p50_ms:.0f} ms with PIE, "
    "{F10/light.codel.ap.qd.p50_ms:.0f}, {F10/moderate.codel.ap.qd.p50_ms:.0f} and "
    "{F10/heavy.codel.ap.qd.p50_ms:.0f} with CoDel; the stations' own queues of {=1000} packets, "
    "without an AQM, are our choice.",
}
_PIE = f"{{see {PIE_HOLDS}}}"
_OF_PIE_NOT = f"true of CoDel. Of PIE not: {_PIE}."
_WEIGHT = f"{{see {WEIGHTS}}}"
_SIGNALS = f"{{see {COUNTS_SIGNALS}}}"
_UPLOADS = f"{{see {STATIONS}}}"
_TIMES_RTT = (
    "with an interval of {=5} ms, a twentieth of the RTT, CoDel drops again before the first drop "
    "takes effect: moderate load falls from "
    "{moderate.interval100ms.codel.goodput5s.p50_mbps:.2f} to "
    "{moderate.interval5ms.codel.goodput5s.p50_mbps:.2f} Mbit/s, light load from "
    "{light.interval100ms.codel.goodput5s.p50_mbps:.2f} to "
    "{light.interval5ms.codel.goodput5s.p50_mbps:.2f}."
)
_ISOLATED = (
    "the median falls by {target5ms.flows4.fq_codel.qd.p50_reduction_pct:.0f} % at {=4} flows, "
    "{target5ms.flows16.fq_codel.qd.p50_reduction_pct:.0f} % at {=16} and "
    "{target5ms.flows64.fq_codel.qd.p50_reduction_pct:.0f} % at {=64}: the delay in a flow queue "
    "of a packet alone in it does not depend on the number of flows, CoDel's delay does."
)
_GOODPUT_OF_ARED = (
    "ARED has {moderate.target5ms.ared.goodput5s.p50_mbps:.2f} Mbit/s at {=5} ms under moderate "
    "load, CoDel {moderate.target5ms.codel.goodput5s.p50_mbps:.2f} and PIE "
    "{moderate.target5ms.pie.goodput5s.p50_mbps:.2f}; with Floyd's weight "
    "{floyd_weight.moderate.target5ms.ared.goodput5s.p50_mbps:.2f}: " + _WEIGHT + "."
)
_RATIO = (
    "ARED marks {n1.ared.mark_rate_ecn_pct:.1f} % of arrivals at one flow per sender and drops "
    "{n1.ared.drop_rate_without_pct:.1f} % without ECN, at four {n4.ared.mark_rate_ecn_pct:.1f} "
    "and {n4.ared.drop_rate_without_pct:.1f} %: ratios of {n1.ared.ratio:.1f} and "
    "{n4.ared.ratio:.1f}. With Floyd's weight they are {floyd_weight.n1.ared.ratio:.1f} and "
    "{floyd_weight.n4.ared.ratio:.1f}: " + _WEIGHT + "."
)
DIFFERS = {
    "F2-1": "over the targets the least is {worst:.2f} Mbit/s.",
    "F2-4": "at {=5} ms the {=99}th percentile is {target5ms.codel.qd.p99_ms:.1f} ms with CoDel, "
    "{target5ms.pie.qd.p99_ms:.1f} with PIE and {target5ms.ared.qd.p99_ms:.1f} with ARED, with "
    "Floyd's weight {floyd_weight.target5ms.ared.qd.p99_ms:.1f}: "
    f"{_WEIGHT}.",
    "F2-5": "at {=5} ms CoDel has {target5ms.codel.goodput_total_mbps:.2f} Mbit/s, PIE "
    "{target5ms.pie.goodput_total_mbps:.2f} and ARED {target5ms.ared.goodput_total_mbps:.2f}: "
    "PIE's rule against early drops spares short queues.",
    "F3-1": f"true of CoDel but for noise. Of PIE not: {_PIE}.",
    "F3-2": f"of PIE not: {_PIE}. Of ARED: {_WEIGHT}.",
    "F3-3": "the {=10}th percentile under light load is that of an empty queue for short targets "
    "({light.target1ms.ared.qd.p10_ms:.1f} ms at {=1} ms, {light.target5ms.ared.qd.p10_ms:.1f} at "
    "{=5} ms), and cannot be lower.",
    "F3-4": "from a target of {=1} ms to {=30} ms PIE's median rises by "
    "{light.target30ms.pie.qd.p50_ms - light.target1ms.pie.qd.p50_ms:.1f} (light) and "
    "{heavy.target30ms.pie.qd.p50_ms - heavy.target1ms.pie.qd.p50_ms:.1f} ms (heavy), CoDel's by "
    "{light.target30ms.codel.qd.p50_ms - light.target1ms.codel.qd.p50_ms:.1f} and "
    "{heavy.target30ms.codel.qd.p50_ms - heavy.target1ms.codel.qd.p50_ms:.1f} ms: the load lifts "
    "CoDel's medians without flattening them.",
    "F3-5": "at {=5} ms and light load the {=90}th percentile is "
    "{light.target5ms.codel.qd.p90_ms:.1f} ms with CoDel, {light.target5ms.pie.qd.p90_ms:.1f} with "
    "PIE and {light.target5ms.ared.qd.p90_ms:.1f} with ARED, with Floyd's weight "
    f"{{floyd_weight.light.target5ms.ared.qd.p90_ms:.1f}}: {_WEIGHT}. Under heavy load: {_PIE}.",
    "F3-6": f"{_PIE}.",
    "F3-7": f"the interval of the margin is ± {{± worst:.1f}} ms: {_WEIGHT}.",
    "F3-8": f"true of CoDel but for noise. Of PIE not: {_PIE}.",
    "F4-1": "at {=5} ms ARED has {light.target5ms.ared.goodput5s.p50_mbps:.2f} Mbit/s, at {=10} ms "
    "{light.target10ms.ared.goodput5s.p50_mbps:.2f}; with Floyd's weight "
    "{floyd_weight.light.target5ms.ared.goodput5s.p50_mbps:.2f} and "
    f"{{floyd_weight.light.target10ms.ared.goodput5s.p50_mbps:.2f}}: {_WEIGHT}.",
    "F4-2": "at a target of {=1} ms PIE has {light.target1ms.pie.goodput5s.p50_mbps:.2f} Mbit/s, "
    "at {=5} ms {light.target5ms.pie.goodput5s.p50_mbps:.2f}: a queue of one packet cannot bridge "
    "the halved windows of four flows.",
    "F4-3": "ARED has {light.target1ms.ared.goodput5s.p50_mbps:.2f} Mbit/s at {=1} ms and "
    "{light.target5ms.ared.goodput5s.p50_mbps:.2f} at {=5} ms, with an interval of the margin of "
    "± {± worst:.2f}.",
    "F4-4": _GOODPUT_OF_ARED,
    "F5-1": "under light load the median is {light.interval100ms.codel.qd.p50_ms:.1f} ms at an "
    "interval of {=100} ms, {light.interval30ms.codel.qd.p50_ms:.1f} at {=30} and "
    "{light.interval5ms.codel.qd.p50_ms:.1f} at {=5}; the margin has an interval of ± "
    "{± worst:.1f}.",
    "F5-2": _TIMES_RTT,
    "F5-3": _TIMES_RTT,
    "F6-1": "the median falls from {light.tupdate100ms.pie.qd.p50_ms:.1f} to "
    "{light.tupdate5ms.pie.qd.p50_ms:.1f} ms under light load, and goes from "
    "{moderate.tupdate100ms.pie.qd.p50_ms:.1f} to {moderate.tupdate5ms.pie.qd.p50_ms:.1f} under "
    "moderate and from {heavy.tupdate100ms.pie.qd.p50_ms:.1f} to "
    f"{{heavy.tupdate5ms.pie.qd.p50_ms:.1f}} under heavy load: {_PIE}.",
    "F6-4": "medians are "
    "{light.tupdate30ms.pie.qd.p50_ms:.1f} ms at {=30} ms and "
    "{light.tupdate5ms.pie.qd.p50_ms:.1f} at {=5}. Updates every {=100} ms cost more, "
    "{light.tupdate100ms.pie.qd.p50_ms:.1f} ms.",
    "F6-5": "it falls by {worst:.1f} ± {± worst:.1f} %. Alpha and beta are applied at every "
    "update, so that updates six times as often are gains six times as high: "
    "{light.tupdate5ms.pie.drop_rate_pct:.2f} % of packets are dropped, at {=30} ms "
    "{light.tupdate30ms.pie.drop_rate_pct:.2f} %.",
    "F7-2": _OF_PIE_NOT,
    "F7-3": "of PIE not under heavy load: " + _PIE + ". At {=500} ms and light load the median "
    "packet waits {light.rtt500ms.codel.qd.p50_ms:.1f} ms with CoDel and "
    "{light.rtt500ms.ared.qd.p50_ms:.1f} with ARED: the link is not full.",
    "F8-1": "under heavy load ARED has {heavy.rtt5ms.ared.goodput5s.p50_mbps:.2f} Mbit/s at a base "
    "RTT of {=5} ms and {heavy.rtt500ms.ared.goodput5s.p50_mbps:.2f} at {=500} ms, with Floyd's "
    f"weight {{floyd_weight.heavy.rtt5ms.ared.goodput5s.p50_mbps:.2f}} and "
    f"{{floyd_weight.heavy.rtt500ms.ared.goodput5s.p50_mbps:.2f}}: {_WEIGHT}.",
    "F8-2": "ARED has {light.rtt5ms.ared.goodput5s.p50_mbps:.2f}, "
    "{moderate.rtt5ms.ared.goodput5s.p50_mbps:.2f} and {heavy.rtt5ms.ared.goodput5s.p50_mbps:.2f} "
    "Mbit/s by load, CoDel {light.rtt5ms.codel.goodput5s.p50_mbps:.2f}, "
    "{moderate.rtt5ms.codel.goodput5s.p50_mbps:.2f} and "
    "{heavy.rtt5ms.codel.goodput5s.p50_mbps:.2f}. With Floyd's weight ARED has "
    "{floyd_weight.light.rtt5ms.ared.goodput5s.p50_mbps:.2f}, "
    "{floyd_weight.moderate.rtt5ms.ared.goodput5s.p50_mbps:.2f} and "
    f"{{floyd_weight.heavy.rtt5ms.ared.goodput5s.p50_mbps:.2f}}: {_WEIGHT}.",
    "F9-1": "the median RTT is {light.pie.rtt.p50_ms:.0f}, {moderate.pie.rtt.p50_ms:.0f} and "
    "{heavy.pie.rtt.p50_ms:.0f} ms by load with PIE, {light.ared.rtt.p50_ms:.0f}, "
    "{moderate.ared.rtt.p50_ms:.0f} and {heavy.ared.rtt.p50_ms:.0f} with ARED, "
    "{floyd_weight.light.ared.rtt.p50_ms:.0f}, {floyd_weight.moderate.ared.rtt.p50_ms:.0f} and "
    "{floyd_weight.heavy.ared.rtt.p50_ms:.0f} with Floyd's weight.",
    "F9-2": "what the report's channel lost is not known; here {=3} % of the frames fail at any "
    "rate, and Minstrel samples other rates with a tenth. ARED has "
    "{light.ared.goodput5s.p50_mbps:.1f} Mbit/s, PIE "
    "{light.pie.goodput5s.p50_mbps:.1f}, where the report has {=18.6} and {=21}.",
    "F9-4": "ARED has {light.ared.goodput5s.p50_mbps:.2f}, {moderate.ared.goodput5s.p50_mbps:.2f} "
    "and {heavy.ared.goodput5s.p50_mbps:.2f} Mbit/s by load, with Floyd's weight "
    "{floyd_weight.light.ared.goodput5s.p50_mbps:.2f}, "
    "{floyd_weight.moderate.ared.goodput5s.p50_mbps:.2f} and "
    "{floyd_weight.heavy.ared.goodput5s.p50_mbps:.2f}; CoDel has "
    "{light.codel.goodput5s.p50_mbps:.2f} under light load.",
    "F10-1": "medians are {light.codel.rtt.p50_ms:.0f} ms with CoDel, {light.pie.rtt.p50_ms:.0f} "
    f"with PIE and {{light.ared.rtt.p50_ms:.0f}} with ARED: {_UPLOADS}.",
    "F10-2": "medians are {light.codel.rtt.p50_ms:.0f}, {moderate.codel.rtt.p50_ms:.0f} and "
    "{heavy.codel.rtt.p50_ms:.0f} ms with CoDel, {light.ared.rtt.p50_ms:.0f}, "
    "{moderate.ared.rtt.p50_ms:.0f} and {heavy.ared.rtt.p50_ms:.0f} with ARED; the margin has an "
    "interval of ± {± worst:.0f} ms.",
    "F10-3": f"{_UPLOADS}.",
    "F10-4": "medians are {moderate.pie.rtt.p50_ms:.0f} and {heavy.pie.rtt.p50_ms:.0f} ms with PIE "
    "under moderate and heavy load, {moderate.codel.rtt.p50_ms:.0f} and "
    "{heavy.codel.rtt.p50_ms:.0f} with CoDel, {moderate.ared.rtt.p50_ms:.0f} and "
    f"{{heavy.ared.rtt.p50_ms:.0f}} with ARED: {_UPLOADS}.",
    "F11-1": "what is left of the margin has an interval of ± {± worst:.1f} ms; the {=90}th "
    "percentile at {=20} ms is {target20ms.flows32.codel.rtt.p90_ms:.0f} ms with {=32} flows and "
    "{target20ms.flows64.codel.rtt.p90_ms:.0f} with {=64}.",
    "F11-2": _ISOLATED,
    "F11-3": "with {=4} flows a tenth of the packets do not wait with either "
    "({target5ms.flows4.codel.qd.p10_ms:.2f} and {target5ms.flows4.fq_codel.qd.p10_ms:.2f} ms, "
    "their transmission).",
    "F11-4": "the largest rise is {worst:.0f} %: at {=4} flows from "
    "{target5ms.flows4.codel.qd.p90_ms:.1f} to {target5ms.flows4.fq_codel.qd.p90_ms:.1f} ms, at "
    "{=16} from {target5ms.flows16.codel.qd.p90_ms:.1f} to "
    "{target5ms.flows16.fq_codel.qd.p90_ms:.1f} ms.",
    "F11-5": "with {=4} flows the {=10}th percentile is {target20ms.flows4.codel.qd.p10_ms:.1f} ms "
    "with CoDel and {target20ms.flows4.fq_codel.qd.p10_ms:.1f} with FQ_CoDel: a tenth of the "
    "packets hardly wait with either.",
    "F12-1": "under light load medians are {light.codel.rtt.p50_ms:.1f} and "
    "{light.fq_codel.rtt.p50_ms:.1f} ms, with an interval of the margin of ± {± worst:.1f}.",
    "T5-1": f"{{worst:.2f}} at one flow per sender: {_SIGNALS}.",
    "T5-3": _RATIO,
    "T5-4": f"{{worst:.2f}} at four flows per sender: {_SIGNALS}.",
    "T5-6": _RATIO,
    "T5-7": _RATIO,
    "T5-8": "at one flow per sender CoDel has {n1.codel.ratio:.2f} ± {± n1.codel.ratio:.2f} and "
    "PIE {n1.pie.ratio:.2f} ± {± n1.pie.ratio:.2f}, at four {n4.codel.ratio:.2f} and "
    f"{{n4.pie.ratio:.2f}}. Of CoDel: {_SIGNALS}.",
    "F13-1": "at four flows per sender medians are {n4.without.ared.qd.p50_ms:.1f} ms without and "
    "{n4.ecn.ared.qd.p50_ms:.1f} with ECN for ARED, {n4.without.codel.qd.p50_ms:.1f} and "
    "{n4.ecn.codel.qd.p50_ms:.1f} for CoDel, {n4.without.pie.qd.p50_ms:.1f} and "
    "{n4.ecn.pie.qd.p50_ms:.1f} for PIE, where {=5} % are required.",
    "F13-2": f"true of CoDel but for noise. Of PIE not: {_PIE}.",
    "F13-3": "from {=1} to {=16} flows per sender ARED's median rises by "
    "{n16.ecn.ared.rtt.p50_ms - n1.ecn.ared.rtt.p50_ms:.0f} ms, "
    "CoDel's by {n16.ecn.codel.rtt.p50_ms - n1.ecn.codel.rtt.p50_ms:.0f} and PIE's by "
    "{n16.ecn.pie.rtt.p50_ms - n1.ecn.pie.rtt.p50_ms:.0f}; with Floyd's weight ARED's by "
    "{floyd_weight.n16.ecn.ared.rtt.p50_ms - floyd_weight.n1.ecn.ared.rtt.p50_ms:.0f}: "
    f"{_WEIGHT}. With {{=64}} flows that cannot go below a window of two packets, two of "
    "each are always on their way: {n16.ecn.codel.qd.p50_ms:.0f} ms wait, CoDel's median. An "
    "AQM with a shorter queue drops what cannot be marked, so that some flows' SYN never arrives.",
    "F14-1": "ARED's median goodput with ECN is {n1.ecn.ared.goodput5s.p50_mbps:.2f}, "
    "{n4.ecn.ared.goodput5s.p50_mbps:.2f}, {n8.ecn.ared.goodput5s.p50_mbps:.2f} and "
    "{n16.ecn.ared.goodput5s.p50_mbps:.2f} Mbit/s at {=1}, {=4}, {=8} and {=16} flows per sender, "
    "with Floyd's weight {floyd_weight.n1.ecn.ared.goodput5s.p50_mbps:.2f}, "
    "{floyd_weight.n4.ecn.ared.goodput5s.p50_mbps:.2f}, "
    "{floyd_weight.n8.ecn.ared.goodput5s.p50_mbps:.2f} "
    f"and {{floyd_weight.n16.ecn.ared.goodput5s.p50_mbps:.2f}}: {_WEIGHT}.",
    "G-1": f"true of CoDel but for noise. Of PIE not: {_PIE}.",
}
