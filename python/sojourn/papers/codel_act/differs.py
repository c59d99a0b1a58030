"""Reasons why the paper's claims fail here; numbers are filled in (`sojourn.reproduce.reasons`)."""

from __future__ import annotations

_F_RTO = (
    "of {=64} flows most wait for a timeout, so the result depends on what a sender does after "
    "one. Linux {=2.6.29} tests with two new packets whether a timeout was spurious; if not, it "
    "takes all packets in flight for lost and sends three (tcp_process_frto, tcp_enter_frto_loss)."
)
_PERIOD = (
    "PIE's gains are per update and are not scaled with t_update here, as in the draft's formula. "
    "The integral part brings the mean to the target whatever the period, so a shorter one "
    "cannot lower it; at long periods the loop oscillates. At {=2}, {=16} and {=150} ms the means "
    "are {pie.tupdate2ms.n1.mean_ms:.1f}, {pie.tupdate16ms.n1.mean_ms:.1f} and "
    "{pie.tupdate150ms.n1.mean_ms:.1f} ms (n = {=1}), {pie.tupdate2ms.n4.mean_ms:.1f}, "
    "{pie.tupdate16ms.n4.mean_ms:.1f} and {pie.tupdate150ms.n4.mean_ms:.1f} ms (n = {=4}), "
    "{pie.tupdate2ms.n64.mean_ms:.1f}, {pie.tupdate16ms.n64.mean_ms:.1f} and "
    "{pie.tupdate150ms.n64.mean_ms:.1f} ms (n = {=64}). Gains scaled with the period make long "
    "periods better and change nothing below {=16} ms."
)
_COUNT_AT_100_MS = (
    "at {=100} ms the count of CoDel does not grow with {=4} flows: they need longer than {=8} "
    "intervals to fill the queue after a phase of drops, so that it starts again at {=1}. With "
    "{=16} flows it grows by {reno.rtt100.n16.codel.count.slope_per_s:.1f} (NewReno) and "
    "{cubic.rtt100.n16.codel.count.slope_per_s:.1f} (CUBIC) per second. The paper says of {=10} ms "
    "that it grows with {=4}."
)
DIFFERS = {
    "F1-2": "the delays above half of the peak last {n1.pie.initial_duration_s:.2f} s for n = "
    "{=1}, {n4.pie.initial_duration_s:.2f} s for {=4}, {n16.pie.initial_duration_s:.2f} s for "
    "{=16} and {n64.pie.initial_duration_s:.2f} s for {=64}, where the starts of the flows alone "
    "take a second; the margin left has an interval of ± {± worst:.2f} s.",
    "F1-3": "the means grow, {n1.codel.peak_ms:.0f}, {n4.codel.peak_ms:.0f}, "
    "{n16.codel.peak_ms:.0f} and {n64.codel.peak_ms:.0f} ms. With {=4} flows chance decides how "
    "many are in slow start together, and with {=64} the buffer of {=250} kB is nearly full.",
    "F1-6": "the delay is down to half of its peak after {worst:.1f} s: it falls slowly, and the "
    "paper does not say which delay it calls large.",
    "F1-7": "the runs diverge at the first drop with a count above one; with {=4} flows the number "
    "of drops before it varies between the seeds by more than the claim allows (± "
    "{± n4.same_drops:.0f}).",
    "F2-9": "CoDel's queue at arrivals is {n16.codel.queue_bias_packets:.1f} packets longer than "
    "the delay of packets sent, CoDel-ACT's {n16.codel_act.queue_bias_packets:.1f}; PIE's is "
    "{n16.pie.queue_bias_packets:.1f}, because the packet in service delays but does not "
    "queue. With the arriving packet included each would be one packet more. The paper does not "
    "say where it samples the queue.",
    "F3-4": "with one flow the mean at a target of {=5} ms is {pie.threshold5ms.n1.mean_ms:.1f} "
    "ms: the window's sawtooth is deeper than the target, and the queue cannot be shorter than "
    "empty.",
    "X1-1": "CoDel-ACT's mean with {=4} flows is {codel_act.interval25ms.n4.mean_ms:.1f}, "
    "{codel_act.interval100ms.n4.mean_ms:.1f} and {codel_act.interval200ms.n4.mean_ms:.1f} ms at "
    "{=25}, {=100} and {=200} ms: count grows with the interval and takes back most of it.",
    "X1-2": "at n = {=4} the ratio is "
    "{codel_act.interval100ms.n4.mean_ms / codel.interval100ms.n4.mean_ms:.2f}, at {=16} "
    "{codel_act.interval100ms.n16.mean_ms / codel.interval100ms.n16.mean_ms:.2f} and at {=64} "
    "{codel_act.interval100ms.n64.mean_ms / codel.interval100ms.n64.mean_ms:.2f}. For {=4} flows "
    "the paper's own Table I gives {=6.60} and {=8.79} ms, no half either.",
    "X1-4": _PERIOD,
    "X1-5": _PERIOD,
    "X1-9": "with {=64} flows the link is busy for {codel_act.interval25ms.n64.util_pct:.2f} % of "
    "the time already at {=25} ms; what is left is noise.",
    "X3-2": _COUNT_AT_100_MS,
    "X3-3": _COUNT_AT_100_MS,
    "F4-8": "CoDel-ACT's count takes {n4.codel_act.count.reached_s:.1f}, "
    "{n16.codel_act.count.reached_s:.1f} and {n64.codel_act.count.reached_s:.1f} s (n = {=4}, "
    "{=16}, {=64}), PIE's p {n4.pie.drop_prob.reached_s:.1f}, {n16.pie.drop_prob.reached_s:.1f} "
    "and {n64.pie.drop_prob.reached_s:.1f} s; the widest interval is that of {=16} flows, ± "
    "{± n16.codel_act.count.reached_s:.1f} s.",
    "F5-3": f"{_F_RTO} The rate is at its level after {{n64.pie.drop_rate.reached_s:.1f}} s, "
    "although p is after {F4/n64.pie.drop_prob.reached_s:.1f} s: in between most flows are silent.",
    "F5-4": "PIE takes {n64.pie.drop_rate.reached_s:.1f} s, CoDel-ACT "
    "{n64.codel_act.drop_rate.reached_s:.1f}, CoDel {n64.codel.drop_rate.reached_s:.1f} ± "
    "{± n64.codel.drop_rate.reached_s:.1f}: CoDel's rate rises slowly, so that noise decides when "
    "it first reaches its level.",
    "F5-5": "in the order PIE, CoDel-ACT, CoDel drops per second are "
    "{n4.pie.drop_rate.level_per_s:.0f}, {n4.codel_act.drop_rate.level_per_s:.0f} and "
    "{n4.codel.drop_rate.level_per_s:.0f} (n = {=4}), {n16.pie.drop_rate.level_per_s:.0f}, "
    "{n16.codel_act.drop_rate.level_per_s:.0f} and {n16.codel.drop_rate.level_per_s:.0f} ({=16}), "
    "{n64.pie.drop_rate.level_per_s:.0f}, {n64.codel_act.drop_rate.level_per_s:.0f} and "
    "{n64.codel.drop_rate.level_per_s:.0f} ({=64}). With {=64} flows the load decides how many "
    "packets have to go.",
    "F6-3": "the delay falls {n1.pie.fall_after_loss_ms:.1f} ms after the loss with PIE, "
    "{n1.codel.fall_after_loss_ms:.1f} with CoDel, but the margin has an interval of ± "
    "{± worst:.0f} ms: a run of {=51} s has few losses.",
    "F6-8": "at n = {=16} CoDel-ACT's phases last {n16.codel_act.at50s.phase_mean_ms:.1f} ms, "
    "CoDel's {n16.codel.at50s.phase_mean_ms:.1f} ({=fact papers-17}).",
    "F6-10": "with {=64} flows the least time from the last drop of a phase to the first of the "
    "next is {n64.codel_act.at50s.free_min_ms:.1f} ± {± n64.codel_act.at50s.free_min_ms:.1f} ms: "
    "one of few phases in {=10} s, quantised by packets of {=1.2056} ms.",
    "F6-12": "with {=64} flows the delay of CoDel deviates by {n64.codel.at50s.sd_ms:.1f} ms, that "
    "of CoDel-ACT by {n64.codel_act.at50s.sd_ms:.1f} and that of PIE by "
    "{n64.pie.at50s.sd_ms:.1f}: the order is the paper's, the window of {=10} s is short.",
    "F6-13": "at n = {=1} the window halves below the bandwidth-delay product, the queue empties "
    "after each loss and {n1.codel.at50s.zero_pct:.1f} % of packets do not wait. The paper's p99 "
    "at n = {=1} is {=9.22} ms, here {T1/rtt10.n1.codel.p99_ms:.2f}, on the same grid of packet "
    "times: what does not wait here has a small delay there.",
    "F6-15": "at the end of phases the delay is {n16.codel.at5s.phase_end_delay_ms:.1f} ms; the "
    "least delay is {n16.codel.at5s.min_ms:.2f} ± {± n16.codel.at5s.min_ms:.2f} ms, since some of "
    "the seeds have a packet that does not wait at all between {=4} and {=6} s.",
    "F6-17": "zero delays are rarer, {n16.codel.at500s.zero_pct:.1f} % after "
    "{n16.codel.at50s.zero_pct:.1f} %, and {n16.codel.at500s.same_instant_pct:.0f} % of drops "
    "share their instant with another, as in the paper. The delay at the end of a phase is "
    "{n16.codel.at500s.phase_end_delay_ms:.2f} ms, at {=50} s "
    "{n16.codel.at50s.phase_end_delay_ms:.2f}: they differ by less than a fifth of a packet time.",
}
