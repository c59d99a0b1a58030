//! The receiver's window: what it lets go, and probes while it is closed (RFC 9293 §3.8.6; endpoints sheet
//! §1.16). A closed window leaves the congestion window alone.

use sojourn_aqm::{Span, Time};

use super::{Alarm, Sender};
use crate::packet::{Kind, Packet};

/// Linux `tcp_probe0_base`: at least the floor of the timeout.
const SHORTEST: Span = Span::from_millis(200);

impl Sender {
    /// The receiver's answer to the SYN offers so many segments.
    pub fn start_with_offer(&mut self, segments: u32) {
        self.offered = segments;
    }

    /// The receiver offers so many segments beyond `ack`. An acknowledgement of nothing new only widens
    /// the window, an old one says nothing (Linux `tcp_may_update_window`).
    pub(super) fn take_offer(&mut self, ack: u32, segments: u32) {
        let end = ack.saturating_add(segments);
        let una = self.board.una();
        if ack > una || ack == una && end > self.offered {
            self.offered = end;
        }
    }

    /// Whether the receiver's window is all that stops the flow, and nothing outstanding will open it.
    fn is_closed(&self) -> bool {
        let nxt = self.board.nxt();
        self.board.outstanding() == 0 && self.offered <= nxt && nxt < self.segments.count
    }

    /// The window has opened again.
    pub(super) fn end_persisting(&mut self) {
        if self.persist.is_some() && !self.is_closed() {
            self.persist = None;
            self.rest();
        }
    }

    /// Sets the timer for a probe if the window has closed.
    pub(super) fn start_persisting(&mut self, now: Time) {
        if self.persist.is_none() && self.is_closed() {
            let wait = self.rtt.timeout().max(SHORTEST);
            self.persist = Some(wait);
            self.set_alarm(now, Alarm::Timeout, now + wait);
        }
    }

    /// Asks whether the window is still closed; the next question waits twice as long.
    pub(super) fn probe_window(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        debug_assert!(self.is_closed(), "only a closed window is probed");
        let wait = self.persist.map_or(SHORTEST, |wait| (wait + wait).min(self.profile.rto.max));
        self.persist = Some(wait);
        self.set_alarm(now, Alarm::Timeout, now + wait);
        let super::Segments { flow, connection, header_bytes, .. } = self.segments;
        let before = self.board.una().wrapping_sub(1); // a segment that has long arrived
        emit(Packet::new(Kind::WindowProbe, flow, connection, before, header_bytes, now));
    }
}
