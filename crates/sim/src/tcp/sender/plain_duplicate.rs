//! Fast path: a duplicate ACK in a recovery that SACKs segments and reports nothing else. It
//! performs only those steps of [`Sender::take_ack`] that change something in this case; with many
//! losses, nearly half of all ACKs are of this kind. `tests/fast_paths.rs` checks that the
//! resulting state is the same.

use sojourn_aqm::Time;

use super::control::LossCounts;
use super::sack::is_dsack;
use super::{Segments, Sender, State};
use crate::packet::Packet;
use crate::tcp::profile::{Detection, Profile};
use crate::tcp::scoreboard::{Arrival, Delivery};

/// Whether the fast path applies to a connection with plain acknowledgements: it has SACK, losses
/// are detected by time, and marks are not counted.
pub(super) fn are_usual(profile: &Profile, segments: &Segments) -> bool {
    profile.sack && profile.detection == Detection::Rack && !segments.accurate
}

impl Sender {
    /// Whether an acknowledgement is such a duplicate.
    #[inline]
    pub(super) fn is_plain_duplicate(&self, ack: &Packet) -> bool {
        self.plain_duplicates
            && self.episode.state == State::Recovery
            && ack.seq == self.board.una()
            && ack.seq < self.episode.recovery_point
            && self.tail_probe.is_none()
            && !ack.sack[0].is_empty()
            && !is_dsack(ack)
            && !ack.signal
    }

    /// Processes such a duplicate. Returns whether it restarts the timer.
    #[inline(never)]
    pub(super) fn take_plain_duplicate(&mut self, now: Time, ack: &Packet) -> bool {
        let mut delivery = Delivery::default();
        let prior_in_flight = self.board.in_flight();
        let point = self.point_of_last_timeout();
        let arrival = Arrival { now, point, min_rtt: self.rtt.min(), echo: None };
        self.board.acknowledge_sacked(&ack.sack, arrival, &mut delivery);
        self.note_reordering(&delivery);
        let acked = self.sample_rtt(now, &delivery, None);
        let marked = self.detect_losses_by_rack(now);
        self.report_losses(now);
        if self.leaves_cwnd_to_control() {
            let counts = LossCounts { prior_in_flight, lost: marked.segments, marks: 0 };
            self.let_control_set_cwnd(&delivery, &acked, counts);
        } else {
            self.reduce_cwnd(delivery.packets, false, marked.segments);
        }
        self.set_pacing_rate();
        debug_assert!(!self.episode.keeps_timer, "no stack with RACK is impatient");
        !marked.waits && self.confirms_head(&delivery)
    }
}
