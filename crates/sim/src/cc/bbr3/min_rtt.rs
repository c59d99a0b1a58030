//! The minimum round-trip time, and ProbeRTT (draft-ietf-ccwg-bbr §5.3.4).

use sojourn_aqm::{Span, Time};

use super::cycle::AckPhase;
use super::{Bbr3, BbrMode};
use crate::cc::path_model::MIN_CWND;
use crate::cc::{Progress, Window};

/// Window of the minimum round-trip time (`bbr_min_rtt_win_sec`); interval
/// (`bbr_probe_rtt_win_ms`), duration (`bbr_probe_rtt_mode_ms`) and window gain
/// (`bbr_probe_rtt_cwnd_gain`) of ProbeRTT.
const MIN_RTT_WIN: Span = Span::from_secs(10);
const PROBE_RTT_EVERY: Span = Span::from_secs(5);
const PROBE_RTT_TIME: Span = Span::from_millis(200);
const PROBE_RTT_GAIN: f64 = 0.5;

impl Bbr3 {
    pub(super) fn update_min_rtt(&mut self, p: &Progress, window: &mut Window) {
        let now = p.ack.now;
        let due = now.since(self.probe_rtt_min_stamp) > PROBE_RTT_EVERY;
        if let Some(rtt) = p.ack.rtt
            && (due || self.probe_rtt_min_delay.is_none_or(|min| rtt < min))
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (Some(rtt), now);
        }
        let expired = now.since(self.min_rtt_stamp) > MIN_RTT_WIN;
        let lower =
            self.path.min_rtt.is_none_or(|min| self.probe_rtt_min_delay.is_some_and(|p| p <= min));
        if lower || expired {
            (self.path.min_rtt, self.min_rtt_stamp) =
                (self.probe_rtt_min_delay, self.probe_rtt_min_stamp);
        }
        if due && !self.idle_restart && self.mode != BbrMode::ProbeRtt {
            // The order is that of `bbr_update_min_rtt`, so a larger window saved earlier is kept.
            self.mode = BbrMode::ProbeRtt;
            self.prior_cwnd.save(window, self.recovery, self.mode);
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::Stopping;
            self.next_round_delivered = p.delivered_total;
        }
        self.holds_back = self.mode == BbrMode::ProbeRtt;
        if self.holds_back {
            self.probe_rtt(p, window);
        }
        if p.ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, p: &Progress, window: &mut Window) {
        let now = p.ack.now;
        if self.probe_rtt_done_stamp.is_none() {
            if p.in_flight <= self.probe_rtt_window() {
                self.probe_rtt_done_stamp = Some(now + PROBE_RTT_TIME);
                self.probe_rtt_round_done = false;
                self.next_round_delivered = p.delivered_total;
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.end_probe_rtt(now, window);
        }
    }

    /// `bbr_check_probe_rtt_done`; draft-ietf-ccwg-bbr, `BBRCheckProbeRTTDone`.
    pub(super) fn end_probe_rtt(&mut self, now: Time, window: &mut Window) {
        if self.probe_rtt_done_stamp.is_none_or(|until| now <= until) {
            return;
        }
        self.probe_rtt_min_stamp = now;
        self.prior_cwnd.restore(window);
        self.bounds.reset_lower_bounds();
        if self.full_bw_reached {
            self.mode = BbrMode::ProbeBw;
            self.start_down(now, self.delivered);
            self.start_cruise(); // less than a BDP is in flight already
        } else {
            self.mode = BbrMode::Startup;
        }
    }

    pub(super) fn probe_rtt_window(&self) -> u32 {
        self.path.bdp(self.bandwidth(), PROBE_RTT_GAIN).max(MIN_CWND)
    }
}
