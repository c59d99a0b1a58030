//! Accurate ECN feedback (RFC 9768; endpoints sheet §2.5): a counter of packets received with CE, modulo
//! eight, on every acknowledgement, and a counter of their payload bytes.
//!
//! Negotiation is assumed: both ends of a simulated flow can do it. The counter of bytes is the option's, 24
//! bits wide; the counters of ECT(0) and ECT(1) bytes are left out, because nobody here reads them.

use crate::packet::Packet;

/// Both ends start the packet counter here, so that a zeroed field is noticed (RFC 9768 §3.2.1).
const FIRST: u32 = 5;
/// The packet counter wraps at this.
const PACKETS: u32 = 8;
/// The counter of bytes wraps at this.
const BYTES: u32 = 1 << 24;
/// RFC 9768 §3.2.2.5: an acknowledgement at the latest after so many marks.
const MARKS_PER_ACK: u32 = 2;

/// What the receiver has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counters {
    header_bytes: u32,
    ce_packets: u32,
    ce_bytes: u32,
    last_marked: bool,
    unreported: u32,
}

impl Counters {
    /// Nothing received yet; `header_bytes` of a segment are not counted.
    pub fn new(header_bytes: u32) -> Counters {
        Counters { header_bytes, ce_packets: 0, ce_bytes: 0, last_marked: false, unreported: 0 }
    }

    /// Counts a segment of `ip_bytes`; returns whether it calls for an acknowledgement: a mark after none, or the second
    /// mark not yet reported.
    pub fn count(&mut self, marked: bool, ip_bytes: u32) -> bool {
        let begins = marked && !self.last_marked;
        self.last_marked = marked;
        if marked {
            self.ce_packets = self.ce_packets.wrapping_add(1);
            self.ce_bytes = (self.ce_bytes + ip_bytes - self.header_bytes) % BYTES;
            self.unreported += 1;
        }
        begins || self.unreported >= MARKS_PER_ACK
    }

    /// Writes the counters on an acknowledgement.
    pub fn report(&mut self, ack: &mut Packet) {
        ack.ace = self.ace();
        ack.ce_bytes = self.ce_bytes;
        self.unreported = 0;
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
    /// Marked bytes and packets read so far.
    bytes: u64,
    packets: u64,
}

impl Reader {
    /// Before the first acknowledgement; `payload_bytes` is that of a full segment.
    pub fn new(payload_bytes: u32) -> Reader {
        Reader { ace: FIRST, ce_bytes: 0, payload_bytes, bytes: 0, packets: 0 }
    }

    /// How many packets arrived with CE since the last acknowledgement that was read. The field alone says
    /// it modulo eight; the bytes, where the option is there, say which of these it is.
    pub fn read(&mut self, ace: u8, ce_bytes: Option<u32>) -> u32 {
        let ace = u32::from(ace) % PACKETS;
        let mut fresh = (ace + PACKETS - self.ace) % PACKETS;
        self.ace = ace;
        if let Some(ce_bytes) = ce_bytes {
            self.bytes += u64::from((ce_bytes + BYTES - self.ce_bytes) % BYTES);
            self.ce_bytes = ce_bytes;
            let at_least = self.bytes.div_ceil(u64::from(self.payload_bytes));
            let missed = at_least.saturating_sub(self.packets + u64::from(fresh));
            fresh += (missed as u32).div_ceil(PACKETS) * PACKETS;
        }
        self.packets += u64::from(fresh);
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use sojourn_aqm::Time;

    fn ack(counters: &mut Counters) -> Packet {
        let mut ack = Packet::new(Kind::Ack, 0, 0, 0, 52, Time::ZERO);
        counters.report(&mut ack);
        ack
    }

    #[test]
    fn t79_three_marks_make_the_field_zero() {
        let mut counters = Counters::new(40);
        assert_eq!(counters.ace(), 5);
        (0..3).for_each(|_| {
            counters.count(true, 1040);
        });
        assert_eq!(counters.ace(), 0);
    }

    #[test]
    fn script_37_the_sender_counts_what_the_receiver_saw() {
        let (mut counters, mut reader) = (Counters::new(40), Reader::new(1000));
        let read = |counters: &mut Counters, reader: &mut Reader, marks: u32| {
            (0..marks).for_each(|_| {
                counters.count(true, 1040);
            });
            let ack = ack(counters);
            reader.read(ack.ace, Some(ack.ce_bytes))
        };
        // The bytes wrap at 16.8 MB, the field at eight.
        for marks in [0, 1, 7, 8, 9, 40, 0, 10_000, 10_000] {
            assert_eq!(read(&mut counters, &mut reader, marks), marks);
        }
    }

    #[test]
    fn script_38_without_the_option_the_field_is_read_modulo_eight() {
        let (mut counters, mut reader) = (Counters::new(40), Reader::new(1000));
        for (marks, read) in [(3, 3), (7, 7), (8, 0), (9, 1)] {
            (0..marks).for_each(|_| {
                counters.count(true, 1040);
            });
            assert_eq!(reader.read(counters.ace(), None), read);
        }
        // An option that comes back tells what was missed: 27 marks in all, 11 read.
        let late = ack(&mut counters);
        assert_eq!(reader.read(late.ace, Some(late.ce_bytes)), 16);
    }

    #[test]
    fn a_mark_after_none_and_every_second_mark_are_told_at_once() {
        let mut counters = Counters::new(40);
        let told: Vec<bool> = [false, true, true, true, false, true]
            .map(|marked| {
                let told = counters.count(marked, 1040);
                if told {
                    ack(&mut counters);
                }
                told
            })
            .to_vec();
        assert_eq!(told, [false, true, false, true, false, true]);
    }
}
