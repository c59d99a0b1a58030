//! Fast path: an in-order ACK for segments that were neither SACKed, lost nor retransmitted, while
//! nothing is being repaired. It performs only those steps of [`Sender::take_ack`] that change
//! something in this case (Linux `tcp_ack` without `FLAG_SLOWPATH`); `tests/fast_paths.rs` checks
//! that the resulting state is the same.

use sojourn_aqm::Time;

use super::control::LossCounts;
use super::episode::Episode;
use super::{Segments, Sender, State};
use crate::cc::{Ack, Feedback, Needs, WindowControl};
use crate::packet::Packet;
use crate::tcp::scoreboard::{Delivery, Transmission, Untouched};

/// Which acknowledgements of a connection may take the fast path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PlainAcks {
    /// None: the control must see every acknowledgement, or marks that are counted start a
    /// reduction.
    None,
    /// Plain ones, for which the control grows the window.
    Grow,
    /// Plain ones, for which the control sets the window.
    Set,
}

impl PlainAcks {
    /// Those of a connection.
    pub(super) fn of(needs: &Needs, segments: &Segments) -> PlainAcks {
        match needs.window_control {
            _ if needs.feedback == Feedback::Runs => PlainAcks::None,
            WindowControl::Window => PlainAcks::Set,
            WindowControl::Growth | WindowControl::Full if segments.accurate => PlainAcks::None,
            WindowControl::Growth => PlainAcks::Grow,
            WindowControl::Full => PlainAcks::Set,
        }
    }
}

impl Sender {
    /// Processes an acknowledgement if it is plain and grows the window; returns whether it is.
    /// Otherwise nothing changes.
    #[inline]
    pub(super) fn take_plain_ack(&mut self, now: Time, ack: &Packet) -> bool {
        if !self.may_be_plain(ack, PlainAcks::Grow) {
            return false;
        }
        let Some((_, acked)) = self.take_untouched(now, ack) else { return false };
        self.grow_cwnd(&acked);
        self.set_pacing_rate();
        true
    }

    /// [`Sender::take_plain_ack`] for a control that sets the window.
    #[inline]
    pub(super) fn take_plain_ack_by_control(&mut self, now: Time, ack: &Packet) -> bool {
        if !self.may_be_plain(ack, PlainAcks::Set) {
            return false;
        }
        let Some((untouched, acked)) = self.take_untouched(now, ack) else { return false };
        let Untouched { packets, newest_sent, .. } = untouched;
        let is_newer = ack.stamp > self.echo;
        let marks = match self.segments.accurate {
            true => self.process_ecn_feedback(ack, &acked, packets, is_newer),
            false => 0,
        };
        let newest = Some(Transmission { sent: newest_sent, seq: acked.una - 1 });
        let delivery = Delivery { packets, newest, ..Delivery::default() };
        let prior_in_flight = self.board.in_flight() + packets;
        let counts = LossCounts { prior_in_flight, lost: 0, marks };
        self.let_control_set_cwnd(&delivery, &acked, counts);
        self.set_pacing_rate();
        true
    }

    /// Updates the scoreboard and takes the round-trip samples, if the acknowledgement covers only
    /// segments that were sent once.
    #[inline(always)]
    fn take_untouched(&mut self, now: Time, ack: &Packet) -> Option<(Untouched, Ack)> {
        let untouched = self.board.acknowledge_untouched(now, ack.seq)?;
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
        Some((untouched, acked))
    }

    /// Whether an acknowledgement is plain if it covers only segments that were sent once.
    #[inline]
    pub(super) fn may_be_plain(&self, ack: &Packet, kind: PlainAcks) -> bool {
        self.plain_acks == kind
            && self.episode.state == State::Open
            && self.tail_probe.is_none()
            && self.board.is_whole()
            && ack.sack[0].is_empty()
            && !ack.signal
    }
}
