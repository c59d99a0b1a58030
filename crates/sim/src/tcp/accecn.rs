//! Accurate ECN feedback (RFC 9768): every acknowledgement carries the number of packets received
//! with CE, modulo eight (ACE), and an option carries the number of their payload bytes.
//!
//! Senders here read only the option's CE field. `accecn_option` computes how many fields fit.

use sojourn_aqm::{Ecn, Span, Time};

use super::accecn_option::{MAX_FIELDS, OptionRoom, find_room};
use crate::packet::{CeBytes, Packet};

/// Initial value of the packet counter, chosen so that a zeroed field is noticed (RFC 9768 §3.2.1).
const INITIAL_ACE: u32 = 5;
/// The packet counter is reported modulo this number.
const ACE_MODULUS: u32 = 8;
/// The byte counter has 24 bits (RFC 9768 §3.2.3).
const BYTE_MODULUS: u32 = 1 << 24;
/// RFC 9768 §3.2.2.5.1: the most marks before an acknowledgement must be sent.
const MARKS_PER_ACK: u32 = 2;
/// Fewest fields of an option that includes the CE counter.
const FIELDS_WITH_CE: u8 = 2;
/// Acknowledgements that carry the option after a change: the next one and one more (RFC 9768
/// §3.2.3.3).
const AFTER_CHANGE: u32 = 2;
/// Without a change, the option is sent this many times per round trip (Linux
/// `tcp_ecn_option_beacon`).
const BEACONS: u64 = 3;
/// A byte counter is sent at least once per this number of bytes (RFC 9768 §3.2.3.3).
const REPORT_EVERY_BYTES: u32 = 1 << 22;

/// When a receiver sends the option (Linux `tcp_ecn_option`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OptionRule {
    /// On every acknowledgement that has room for it.
    #[default]
    Always,
    /// After a change and while marks arrive; otherwise three times per round trip.
    Sparingly,
    /// Never; also stands for a path that removes the option.
    Never,
}

/// The counters of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccEcnCounters {
    header_bytes: u32,
    rule: OptionRule,
    ce_packets: u32,
    ce_bytes: u32,
    /// Bytes received with ECT(0) and with ECT(1); only scripts read them.
    ect_bytes: [u32; 2],
    last: Ecn,
    unreported: u32,
    /// Fields that the next option must have because they changed since the last one.
    required: u8,
    /// Fields of the option on the last acknowledgement.
    fields: u8,
    /// How many acknowledgements must still carry the option, and when one last carried it.
    options_due: u32,
    option_sent_at: Time,
    /// Payload received since then.
    unreported_bytes: u32,
}

impl AccEcnCounters {
    /// The counters before any segment arrives. `header_bytes` of each segment are not counted.
    pub fn new(header_bytes: u32, rule: OptionRule) -> AccEcnCounters {
        AccEcnCounters {
            header_bytes,
            rule,
            ce_packets: 0,
            ce_bytes: 0,
            ect_bytes: [0; 2],
            last: Ecn::NotEct,
            unreported: 0,
            required: 0,
            fields: 0,
            options_due: 0,
            option_sent_at: Time::ZERO,
            unreported_bytes: 0,
        }
    }

    /// Counts a segment of `ip_bytes`. Returns whether an acknowledgement is due: after the first
    /// mark of a run, or the second unreported mark (RFC 9768 §3.2.2.5.1).
    pub fn count(&mut self, field: Ecn, ip_bytes: u32) -> bool {
        let marked = field == Ecn::Ce;
        let begins = marked && self.last != Ecn::Ce;
        let payload = ip_bytes - self.header_bytes;
        self.unreported_bytes = self.unreported_bytes.saturating_add(payload);
        if marked || field != self.last {
            self.options_due = AFTER_CHANGE;
        }
        self.last = field;
        if marked {
            self.ce_packets = self.ce_packets.wrapping_add(1);
            self.ce_bytes = (self.ce_bytes + payload) % BYTE_MODULUS;
            self.unreported += 1;
        }
        match field {
            Ecn::Ect0 => self.ect_bytes[0] = (self.ect_bytes[0] + payload) % BYTE_MODULUS,
            Ecn::Ect1 => self.ect_bytes[1] = (self.ect_bytes[1] + payload) % BYTE_MODULUS,
            Ecn::NotEct | Ecn::Ce => {}
        }
        self.required = self.required.max(fields_up_to(field));
        begins || self.unreported >= MARKS_PER_ACK
    }

    /// Writes the counters to an acknowledgement with `blocks` SACK blocks. The option is included
    /// if it is due and fits; returns the fields and blocks that fit. `rtt` is the receiver's
    /// estimate of the round trip, if it has one.
    pub fn report(
        &mut self,
        now: Time,
        (blocks, timestamps): (u32, bool),
        rtt: Option<Span>,
        ack: &mut Packet,
    ) -> Option<OptionRoom> {
        ack.ace = self.ace();
        (self.unreported, self.fields) = (0, 0);
        if !self.is_option_due(now, rtt) {
            return None;
        }
        let room = find_room(self.required, blocks, timestamps)?;
        if room.fields >= FIELDS_WITH_CE {
            ack.ce_bytes = Some(CeBytes::new(self.ce_bytes));
        }
        (self.fields, self.required) = (room.fields, 0);
        self.options_due = self.options_due.saturating_sub(1);
        (self.option_sent_at, self.unreported_bytes) = (now, 0);
        Some(room)
    }

    fn is_option_due(&self, now: Time, rtt: Option<Span>) -> bool {
        let beacon = || {
            rtt.is_some_and(|rtt| {
                now.since(self.option_sent_at).as_nanos() >= rtt.as_nanos() / BEACONS
            })
        };
        match self.rule {
            OptionRule::Always => true,
            OptionRule::Sparingly => {
                self.options_due > 0 || self.unreported_bytes >= REPORT_EVERY_BYTES || beacon()
            }
            OptionRule::Never => false,
        }
    }

    /// Counts a packet without data that arrived with CE (RFC 9768 §3.2.2: "including control
    /// packets").
    pub fn count_control(&mut self) {
        self.ce_packets = self.ce_packets.wrapping_add(1);
    }

    /// The byte counters in the option of the last acknowledgement: ECT(1), CE, ECT(0) or fewer,
    /// including their initial values (RFC 9768 §3.2.3).
    pub fn option_fields(&self) -> impl Iterator<Item = u32> {
        let [ect0, ect1] = self.ect_bytes;
        let all = [(ect1 + 1) % BYTE_MODULUS, self.ce_bytes, (ect0 + 1) % BYTE_MODULUS];
        all.into_iter().take(self.fields.into())
    }

    fn ace(&self) -> u8 {
        (self.ce_packets.wrapping_add(INITIAL_ACE) % ACE_MODULUS) as u8
    }
}

/// How many fields an option needs to include the bytes of this codepoint.
const fn fields_up_to(field: Ecn) -> u8 {
    match field {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ce => FIELDS_WITH_CE,
        Ecn::Ect0 => MAX_FIELDS,
    }
}

/// The sender's decoder of the counters.
#[derive(Clone, Copy, Debug)]
pub struct AccEcnFeedback {
    ace: u32,
    ce_bytes: u32,
    payload_bytes: u32,
    /// Marked packets decoded since the last option.
    packets: u32,
    /// Whether the last option reported no new marks. A change would bring an option, so
    /// acknowledgements without one then report no new marks.
    unmarked: bool,
    /// Mean number of packets delivered by an acknowledgement, in 64ths; zero before the first
    /// acknowledgement.
    delivered_mean: u16,
}

/// Weight and precision of that mean, and the mean above which a large delivery is normal, not a
/// sign of lost acknowledgements (Linux 7.2 tcp_input.c, `PKTS_ACKED_WEIGHT`, `PKTS_ACKED_PREC`,
/// `ACK_COMP_THRESH`).
const MEAN_SHIFT: u32 = 6;
const MEAN_UNIT: u64 = 1 << 6;
const MANY_PACKETS: u64 = 4 * MEAN_UNIT;

impl AccEcnFeedback {
    /// The decoder before the first acknowledgement; `payload_bytes` is the payload of a full
    /// segment.
    pub fn new(payload_bytes: u32) -> AccEcnFeedback {
        AccEcnFeedback {
            ace: INITIAL_ACE,
            ce_bytes: 0,
            payload_bytes,
            packets: 0,
            unmarked: false,
            delivered_mean: 0,
        }
    }

    /// Accounts for a SYN-ACK that arrived with CE: the peer's counter starts one higher (RFC 9768
    /// §3.2.2.1).
    pub fn note_marked_handshake(&mut self) {
        self.ace = INITIAL_ACE + 1;
    }

    /// Returns how many packets arrived with CE since the last decoded acknowledgement. `delivered`
    /// is the number of packets newly acknowledged by this one. If `delivered` is zero and the
    /// timestamp is not newer than all earlier ones, the acknowledgement may be out of order and is
    /// skipped; as the fields are counters, nothing is lost.
    ///
    /// ACE gives the number modulo eight, and the byte counter selects among the candidates.
    /// Without the option, the result is the smallest candidate if the last option reported no
    /// marks or acknowledgements usually deliver many packets; otherwise it is the largest that
    /// fits into `delivered` (RFC 9768 §3.2.2.5.2, Appendix A.2.1; Linux 7.2
    /// `__tcp_accecn_process`).
    pub fn read(
        &mut self,
        ace: u8,
        ce_bytes: Option<CeBytes>,
        delivered: u32,
        is_newer: bool,
    ) -> u32 {
        if delivered > 0 {
            self.note_delivered(delivered);
        } else if !is_newer {
            return 0;
        }
        let ace = u32::from(ace) % ACE_MODULUS;
        let least = (ace + ACE_MODULUS - self.ace) % ACE_MODULUS;
        self.ace = ace;
        let Some(ce_bytes) = ce_bytes.map(CeBytes::get) else {
            let more = delivered.saturating_sub(least) / ACE_MODULUS * ACE_MODULUS;
            let is_least = self.unmarked || u64::from(self.delivered_mean) > MANY_PACKETS;
            let fresh = if is_least { least } else { least + more };
            self.packets = self.packets.saturating_add(fresh);
            return fresh;
        };
        let bytes = (ce_bytes + BYTE_MODULUS - self.ce_bytes) % BYTE_MODULUS;
        let missed = bytes.div_ceil(self.payload_bytes).saturating_sub(self.packets + least);
        (self.ce_bytes, self.packets, self.unmarked) = (ce_bytes, 0, bytes == 0);
        least + missed.div_ceil(ACE_MODULUS) * ACE_MODULUS
    }

    fn note_delivered(&mut self, delivered: u32) {
        let now = u64::from(delivered) * MEAN_UNIT;
        let before = u64::from(self.delivered_mean);
        let mean = match before {
            0 => now,
            _ => ((before << MEAN_SHIFT) - before + now) >> MEAN_SHIFT,
        };
        self.delivered_mean = u16::try_from(mean).unwrap_or(u16::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketKind;

    fn counting(rule: OptionRule) -> AccEcnCounters {
        AccEcnCounters::new(40, rule)
    }

    fn count(counters: &mut AccEcnCounters, marks: u32) {
        (0..marks).for_each(|_| {
            counters.count(Ecn::Ce, 1040);
        });
    }

    fn ack(counters: &mut AccEcnCounters) -> Packet {
        let mut ack = Packet::new(PacketKind::Ack, 0, 0, 0, 52, Time::ZERO);
        counters.report(Time::ZERO, (0, true), None, &mut ack);
        ack
    }

    #[test]
    fn ace_starts_at_five_and_wraps_after_three_marks() {
        let mut counters = counting(OptionRule::Always);
        assert_eq!(counters.ace(), 5);
        count(&mut counters, 3);
        assert_eq!(counters.ace(), 0);
    }

    #[test]
    fn the_sender_counts_the_marks_that_the_receiver_saw() {
        let (mut counters, mut feedback) =
            (counting(OptionRule::Always), AccEcnFeedback::new(1000));
        // The byte counter wraps at 16.8 MB, ACE at eight.
        for marks in [0, 1, 7, 8, 9, 40, 0, 10_000, 10_000] {
            count(&mut counters, marks);
            let ack = ack(&mut counters);
            assert_eq!(feedback.read(ack.ace, ack.ce_bytes, 10_000, false), marks);
        }
    }

    #[test]
    fn without_the_option_ace_has_wrapped_as_often_as_it_can_have() {
        // RFC 9768 Appendix A.2.1: with nine packets delivered, ACE advanced by five means five
        // marks, because thirteen exceed nine; advanced by one it means nine marks.
        let (mut counters, mut feedback) = (counting(OptionRule::Never), AccEcnFeedback::new(1000));
        for (marks, delivered, read) in
            [(1, 1, 1), (3, 4, 3), (7, 7, 7), (5, 9, 5), (1, 9, 9), (0, 7, 0), (0, 8, 8), (8, 8, 8)]
        {
            count(&mut counters, marks);
            let ack = ack(&mut counters);
            assert_eq!(ack.ce_bytes, None);
            let found = feedback.read(ack.ace, None, delivered, false);
            assert_eq!(found, read, "{marks} marks among {delivered}");
        }
    }

    #[test]
    fn an_option_that_returns_reports_what_was_missed() {
        let (mut counters, mut feedback) =
            (counting(OptionRule::Always), AccEcnFeedback::new(1000));
        // The marks exceed those reported by acknowledgements without the option by sixteen,
        // because retransmissions arrived twice.
        count(&mut counters, 19);
        assert_eq!(feedback.read(counters.ace(), None, 5, false), 3);
        count(&mut counters, 1);
        let late = ack(&mut counters);
        assert_eq!(feedback.read(late.ace, late.ce_bytes, 1, false), 17);
    }

    #[test]
    fn after_an_option_without_marks_there_are_none_until_it_comes_again() {
        let (mut counters, mut feedback) =
            (counting(OptionRule::Always), AccEcnFeedback::new(1000));
        let quiet = ack(&mut counters);
        assert_eq!(feedback.read(quiet.ace, quiet.ce_bytes, 2, false), 0);
        assert_eq!(feedback.read(quiet.ace, None, 20, false), 0);
        count(&mut counters, 9);
        let loud = ack(&mut counters);
        assert_eq!(feedback.read(loud.ace, None, 20, false), 1);
        assert_eq!(feedback.read(loud.ace, loud.ce_bytes, 1, false), 8);
        assert_eq!(feedback.read(loud.ace, None, 20, false), 16, "the last option reported marks");
    }

    #[test]
    fn an_acknowledgement_of_nothing_new_is_ignored() {
        let (mut counters, mut feedback) =
            (counting(OptionRule::Always), AccEcnFeedback::new(1000));
        let overtaken = ack(&mut counters);
        count(&mut counters, 3);
        let newest = ack(&mut counters);
        assert_eq!(feedback.read(newest.ace, newest.ce_bytes, 3, false), 3);
        assert_eq!(feedback.read(overtaken.ace, overtaken.ce_bytes, 0, false), 0);
        count(&mut counters, 1);
        let next = ack(&mut counters);
        assert_eq!(feedback.read(next.ace, next.ce_bytes, 1, false), 1);
        count(&mut counters, 1);
        let newer = ack(&mut counters);
        assert_eq!(feedback.read(newer.ace, newer.ce_bytes, 0, true), 1, "by its timestamp");
    }

    #[test]
    fn a_mark_after_none_and_every_second_mark_are_option_sent_at_once() {
        let mut counters = counting(OptionRule::Always);
        let at_once: Vec<bool> = [false, true, true, true, false, true]
            .map(|marked| {
                let at_once = counters.count(if marked { Ecn::Ce } else { Ecn::Ect1 }, 1040);
                if at_once {
                    ack(&mut counters);
                }
                at_once
            })
            .to_vec();
        assert_eq!(at_once, [false, true, false, true, false, true]);
    }

    #[test]
    fn rfc_9768_section_3_2_3_3_the_option_is_sent_after_changes_and_as_a_beacon() {
        let mut counters = counting(OptionRule::Sparingly);
        let mut at_ms = 0;
        let mut has_option = |field: Ecn| {
            at_ms += 10;
            counters.count(field, 1040);
            let mut ack = Packet::new(PacketKind::Ack, 0, 0, 0, 52, Time::ZERO);
            let now = Time::ZERO + Span::from_millis(at_ms);
            counters.report(now, (0, true), Some(Span::from_millis(90)), &mut ack);
            ack.ce_bytes.is_some()
        };
        let mut run = |field: Ecn| (0..7).map(|_| has_option(field)).collect::<Vec<_>>();
        // The option is sent twice after the change, then once per 30 ms.
        assert_eq!(run(Ecn::Ect1), [true, true, false, false, true, false, false]);
        assert_eq!(run(Ecn::Ce), [true; 7]);
        assert_eq!(run(Ecn::Ect1), [true, true, false, false, true, false, false]);
    }

    #[test]
    fn the_option_is_omitted_without_room_for_it() {
        let mut counters = counting(OptionRule::Always);
        counters.count(Ecn::Ect0, 1040);
        let mut full = Packet::new(PacketKind::Ack, 0, 0, 0, 80, Time::ZERO);
        assert_eq!(counters.report(Time::ZERO, (3, true), None, &mut full), None);
        assert_eq!((full.ace, full.ce_bytes, counters.option_fields().count()), (5, None, 0));
    }

    #[test]
    fn a_field_that_has_not_changed_is_left_out_first() {
        let mut counters = counting(OptionRule::Always);
        let mut fields_next_to = |field: Ecn, blocks: u32| {
            counters.count(field, 1040);
            let mut ack = Packet::new(PacketKind::Ack, 0, 0, 0, 52, Time::ZERO);
            counters.report(Time::ZERO, (blocks, true), None, &mut ack);
            counters.option_fields().collect::<Vec<_>>()
        };
        assert_eq!(fields_next_to(Ecn::Ect1, 1), [1001, 0, 1]);
        assert_eq!(fields_next_to(Ecn::Ce, 2), [1001, 1000]);
        assert_eq!(fields_next_to(Ecn::NotEct, 2), [1001, 1000]);
        assert!(fields_next_to(Ecn::Ect0, 2).is_empty());
        assert_eq!(fields_next_to(Ecn::NotEct, 0), [1001, 1000, 1001], "it waits for room");
    }

    #[test]
    fn acknowledgements_that_deliver_many_packets_as_a_rule_hide_no_marks() {
        let mut feedback = AccEcnFeedback::new(1000);
        assert_eq!(feedback.read(5, None, 10, false), 0, "the mean of the first is ten");
        let mut feedback = AccEcnFeedback::new(1000);
        assert_eq!(feedback.read(5, None, 2, false), 0);
        assert_eq!(feedback.read(5, None, 10, false), 8, "the mean is little above two");
    }
}
