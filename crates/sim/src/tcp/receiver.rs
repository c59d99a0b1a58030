//! The receiving side: reassembly, when to acknowledge, SACK blocks, the echo of marks (endpoints
//! sheet §3).

use sojourn_aqm::{Ecn, Span, Time};

use super::accecn::{Counters, OPTION_BYTES, OptionRule};
use super::delayed_ack::DelayedAck;
use super::negotiation::{Flags, Mode};
use super::offer::{Offer, WindowRule};
use super::profile::AckRule;
use super::ranges::Ranges;
use crate::packet::{Block, Kind, Packet, SACK_BLOCKS};

/// The receiver of one connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    next: u32,
    beyond: Ranges,
    /// Blocks for SACK, the most recently changed first; empty ones at the end.
    recent: [Block; SACK_BLOCKS],
    /// The last duplicate, to be told once and first (RFC 2883).
    duplicate: Option<u32>,
    /// In-order segments that no acknowledgement has covered yet.
    unacknowledged: u32,
    acks: DelayedAck,
    offer: Offer,
    sack: bool,
    counts_options: bool,
    ecn: EcnAbility,
    /// What was agreed on at the first SYN.
    agreed: Option<Mode>,
    /// The ECN field of its acknowledgements.
    ack_field: Ecn,
    /// When the answer to the SYN left; the first segment completes the handshake.
    opened: Option<Time>,
    /// Every run of marks is echoed exactly (RFC 8257 §3.2).
    precise: bool,
    /// Marks are counted instead of echoed (RFC 9768).
    accurate: Option<Counters>,
    /// ECN-capable segments have arrived.
    ect_seen: bool,
    /// Marks are echoed until the sender says that it has reduced (RFC 3168 §6.1.3).
    echo: bool,
    /// The timestamp to echo.
    stamp: Time,
}

/// What a receiver can do with marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EcnAbility {
    /// The feedback that it grants at most.
    pub speaks: Mode,
    /// With classic feedback it echoes every run of marks (RFC 8257 §3.2).
    pub runs: bool,
    /// What is ECN-capable carries this.
    pub ect: Ecn,
    /// Everything is ECN-capable, its answer to the SYN too.
    pub needs_ecn: bool,
    /// When it sends the option of accurate feedback.
    pub option: OptionRule,
    /// Headers of a segment, which are not data.
    pub header_bytes: u32,
    /// Whether timestamps take part of the room for options.
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

/// Room for TCP options, and what timestamps take of it (RFC 9293 §3.1, RFC 7323 §3.2).
const OPTION_SPACE: u32 = 40;
const STAMP_BYTES: u32 = 12;

/// What a segment calls for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// An acknowledgement now.
    Now,
    /// One later, when more segments or the timer come.
    Later,
}

impl Receiver {
    /// The receiver of a new connection.
    pub fn new(rule: AckRule, sack: bool) -> Receiver {
        Receiver {
            next: 0,
            beyond: Ranges::default(),
            recent: [Block::default(); SACK_BLOCKS],
            duplicate: None,
            unacknowledged: 0,
            acks: DelayedAck::new(rule, None),
            offer: Offer::new(WindowRule::Unlimited),
            sack,
            counts_options: rule.counts_options,
            ecn: EcnAbility::NONE,
            agreed: None,
            ack_field: Ecn::NotEct,
            opened: None,
            precise: false,
            accurate: None,
            ect_seen: false,
            echo: false,
            stamp: Time::ZERO,
        }
    }

    /// The same with a limited window.
    pub fn offering(self, rule: WindowRule) -> Receiver {
        Receiver { offer: Offer::new(rule), ..self }
    }

    /// The same with timers that ring on ticks of such a length.
    pub fn ticking(self, rule: AckRule, tick: Option<Span>) -> Receiver {
        Receiver { acks: DelayedAck::new(rule, tick), ..self }
    }

    /// Segments that it offers beyond the next expected.
    pub fn offered(&self) -> u32 {
        self.offer.segments()
    }

    /// The same with what it can do with marks.
    pub fn able(self, ecn: EcnAbility) -> Receiver {
        Receiver { ecn, ..self }
    }

    /// It answers a SYN. Returns the ECN field and the flags of the answer: the first SYN says which mode
    /// the connection is in, the latest how it arrived (RFC 9768 §3.1.4.2).
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

    /// From now on it feeds marks back in this way. Its acknowledgements are ECN-capable where its counters
    /// say how they arrived, or its congestion control needs ECN (Linux `tcp_ecn_send`).
    pub fn agree(&mut self, mode: Mode) {
        let EcnAbility { runs, ect, needs_ecn, option, header_bytes, .. } = self.ecn;
        self.agreed = Some(mode);
        self.precise = runs && mode == Mode::Classic;
        self.accurate = (mode == Mode::Accurate).then(|| Counters::new(header_bytes, option));
        if mode == Mode::Accurate || needs_ecn && mode == Mode::Classic {
            self.ack_field = ect;
        }
    }

    /// Whether what is not yet acknowledged must be before this segment is taken in: a run of marks
    /// begins or ends with it, or what is held back would lose a block to it.
    #[inline]
    pub fn must_answer_before(&self, packet: &Packet) -> bool {
        let run_ends =
            self.echo != (packet.ecn == Ecn::Ce) && self.precise && self.unacknowledged > 0;
        run_ends || self.acks.is_holding() && self.crowds_out(packet.seq)
    }

    /// Whether a segment out of order would push a block from its place among those that are certain to
    /// be told: then what is held back goes first (Linux `TCP_SACK_BLOCKS_EXPECTED`).
    fn crowds_out(&self, seq: u32) -> bool {
        const EXPECTED: usize = 2;
        let blocks = self.recent.iter().take_while(|block| !block.is_empty());
        let touched = blocks.clone().position(|block| block.start <= seq + 1 && seq <= block.end);
        seq > self.next && touched.unwrap_or(blocks.count()) >= EXPECTED
    }

    /// The next segment expected: everything below has arrived.
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
            // Linux `tcp_data_queue`: what comes out of order is no sign of life, so that a hole that
            // lasts longer than a timeout brings quick acknowledgements.
            self.acks.on_data(now, self.offer.segments());
        }
        let told = match &mut self.accurate {
            Some(counters) => counters.count(packet.ecn, packet.ip_bytes),
            None => {
                self.take_mark(packet);
                self.precise && echoed != self.echo
            }
        };
        let news = packet.signal || told;
        let duplicate = packet.seq < self.next || self.beyond.contains(packet.seq);
        if duplicate {
            self.duplicate = Some(packet.seq);
            self.acks.on_duplicate(self.offer.segments());
            return Answer::Now;
        }
        if packet.seq > self.next {
            self.acks.on_gap(self.offer.segments());
            self.store(packet.seq);
            let now = news || !self.sack || self.acks.is_duplicate_due(now, self.next);
            return if now { Answer::Now } else { Answer::Later };
        }
        if self.unacknowledged == 0 {
            self.stamp = packet.sent; // RFC 7323 §4.3: of the earliest segment not yet acknowledged
        }
        let had_holes = !self.beyond.is_empty();
        self.advance();
        self.offer.on_read(now, self.next, self.acks.rtt());
        let pushed = self.acks.is_pushed(self.next, self.offer.grown());
        // Linux `__tcp_ack_snd_check`: below a further hole it counts as a duplicate.
        let whole = self.beyond.is_empty();
        let now = match whole {
            true if had_holes || pushed => true,
            true => self.acks.is_due_after(now, self.unacknowledged),
            false => {
                self.acks.are_enough(self.unacknowledged)
                    || self.acks.is_duplicate_due(now, self.next)
            }
        };
        if news || now { Answer::Now } else { Answer::Later }
    }

    /// The reduction clears the echo before a mark on the same segment sets it again.
    fn take_mark(&mut self, packet: &Packet) {
        let marked = packet.ecn == Ecn::Ce;
        if packet.ecn != Ecn::NotEct {
            self.ect_seen = true;
        } else if self.ect_seen {
            self.acks.on_mark(self.offer.segments()); // a retransmission (RFC 3168 §6.1.5)
        }
        if !marked && !self.echo {
            return;
        }
        if packet.signal || self.precise {
            self.echo = false;
        }
        if marked {
            if !self.echo && !self.precise {
                self.acks.on_mark(self.offer.segments());
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

    /// The next segment has arrived, and with it what had been stored beyond it.
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
        let mut ack = Packet::new(Kind::Ack, flow, connection, self.next, bytes, self.stamp);
        ack.ecn = self.ack_field;
        let mut sack_bytes = 0;
        if self.sack && (self.duplicate.is_some() || !self.recent[0].is_empty()) {
            ack.sack = self.recent;
            if let Some(seq) = self.duplicate.take() {
                ack.sack.rotate_right(1); // the oldest block falls out
                ack.sack[0] = Block { start: seq, end: seq + 1 };
            }
            // RFC 2018 §3: two bytes and eight per block, aligned to four.
            let blocks = ack.sack.iter().filter(|block| !block.is_empty()).count() as u32;
            sack_bytes = 4 + 8 * blocks;
        }
        ack.signal = self.echo;
        ack.window = self.offer.segments();
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
        Packet::new(Kind::Data, 0, 0, seq, 1500, Time::ZERO)
    }

    fn receive(receiver: &mut Receiver, packet: &Packet) -> Option<Packet> {
        let answer = receiver.on_data(Time::ZERO, packet);
        (answer == Answer::Now).then(|| receiver.acknowledge(Time::ZERO, 0, 0, 52))
    }

    #[test]
    fn t74_sack_blocks_most_recent_first() {
        let mut receiver = linux(2);
        receive(&mut receiver, &data(0));
        let ack = [2, 4, 6, 8].map(|seq| receive(&mut receiver, &data(seq)).unwrap())[3];
        assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(8, 9), (6, 7), (4, 5)]);
        let ack = receive(&mut receiver, &data(5)).unwrap();
        assert_eq!(ack.sack.map(|b| (b.start, b.end)), [(4, 7), (8, 9), (0, 0)]);
    }

    #[test]
    fn script_36_a_duplicate_is_told_first_and_once() {
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
    fn t75_delayed_acknowledgements_after_sixteen_quick_ones() {
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
    fn t76_echoes_marks_until_the_window_was_reduced() {
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
    fn t77_runs_of_marks_are_echoed_exactly() {
        let acks = |marks: &[bool]| {
            let ability = EcnAbility { runs: true, ..EcnAbility::NONE };
            let mut receiver = Receiver::new(AckRule { quick: 0, ..LINUX.ack }, true).able(ability);
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
    fn what_is_held_back_goes_before_a_block_is_crowded_out() {
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
    fn a_hole_that_outlasts_a_timeout_brings_quick_acknowledgements_back() {
        // Segments beyond the hole keep coming, but only those in order are a sign of life.
        let acks_after = |hole_ms: u64| {
            let mut receiver = linux(2);
            receiver.on_syn(Time::ZERO, &Packet::new(Kind::Syn, 0, 0, 0, 52, Time::ZERO));
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
    fn before_4_18_a_gap_brings_quick_acknowledgements_back() {
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
        // Every second; or (Linux 2.6.29, `tcp_data_queue`) what the two leave of sixteen, and then every
        // second.
        assert_eq!([false, true].map(acks_after), [15, 14 + 8]);
    }

    #[test]
    fn a_pushed_segment_is_acknowledged_at_once_where_all_has_been_read() {
        // Linux `tcp_measure_rcv_mss` (ICSK_ACK_PUSHED), `tcp_cleanup_rbuf`: not with data beyond a hole.
        let rule = AckRule { quick: 0, ..LINUX.ack };
        let mut receiver = Receiver::new(rule, true).offering(WindowRule::Fixed(8));
        let answered =
            [0, 1, 2, 3, 4, 5, 6].map(|seq| receive(&mut receiver, &data(seq)).is_some());
        assert_eq!(answered, [false, true, false, true, true, false, true]);
    }

    #[test]
    fn a_window_that_has_grown_is_pushed_less_often() {
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
    fn what_fills_one_hole_of_several_counts_as_a_duplicate() {
        // Linux `__tcp_ack_snd_check` with data out of order: three at once, then one is held back.
        let mut receiver = Receiver::new(AckRule { quick: 0, ..LINUX.ack }, true);
        receiver.on_syn(Time::ZERO, &data(0));
        let mut now = |seq| receive(&mut receiver, &data(seq)).is_some();
        assert!(!now(0) && now(5) && now(7), "holes at 1 to 4 and at 6");
        assert_eq!([1, 9, 10, 11].map(&mut now), [true, true, true, false]);
    }

    #[test]
    fn a_filled_hole_is_acknowledged_at_once_and_whole() {
        let mut receiver = linux(2);
        for seq in 0..20 {
            receive(&mut receiver, &data(seq));
        }
        assert_eq!(receive(&mut receiver, &data(21)).unwrap().seq, 20);
        let ack = receive(&mut receiver, &data(20)).unwrap();
        assert_eq!((ack.seq, ack.sack[0].is_empty()), (22, true));
    }
}
