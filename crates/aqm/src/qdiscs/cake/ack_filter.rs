//! CAKE's ACK filter: drops an older acknowledgement that a new arrival of its connection makes
//! redundant.
//!
//! Source: Linux 6.1 `sch_cake.c`, `cake_ack_filter`, `cake_tcph_may_drop` and
//! `cake_tcph_sack_compare`.

use core::cmp::Ordering;

use crate::packet::{Packet, TcpSegment};

crate::words! {
    /// Whether older acknowledgements are dropped.
    pub enum AckFilter {
        /// None is.
        Off = "off" | "no-ack-filter",
        /// The first of two redundant acknowledgements, so two stay in the queue.
        On = "on" | "ack-filter",
        /// Also a single redundant one directly ahead of the arrival, unless their ECN echoes
        /// differ.
        Aggressive = "aggressive" | "ack-filter-aggressive",
    }
}

/// A redundant acknowledgement.
struct Candidate<K> {
    key: K,
    ecn_echo: u8,
    /// Whether no packet is between the candidate and the arrival.
    is_adjacent: bool,
}

/// The packet to drop because of `latest`, the last of a queue; `older` are the other packets with
/// their keys, starting at the head.
pub(super) fn redundant<'a, P: Packet + 'a, K>(
    older: impl Iterator<Item = (K, &'a P)>,
    latest: &P,
    filter: AckFilter,
) -> Option<K> {
    let new = latest.tcp().filter(|new| new.has_ack && !new.has_syn)?;
    let mut candidate: Option<Candidate<K>> = None;
    for (key, packet) in older {
        if let Some(candidate) = &mut candidate {
            candidate.is_adjacent = false;
        }
        let of_connection = packet.flow() == latest.flow();
        let Some(old) = packet.tcp().filter(|_| of_connection) else { continue };
        // A change of the echo is information, so acknowledgements from before the change stay.
        candidate = candidate.filter(|candidate| candidate.ecn_echo == old.ecn_echo);
        if !is_covered(&old, &new) {
            continue;
        }
        if let Some(first) = candidate {
            return Some(first.key);
        }
        candidate = Some(Candidate { key, ecn_echo: old.ecn_echo, is_adjacent: true });
    }
    let allows = |candidate: &Candidate<K>| {
        filter == AckFilter::Aggressive
            && candidate.is_adjacent
            && candidate.ecn_echo == new.ecn_echo
    };
    candidate.filter(allows).map(|candidate| candidate.key)
}

/// Whether an older segment is an acknowledgement whose information is completely contained in the
/// new one.
fn is_covered(old: &TcpSegment, new: &TcpSegment) -> bool {
    let [value, echo] = new.stamps.unwrap_or_default();
    let has_newer_stamps = old.stamps.is_some_and(|[old_value, old_echo]| {
        is_after(old_value, value) || is_after(old_echo, echo)
    });
    if !old.is_pure_ack || has_newer_stamps || is_after(old.ack, new.ack) {
        return false;
    }
    match compare_sacks(old, new) {
        Ordering::Less => true,
        Ordering::Equal => old.ack != new.ack,
        Ordering::Greater => false,
    }
}

/// Compares the ranges that the older segment SACKs with the new segment's: `Less` if the new
/// segment covers them and more. A DSACK is always more.
fn compare_sacks(old: &TcpSegment, new: &TcpSegment) -> Ordering {
    let (olds, news) = (old.sack_blocks(), new.sack_blocks());
    match (olds.is_empty(), news.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Less,
        (false, true) => return Ordering::Greater,
        (false, false) => {}
    }
    let is_within = |&[start, end]: &[u32; 2]| {
        news.iter().any(|&[first, last]| !is_after(first, start) && !is_after(end, last))
    };
    let is_duplicate = |&[start, _]: &[u32; 2]| is_after(old.ack, start);
    if olds.iter().any(|block| is_duplicate(block) || !is_within(block)) {
        return Ordering::Greater;
    }
    let size = |blocks: &[[u32; 2]]| {
        blocks.iter().fold(0_u32, |sum, [start, end]| sum.wrapping_add(end.wrapping_sub(*start)))
    };
    if size(news) > size(olds) { Ordering::Less } else { Ordering::Equal }
}

/// Whether one 32-bit number is later than another, modulo 2^32.
fn is_after(one: u32, other: u32) -> bool {
    (other.wrapping_sub(one) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;

    /// A segment of flow 1, or of flow 2 if it is `other`.
    #[derive(Clone, Copy)]
    struct Segment(u64, TcpSegment);

    impl Packet for Segment {
        fn bytes(&self) -> u32 {
            66
        }
        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }
        fn set_ce(&mut self) {}
        fn flow(&self) -> u64 {
            self.0
        }
        fn tcp(&self) -> Option<TcpSegment> {
            Some(self.1)
        }
    }

    fn ack(number: u32) -> Segment {
        let segment =
            TcpSegment { ack: number, has_ack: true, is_pure_ack: true, ..TcpSegment::default() };
        Segment(1, segment)
    }

    fn sacks(number: u32, blocks: &[[u32; 2]]) -> Segment {
        let Segment(flow, mut segment) = ack(number);
        segment.sack[..blocks.len()].copy_from_slice(blocks);
        segment.sack_count = blocks.len() as u8;
        Segment(flow, segment)
    }

    fn dropped(queue: &[Segment], filter: AckFilter) -> Option<usize> {
        let (latest, older) = queue.split_last().unwrap();
        redundant(older.iter().enumerate(), latest, filter)
    }

    /// Linux 6.1 sch_cake.c, cake_ack_filter, drops the first of two eligible acknowledgements.
    #[test]
    fn the_filter_leaves_two_acknowledgements_and_the_aggressive_one_leaves_one() {
        let two = [ack(10), ack(20)];
        assert_eq!(dropped(&two, AckFilter::On), None);
        assert_eq!(dropped(&two, AckFilter::Aggressive), Some(0));
        let three = [ack(10), ack(20), ack(30)];
        assert_eq!(dropped(&three, AckFilter::On), Some(0));
        let apart = [ack(10), Segment(2, ack(5).1), ack(20)];
        assert_eq!(dropped(&apart, AckFilter::Aggressive), None);
    }

    #[test]
    fn news_is_kept() {
        let three = |old: Segment| [old, ack(20), ack(30)];
        let kept = |change: fn(&mut TcpSegment)| {
            let mut old = ack(10);
            change(&mut old.1);
            assert_eq!(dropped(&three(old), AckFilter::On), None);
        };
        kept(|old| old.is_pure_ack = false);
        kept(|old| old.ack = 31);
        kept(|old| old.ecn_echo = 1);
        kept(|old| old.stamps = Some([1, 0]));
        assert_eq!(dropped(&three(sacks(10, &[[40, 50]])), AckFilter::On), None);
        // Duplicate acknowledgements stay, because fast retransmit needs them.
        assert_eq!(dropped(&[ack(10), ack(10), ack(10)], AckFilter::On), None);
    }

    #[test]
    fn a_larger_sack_makes_a_smaller_one_redundant() {
        let queue = |first: &[[u32; 2]]| {
            [sacks(10, first), sacks(10, &[[40, 60]]), sacks(10, &[[40, 70], [80, 90]])]
        };
        assert_eq!(dropped(&queue(&[[40, 50]]), AckFilter::On), Some(0));
        assert_eq!(dropped(&queue(&[[75, 78]]), AckFilter::On), None);
        // A DSACK is a block below the acknowledgement number.
        assert_eq!(dropped(&queue(&[[5, 8]]), AckFilter::On), None);
    }
}
