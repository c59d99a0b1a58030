//! Fast path: an in-order ACK for segments that were neither SACKed, lost nor retransmitted, while
//! nothing is being repaired. It performs only those steps of [`Sender::take_ack`] that change
//! something in this case (Linux `tcp_ack` without `FLAG_SLOWPATH`); `tests/fast_paths.rs` checks
//! that the resulting state is the same.

use sojourn_aqm::Time;

use super::episode::Episode;
use super::{Segments, Sender, State};
use crate::cc::{Ack, Feedback, Needs, WindowControl};
use crate::packet::Packet;

/// Whether the fast path applies to a connection: its control only grows the window and need not
/// see every acknowledgement without marks.
pub(super) fn are_usual(needs: &Needs, segments: &Segments) -> bool {
    let grows = needs.window_control == WindowControl::Growth;
    grows && needs.feedback != Feedback::Runs && !segments.accurate
}

impl Sender {
    /// Processes an acknowledgement if it is plain; returns whether it is. Otherwise nothing
    /// changes.
    #[inline]
    pub(super) fn take_plain_ack(&mut self, now: Time, ack: &Packet) -> bool {
        if !self.may_be_plain(ack) {
            return false;
        }
        let Some(untouched) = self.board.acknowledge_untouched(now, ack.seq) else { return false };
        let Episode { first_retransmission, keeps_timer, .. } = self.episode;
        debug_assert_eq!((self.timeouts.count, keeps_timer), (0, false), "an episode resets them");
        debug_assert_eq!(first_retransmission, Time::NEVER, "none is outstanding");
        let acked = Ack {
            now,
            delivered: untouched.packets,
            rtt: Some(now.since(untouched.newest_sent)),
            srtt: self.rtt.smoothed(),
            una: self.board.una(),
            nxt: self.board.nxt(),
            paced: self.pacer.is_some(),
        };
        self.rtt.observe_min(now.since(untouched.newest_sent));
        self.rtt.sample(now.since(untouched.oldest_sent), acked.una, acked.nxt);
        self.tell_rtt(&acked);
        self.grow_cwnd(&acked);
        self.set_pacing_rate();
        true
    }

    #[inline]
    pub(super) fn may_be_plain(&self, ack: &Packet) -> bool {
        self.plain_acks
            && self.episode.state == State::Open
            && self.tail_probe.is_none()
            && self.board.is_whole()
            && ack.sack[0].is_empty()
            && !ack.signal
    }
}
