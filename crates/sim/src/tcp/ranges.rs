//! Disjoint ranges of segment numbers, in order: what has been received beyond a hole.

use crate::packet::Block;

/// A set of segment numbers as sorted, disjoint, non-adjacent blocks.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    blocks: Vec<Block>,
}

impl Ranges {
    /// Adds a block and calls `fresh` for every part of it that was not yet in the set. Returns the
    /// block of the set that now contains it.
    pub fn insert(&mut self, block: Block, mut fresh: impl FnMut(Block)) -> Block {
        debug_assert!(!block.is_empty(), "an empty block holds no segment");
        // The blocks that touch the new one; usually the last, or none.
        let first = self.blocks.partition_point(|b| b.end < block.start);
        let (mut merged, mut from, mut last) = (block, block.start, first);
        while last < self.blocks.len() && self.blocks[last].start <= block.end {
            let old = self.blocks[last];
            if from < old.start {
                fresh(Block { start: from, end: old.start });
            }
            from = from.max(old.end);
            merged.start = merged.start.min(old.start);
            merged.end = merged.end.max(old.end);
            last += 1;
        }
        if from < block.end {
            fresh(Block { start: from, end: block.end });
        }
        if last == first {
            self.blocks.insert(first, merged);
        } else {
            self.blocks[first] = merged;
            self.blocks.drain(first + 1..last);
        }
        merged
    }

    /// Forgets everything below `floor`.
    pub fn forget_below(&mut self, floor: u32) {
        let gone = self.blocks.partition_point(|b| b.end <= floor);
        self.blocks.drain(..gone);
        if let Some(first) = self.blocks.first_mut() {
            first.start = first.start.max(floor);
        }
    }

    /// Takes the first block out if it starts at `start`.
    pub fn take_at(&mut self, start: u32) -> Option<Block> {
        let first = *self.blocks.first()?;
        (first.start <= start).then(|| self.blocks.remove(0))
    }

    /// One past the highest number in the set.
    #[inline]
    pub fn end(&self) -> Option<u32> {
        self.blocks.last().map(|block| block.end)
    }

    /// Whether a segment is in the set.
    pub fn contains(&self, seq: u32) -> bool {
        let i = self.blocks.partition_point(|b| b.end <= seq);
        self.blocks.get(i).is_some_and(|b| b.start <= seq)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.blocks.clear();
    }

    /// The `n`-th highest number in the set, from one.
    pub fn from_top(&self, n: u32) -> Option<u32> {
        let mut left = n;
        for block in self.blocks.iter().rev() {
            let numbers = block.end - block.start;
            if left <= numbers {
                return Some(block.end - left);
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
            inserts in prop::collection::vec((0u32..60, 1u32..8), 1..60), floor in 0u32..60,
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (start, len) in inserts {
                let mut fresh = BTreeSet::new();
                let block = Block { start, end: start + len };
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
            prop_assert_eq!(ranges.from_top(3), third);
        }
    }
}
