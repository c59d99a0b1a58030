//! The congestion window of BBR v3 (Google's `tcp_bbr.c`, branch v3, bbr_set_cwnd).

use super::super::path_model::MIN_CWND;
use super::super::{Progress, Window};
use super::cycle::Phase;
use super::{Bbr3, BbrMode};

impl Bbr3 {
    pub(super) fn set_cwnd(&mut self, p: &Progress, window: &mut Window) {
        let acked = p.ack.delivered;
        if acked > 0 {
            let bw = self.bandwidth();
            let extra_acked = self.aggregation.window(bw);
            let target = self.quantization_budget(self.path.bdp(bw, self.cwnd_gain) + extra_acked);
            if self.full_bw_reached {
                window.cwnd = (window.cwnd + acked).min(target);
            } else if window.cwnd < target || window.cwnd < 2 * self.path.initial_window {
                window.cwnd += acked;
            }
            window.cwnd = window.cwnd.max(MIN_CWND);
        }
        if self.mode == BbrMode::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_window());
        }
        window.cwnd = window.cwnd.min(self.inflight_bound());
    }

    /// The bound on packets in flight in the present phase (`bbr_bound_cwnd_for_inflight_model`).
    pub(super) fn inflight_bound(&self) -> u32 {
        let long_term = match (self.mode, self.phase) {
            (BbrMode::ProbeRtt, _) | (BbrMode::ProbeBw, Phase::Cruise) => {
                self.bounds.inflight_with_headroom()
            }
            (BbrMode::ProbeBw, _) => self.bounds.inflight_hi,
            (BbrMode::Startup | BbrMode::Drain, _) => u32::MAX,
        };
        long_term.min(self.bounds.inflight_lo).max(MIN_CWND)
    }
}
