//! The end of startup, and the drain after it (draft-ietf-ccwg-bbr §5.3.1, §5.3.2; endpoints sheet §2.8).

use super::{Bbr3, Mode, bounds};
use crate::cc::{Progress, RateSample, Stage, Window};

/// The pipe is full when the bandwidth has not grown by a quarter for three rounds (`bbr_full_bw_thresh`,
/// `bbr_full_bw_cnt`), or when six acknowledgements of a round showed losses (`bbr_full_loss_cnt`).
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
const FULL_LOSSES: u32 = 6;

/// Whether the bandwidth still grows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    /// The bandwidth that must be beaten.
    pub bw: f64,
    /// Rounds in which it was not.
    pub rounds: u32,
    /// It does not, at present.
    pub is_over: bool,
}

impl Bbr3 {
    /// Six acknowledgements with losses in one round of a recovery, and more lost than bearable: startup has
    /// gone too far.
    pub(super) fn check_startup_losses(&mut self, p: &Progress, sample: &RateSample) {
        if self.pipe_full {
            return;
        }
        self.loss_events += u32::from(p.lost > 0);
        let many = self.loss_events >= FULL_LOSSES && p.stage == Stage::Recovery;
        if self.loss_round_start && many && bounds::is_too_high(sample) {
            self.pipe_full = true;
            self.bounds.inflight_hi = self.target(self.max_bw()).max(self.latest.inflight);
        } else if self.loss_round_start {
            self.loss_events = 0;
        }
    }

    pub(super) fn check_full_pipe(&mut self, sample: &RateSample) {
        if self.growth.is_over || sample.app_limited {
            return;
        }
        if sample.rate() >= self.growth.bw * FULL_GROWTH {
            self.growth = Growth { bw: sample.rate(), ..Growth::default() };
        } else if self.round_start {
            self.growth.rounds += 1;
            self.growth.is_over = self.growth.rounds >= FULL_ROUNDS;
            self.pipe_full |= self.growth.is_over;
        }
    }

    pub(super) fn check_drain(&mut self, p: &Progress, window: &mut Window) {
        if self.mode == Mode::Startup && self.pipe_full {
            self.mode = Mode::Drain;
            window.ssthresh = self.target(self.max_bw());
            self.forget_round();
        }
        if self.mode == Mode::Drain && p.in_flight <= self.target(self.max_bw()) {
            self.mode = Mode::ProbeBw;
            self.start_down(p.ack.now, p.delivered_total);
        }
    }
}
