//! The receiving side of a TCP connection: reassembly, acknowledgements, SACK blocks, ECN feedback
//! (RFC 9293, RFC 2018, RFC 2883, RFC 3168; Linux 6.1 `tcp_data_queue`).

use sojourn_aqm::{Ecn, Span, Time};

use super::accecn::{AccEcnCounters, OPTION_BYTES, OptionRule};
use super::delayed_ack::DelayedAck;
use super::negotiation::{Flags, Mode};
use super::profile::AckRule;
use super::ranges::Ranges;
use super::receive_window::{ReceiveWindow, WindowRule};
use crate::packet::{Block, Packet, PacketKind, SACK_BLOCKS};

/// The receiver of one connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    next: u32,
    beyond: Ranges,
    /// Blocks for SACK, the most recently changed first; empty ones at the end.
    recent: [Block; SACK_BLOCKS],
    /// The last duplicates, reported once, in the first block (RFC 2883 §4); empty without any.
    duplicates: Block,
    /// In-order segments that no acknowledgement has covered yet.
    unacknowledged: u32,
    acks: DelayedAck,
    window: ReceiveWindow,
    sack: bool,
    counts_options: bool,
    ecn: EcnAbility,
    /// The mode agreed on at the first SYN.
    agreed: Option<Mode>,
    /// The ECN field of its acknowledgements.
    ack_field: Ecn,
    /// When the SYN-ACK left; the first segment completes the handshake.
    opened: Option<Time>,
    /// Every run of marks is echoed exactly (RFC 8257 §3.2).
    echoes_runs: bool,
    /// Marks are counted instead of echoed (RFC 9768).
    accurate: Option<AccEcnCounters>,
    /// ECN-capable segments have arrived.
    ect_seen: bool,
    /// ECE is set, until the sender answers with CWR (RFC 3168 §6.1.3).
    echo: bool,
    /// The timestamp to echo (RFC 7323 `TS.Recent`).
    stamp: Time,
}

/// What a receiver can do with ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EcnAbility {
    /// The highest feedback mode that it supports.
    pub speaks: Mode,
    /// In classic mode it echoes every run of marks exactly (RFC 8257 §3.2).
    pub runs: bool,
    /// The field of ECN-capable packets.
    pub ect: Ecn,
    /// All packets are ECN-capable, the SYN-ACK too (RFC 8311 §4.3).
    pub needs_ecn: bool,
    /// When it sends the AccECN option.
    pub option: OptionRule,
    /// Headers of a segment.
    pub header_bytes: u32,
    /// Whether timestamps take part of the option space.
    pub timestamps: bool,
}

impl EcnAbility {
    /// No ECN.
    pub const NONE: EcnAbility = EcnAbility {
        speaks: Mode::NotEcn,
        runs: false,
        ect: Ecn::NotEct,
        needs_ecn: false,
        option: OptionRule::Always,
        header_bytes: 0,
        timestamps: false,
    };
}

/// Space for TCP options, and what timestamps take of it (RFC 9293 §3.1, RFC 7323 §3.2).
const OPTION_SPACE: u32 = 40;
const STAMP_BYTES: u32 = 12;

/// When a segment is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Now.
    Now,
    /// Later: with another segment, or by the timer.
    Later,
}

impl Receiver {
    /// The receiver of a new connection.
    pub fn new(rule: AckRule, sack: bool) -> Receiver {
        Receiver {
            next: 0,
            beyond: Ranges::default(),
            recent: [Block::default(); SACK_BLOCKS],
            duplicates: Block::default(),
            unacknowledged: 0,
            acks: DelayedAck::new(rule, None),
            window: ReceiveWindow::new(WindowRule::Unlimited),
            sack,
            counts_options: rule.counts_options,
            ecn: EcnAbility::NONE,
            agreed: None,
            ack_field: Ecn::NotEct,
            opened: None,
            echoes_runs: false,
            accurate: None,
            ect_seen: false,
            echo: false,
            stamp: Time::ZERO,
        }
    }

    /// The same with another window rule.
    pub fn with_window(self, rule: WindowRule) -> Receiver {
        Receiver { window: ReceiveWindow::new(rule), ..self }
    }

    /// The same with timers that expire on ticks of this length.
    pub fn with_tick(self, rule: AckRule, tick: Option<Span>) -> Receiver {
        Receiver { acks: DelayedAck::new(rule, tick), ..self }
    }

    /// Its window in segments.
    pub fn window(&self) -> u32 {
        self.window.segments()
    }

    /// The same with ECN.
    pub fn with_ecn(self, ecn: EcnAbility) -> Receiver {
        Receiver { ecn, ..self }
    }

    /// Answers a SYN: returns the ECN field and the flags of the SYN-ACK. The first SYN sets the
    /// mode, the flags report how the latest arrived (RFC 9768 §3.1.4.2).
    pub fn on_syn(&mut self, now: Time, syn: &Packet) -> (Ecn, Flags) {
        self.opened = Some(now);
        let mode = match self.agreed {
            Some(mode) => mode,
            None => {
                let mode = self.ecn.speaks.granted(syn.ace);
                self.agree(mode);
                mode
            }
        };
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

    /// Whether pending data must be acknowledged before this segment is taken in: a run of marks
    /// begins or ends with it (RFC 8257 §3.2), or it would push out a SACK block that is held back.
    #[inline]
    pub fn must_answer_before(&self, packet: &Packet) -> bool {
        let run_ends =
            self.echo != (packet.ecn == Ecn::Ce) && self.echoes_runs && self.unacknowledged > 0;
        run_ends || self.acks.is_holding() && self.crowds_out(packet.seq)
    }

    /// Whether a segment out of order would push a block from the places that are certain to be
    /// reported (Linux `TCP_SACK_BLOCKS_EXPECTED`).
    fn crowds_out(&self, seq: u32) -> bool {
        const EXPECTED: usize = 2;
        let blocks = self.recent.iter().take_while(|block| !block.is_empty());
        let touched = blocks.clone().position(|block| block.start <= seq + 1 && seq <= block.end);
        seq > self.next && touched.unwrap_or(blocks.count()) >= EXPECTED
    }

    /// The next segment expected, RCV.NXT.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// When a delayed acknowledgement is due.
    pub fn delayed_ack(&self) -> Time {
        self.acks.due()
    }

    /// It is due.
    pub fn on_timer(&mut self, now: Time) {
        self.acks.on_timer(now);
    }

    /// Takes in a segment.
    pub fn on_data(&mut self, now: Time, packet: &Packet) -> Answer {
        if let Some(opened) = self.opened.take() {
            self.acks.on_established(now.since(opened));
        }
        let echoed = self.echo;
        if packet.seq == self.next {
            // Linux `tcp_data_queue`: only segments in order count as received data here, so that a
            // hole that lasts longer than a timeout leads to quick acknowledgements.
            self.acks.on_data(now, self.window.segments());
        }
        let feedback_due = match &mut self.accurate {
            Some(counters) => counters.count(packet.ecn, packet.ip_bytes),
            None => {
                self.take_mark(packet);
                self.echoes_runs && echoed != self.echo
            }
        };
        let now_due = packet.signal || feedback_due;
        let duplicate =
            packet.seq < self.next || packet.seq > self.next && self.beyond.contains(packet.seq);
        if duplicate {
            self.note_duplicate(packet.seq);
            self.acks.on_duplicate(self.window.segments());
            return Answer::Now;
        }
        if packet.seq > self.next {
            self.acks.on_gap(self.window.segments());
            self.store(packet.seq);
            let now = now_due || !self.sack || self.acks.is_duplicate_due(now, self.next);
            return if now { Answer::Now } else { Answer::Later };
        }
        if self.unacknowledged == 0 {
            self.stamp = packet.sent; // RFC 7323 §4.3: of the earliest segment not yet acknowledged
        }
        let had_holes = !self.beyond.is_empty();
        self.advance();
        self.window.on_read(now, self.next, self.acks.rtt());
        let pushed = self.acks.is_pushed(self.next, self.window.grown());
        // Linux `__tcp_ack_snd_check`: with data out of order it counts as a duplicate.
        let whole = self.beyond.is_empty();
        let now = match whole {
            true if had_holes || pushed => true,
            true => self.acks.is_due_after(now, self.unacknowledged),
            false => {
                self.acks.are_enough(self.unacknowledged)
                    || self.acks.is_duplicate_due(now, self.next)
            }
        };
        if now_due || now { Answer::Now } else { Answer::Later }
    }

    /// Several segments may arrive at once before one acknowledgement: the first duplicates among
    /// them are reported (Linux `tcp_dsack_extend`).
    fn note_duplicate(&mut self, seq: u32) {
        if self.duplicates.is_empty() {
            self.duplicates = Block { start: seq, end: seq };
        }
        if self.duplicates.end == seq {
            self.duplicates.end = seq + 1;
        }
    }

    /// The byte counters of the AccECN option, if marks are counted: ECT(1), CE, ECT(0) (RFC 9768
    /// §3.2.3).
    pub fn option_fields(&self) -> Option<[u32; 3]> {
        self.accurate.as_ref().map(AccEcnCounters::option_fields)
    }

    /// A packet without data has arrived with CE.
    pub fn count_marked_control(&mut self) {
        if let Some(counters) = &mut self.accurate {
            counters.count_control();
        }
    }

    /// CWR clears the echo before a mark on the same segment sets it again (RFC 3168 §6.1.3).
    fn take_mark(&mut self, packet: &Packet) {
        let marked = packet.ecn == Ecn::Ce;
        if packet.ecn != Ecn::NotEct {
            self.ect_seen = true;
        } else if self.ect_seen {
            self.acks.on_mark(self.window.segments()); // a retransmission (RFC 3168 §6.1.5)
        }
        if !marked && !self.echo {
            return;
        }
        if packet.signal || self.echoes_runs {
            self.echo = false;
        }
        if marked {
            if !self.echo && !self.echoes_runs {
                self.acks.on_mark(self.window.segments());
            }
            self.echo = true;
        }
    }

    fn store(&mut self, seq: u32) {
        let merged = self.beyond.insert(Block { start: seq, end: seq + 1 }, |_| {});
        let apart = |b: &Block| b.end < merged.start || b.start > merged.end;
        let mut blocks = [Block::default(); SACK_BLOCKS];
        blocks[0] = merged;
        let others = self.recent.iter().filter(|b| !b.is_empty() && apart(b));
        for (place, block) in blocks[1..].iter_mut().zip(others) {
            *place = *block;
        }
        self.recent = blocks;
    }

    /// The next segment has arrived, and with it everything stored directly beyond.
    fn advance(&mut self) {
        let before = self.next;
        self.next += 1;
        if !self.beyond.is_empty() {
            if let Some(block) = self.beyond.take_at(self.next) {
                self.next = block.end;
            }
            let mut kept = [Block::default(); SACK_BLOCKS];
            let waiting = self.recent.iter().filter(|b| b.end > self.next);
            for (place, block) in kept.iter_mut().zip(waiting) {
                *place = *block;
            }
            self.recent = kept;
        }
        self.unacknowledged += self.next - before;
    }

    /// The acknowledgement to send now. `bytes` is its IP size.
    pub fn acknowledge(&mut self, now: Time, flow: u32, connection: u16, bytes: u32) -> Packet {
        let mut ack = Packet::new(PacketKind::Ack, flow, connection, self.next, bytes, self.stamp);
        ack.ecn = self.ack_field;
        let mut sack_bytes = 0;
        if self.sack && !(self.duplicates.is_empty() && self.recent[0].is_empty()) {
            ack.sack = self.recent;
            if !self.duplicates.is_empty() {
                ack.sack.rotate_right(1); // the oldest block is dropped
                ack.sack[0] = std::mem::take(&mut self.duplicates);
            }
            // RFC 2018 §3: two bytes and eight per block, padded to four.
            let blocks = ack.sack.iter().filter(|block| !block.is_empty()).count() as u32;
            sack_bytes = 4 + 8 * blocks;
        }
        ack.signal = self.echo;
        ack.window = self.window.segments();
        if self.accurate.is_some() {
            self.report_marks(now, sack_bytes, &mut ack);
        }
        if self.counts_options {
            ack.ip_bytes += sack_bytes + ack.ce_bytes.map_or(0, |_| OPTION_BYTES);
            ack.link_bytes = ack.ip_bytes;
        }
        self.unacknowledged = 0;
        self.acks.on_sent();
        ack
    }

    fn report_marks(&mut self, now: Time, sack_bytes: u32, ack: &mut Packet) {
        let stamps = if self.ecn.timestamps { STAMP_BYTES } else { 0 };
        let room = stamps + sack_bytes + OPTION_BYTES <= OPTION_SPACE;
        if let Some(counters) = &mut self.accurate {
            counters.report(now, room, self.acks.rtt(), ack);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::LINUX;
    use super::*;

    fn linux(every: u32) -> Receiver {
        Receiver::new(AckRule { every, answers_push: false, ..LINUX.ack }, true)
    }

    fn data(seq: u32) -> Packet {
        Packet::new(PacketKind::Data, 0, 0, seq, 1500, Time::ZERO)
    }

    fn receive(receiver: &mut Receiver, packet: &Packet) -> Option<Packet> {
        let answer = receiver.on_data(Time::ZERO, packet);
        (answer == Answer::Now).then(|| receiver.acknowledge(Time::ZERO, 0, 0, 52))
    }

    #[test]
    fn sack_blocks_are_sent_most_recent_first() {
        let mut receiver = linux(2);
        receive(&mut receiver, &data(0));
        let ack = [2, 4, 6, 8].map(|seq| receive(&mut receiver, &data(seq)).unwrap())[3];
        assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(8, 9), (6, 7), (4, 5)]);
        let ack = receive(&mut receiver, &data(5)).unwrap();
        assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(4, 7), (8, 9), (0, 0)]);
    }

    /// Linux selftests, `tcp_dsack_mult.pkt`.
    #[test]
    fn a_duplicate_is_reported_once_in_the_first_block() {
        let mut receiver = linux(2);
        receive(&mut receiver, &data(0));
        let _ = [2, 4, 6].map(|seq| receive(&mut receiver, &data(seq)).unwrap());
        let ack = receive(&mut receiver, &data(0)).unwrap();
        assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(0, 1), (6, 7), (4, 5)]);
        let ack = receive(&mut receiver, &data(4)).unwrap();
        assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(4, 5), (6, 7), (4, 5)]);
        let ack = receive(&mut receiver, &data(8)).unwrap();
        assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(8, 9), (6, 7), (4, 5)]);
    }

    #[test]
    fn acknowledgements_are_delayed_after_sixteen_quick_ones() {
        let mut receiver = linux(2);
        let acks = |receiver: &mut Receiver, segments: std::ops::Range<u32>| {
            segments.filter(|&seq| receive(receiver, &data(seq)).is_some()).count()
        };
        assert_eq!(acks(&mut receiver, 0..16), 16);
        assert_eq!(acks(&mut receiver, 16..26), 5);
        assert_eq!(acks(&mut receiver, 26..37), 5);
        assert_eq!(receiver.delayed_ack(), Time::ZERO + LINUX.ack.delay);
    }

    #[test]
    fn rfc_3168_marks_are_echoed_until_the_sender_answers_with_cwr() {
        let mut receiver = linux(1);
        let mut echoes = Vec::new();
        for seq in 1..=22 {
            let mut packet = data(seq - 1);
            packet.ecn = if matches!(seq, 3 | 5) { Ecn::Ce } else { Ecn::Ect0 };
            packet.signal = seq == 20;
            echoes.push(receive(&mut receiver, &packet).unwrap().signal);
        }
        let expected: Vec<bool> = (1..=22).map(|seq| (3..20).contains(&seq)).collect();
        assert_eq!(echoes, expected);
    }

    #[test]
    fn rfc_8257_runs_of_marks_are_echoed_exactly() {
        let acks = |marks: &[bool]| {
            let ability = EcnAbility { runs: true, ..EcnAbility::NONE };
            let mut receiver =
                Receiver::new(AckRule { quick: 0, ..LINUX.ack }, true).with_ecn(ability);
            receiver.agree(Mode::Classic);
            let mut acks = Vec::new();
            for (seq, &marked) in marks.iter().enumerate() {
                let mut packet = data(seq as u32);
                packet.ecn = if marked { Ecn::Ce } else { Ecn::Ect0 };
                if receiver.must_answer_before(&packet) {
                    let ack = receiver.acknowledge(Time::ZERO, 0, 0, 52);
                    acks.push((ack.seq, ack.signal));
                }
                acks.extend(receive(&mut receiver, &packet).map(|ack| (ack.seq, ack.signal)));
            }
            acks
        };
        let (no, yes) = (false, true);
        let expected = [(2, no), (3, yes), (5, yes), (6, no)];
        assert_eq!(acks(&[no, no, yes, yes, yes, no]), expected);
        let expected = [(1, no), (2, yes), (3, yes), (4, no)];
        assert_eq!(acks(&[no, yes, yes, no]), expected);
    }

    #[test]
    fn a_held_back_acknowledgement_is_sent_before_one_of_its_blocks_is_pushed_out() {
        let mut receiver = Receiver::new(AckRule { quick: 0, ..LINUX.ack }, true);
        receive(&mut receiver, &data(0));
        // Three duplicates are sent, the fourth is held back; the segments make two blocks.
        for seq in [5, 6, 7, 10] {
            receive(&mut receiver, &data(seq));
        }
        let before = |seq| receiver.must_answer_before(&data(seq));
        assert_eq!([8, 11, 15].map(before), [false, false, true]);
    }

    #[test]
    fn a_hole_that_outlasts_a_timeout_restarts_quick_acknowledgements() {
        // Segments beyond the hole keep coming, but only those in order count.
        let acks_after = |hole_ms: u64| {
            let mut receiver = linux(2);
            receiver.on_syn(Time::ZERO, &Packet::new(PacketKind::Syn, 0, 0, 0, 52, Time::ZERO));
            let mut take = |ms: u64, seq: u32| {
                let answer = receiver.on_data(Time::ZERO + Span::from_millis(ms), &data(seq));
                let now = answer == Answer::Now;
                if now {
                    receiver.acknowledge(Time::ZERO, 0, 0, 52);
                }
                u32::from(now)
            };
            // The handshake takes 50 ms, so that the timeout is 250 ms; 16 quick ones are used up.
            (0..18).for_each(|seq| assert_eq!(take(50, seq), u32::from(seq != 16)));
            for i in 1..=hole_ms / 50 {
                take(50 + 50 * i, 18 + i as u32);
            }
            assert_eq!(take(51 + hole_ms, 18), 1, "the hole is filled");
            let first = 19 + (hole_ms / 50) as u32;
            (first..first + 31).map(|seq| take(51 + hole_ms, seq)).sum::<u32>()
        };
        // Every second, or the rest of sixteen and then every second.
        assert_eq!([acks_after(100), acks_after(400)], [15, 15 + 8]);
    }

    #[test]
    fn before_linux_4_18_a_gap_restarts_quick_acknowledgements() {
        // One segment out of order, the hole filled, then thirty in order.
        let acks_after = |quick_at_gaps| {
            let rule = AckRule { quick_at_gaps, answers_push: false, ..LINUX.ack };
            let mut receiver = Receiver::new(rule, true);
            let mut acks = |segments: &[u32]| {
                segments.iter().filter(|&&seq| receive(&mut receiver, &data(seq)).is_some()).count()
            };
            acks(&Vec::from_iter(0..18));
            assert_eq!(
                acks(&[19, 18]),
                2,
                "the duplicate and the end of the hole are sent at once"
            );
            acks(&Vec::from_iter(20..50))
        };
        // Every second; or (Linux 2.6.29, `tcp_data_queue`) the rest of sixteen after these two,
        // and then every second.
        assert_eq!([false, true].map(acks_after), [15, 14 + 8]);
    }

    #[test]
    fn a_pushed_segment_is_acknowledged_at_once_if_nothing_is_missing() {
        // Linux `tcp_measure_rcv_mss` (ICSK_ACK_PUSHED), `tcp_cleanup_rbuf`: not with data beyond a
        // hole.
        let rule = AckRule { quick: 0, ..LINUX.ack };
        let mut receiver = Receiver::new(rule, true).with_window(WindowRule::Fixed(8));
        let answered =
            [0, 1, 2, 3, 4, 5, 6].map(|seq| receive(&mut receiver, &data(seq)).is_some());
        assert_eq!(answered, [false, true, false, true, true, false, true]);
    }

    #[test]
    fn with_a_larger_window_fewer_segments_are_pushed() {
        // Linux `forced_push`: after half of the largest window, 65160 B at first.
        let mut receiver = Receiver::new(AckRule { quick: 0, every: u32::MAX, ..LINUX.ack }, true);
        receiver.on_syn(Time::ZERO, &data(0));
        let rtt = Span::from_millis(100);
        let mut now = Time::ZERO;
        let mut pushed = Vec::new();
        for seq in 0..600 {
            if seq % 50 == 0 {
                now += rtt;
            }
            let segment = Packet { sent: now, ..data(seq) };
            if receiver.on_data(now, &segment) == Answer::Now {
                pushed.push(seq);
            }
        }
        assert_eq!(pushed[..2], [22, 45], "half of 45 segments");
        let gaps: Vec<u32> = pushed.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.is_sorted() && *gaps.last().unwrap() > 100, "{gaps:?}");
    }

    #[test]
    fn a_segment_that_fills_one_of_several_holes_counts_as_a_duplicate() {
        // Linux `__tcp_ack_snd_check` with data out of order: three at once, then one is held back.
        let mut receiver = Receiver::new(AckRule { quick: 0, ..LINUX.ack }, true);
        receiver.on_syn(Time::ZERO, &data(0));
        let mut now = |seq| receive(&mut receiver, &data(seq)).is_some();
        assert!(!now(0) && now(5) && now(7), "holes at 1 to 4 and at 6");
        assert_eq!([1, 9, 10, 11].map(&mut now), [true, true, true, false]);
    }

    #[test]
    fn a_filled_hole_is_acknowledged_at_once_in_one_acknowledgement() {
        let mut receiver = linux(2);
        for seq in 0..20 {
            receive(&mut receiver, &data(seq));
        }
        assert_eq!(receive(&mut receiver, &data(21)).unwrap().seq, 20);
        let ack = receive(&mut receiver, &data(20)).unwrap();
        assert_eq!((ack.seq, ack.sack[0].is_empty()), (22, true));
    }

    #[test]
    fn acknowledgements_are_ect_if_marks_are_counted_or_the_control_needs_ecn() {
        let field = |mode, needs_ecn| {
            let ecn = EcnAbility { ect: Ecn::Ect1, needs_ecn, ..EcnAbility::NONE };
            let mut receiver = linux(2).with_ecn(ecn);
            receiver.agree(mode);
            receiver.acknowledge(Time::ZERO, 0, 0, 52).ecn
        };
        let modes = [Mode::NotEcn, Mode::Classic, Mode::Accurate];
        let (no, yes) = (Ecn::NotEct, Ecn::Ect1);
        assert_eq!(modes.map(|mode| field(mode, false)), [no, no, yes]);
        assert_eq!(modes.map(|mode| field(mode, true)), [no, yes, yes]);
    }

    #[test]
    fn options_count_in_the_size_of_an_acknowledgement() {
        // RFC 2018 §3: 2 bytes and 8 per block, padded to 4; the AccECN option takes 8.
        let size = |ooo: &[u32], mode, counts_options| {
            let rule = AckRule { quick: 0, counts_options, ..LINUX.ack };
            let mut receiver = Receiver::new(rule, true);
            receiver.agree(mode);
            ooo.iter().for_each(|&seq| {
                receiver.on_data(Time::ZERO, &data(seq));
            });
            let ack = receiver.acknowledge(Time::ZERO, 0, 0, 52);
            assert_eq!(ack.ip_bytes, ack.link_bytes);
            ack.ip_bytes
        };
        assert_eq!(size(&[], Mode::Classic, true), 52);
        assert_eq!([size(&[2], Mode::Classic, true), size(&[2, 4], Mode::Classic, true)], [64, 72]);
        assert_eq!([size(&[], Mode::Accurate, true), size(&[2], Mode::Accurate, true)], [60, 72]);
        assert_eq!(size(&[2, 4], Mode::Accurate, false), 52);
    }
}
