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
