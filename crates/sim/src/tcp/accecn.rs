//! Accurate ECN feedback (RFC 9768; endpoints sheet §2.5): a counter of packets received with CE, modulo
//! eight, on every acknowledgement, and a counter of their payload bytes in an option.
//!
//! The counter of bytes is 24 bits wide; the counters of ECT(0) and ECT(1) bytes are left out, because nobody
//! here reads them. The option goes without the field that has not changed, so that it takes eight bytes.
//! Where three SACK blocks leave no room for it, it is left out (§3.2.3.3); Linux leaves out the third block
//! if it uses ECT(1).

use sojourn_aqm::{Ecn, Span, Time};

use crate::packet::Packet;

/// Both ends start the packet counter here, so that a zeroed field is noticed (RFC 9768 §3.2.1).
const FIRST: u32 = 5;
/// The packet counter wraps at this.
const PACKETS: u32 = 8;
/// The counter of bytes wraps at this.
const BYTES: u32 = 1 << 24;
/// RFC 9768 §3.2.2.5.1: an acknowledgement at the latest after so many marks.
const MARKS_PER_ACK: u32 = 2;
/// The option with two fields (RFC 9768, Table 5).
pub const OPTION_BYTES: u32 = 8;
/// Acknowledgements that carry the option after a change: the next, and one more (RFC 9768 §3.2.3.3).
const AFTER_CHANGE: u32 = 2;
/// Without change the option comes so often per round trip (Linux `tcp_ecn_option_beacon`).
const BEACONS: u64 = 3;
/// A byte counter is told at least once per so many bytes (RFC 9768 §3.2.3.3).
const TOLD_EVERY: u32 = 1 << 22;

/// When a receiver sends the option (Linux `tcp_ecn_option`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OptionRule {
    /// On every acknowledgement that has room for it.
    #[default]
    Always,
    /// After a change and while marks arrive, otherwise three times per round trip.
    Sparingly,
    /// Never, or something on the way takes it out.
    Never,
}

/// What the receiver has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counters {
    header_bytes: u32,
    rule: OptionRule,
    ce_packets: u32,
    ce_bytes: u32,
    last: Ecn,
    unreported: u32,
    /// Acknowledgements that the option must still go with, and when it last went.
    demanded: u32,
    told_at: Time,
    /// Payload received since it last went.
    untold_bytes: u32,
}

impl Counters {
    /// Nothing received yet; `header_bytes` of a segment are not counted.
    pub fn new(header_bytes: u32, rule: OptionRule) -> Counters {
        Counters {
            header_bytes,
            rule,
            ce_packets: 0,
            ce_bytes: 0,
            last: Ecn::NotEct,
            unreported: 0,
            demanded: 0,
            told_at: Time::ZERO,
            untold_bytes: 0,
        }
    }

    /// Counts a segment of `ip_bytes`; returns whether it calls for an acknowledgement: a mark after none, or the second
    /// mark not yet reported.
    pub fn count(&mut self, field: Ecn, ip_bytes: u32) -> bool {
        let marked = field == Ecn::Ce;
        let begins = marked && self.last != Ecn::Ce;
        let payload = ip_bytes - self.header_bytes;
        self.untold_bytes = self.untold_bytes.saturating_add(payload);
        if marked || field != self.last {
            self.demanded = AFTER_CHANGE;
        }
        self.last = field;
        if marked {
            self.ce_packets = self.ce_packets.wrapping_add(1);
            self.ce_bytes = (self.ce_bytes + payload) % BYTES;
            self.unreported += 1;
        }
        begins || self.unreported >= MARKS_PER_ACK
    }

    /// Writes the counters on an acknowledgement, the option where it has `room`. `rtt` is the round trip
    /// that the receiver knows of.
    pub fn report(&mut self, now: Time, room: bool, rtt: Option<Span>, ack: &mut Packet) {
        ack.ace = self.ace();
        self.unreported = 0;
        if room && self.is_option_due(now, rtt) {
            ack.ce_bytes = Some(self.ce_bytes);
            self.demanded = self.demanded.saturating_sub(1);
            (self.told_at, self.untold_bytes) = (now, 0);
        }
    }

    fn is_option_due(&self, now: Time, rtt: Option<Span>) -> bool {
        let beacon = || {
            rtt.is_some_and(|rtt| now.since(self.told_at).as_nanos() >= rtt.as_nanos() / BEACONS)
        };
        match self.rule {
            OptionRule::Always => true,
            OptionRule::Sparingly => {
                self.demanded > 0 || self.untold_bytes >= TOLD_EVERY || beacon()
            }
            OptionRule::Never => false,
        }
    }

    fn ace(&self) -> u8 {
        (self.ce_packets.wrapping_add(FIRST) % PACKETS) as u8
    }
}

/// What the sender makes of the counters.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    ace: u32,
    ce_bytes: u32,
    payload_bytes: u32,
    /// Marked packets read since the last option.
    packets: u32,
    /// The last option told of no marks; since a change would bring one, without it there are none.
    unmarked: bool,
}

impl Reader {
    /// Before the first acknowledgement; `payload_bytes` is that of a full segment.
    pub fn new(payload_bytes: u32) -> Reader {
        Reader { ace: FIRST, ce_bytes: 0, payload_bytes, packets: 0, unmarked: false }
    }

    /// How many packets arrived with CE since the last acknowledgement that was read, of which this one
    /// tells that `delivered` have arrived. One that tells of none may have been overtaken by others and is
    /// not read; the counters lose nothing.
    ///
    /// The field says it modulo eight. Which of these it is, the bytes say. Without the option it is the
    /// least, where the last one told of no marks, otherwise the most that can be among those delivered (RFC
    /// 9768 §3.2.2.5.2, Appendix A.2.1; Linux `__tcp_accecn_process`).
    pub fn read(&mut self, ace: u8, ce_bytes: Option<u32>, delivered: u32) -> u32 {
        if delivered == 0 {
            return 0;
        }
        let ace = u32::from(ace) % PACKETS;
        let least = (ace + PACKETS - self.ace) % PACKETS;
        self.ace = ace;
        let Some(ce_bytes) = ce_bytes else {
            let more = delivered.saturating_sub(least) / PACKETS * PACKETS;
            let fresh = if self.unmarked { least } else { least + more };
            self.packets = self.packets.saturating_add(fresh);
            return fresh;
        };
        let bytes = (ce_bytes + BYTES - self.ce_bytes) % BYTES;
        let missed = bytes.div_ceil(self.payload_bytes).saturating_sub(self.packets + least);
        (self.ce_bytes, self.packets, self.unmarked) = (ce_bytes, 0, bytes == 0);
        least + missed.div_ceil(PACKETS) * PACKETS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    fn counting(rule: OptionRule) -> Counters {
        Counters::new(40, rule)
    }

    fn count(counters: &mut Counters, marks: u32) {
        (0..marks).for_each(|_| {
            counters.count(Ecn::Ce, 1040);
        });
    }

    fn ack(counters: &mut Counters) -> Packet {
        let mut ack = Packet::new(Kind::Ack, 0, 0, 0, 52, Time::ZERO);
        counters.report(Time::ZERO, true, None, &mut ack);
        ack
    }

    #[test]
    fn t79_three_marks_make_the_field_zero() {
        let mut counters = counting(OptionRule::Always);
        assert_eq!(counters.ace(), 5);
        count(&mut counters, 3);
        assert_eq!(counters.ace(), 0);
    }

    #[test]
    fn script_37_the_sender_counts_what_the_receiver_saw() {
        let (mut counters, mut reader) = (counting(OptionRule::Always), Reader::new(1000));
        // The bytes wrap at 16.8 MB, the field at eight.
        for marks in [0, 1, 7, 8, 9, 40, 0, 10_000, 10_000] {
            count(&mut counters, marks);
            let ack = ack(&mut counters);
            assert_eq!(reader.read(ack.ace, ack.ce_bytes, 10_000), marks);
        }
    }

    #[test]
    fn script_38_without_the_option_the_field_wraps_as_often_as_it_can_have() {
        // RFC 9768 Appendix A.2.1: five of nine delivered is five, or it would be thirteen; one of nine
        // is nine.
        let (mut counters, mut reader) = (counting(OptionRule::Never), Reader::new(1000));
        for (marks, delivered, read) in
            [(3, 4, 3), (7, 7, 7), (5, 9, 5), (1, 9, 9), (0, 7, 0), (0, 8, 8), (8, 8, 8)]
        {
            count(&mut counters, marks);
            let ack = ack(&mut counters);
            assert_eq!(ack.ce_bytes, None);
            let found = reader.read(ack.ace, None, delivered);
            assert_eq!(found, read, "{marks} marks among {delivered}");
        }
    }

    #[test]
    fn script_38_an_option_that_comes_back_says_what_was_missed() {
        let (mut counters, mut reader) = (counting(OptionRule::Always), Reader::new(1000));
        // Sixteen more than the acknowledgements between tell of: retransmissions that came twice.
        count(&mut counters, 19);
        assert_eq!(reader.read(counters.ace(), None, 5), 3);
        count(&mut counters, 1);
        let late = ack(&mut counters);
        assert_eq!(reader.read(late.ace, late.ce_bytes, 1), 17);
    }

    #[test]
    fn after_an_option_without_marks_there_are_none_until_it_comes_again() {
        let (mut counters, mut reader) = (counting(OptionRule::Always), Reader::new(1000));
        let quiet = ack(&mut counters);
        assert_eq!(reader.read(quiet.ace, quiet.ce_bytes, 2), 0);
        assert_eq!(reader.read(quiet.ace, None, 20), 0);
        count(&mut counters, 9);
        let loud = ack(&mut counters);
        assert_eq!(reader.read(loud.ace, None, 20), 1);
        assert_eq!(reader.read(loud.ace, loud.ce_bytes, 1), 8);
        assert_eq!(reader.read(loud.ace, None, 20), 16, "it told of marks");
    }

    #[test]
    fn an_acknowledgement_of_nothing_new_is_not_read() {
        let (mut counters, mut reader) = (counting(OptionRule::Always), Reader::new(1000));
        let overtaken = ack(&mut counters);
        count(&mut counters, 3);
        let newest = ack(&mut counters);
        assert_eq!(reader.read(newest.ace, newest.ce_bytes, 3), 3);
        assert_eq!(reader.read(overtaken.ace, overtaken.ce_bytes, 0), 0);
        count(&mut counters, 1);
        let next = ack(&mut counters);
        assert_eq!(reader.read(next.ace, next.ce_bytes, 1), 1);
    }

    #[test]
    fn a_mark_after_none_and_every_second_mark_are_told_at_once() {
        let mut counters = counting(OptionRule::Always);
        let told: Vec<bool> = [false, true, true, true, false, true]
            .map(|marked| {
                let told = counters.count(if marked { Ecn::Ce } else { Ecn::Ect1 }, 1040);
                if told {
                    ack(&mut counters);
                }
                told
            })
            .to_vec();
        assert_eq!(told, [false, true, false, true, false, true]);
    }

    #[test]
    fn rfc_9768_section_3_2_3_3_the_option_comes_after_changes_and_as_a_beacon() {
        let mut counters = counting(OptionRule::Sparingly);
        let mut at_ms = 0;
        let mut told = |field: Ecn| {
            at_ms += 10;
            counters.count(field, 1040);
            let mut ack = Packet::new(Kind::Ack, 0, 0, 0, 52, Time::ZERO);
            let now = Time::ZERO + Span::from_millis(at_ms);
            counters.report(now, true, Some(Span::from_millis(90)), &mut ack);
            ack.ce_bytes.is_some()
        };
        let mut run = |field: Ecn| (0..7).map(|_| told(field)).collect::<Vec<_>>();
        // Twice after the change, then once per 30 ms.
        assert_eq!(run(Ecn::Ect1), [true, true, false, false, true, false, false]);
        assert_eq!(run(Ecn::Ce), [true; 7]);
        assert_eq!(run(Ecn::Ect1), [true, true, false, false, true, false, false]);
    }

    #[test]
    fn the_option_waits_for_room() {
        let mut counters = counting(OptionRule::Always);
        let mut full = Packet::new(Kind::Ack, 0, 0, 0, 80, Time::ZERO);
        counters.report(Time::ZERO, false, None, &mut full);
        assert_eq!((full.ace, full.ce_bytes), (5, None));
    }
}
