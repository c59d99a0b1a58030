//! A running fingerprint of the stream of events.

use sojourn_aqm::Time;

use crate::PacketView;

/// The fingerprint so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Digest(u64);

impl Digest {
    /// Mixes in one event. Every bit of the input reaches every bit of the digest.
    #[inline]
    pub fn mix(&mut self, now: Time, what: u64) {
        let x = (self.0 ^ now.as_nanos()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 29) ^ what).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        self.0 = x ^ (x >> 32);
    }

    /// As a number.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// What happened to which packet where, in 64 bits.
#[inline]
pub(crate) fn event(link: u16, packet: &PacketView, code: u64) -> u64 {
    u64::from(packet.seq)
        ^ u64::from(packet.flow) << 32
        ^ code << 52
        ^ u64::from(link) << 58
        ^ (packet.kind as u64) << 49
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::Ecn;

    use super::*;
    use crate::PacketKind;

    /// Computed with Python's integers, which do not wrap by themselves.
    #[test]
    fn two_events_give_the_number_that_was_computed_elsewhere() {
        let mut digest = Digest::default();
        digest.mix(Time::from_nanos(3), 5);
        assert_eq!(digest.value(), 0xaca88054848d5205);
        digest.mix(Time::from_nanos(0x1234_5678_9abc_def0), 0xf0e1_d2c3_b4a5_9687);
        assert_eq!(digest.value(), 0xf4e6776f898df7af);
    }

    #[test]
    fn every_part_of_an_event_has_bits_of_its_own() {
        let (flow, seq, kind) = (7, 5, PacketKind::Syn);
        let packet = PacketView { flow, seq, kind, bytes: 9, ecn_in: Ecn::NotEct, marked: None };
        let parts = [5, 7 << 32, 2 << 49, 9 << 52, 3 << 58];
        assert_eq!(event(3, &packet, 9), parts.iter().sum::<u64>());
    }
}
