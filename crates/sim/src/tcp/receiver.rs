//! The receiving side of a TCP connection: reassembly, acknowledgements, SACK blocks, ECN feedback
//! (RFC 9293, RFC 2018, RFC 2883, RFC 3168; Linux 6.1 `tcp_data_queue`).

mod handshake;
mod marks;
mod reading;

use std::mem;

use sojourn_aqm::{Ecn, Time};

use super::accecn::AccEcnCounters;
use super::accecn_option::{OptionRoom, sack_bytes};
use super::delayed_ack::DelayedAck;
pub use super::ecn_ability::EcnAbility;
use super::negotiation::{Flags, Mode};
use super::profile::AckRule;
use super::ranges::Ranges;
use super::receive_window::{ReceiveWindow, WindowRule};
use super::recent_stamp::RecentStamp;
use super::rtt::ReceiverRtt;
use super::sack_blocks::SackBlocks;
use crate::packet::{Block, Packet, PacketKind, SACK_BLOCKS};
use crate::prefetch::Prefetch;

/// The receiver of one connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    next: u32,
    beyond: Ranges,
    blocks: SackBlocks,
    /// The last segment if it was a duplicate, reported once in the first block (RFC 2883 §4);
    /// otherwise empty.
    duplicate: Block,
    /// In-order segments that no acknowledgement has covered yet.
    unacknowledged: u32,
    acks: DelayedAck,
    window: ReceiveWindow,
    /// Whether another acknowledgement is due, only to announce the window.
    owes_window: bool,
    /// Whether the next segment has released a held acknowledgement, and so causes no further one.
    is_answered: bool,
    /// The round trip used for autotuning; without timestamps, that of the handshake.
    rtt: ReceiverRtt,
    sack: bool,
    timestamps: bool,
    counts_options: bool,
    ecn: EcnAbility,
    /// The mode negotiated on the first SYN.
    agreed: Option<Mode>,
    /// The ECN field of its acknowledgements.
    ack_field: Ecn,
    /// When the first SYN-ACK was sent, until it is acknowledged; `NEVER` afterwards.
    opened: Time,
    /// SYN-ACKs sent.
    syn_acks: u8,
    /// Whether every run of marks is echoed exactly (RFC 8257 §3.2).
    echoes_runs: bool,
    /// The counters if marks are counted instead of echoed (RFC 9768).
    accurate: Option<AccEcnCounters>,
    /// Whether ECN-capable segments have arrived.
    ect_seen: bool,
    /// Whether ECE is set, until the sender answers with CWR (RFC 3168 §6.1.3).
    echo: bool,
    stamp: RecentStamp,
}

/// When a segment will be acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Now.
    Now,
    /// Later: together with another segment, or by the timer.
    Later,
}

impl Receiver {
    /// The receiver of a new connection.
    pub fn new(rule: AckRule, sack: bool) -> Receiver {
        Receiver {
            next: 0,
            beyond: Ranges::default(),
            blocks: SackBlocks::new(rule.whole_rows),
            duplicate: Block::default(),
            unacknowledged: 0,
            acks: DelayedAck::new(rule, false),
            window: ReceiveWindow::new(WindowRule::default()),
            owes_window: false,
            is_answered: false,
            rtt: ReceiverRtt::new(rule.least_rtt),
            sack,
            timestamps: false,
            counts_options: rule.counts_options,
            ecn: EcnAbility::NONE,
            agreed: None,
            ack_field: Ecn::NotEct,
            opened: Time::NEVER,
            syn_acks: 0,
            echoes_runs: false,
            accurate: None,
            ect_seen: false,
            echo: false,
            stamp: RecentStamp::default(),
        }
    }

    /// The part of memory that holds its timer.
    pub(crate) fn timer(&self) -> &impl Sized {
        &self.acks
    }

    /// Sets the window rule.
    pub fn with_window(self, rule: WindowRule) -> Receiver {
        Receiver { window: ReceiveWindow::new(rule), ..self }
    }

    /// Sets whether timers expire on the ticks of a timer wheel.
    pub fn with_timer_wheel(self, rule: AckRule, wheel: bool) -> Receiver {
        Receiver { acks: DelayedAck::new(rule, wheel), ..self }
    }

    /// Sets whether segments carry timestamps; these take option space and reveal old duplicates.
    pub fn with_timestamps(self, timestamps: bool) -> Receiver {
        Receiver { timestamps, ..self }
    }

    /// Its window in segments.
    pub fn window(&self) -> u32 {
        self.window.segments()
    }

    /// Sets the ECN abilities.
    pub fn with_ecn(self, ecn: EcnAbility) -> Receiver {
        Receiver { ecn, ..self }
    }

    /// Answers a SYN: returns the ECN field and the flags of the SYN-ACK. The first SYN sets the
    /// mode; the flags report the ECN field of the latest (RFC 9768 §3.1.4.2).
    pub fn on_syn(&mut self, syn: &Packet) -> (Ecn, Flags) {
        let mode = match self.agreed {
            Some(mode) => mode,
            None => {
                let mode = self.ecn.speaks.granted(syn.ace);
                self.agree(mode);
                mode
            }
        };
        if mode == Mode::Accurate && syn.ace == Mode::NotEcn.request() {
            // A SYN requested ECN and a later one did not (Linux 7.2 `TCP_ACCECN_ACE_FAIL_RECV`).
            self.ack_field = Ecn::NotEct;
        }
        let field = if self.ecn.needs_ecn { self.ack_field } else { Ecn::NotEct };
        (field, mode.answer(syn.ecn))
    }

    /// Sets the feedback mode. Acknowledgements are ECN-capable if feedback is accurate (RFC 9768
    /// §3.3) or the congestion control needs ECN (Linux `tcp_ecn_send`).
    pub fn agree(&mut self, mode: Mode) {
        let EcnAbility { runs, ect, needs_ecn, option, header_bytes, .. } = self.ecn;
        self.agreed = Some(mode);
        self.echoes_runs = runs && mode == Mode::Classic;
        self.accurate = (mode == Mode::Accurate).then(|| AccEcnCounters::new(header_bytes, option));
        if mode == Mode::Accurate || needs_ecn && mode == Mode::Classic {
            self.ack_field = ect;
        }
    }

    /// Whether pending data must be acknowledged before this segment is processed, because the
    /// segment begins or ends a run of marks (RFC 8257 §3.2) or would displace a SACK block that is
    /// held back. In the second case the segment causes no further acknowledgement (fact tcp-37).
    #[inline]
    pub fn must_answer_before(&mut self, packet: &Packet) -> bool {
        debug_assert!(!self.is_answered, "an answer belongs to one segment");
        (self.echoes_runs || self.acks.is_holding()) && self.is_answered_by(packet)
    }

    #[inline(never)]
    fn is_answered_by(&mut self, packet: &Packet) -> bool {
        if self.is_too_old(packet) {
            return false;
        }
        let run_ends =
            self.echo != (packet.ecn == Ecn::Ce) && self.echoes_runs && self.unacknowledged > 0;
        self.is_answered =
            self.acks.is_holding() && packet.seq > self.next && self.blocks.crowds_out(packet.seq);
        if self.is_answered {
            self.note_before_answer(packet.seq);
        }
        run_ends || self.is_answered
    }

    /// Records a segment whose arrival releases an acknowledgement, so that the acknowledgement
    /// reports it: as a duplicate, or as an extension of a block (Linux `tcp_sack_new_ofo_skb`
    /// extends the block first, then sends).
    fn note_before_answer(&mut self, seq: u32) {
        self.blocks.extend(seq);
        let end = seq + u32::from(self.beyond.contains(seq));
        self.duplicate = Block { start: seq, end };
    }

    /// Whether timestamps show that segments sent later arrived earlier (PAWS, RFC 7323 §5.3; fact
    /// tcp-19).
    #[inline]
    fn is_too_old(&self, packet: &Packet) -> bool {
        self.timestamps && self.stamp.overtakes(packet.sent)
    }

    /// The next segment expected, RCV.NXT.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// When a delayed acknowledgement is due.
    pub fn delayed_ack(&self) -> Time {
        self.acks.due()
    }

    /// Handles the expired timer.
    pub fn on_timer(&mut self, now: Time) {
        self.acks.on_timer(now);
    }

    /// Processes a segment.
    #[inline]
    pub fn on_data(&mut self, now: Time, packet: &Packet) -> Answer {
        self.on_established(now, packet.stamp);
        self.read(now);
        if self.is_too_old(packet) {
            if packet.seq < self.next {
                self.take_duplicate(packet.seq);
            }
            return Answer::Now;
        }
        self.duplicate = Block::default(); // Linux `tcp_data_queue`
        if packet.seq + self.unacknowledged <= self.next {
            self.stamp.update(packet.sent);
        }
        if self.timestamps {
            self.rtt.on_segment(now, packet.stamp);
        }
        if packet.seq != self.next {
            return self.take_out_of_order(now, packet);
        }
        // Linux `tcp_data_queue`: only in-order segments count as received data here, so a hole
        // that lasts longer than a timeout leads to quick acknowledgements.
        self.acks.on_data(now, || self.window.segments());
        let now_due = packet.signal | self.take_ecn(packet);
        if self.window.on_segment() {
            self.acks.on_window_growth(); // after the mark (fact tcp-35)
        }
        let had_holes = !self.beyond.is_empty();
        self.advance();
        self.acks.on_push(packet.labels.push());
        let unread = self.is_answered_unread(now, now_due, had_holes);
        if unread || self.is_answered_read(now) { Answer::Now } else { Answer::Later }
    }

    /// Processes a segment other than the next expected.
    #[inline(never)]
    fn take_out_of_order(&mut self, now: Time, packet: &Packet) -> Answer {
        let now_due = packet.signal | self.take_ecn(packet);
        if packet.seq > self.next {
            return self.take_beyond(now, packet.seq, now_due);
        }
        self.take_duplicate(packet.seq);
        Answer::Now
    }

    /// Processes a segment that has already been acknowledged.
    fn take_duplicate(&mut self, seq: u32) {
        self.acks.on_duplicate(self.window.segments());
        self.duplicate = Block::one(seq);
    }

    /// Reports segments of one packet that had arrived before, all in one block (Linux
    /// `tcp_ofo_queue`, `tcp_dsack_extend`).
    pub fn report_copies(&mut self, copies: Block) {
        self.duplicate = copies;
    }

    /// Processes an out-of-order segment or a duplicate of a stored one (Linux
    /// `tcp_data_queue_ofo`). A duplicate triggers no quick acknowledgements, and its own
    /// acknowledgement may be delayed like any other; the duplicate is reported only if that
    /// acknowledgement is sent before another segment arrives.
    fn take_beyond(&mut self, now: Time, seq: u32, now_due: bool) -> Answer {
        self.acks.on_gap(|| self.window.segments());
        let mut waits = true;
        let row = self.beyond.insert(Block::one(seq), |_| waits = false);
        self.blocks.add(seq, row);
        if !waits {
            // Without SACK, the acknowledgement must look like a duplicate.
            if self.window.on_waiting(seq, row.start < seq, self.sack) {
                self.acks.on_window_growth();
            }
        }
        let end = self.beyond.end().expect("a segment waits");
        self.window.provide_for_gap(self.next, end);
        if mem::take(&mut self.is_answered) {
            return Answer::Later;
        }
        if waits {
            self.duplicate = Block::one(seq);
        }
        let mean = self.rtt.mean();
        let is_due = now_due || !self.sack || self.acks.is_duplicate_due(now, self.next, mean);
        if is_due { Answer::Now } else { Answer::Later }
    }

    /// The byte counters in the AccECN option of the last acknowledgement: ECT(1), CE, ECT(0), or
    /// fewer (RFC 9768 §3.2.3).
    pub fn option_fields(&self) -> impl Iterator<Item = u32> {
        self.accurate.iter().flat_map(AccEcnCounters::option_fields)
    }

    /// Counts a packet without data that arrived with CE.
    pub fn count_marked_control(&mut self) {
        if let Some(counters) = &mut self.accurate {
            counters.count_control();
        }
    }

    /// Advances past the next segment and everything stored directly behind it.
    #[inline]
    fn advance(&mut self) {
        let before = self.next;
        self.next += 1;
        if !self.beyond.is_empty() {
            if let Some(block) = self.beyond.take_at(self.next) {
                self.next = block.end;
            }
            self.blocks.forget_below(self.next);
        }
        self.window.on_in_order(before, self.next);
        self.unacknowledged += self.next - before;
    }

    /// Returns the acknowledgement to send now. `bytes` is its IP size.
    pub fn acknowledge(&mut self, now: Time, flow: u32, connection: u16, bytes: u32) -> Packet {
        let mut ack = Packet::new(PacketKind::Ack, flow, connection, self.next, bytes, now);
        self.write_ack(now, &mut ack);
        ack
    }

    /// Fills in an acknowledgement sent now. In place, because returning the packet would copy it
    /// once more.
    #[inline(always)]
    pub fn write_ack(&mut self, now: Time, ack: &mut Packet) {
        (ack.seq, ack.sent, ack.ecn) = (self.next, self.stamp.echo(), self.ack_field);
        let mut blocks = 0;
        if self.sack && !(self.duplicate.is_empty() && self.blocks.is_empty()) {
            ack.sack = self.blocks.report(mem::take(&mut self.duplicate));
            let empty = ack.sack.iter().position(|block| block.is_empty());
            blocks = empty.unwrap_or(SACK_BLOCKS) as u32;
        }
        ack.signal = self.echo;
        let (window, rest, is_low) = self.window.announce(self.next);
        if is_low {
            self.acks.on_low_buffer();
        }
        (ack.window, ack.window_rest, ack.stamp) = (window, rest, self.acks.stamp(now));
        let room = self.report_marks(now, blocks, ack);
        if self.counts_options {
            ack.ip_bytes += sack_bytes(room.blocks) + room.bytes;
            ack.link_bytes = ack.ip_bytes;
        }
        self.unacknowledged = 0;
        self.acks.on_sent();
        let unread = self.window.is_unread();
        self.read(now);
        self.owes_window = unread && self.window.has_doubled(self.next);
    }

    /// Reports marks on an acknowledgement with `blocks` SACK blocks. Returns the option fields
    /// and SACK blocks that fit.
    #[inline]
    fn report_marks(&mut self, now: Time, blocks: u32, ack: &mut Packet) -> OptionRoom {
        let without = OptionRoom { fields: 0, blocks, bytes: 0 };
        let Some(counters) = &mut self.accurate else { return without };
        let options = (blocks, self.timestamps);
        let room = counters.report(now, options, self.acks.rtt(), ack).unwrap_or(without);
        ack.sack[room.blocks as usize..].fill(Block::default());
        room
    }
}

impl Prefetch for Receiver {
    fn far(&self) {
        self.beyond.far();
        self.window.far();
    }
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
