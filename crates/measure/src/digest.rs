//! A running fingerprint of the events: one per link, combined in the order of the links. An engine
//! may therefore compute events at one link before earlier events at another.

use sojourn_aqm::Time;

use crate::PacketView;

/// The fingerprint of the events at a link so far.
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

    /// Combines the digests of all links into one number, by mixing the others into the first.
    pub fn of_all(links: impl IntoIterator<Item = Digest>) -> u64 {
        let mixed = links.into_iter().reduce(|mut all, link| {
            all.mix(Time::ZERO, link.0);
            all
        });
        mixed.unwrap_or_default().0
    }
}

/// Encodes one event of one packet in 64 bits.
#[inline]
pub(crate) fn event(packet: &PacketView, code: u64) -> u64 {
    u64::from(packet.seq) ^ u64::from(packet.flow) << 32 ^ code << 52 ^ (packet.kind as u64) << 49
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::Ecn;

    use super::*;
    use crate::PacketKind;

    /// Computed with Python's integers, which do not wrap.
    #[test]
    fn two_events_give_the_number_that_was_computed_elsewhere() {
        let mut digest = Digest::default();
        digest.mix(Time::from_nanos(3), 5);
        assert_eq!(digest.0, 0xaca88054848d5205);
        digest.mix(Time::from_nanos(0x1234_5678_9abc_def0), 0xf0e1_d2c3_b4a5_9687);
        assert_eq!(digest.0, 0xf4e6776f898df7af);
    }

    #[test]
    fn every_part_of_an_event_has_its_own_bits() {
        let (flow, seq, kind) = (7, 5, PacketKind::Syn);
        let packet = PacketView {
            flow,
            seq,
            kind,
            bytes: 9,
            ecn_in: Ecn::NotEct,
            dscp: 0,
            marked: None,
            is_copy: false,
        };
        let parts = [5, 7 << 32, 2 << 49, 9 << 52];
        assert_eq!(event(&packet, 9), parts.iter().sum::<u64>());
    }

    #[test]
    fn the_order_of_the_links_counts_and_the_order_between_them_does_not() {
        let of = |events: &[(usize, u64)]| {
            let mut links = [Digest::default(); 2];
            events.iter().for_each(|&(link, what)| links[link].mix(Time::ZERO, what));
            Digest::of_all(links)
        };
        assert_eq!(of(&[(0, 5), (1, 6), (0, 7)]), of(&[(1, 6), (0, 5), (0, 7)]));
        assert_ne!(of(&[(0, 5), (1, 6), (0, 7)]), of(&[(0, 7), (1, 6), (0, 5)]));
        assert_ne!(of(&[(0, 5), (1, 6)]), of(&[(1, 5), (0, 6)]));
    }
}
