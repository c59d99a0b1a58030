//! Sending: what goes out when the window allows, and how much of the window is used.

use sojourn_aqm::Time;

use super::chrono::Phase;
use super::{Alarm, Segments, Sender, State};
use crate::packet::{Kind, Packet};
use crate::tcp::pacing::Pacer;

impl Sender {
    /// The application has something to send, perhaps after a pause: sends what the windows allow.
    pub fn send(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        self.restart_after_idle(now);
        self.send_allowed(now, false, emit);
    }

    /// The application has so many segments in all; [`Sender::send`] sends them.
    pub fn append(&mut self, count: u32) {
        debug_assert!(count >= self.segments.count, "what is written cannot be taken back");
        self.segments.count = count;
    }

    /// Sends what the windows allow: first what was lost, then new data. `restart`: an acknowledgement
    /// starts the timer anew.
    pub(super) fn send_allowed(&mut self, now: Time, restart: bool, emit: &mut impl FnMut(Packet)) {
        let only_new = std::mem::take(&mut self.only_new);
        if self.board.lost() > 0 && self.state >= State::Recovery && !only_new {
            while self.room() > 0
                && self.may_leave(now)
                && let Some(seq) = self.board.next_lost()
            {
                self.retransmit(now, seq, emit);
            }
        }
        let room = self.room();
        let nxt = self.board.nxt();
        let unsent = self.segments.count - nxt;
        let left = unsent.min(self.offered.saturating_sub(nxt));
        if room.min(left) > 0 && self.board.in_flight() == 0 {
            self.cc.on_idle(now, now.since(self.last_sent));
        }
        let mut sent = 0;
        while sent < room.min(left) && self.may_leave(now) {
            self.transmit(now, emit);
            sent += 1;
        }
        if sent > 0 {
            self.last_sent = now;
        }
        if self.needs.rate_samples && sent == unsent {
            self.note_end_of_data();
        }
        self.set_release(now);
        self.end_persisting();
        self.set_timer(now, restart, sent > 0);
        self.start_persisting(now);
        // Linux `tcp_write_xmit`: a window that is just full counts as the limit.
        let held_back = left >= room && room - sent <= self.handed_down();
        self.note_phase(now, (unsent, left, sent), room);
        if sent > 0 || held_back {
            self.note_usage(now, held_back);
        }
    }

    /// Packets of the window that only wait for the pace.
    #[inline]
    fn handed_down(&self) -> u32 {
        self.pacer.as_ref().map_or(0, Pacer::handed_down)
    }

    /// Of what was unsent, the receiver's window left so much, of which so much was sent.
    #[inline]
    fn note_phase(&mut self, now: Time, (unsent, left, sent): (u32, u32, u32), room: u32) {
        let phase = if left < unsent && left < room && sent == left {
            Phase::RwndLimited
        } else if unsent > 0 || self.board.outstanding() > 0 {
            Phase::Busy
        } else {
            Phase::Idle
        };
        self.chrono.enter(now, phase);
    }

    /// How many packets may be sent.
    #[inline]
    pub(super) fn room(&self) -> u32 {
        let room = self.window.cwnd.saturating_sub(self.board.in_flight());
        if self.plain { room } else { self.room_of_style(room) }
    }

    /// The same where more than the window counts.
    fn room_of_style(&self, room: u32) -> u32 {
        match self.state {
            State::Recovery => self.descent.room(room, self.window.cwnd),
            // No new data on the first two duplicates.
            State::Disorder if !self.profile.limited_transmit => {
                room.saturating_sub(self.board.sacked())
            }
            State::Open | State::Disorder | State::Cwr | State::Loss => room,
        }
    }

    /// Sends the next new segment.
    #[inline]
    pub(super) fn transmit(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        let seq = self.board.send_new(now);
        self.note_sent(now, seq);
        let packet = self.new_packet(now, seq);
        emit(packet);
        self.count_in_episode();
    }

    fn new_packet(&mut self, now: Time, seq: u32) -> Packet {
        let mut packet = self.packet(now, seq);
        if self.segments.ecn {
            packet.ecn = self.needs.ect();
            packet.signal = std::mem::take(&mut self.tell_reduced);
        }
        packet
    }

    pub(super) fn retransmit(&mut self, now: Time, seq: u32, emit: &mut impl FnMut(Packet)) {
        self.board.retransmit(now, seq);
        self.count_in_episode();
        self.count_retransmission(now);
        if seq == self.board.una() && self.alarm != Alarm::Reordering {
            // Linux `tcp_xmit_retransmit_queue`: the head has a full timeout again.
            self.set_alarm(now, Alarm::Timeout, now + self.rtt.timeout());
        }
        self.send_again(now, seq, emit);
    }

    /// Sends a segment that was sent before; the scoreboard has counted it.
    pub(super) fn send_again(&mut self, now: Time, seq: u32, emit: &mut impl FnMut(Packet)) {
        self.note_sent(now, seq);
        self.retransmitted_bytes += u64::from(self.segments.payload(seq));
        self.last_sent = now;
        let mut packet = self.packet(now, seq);
        // RFC 3168 §6.1.5: retransmissions are not ECN-capable, unless their marks are counted too or the
        // congestion control needs ECN (Linux `tcp_ecn_send`).
        if self.segments.ecn && (self.accurate.is_some() || self.needs.needs_ecn) {
            packet.ecn = self.needs.ect();
        }
        emit(packet);
    }

    fn packet(&mut self, now: Time, seq: u32) -> Packet {
        let Segments { flow, connection, header_bytes, .. } = self.segments;
        let payload = self.segments.payload(seq);
        self.sent_bytes += u64::from(payload);
        Packet::new(Kind::Data, flow, connection, seq, payload + header_bytes, now)
    }

    fn count_in_episode(&mut self) {
        if matches!(self.state, State::Recovery | State::Cwr) {
            self.descent.on_sent();
        }
    }
}
