//! Sets of segment numbers as disjoint ranges: what was received above a hole.

use std::collections::VecDeque;

use crate::packet::Block;

/// A set of segment numbers as disjoint, non-adjacent blocks.
///
/// They lie in a ring, in their order. Nearly every segment arrives beyond the last block or fills
/// the first hole, and removing a block moves those on its shorter side only: half of a window of
/// 40,000 may be holes when slow start overshoots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    blocks: VecDeque<Block>,
}

impl Ranges {
    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Adds a block and calls `fresh` for every part of it that was not yet in the set. Returns the
    /// block of the set that now contains it.
    #[inline]
    pub(crate) fn insert(&mut self, block: Block, mut fresh: impl FnMut(Block)) -> Block {
        debug_assert!(!block.is_empty(), "an empty block holds no segment");
        if let Some(last) = self.blocks.back_mut().filter(|last| last.end == block.start) {
            fresh(block);
            last.end = block.end;
            return *last;
        }
        let first = self.first_ending_from(block.start);
        let Some(touched) = self.blocks.get(first).copied().filter(|b| b.start <= block.end) else {
            fresh(block);
            if first == self.blocks.len() {
                self.blocks.push_back(block); // nearly always
            } else {
                self.blocks.insert(first, block);
            }
            return block;
        };
        if touched.start <= block.start && block.end <= touched.end {
            return touched;
        }
        let (mut from, mut end) = (block.start, first);
        while let Some(known) = self.blocks.get(end).filter(|known| known.start <= block.end) {
            if from < known.start {
                fresh(Block { start: from, end: known.start });
            }
            from = known.end;
            end += 1;
        }
        if from < block.end {
            fresh(Block { start: from, end: block.end });
        }
        let merged = Block { start: block.start.min(touched.start), end: block.end.max(from) };
        self.blocks[first] = merged;
        if end > first + 1 {
            self.blocks.drain(first + 1..end);
        }
        merged
    }

    /// Adds a block that begins in the last one or beyond it, and returns the part of it that was
    /// not yet in the set, which may be empty. None for any other block, which is not added.
    #[inline]
    pub(crate) fn append(&mut self, block: Block) -> Option<Block> {
        debug_assert!(!block.is_empty(), "an empty block holds no segment");
        match self.blocks.back_mut() {
            Some(last) if block.start < last.start => return None,
            Some(last) if block.start <= last.end => {
                let start = last.end;
                last.end = last.end.max(block.end);
                return Some(Block { start, end: last.end });
            }
            Some(_) | None => self.blocks.push_back(block),
        }
        Some(block)
    }

    /// The place of the first block that ends at `seq` or above it.
    #[inline]
    fn first_ending_from(&self, seq: u32) -> usize {
        match self.blocks.back() {
            Some(last) if last.end < seq => self.blocks.len(),
            Some(last) if last.start <= seq => self.blocks.len() - 1,
            Some(_) => self.blocks.partition_point(|block| block.end < seq),
            None => 0,
        }
    }

    /// Removes everything below `floor`.
    #[inline]
    pub(crate) fn forget_below(&mut self, floor: u32) {
        while let Some(first) = self.blocks.front_mut()
            && first.start < floor
        {
            if first.end > floor {
                first.start = floor;
                return;
            }
            self.blocks.pop_front();
        }
    }

    /// Takes the first block out if it starts at `start`.
    #[inline]
    pub(crate) fn take_at(&mut self, start: u32) -> Option<Block> {
        let first = self.blocks.front().copied().filter(|first| first.start <= start)?;
        self.blocks.pop_front();
        Some(first)
    }

    /// One past the highest number in the set.
    #[inline]
    pub(crate) fn end(&self) -> Option<u32> {
        self.blocks.back().map(|last| last.end)
    }

    /// Whether a segment is in the set.
    #[inline]
    pub(crate) fn contains(&self, seq: u32) -> bool {
        self.blocks.get(self.first_ending_from(seq + 1)).is_some_and(|block| block.start <= seq)
    }

    /// Whether the set is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
    }

    /// The `n`-th highest number in the set, counting from one.
    pub(crate) fn nth_highest(&self, n: u32) -> Option<u32> {
        let mut left = n;
        for &Block { start, end } in self.blocks.iter().rev() {
            let numbers = end - start;
            if left <= numbers {
                return Some(end - left);
            }
            left -= numbers;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_like_a_set_of_numbers(
            inserts in prop::collection::vec((0u32..60, 1u32..8), 1..60),
            floor in 0u32..60,
            append in any::<bool>(),
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (start, len) in inserts {
                let mut fresh = BTreeSet::new();
                let block = Block { start, end: start + len };
                let appended = if append { ranges.append(block) } else { None };
                fresh.extend(appended.into_iter().flat_map(|b| b.start..b.end));
                let merged = ranges.insert(block, |b| fresh.extend(b.start..b.end));
                let expected: BTreeSet<u32> =
                    (block.start..block.end).filter(|seq| !set.contains(seq)).collect();
                prop_assert_eq!(&fresh, &expected);
                set.extend(fresh);
                prop_assert!((merged.start..merged.end).all(|seq| set.contains(&seq)));
            }
            ranges.forget_below(floor);
            set.retain(|&seq| seq >= floor);
            prop_assert!((0..80).all(|seq| ranges.contains(seq) == set.contains(&seq)));
            let third = set.iter().rev().nth(2).copied();
            prop_assert_eq!(ranges.nth_highest(3), third);
        }
    }
}
