//! The smallest round-trip time, and probing for it with little in flight (draft-ietf-ccwg-bbr §5.3.4; endpoints
//! sheet §2.8).

use sojourn_aqm::Span;

use super::cycle::Acks;
use super::{Bbr3, Mode};
use crate::cc::pipe::MIN_CWND;
use crate::cc::{Progress, Window};

/// How long the smallest round-trip time holds (`bbr_min_rtt_win_sec`), how often it is probed for
/// (`bbr_probe_rtt_win_ms`), for how long (`bbr_probe_rtt_mode_ms`), with how much in flight
/// (`bbr_probe_rtt_cwnd_gain`).
const MIN_RTT_WINDOW: Span = Span::from_secs(10);
const PROBE_RTT_EVERY: Span = Span::from_secs(5);
const PROBE_RTT_TIME: Span = Span::from_millis(200);
const PROBE_RTT_GAIN: f64 = 0.5;
impl Bbr3 {
    pub(super) fn update_min_rtt(&mut self, p: &Progress, window: &mut Window) {
        let now = p.ack.now;
        let due = now.since(self.probed_min_at) > PROBE_RTT_EVERY;
        if let Some(rtt) = p.ack.rtt
            && (due || self.probed_min.is_none_or(|min| rtt < min))
        {
            (self.probed_min, self.probed_min_at) = (Some(rtt), now);
        }
        let expired = now.since(self.min_rtt_at) > MIN_RTT_WINDOW;
        let lower = self.pipe.min_rtt.is_none_or(|min| self.probed_min.is_some_and(|p| p <= min));
        if lower || expired {
            (self.pipe.min_rtt, self.min_rtt_at) = (self.probed_min, self.probed_min_at);
        }
        if due && !self.after_idle && self.mode != Mode::ProbeRtt {
            self.save_window(window);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_until = None;
            self.acks = Acks::Stopping;
            self.round_end = p.delivered_total;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(p, window);
        }
        if p.ack.delivered > 0 {
            self.after_idle = false;
        }
    }

    fn probe_rtt(&mut self, p: &Progress, window: &mut Window) {
        let now = p.ack.now;
        let Some(until) = self.probe_rtt_until else {
            if p.in_flight <= self.probe_rtt_window() {
                self.probe_rtt_until = Some(now + PROBE_RTT_TIME);
                self.probe_rtt_round_done = false;
                self.round_end = p.delivered_total;
            }
            return;
        };
        self.probe_rtt_round_done |= self.round_start;
        if !self.probe_rtt_round_done || now <= until {
            return;
        }
        self.probed_min_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.bounds.release();
        if self.pipe_full {
            self.mode = Mode::ProbeBw;
            self.start_down(now, p.delivered_total);
            self.start_cruise(); // what is in flight is below the product already
        } else {
            self.mode = Mode::Startup;
        }
    }

    pub(super) fn probe_rtt_window(&self) -> u32 {
        self.pipe.products(self.bandwidth(), PROBE_RTT_GAIN).max(MIN_CWND)
    }
}
