//! How an acknowledgement changes the congestion window: reduction or growth, never both.

use super::{Sender, State};
use crate::cc::Ack;
use crate::tcp::cwnd_reduction::AckInReduction;
use crate::tcp::profile::{Detection, Moderation};
use crate::tcp::reordering::DUPLICATE_THRESHOLD;
use crate::tcp::scoreboard::Delivery;

impl Sender {
    /// Continues a reduction, or grows the window (Linux `tcp_cong_control`). `marked` is the
    /// number of segments newly marked lost. `was_reducing` means that a reduction was in progress
    /// before the acknowledgement, or F-RTO has set the window.
    #[inline]
    pub(super) fn adjust_cwnd(
        &mut self,
        delivery: &Delivery,
        acked: &Ack,
        marked: u32,
        was_reducing: bool,
    ) {
        if matches!(self.episode.state, State::Recovery | State::Cwr) {
            return self.reduce_cwnd(delivery.packets, delivery.advanced, marked);
        }
        let held = was_reducing && self.profile.growth.not_at_end;
        if !held && self.may_raise_cwnd(delivery) {
            self.grow_cwnd(acked);
        }
    }

    /// Grows the window for the delivered segments, if it limits the flow.
    #[inline]
    pub(super) fn grow_cwnd(&mut self, acked: &Ack) {
        if !self.is_cwnd_limited() {
            return;
        }
        let per_ack = match self.window.in_slow_start() {
            true => self.profile.slow_start_per_ack,
            false => self.profile.avoidance_per_ack,
        };
        match acked.delivered <= per_ack {
            true => self.cc.grow(acked, &mut self.window),
            false => self.cc.grow(&Ack { delivered: per_ack, ..*acked }, &mut self.window),
        }
    }

    /// Whether the window may grow: for acknowledged segments and, with much reordering, also for
    /// SACKed ones (Linux `tcp_may_raise_cwnd`).
    #[inline]
    fn may_raise_cwnd(&self, delivery: &Delivery) -> bool {
        let by_sack = self.profile.detection == Detection::Rack
            && self.reordering.metric() > DUPLICATE_THRESHOLD;
        delivery.packets > 0 && (delivery.advanced || by_sack)
    }

    /// One step of the current reduction (RFC 9937 §6 and others).
    #[inline]
    pub(super) fn reduce_cwnd(&mut self, delivered: u32, advanced: bool, marked: u32) {
        let in_flight = self.board.in_flight();
        let safe = advanced && marked == 0;
        let ack = AckInReduction { delivered, in_flight, advanced, safe };
        let ssthresh = self.window.ssthresh;
        let min_cwnd = || self.cc.min_cwnd_of_rate_halving(ssthresh);
        self.episode.reduction.on_ack(&ack, min_cwnd, &mut self.window);
    }

    /// Prevents a burst after a dubious acknowledgement (Linux `tcp_moderate_cwnd`, before 3.10).
    pub(super) fn moderate_cwnd(&mut self) {
        let due = match (self.profile.moderation, self.episode.state) {
            (_, State::Cwr | State::Recovery) | (Moderation::Never, _) => false,
            (Moderation::Disordered, state) => state != State::Open,
            (Moderation::Always, _) => true,
        };
        if due {
            let most = self.board.in_flight() + self.reordering.metric();
            self.window.cwnd = self.window.cwnd.min(most);
        }
    }
}
