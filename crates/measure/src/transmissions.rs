//! Bytes carried by a server; a transmission in progress counts in part.

use sojourn_aqm::{Span, Time};

/// The transmissions of a server, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transmissions {
    /// The total time of all transmissions, including the whole current one.
    busy: Span,
    bytes: u64,
    /// Bytes that the line added to all transmissions.
    overhead_bytes: u64,
    present: PacketInService,
}

/// A packet being sent by a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketInService {
    /// Its size as counted by the queue.
    pub bytes: u32,
    /// Bytes added by the line.
    pub overhead: u32,
    /// Its transmission time.
    pub span: Span,
    /// When it began.
    pub began: Time,
}

impl PacketInService {
    /// When it ends.
    pub fn end(&self) -> Time {
        self.began + self.span
    }

    /// Bits of this packet, if it has `bytes`, that were not carried by `now`; a partially carried
    /// bit counts as not carried.
    pub(crate) fn bits_to_come(&self, now: Time, bytes: u64) -> u64 {
        let rest = u128::from(self.end().since(now).as_nanos());
        if rest == 0 {
            return 0;
        }
        (u128::from(bytes) * 8 * rest).div_ceil(u128::from(self.span.as_nanos())) as u64
    }
}

/// The work of a server up to some time, or between two times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Carried {
    /// How long it was busy.
    pub busy: Span,
    /// Bits of packets, by their sizes in the queue.
    pub bits: u64,
    /// Bits added by the line to all packets, including the current one.
    pub overhead_bits: u64,
}

impl Carried {
    /// The difference from an earlier value.
    pub fn since(self, then: Carried) -> Carried {
        let busy = Span::from_nanos(self.busy.as_nanos() - then.busy.as_nanos());
        let overhead_bits = self.overhead_bits - then.overhead_bits;
        Carried { busy, bits: self.bits - then.bits, overhead_bits }
    }
}

impl Transmissions {
    /// Starts a transmission of this many bytes that takes `span`; the line adds `overhead`.
    #[inline]
    pub(crate) fn begin(&mut self, now: Time, (bytes, overhead): (u32, u32), span: Span) {
        debug_assert!(self.present.end() <= now, "one transmission at a time");
        self.busy = self.busy + span;
        self.bytes += u64::from(bytes);
        if overhead > 0 {
            self.overhead_bytes += u64::from(overhead);
        }
        self.present = PacketInService { bytes, overhead, span, began: now };
    }

    /// Adds work that is reported when it is done: `bytes` carried in the time `busy`.
    #[inline]
    pub(crate) fn add(&mut self, bytes: u32, busy: Span) {
        self.busy = self.busy + busy;
        self.bytes += u64::from(bytes);
    }

    /// The work done by `now`, which must not be before the start of the current transmission.
    pub(crate) fn until(&self, now: Time) -> Carried {
        let busy =
            Span::from_nanos(self.busy.as_nanos() - self.present.end().since(now).as_nanos());
        let bits = self.bytes * 8 - self.bits_to_come(now);
        Carried { busy, bits, overhead_bits: self.overhead_bytes * 8 }
    }

    /// The last transmission that began.
    pub(crate) fn present(&self) -> PacketInService {
        self.present
    }

    /// Bits of the current transmission not carried by `now`.
    pub(crate) fn bits_to_come(&self, now: Time) -> u64 {
        self.present.bits_to_come(now, u64::from(self.present.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transmission_counts_as_far_as_it_has_come() {
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut sent = Transmissions::default();
        sent.begin(at(1), (1_000, 0), Span::from_millis(2));
        sent.begin(at(4), (500, 0), Span::from_millis(4));
        let carried =
            |ms: u64| (sent.until(at(ms)).busy.as_nanos() / 1_000_000, sent.until(at(ms)).bits);
        assert_eq!([4, 5, 8, 9].map(carried), [(2, 8_000), (3, 9_000), (6, 12_000), (6, 12_000)]);
        assert_eq!(sent.until(at(8)).since(sent.until(at(5))).bits, 3_000);
    }

    #[test]
    fn a_bit_in_part_is_still_to_come() {
        let mut sent = Transmissions::default();
        sent.begin(Time::ZERO, (1, 0), Span::from_nanos(80));
        assert_eq!([79, 70, 11, 10].map(|ns| sent.until(Time::from_nanos(ns)).bits), [7, 7, 1, 1]);
    }
}
