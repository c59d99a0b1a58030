//! Out-of-order segments in a Linux receiver, stored in buffers (`sk_buff`) of a few segments each,
//! as in Linux. A segment joins the buffer that ends where it begins, if there is room
//! (tcp_input.c, `tcp_ooo_try_coalesce`, `tcp_ofo_queue`); buffers that touch stay separate until a
//! hole before them is filled (fact tcp-54).

use std::collections::VecDeque;

/// Fragments in a buffer (Linux `MAX_SKB_FRAGS`).
pub(super) const MOST_FRAGMENTS: u32 = 17;
/// Log2 of the block size of the sender's data in bytes (Linux `SKB_FRAG_PAGE_ORDER`): a segment is
/// one fragment, or two if it spans two blocks.
const BLOCK_BITS: u32 = 15;

/// The buffers of one receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitingBuffers {
    /// The first segment of each buffer, in order.
    starts: VecDeque<u32>,
}

/// Buffers that have become readable behind the segment that fills a hole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Released {
    /// How many there are.
    pub(super) buffers: u32,
    /// Segments in the first buffer to be read, including the one that fills the hole.
    pub(super) first: u32,
}

impl WaitingBuffers {
    /// Stores an out-of-order segment; `follows` says whether it directly follows another. Returns
    /// whether it joins the buffer of that one.
    #[inline]
    pub(super) fn add(&mut self, seq: u32, follows: bool, payload: u32) -> bool {
        let before = match self.starts.back() {
            Some(&last) if last > seq => self.starts.partition_point(|&start| start < seq),
            _ => self.starts.len(),
        };
        let joins = follows
            && before.checked_sub(1).is_some_and(|place| {
                fragments(self.starts[place], seq + 1, payload) <= MOST_FRAGMENTS
            });
        if !joins {
            self.starts.insert(before, seq);
        }
        joins
    }

    /// Releases the stored segments below `next`, now in order behind the segment `filling`.
    pub(super) fn release(&mut self, filling: u32, next: u32, payload: u32) -> Released {
        let (mut buffers, mut first_end, mut joins) = (0, filling + 1, true);
        while self.starts.front().is_some_and(|&start| start < next) {
            self.starts.pop_front();
            buffers += 1;
            let end = self.starts.front().map_or(next, |&start| start.min(next));
            joins &= fragments(filling, end, payload) <= MOST_FRAGMENTS;
            if joins {
                first_end = end;
            }
        }
        Released { buffers, first: first_end - filling }
    }
}

/// Fragments of the segments from `start` to before `end`, each with this payload.
fn fragments(start: u32, end: u32, payload: u32) -> u32 {
    let block_of = |byte: u64| byte >> BLOCK_BITS;
    let [first, past] = [start, end].map(|segment| u64::from(segment) * u64::from(payload));
    end - start + (block_of(past - 1) - block_of(first)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYLOAD: u32 = 1448;

    /// Whether each of these segments joins another buffer, given that all others have arrived.
    fn joined(segments: &[u32]) -> (Vec<bool>, WaitingBuffers) {
        let mut buffers = WaitingBuffers::default();
        let mut known: Vec<u32> = Vec::new();
        let add = |&seq: &u32| {
            let joins = buffers.add(seq, known.contains(&(seq - 1)), PAYLOAD);
            known.push(seq);
            joins
        };
        (segments.iter().map(add).collect(), buffers)
    }

    #[test]
    fn a_segment_joins_the_buffer_before_it_and_none_behind_it() {
        let (joins, mut buffers) = joined(&[5, 6, 8, 7, 9]);
        assert_eq!(joins, [false, true, false, true, true]);
        // 5 to 7 are one buffer, 8 and 9 another. When 4 fills the hole, all are read as one.
        assert_eq!(buffers.release(4, 10, PAYLOAD), Released { buffers: 2, first: 6 });
        assert!(buffers.starts.is_empty());
    }

    /// Byte 32,768 is in the 23rd segment, number 22, which therefore is two fragments.
    #[test]
    fn a_buffer_has_room_for_seventeen_fragments() {
        let row: Vec<u32> = (1..30).collect();
        let (joins, mut buffers) = joined(&row);
        let starts = row.iter().zip(joins).filter(|(_, joins)| !joins).map(|(&seq, _)| seq);
        assert_eq!(starts.collect::<Vec<_>>(), [1, 18]);
        assert_eq!(buffers.release(0, 30, PAYLOAD), Released { buffers: 2, first: 1 });
        assert_eq!([fragments(21, 22, PAYLOAD), fragments(22, 23, PAYLOAD)], [1, 2]);
    }

    #[test]
    fn what_is_read_first_ends_with_the_buffer_that_fits() {
        let waiting: Vec<u32> = [1..10, 11..20, 10..11].into_iter().flatten().collect();
        let (_, mut buffers) = joined(&waiting);
        // Segments 1 to 10 are a buffer of ten; the buffer of nine does not fit.
        assert_eq!(buffers.release(0, 20, PAYLOAD), Released { buffers: 2, first: 11 });
    }
}
