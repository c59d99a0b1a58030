//! The end of Startup, and Drain (draft-ietf-ccwg-bbr §5.3.1, §5.3.2).

use super::{Bbr3, BbrMode, bounds};
use crate::cc::{Progress, RateSample, RecoveryStage, Window};

/// The pipe is full when the bandwidth has not grown by a quarter for three rounds
/// (`bbr_full_bw_thresh`, `bbr_full_bw_cnt`), or when six acknowledgements of one round reported
/// losses (`bbr_full_loss_cnt`).
const FULL_BW_THRESH: f64 = 1.25;
const FULL_BW_CNT: u32 = 3;
const FULL_LOSS_CNT: u32 = 6;

/// Whether the bandwidth has stopped growing (`full_bw_now`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FullBw {
    /// The bandwidth that must be exceeded by a quarter.
    pub(crate) bw: f64,
    /// Rounds in which it was not exceeded by a quarter.
    pub(crate) rounds: u32,
    /// Whether the bandwidth has stopped growing.
    pub(crate) is_over: bool,
}

impl Bbr3 {
    /// Startup ends after six acknowledgements with losses in one round of a recovery, if the loss
    /// rate is too high.
    pub(super) fn check_startup_losses(&mut self, p: &Progress, sample: &RateSample) {
        if self.full_bw_reached {
            return;
        }
        self.loss_events_in_round += u32::from(p.lost > 0);
        let many =
            self.loss_events_in_round >= FULL_LOSS_CNT && p.recovery == RecoveryStage::Recovery;
        if self.loss_round_start && many && bounds::is_inflight_too_high(sample) {
            self.full_bw_reached = true;
            self.bounds.inflight_hi = self.inflight(self.max_bw()).max(self.latest.inflight);
        } else if self.loss_round_start {
            self.loss_events_in_round = 0;
        }
    }

    pub(super) fn check_full_pipe(&mut self, sample: &RateSample) {
        if self.full_bw.is_over || sample.app_limited {
            return;
        }
        if sample.rate() >= self.full_bw.bw * FULL_BW_THRESH {
            self.full_bw = FullBw { bw: sample.rate(), ..FullBw::default() };
        } else if self.round_start {
            self.full_bw.rounds += 1;
            self.full_bw.is_over = self.full_bw.rounds >= FULL_BW_CNT;
            self.full_bw_reached |= self.full_bw.is_over;
        }
    }

    pub(super) fn check_drain(&mut self, p: &Progress, window: &mut Window) {
        if self.mode == BbrMode::Startup && self.full_bw_reached {
            self.mode = BbrMode::Drain;
            window.ssthresh = self.inflight(self.max_bw());
            self.reset_congestion_signals();
        }
        if self.mode == BbrMode::Drain && p.in_flight <= self.inflight(self.max_bw()) {
            self.mode = BbrMode::ProbeBw;
            self.start_down(p.ack.now, p.delivered_total);
        }
    }
}
