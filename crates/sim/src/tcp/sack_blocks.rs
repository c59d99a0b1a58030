//! The SACK blocks of a receiver, the most recently changed first (RFC 2018 §4).
//!
//! A Linux receiver remembers four blocks, and an out-of-order segment extends one of these or
//! begins another (Linux 6.1 tcp_input.c, `tcp_sack_new_ofo_skb`, `tcp_sack_maybe_coalesce`). So a
//! segment that fills a hole in a contiguous range whose block has been forgotten is reported
//! alone. RFC 2018 §4 and ns-2 report the whole range.

use std::array;

use crate::packet::{Block, SACK_BLOCKS};

/// Maximum number of remembered blocks (Linux `TCP_NUM_SACKS`).
const MOST: usize = 4;
/// Blocks that are reported reliably even if acknowledgements may be lost (Linux
/// `TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

/// The blocks of one receiver.
#[derive(Clone, Debug)]
pub(crate) struct SackBlocks {
    /// Most recent first; unused blocks are empty.
    blocks: [Block; MOST],
    /// Whether a block is the whole contiguous range around its last segment.
    whole_rows: bool,
}

impl SackBlocks {
    /// No blocks.
    pub(crate) fn new(whole_rows: bool) -> SackBlocks {
        SackBlocks { blocks: [Block::default(); MOST], whole_rows }
    }

    /// Whether it holds no blocks.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks[0].is_empty()
    }

    fn known(&self) -> impl Iterator<Item = Block> {
        self.blocks.into_iter().take_while(|block| !block.is_empty())
    }

    /// The index of the first block that a segment touches.
    fn touched(&self, seq: u32) -> Option<usize> {
        self.known().position(|block| touch(block, Block::one(seq)))
    }

    /// Whether an out-of-order segment would push a block out of the places that are reported
    /// reliably.
    pub(crate) fn crowds_out(&self, seq: u32) -> bool {
        self.touched(seq).unwrap_or_else(|| self.known().count()) >= EXPECTED
    }

    /// Extends the block that an out-of-order segment touches, if any; the block keeps its place.
    pub(crate) fn extend(&mut self, seq: u32) {
        if let Some(place) = self.touched(seq) {
            self.blocks[place] = union(self.blocks[place], Block::one(seq));
        }
    }

    /// Adds an out-of-order segment, which is now in the contiguous range `row`.
    pub(crate) fn add(&mut self, seq: u32, row: Block) {
        let segment = Block::one(seq);
        let [first, ..] = &mut self.blocks;
        // Usually the segment is the first, or extends the first block to the whole range; then no
        // other block can lie in that range.
        if first.is_empty() {
            *first = if self.whole_rows { row } else { segment };
            return;
        }
        if touch(*first, segment) && union(*first, segment) == row {
            *first = row;
            return;
        }
        let mut changed = match self.touched(seq) {
            _ if self.whole_rows => row,
            Some(place) => union(self.blocks[place], segment),
            None => segment,
        };
        let mut blocks = [Block::default(); MOST];
        let mut places = blocks[1..].iter_mut();
        for block in self.known() {
            if touch(block, changed) {
                changed = union(block, changed);
            } else if let Some(place) = places.next() {
                *place = block;
            }
        }
        blocks[0] = changed;
        self.blocks = blocks;
    }

    /// Drops blocks below `next`, where everything is in order now.
    pub(crate) fn forget_below(&mut self, next: u32) {
        let mut waiting = self.blocks.into_iter().filter(|block| block.end > next);
        self.blocks = array::from_fn(|_| waiting.next().unwrap_or_default());
    }

    /// The blocks to report in an acknowledgement, preceded by a duplicate (RFC 2883 §4) if any.
    #[inline]
    pub(crate) fn report(&self, duplicate: Block) -> [Block; SACK_BLOCKS] {
        let [first, second, third, _] = self.blocks;
        if duplicate.is_empty() { [first, second, third] } else { self.report_after(duplicate) }
    }

    #[cold]
    fn report_after(&self, duplicate: Block) -> [Block; SACK_BLOCKS] {
        let [first, second, ..] = self.blocks;
        [duplicate, first, second]
    }
}

/// Whether two blocks overlap or are adjacent.
fn touch(one: Block, other: Block) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// The union of two blocks that touch.
fn union(one: Block, other: Block) -> Block {
    Block { start: one.start.min(other.start), end: one.end.max(other.end) }
}

#[cfg(test)]
mod tests {
    use super::super::ranges::Ranges;
    use super::*;

    /// The blocks reported after these segments.
    fn reported(whole_rows: bool, segments: &[u32]) -> [(u32, u32); SACK_BLOCKS] {
        let (mut blocks, mut beyond) = (SackBlocks::new(whole_rows), Ranges::default());
        for &seq in segments {
            let row = beyond.insert(Block::one(seq), |_| {});
            blocks.add(seq, row);
        }
        blocks.report(Block::default()).map(|block| (block.start, block.end))
    }

    /// Fact tcp-38.
    #[test]
    fn a_segment_that_fills_a_hole_in_a_row_that_is_forgotten_is_reported_alone() {
        let forgotten = [5, 6, 8, 20, 22, 24, 26, 7];
        assert_eq!(reported(false, &forgotten), [(7, 8), (26, 27), (24, 25)]);
        assert_eq!(reported(true, &forgotten), [(5, 9), (26, 27), (24, 25)]);
        assert_eq!(reported(false, &[5, 6, 8, 20, 7]), [(5, 9), (20, 21), (0, 0)], "remembered");
    }

    /// Linux `TCP_NUM_SACKS`.
    #[test]
    fn the_fourth_block_is_remembered_but_not_reported() {
        let four = [5, 10, 15, 20];
        assert_eq!(reported(false, &four), [(20, 21), (15, 16), (10, 11)]);
        let joined = [&four[..], &[6]].concat();
        assert_eq!(reported(false, &joined), [(5, 7), (20, 21), (15, 16)]);
    }
}
