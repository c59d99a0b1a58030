//! The congestion window of BBR v1 (Linux 6.1 `tcp_bbr.c`, bbr_set_cwnd).

use super::super::path_model::MIN_CWND;
use super::super::{Progress, RecoveryStage, Window};
use super::{Bbr, BbrMode};

impl Bbr {
    pub(super) fn set_cwnd(&mut self, p: &Progress, window: &mut Window) {
        let acked = p.ack.delivered;
        if acked > 0 && !self.set_cwnd_in_recovery(p, window) {
            let bw = self.bandwidth();
            let extra_acked = if self.filled_pipe { self.aggregation.window(bw) } else { 0 };
            let target = self.quantization_budget(self.path.bdp(bw, self.cwnd_gain) + extra_acked);
            if self.filled_pipe {
                window.cwnd = (window.cwnd + acked).min(target);
            } else if window.cwnd < target
                || p.delivered_total < u64::from(self.path.initial_window)
            {
                window.cwnd += acked;
            }
            window.cwnd = window.cwnd.max(MIN_CWND);
        }
        if self.mode == BbrMode::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_CWND);
        }
    }

    /// Subtracts losses from the window and restores it when they are repaired. Returns whether the
    /// window is set by packet conservation (Linux `bbr_set_cwnd_to_recover_or_restore`).
    pub(super) fn set_cwnd_in_recovery(&mut self, p: &Progress, window: &mut Window) -> bool {
        window.cwnd = window.cwnd.saturating_sub(p.lost).max(1);
        let before = std::mem::replace(&mut self.recovery, p.recovery);
        if p.recovery == RecoveryStage::Recovery && before != RecoveryStage::Recovery {
            self.packet_conservation = true;
            self.next_round_delivered = p.delivered_total;
            window.cwnd = p.in_flight + p.ack.delivered;
        } else if before >= RecoveryStage::Recovery && p.recovery < RecoveryStage::Recovery {
            self.prior_cwnd.restore(window);
            self.packet_conservation = false;
        }
        if self.packet_conservation {
            window.cwnd = window.cwnd.max(p.in_flight + p.ack.delivered);
        }
        self.packet_conservation
    }
}
