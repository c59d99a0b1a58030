//! Sends retransmissions and new data as allowed by the windows and pacing.

use sojourn_aqm::Time;

use super::bursts::Turn;
use super::busy_time::Limit;
use super::writes::Queue;
use super::{Segments, Sender, State, Timer};
use crate::packet::{Labels, Packet, PacketKind, SUPER_PACKETS};

/// Counters of sent packets, and the time of the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub(super) last_at: Time,
    pub(super) bytes: u64,
    pub(super) retransmitted_bytes: u64,
    pub(super) retransmissions: u64,
    /// D-SACKs received.
    pub(super) duplicates: u64,
}

/// New data sent at one time, in segments.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    /// Room in the congestion window.
    room: u32,
    /// Segments to send, and how many of them the receiver's window allowed.
    unsent: u32,
    allowed: u32,
    sent: u32,
    /// Whether the rest is deferred to fill a burst once the congestion window has more room.
    deferred: bool,
}

impl Sender {
    /// Called when the application has data to send, possibly after a pause: sends as much as the
    /// windows allow.
    pub fn send(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        if self.board.nxt() == 0 {
            self.mark_app_limited(); // nothing was written before
            self.begin_to_write();
        } else {
            self.let_program_write(self.room(), 0);
        }
        self.restart_after_idle(now);
        self.send_allowed(now, false, emit);
    }

    /// Sets the application's total to `count` segments; [`Sender::send`] sends them.
    pub fn append(&mut self, count: u32) {
        debug_assert!(count >= self.segments.count, "written data cannot be taken back");
        if self.unsent() == 0 {
            self.mark_app_limited();
        }
        let written = self.segments.bytes();
        self.segments.count = count;
        let more = self.segments.bytes() - written;
        if let Some(writes) = &mut self.writes {
            writes.append(more);
        }
    }

    /// New segments written by the program.
    #[inline]
    pub(super) fn unsent(&self) -> u32 {
        let count = self.segments.count;
        let written = self.writes.as_ref().map_or(count, |writes| writes.available(count));
        written.saturating_sub(self.board.nxt())
    }

    /// Sends the first window while the program writes.
    fn begin_to_write(&mut self) {
        let burst = self.largest_burst().min((self.window.cwnd / 2).max(1));
        if let Some(writes) = &mut self.writes {
            writes.begin(self.window.cwnd.min(self.segments.count), burst);
        }
    }

    /// Lets the program fill the free space of the send buffer (Linux `tcp_check_space`) after
    /// `sent` segments have left, when the congestion window had `room`. Returns whether it wrote
    /// anything.
    #[inline]
    fn let_program_write(&mut self, room: u32, sent: u32) -> bool {
        let next = self.board.nxt();
        let Some(writes) = &mut self.writes else { return false };
        // The check follows each segment, the last of which may have filled the window.
        if room > 1 || room > sent {
            writes.provide_for(self.window.cwnd);
        }
        writes.is_awaited(next) && self.program_writes(next)
    }

    #[cold]
    fn program_writes(&mut self, next: u32) -> bool {
        let ran_out = self.unsent() == 0;
        let (sacked, rows) = self.board.sacked_rows();
        let (una, highest) = (self.board.una(), self.board.highest());
        let queue = Queue { una, next, sacked, rows, highest };
        let has_written = self.writes.as_mut().is_some_and(|writes| writes.wake(&queue));
        if has_written && ran_out {
            self.mark_app_limited();
        }
        has_written
    }

    /// Sends as much as the windows allow: first lost segments, then new data. `restart` means that
    /// an acknowledgement restarts the timer.
    pub(super) fn send_allowed(&mut self, now: Time, restart: bool, emit: &mut impl FnMut(Packet)) {
        self.retransmit_lost(now, emit);
        let Sending { room, unsent, allowed, sent, deferred } = self.send_written(now, emit);
        // If the program's writes are modelled, the limit is recorded when the program resumes
        // writing.
        if self.needs.rate_samples && sent == unsent && self.writes.is_none() {
            self.mark_app_limited();
        }
        self.set_pacing_timer(now);
        self.stop_zero_window_probes();
        self.set_timer(now, restart, sent > 0);
        self.start_zero_window_probes(now);
        // Linux `tcp_write_xmit`: a window that is just full counts as limiting. Packets held back
        // by pacing count towards it once they are in `fq`, but not while they are in TCP (fact
        // tcp-56).
        let held_back = deferred || allowed >= room && room - sent <= self.queued_in_fq();
        self.note_limit(now, (unsent, allowed, sent), room);
        if sent > 0 || held_back {
            self.validate_cwnd(now, held_back);
        }
    }

    /// Sends new data. The program writes more while there is room, and the newly written data may
    /// leave at once.
    #[inline]
    fn send_written(&mut self, now: Time, emit: &mut impl FnMut(Packet)) -> Sending {
        let mut sending = Sending { room: self.room(), ..Sending::default() };
        loop {
            let before = sending.sent;
            if self.board.in_flight() == 0 && sending.room.min(self.allowed()) > 0 {
                self.tell_idle(now);
                sending.room = self.room();
            }
            sending.unsent = before + self.unsent();
            sending.allowed = before + self.allowed();
            self.send_new(now, &mut sending, emit);
            if sending.sent > before {
                self.sent.last_at = now;
            }
            if !self.let_program_write(sending.room, sending.sent) {
                return sending;
            }
        }
    }

    /// Sends new data as far as the window, the receiver, the application and pacing allow, in
    /// bursts with segmentation offload (Linux `tcp_write_xmit`).
    #[inline]
    fn send_new(&mut self, now: Time, sending: &mut Sending, emit: &mut impl FnMut(Packet)) {
        let limit = sending.room.min(sending.allowed);
        if self.profile.offload_bytes.is_none() {
            while sending.sent < limit && self.pacing_allows(now) {
                self.pace(now, 1);
                self.transmit(now, emit);
                sending.sent += 1;
            }
            return;
        }
        sending.deferred = false;
        if sending.sent >= limit {
            return;
        }
        let most = self.largest_burst();
        while sending.sent < limit && self.pacing_allows(now) {
            let (room, allowed) = (sending.room - sending.sent, sending.allowed - sending.sent);
            let waiting = self.waiting(room, allowed, most);
            match self.turn(now, &waiting, most) {
                Turn::Deferred { by_cwnd } => {
                    sending.deferred = by_cwnd;
                    return;
                }
                Turn::Burst(burst) => {
                    self.pace(now, burst);
                    self.begin_burst(burst);
                    match SUPER_PACKETS && self.profile.super_packets {
                        true => self.transmit_whole(now, burst, emit),
                        false => (0..burst).for_each(|_| self.transmit(now, emit)),
                    }
                    sending.sent += burst;
                    self.sent.last_at = now;
                }
            }
        }
    }

    /// Records that `burst` new segments leave in one burst.
    fn begin_burst(&mut self, burst: u32) {
        let start = self.board.nxt();
        if let Some(writes) = &mut self.writes {
            writes.on_burst(start + burst);
        }
        self.push_last(start, burst);
    }

    /// Sets PSH on the last of `burst` segments that leave together, beginning at `start`.
    fn push_last(&mut self, start: u32, burst: u32) {
        if let Some(writes) = self.writes.as_mut().filter(|_| burst > 1) {
            writes.push(start + burst - 1);
        }
    }

    /// New segments allowed by the program and by the receiver's window.
    #[inline]
    pub(super) fn allowed(&self) -> u32 {
        self.unsent().min(self.send_window.end().saturating_sub(self.board.nxt()))
    }

    /// Retransmits lost segments, lowest first (RFC 6675 §4, `NextSeg()` rule 1).
    fn retransmit_lost(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        let new_first = self.take_frto_sends_new();
        if self.board.lost() == 0 || self.episode.state < State::Recovery || new_first {
            return;
        }
        while self.room() > 0
            && self.pacing_allows(now)
            && let Some(seq) = self.board.next_lost()
        {
            let burst = self.lost_burst(seq);
            self.pace(now, burst);
            self.push_last(seq, burst);
            match SUPER_PACKETS && self.profile.super_packets {
                true => self.retransmit_whole(now, (seq, burst), emit),
                false => (seq..seq + burst).for_each(|seq| self.retransmit(now, seq, emit)),
            }
        }
    }

    /// Packets that have left TCP and are in the qdisc `fq` until their time.
    #[inline]
    pub(super) fn queued_in_fq(&self) -> u32 {
        match &self.pacer {
            Some(pacer) if self.needs.fq => pacer.queued_in_fq(),
            _ => 0,
        }
    }

    /// Records what limits the sender: the receiver's window `allowed` some of the `unsent`
    /// segments, and some of these were `sent`.
    #[inline]
    pub(super) fn note_limit(
        &mut self,
        now: Time,
        (unsent, allowed, sent): (u32, u32, u32),
        room: u32,
    ) {
        let limit = if allowed < unsent && allowed < room && sent == allowed {
            Limit::ReceiveWindow
        } else if unsent > 0 || self.board.outstanding() > 0 {
            Limit::Busy
        } else {
            Limit::Idle
        };
        self.busy.set(now, limit);
    }

    /// How many packets the congestion window allows.
    #[inline]
    pub(super) fn room(&self) -> u32 {
        let room = self.window.cwnd.saturating_sub(self.board.in_flight());
        if self.cwnd_only { room } else { self.room_of_style(room) }
    }

    /// [`Sender::room`] for profiles in which the window is not the only limit.
    fn room_of_style(&self, room: u32) -> u32 {
        match self.episode.state {
            State::Recovery => self.episode.reduction.room(room, self.window.cwnd),
            // Without limited transmit (RFC 3042), no new data on the first two duplicates.
            State::Disorder if !self.profile.limited_transmit => {
                room.saturating_sub(self.board.sacked())
            }
            State::Open | State::Disorder | State::Cwr | State::Loss => room,
        }
    }

    /// Sends the next new segment. Inlined down to the access link, because the calls cost 0.7 % of
    /// a run.
    #[inline(always)]
    pub(super) fn transmit(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        let seq = self.board.send_new(now);
        self.note_sent(now, seq, true);
        let packet = self.new_packet(now, seq);
        emit(packet);
        self.count_in_reduction();
    }

    fn new_packet(&mut self, now: Time, seq: u32) -> Packet {
        let mut packet = self.packet(now, seq);
        if self.segments.ecn {
            packet.ecn = self.needs.ect();
            packet.signal = std::mem::take(&mut self.ecn.send_cwr);
        }
        packet
    }

    pub(super) fn retransmit(&mut self, now: Time, seq: u32, emit: &mut impl FnMut(Packet)) {
        self.board.retransmit(now, seq);
        self.count_in_reduction();
        self.count_retransmission(now);
        let restart = seq == self.board.una() && !self.episode.keeps_timer;
        if restart && self.timers.pending() != Timer::Reordering {
            // Linux `tcp_xmit_retransmit_queue`: the head gets a full timeout again.
            self.timers.set(now, Timer::Retransmission, now + self.rtt.timeout());
        }
        self.send_again(now, seq, emit);
    }

    /// Retransmits a segment, which the scoreboard has already counted.
    pub(super) fn send_again(&mut self, now: Time, seq: u32, emit: &mut impl FnMut(Packet)) {
        self.note_sent(now, seq, false);
        self.sent.retransmitted_bytes += u64::from(self.segments.payload(seq));
        self.sent.retransmissions += 1;
        self.sent.last_at = now;
        let mut packet = self.packet(now, seq);
        // RFC 3168 §6.1.5: retransmissions are not ECN-capable, unless their marks are counted too
        // (RFC 9768 §3.2) or the congestion control needs ECN (Linux `tcp_ecn_send`).
        if self.segments.ecn && (self.ecn.accurate.is_some() || self.needs.needs_ecn) {
            packet.ecn = self.needs.ect();
        }
        emit(packet);
    }

    fn packet(&mut self, now: Time, seq: u32) -> Packet {
        let Segments { flow, connection, header_bytes, .. } = self.segments;
        let payload = self.segments.payload(seq);
        self.sent.bytes += u64::from(payload);
        let bytes = payload + header_bytes;
        let packet = Packet::new(PacketKind::Data, flow, connection, seq, bytes, now);
        let push = self.writes.as_mut().is_some_and(|writes| writes.has_push(seq));
        Packet {
            rehashes: self.timeouts.rehashes,
            stamp: self.echo,
            labels: Labels::new(push),
            ..packet
        }
    }

    fn count_in_reduction(&mut self) {
        if matches!(self.episode.state, State::Recovery | State::Cwr) {
            self.episode.reduction.on_sent();
        }
    }
}
