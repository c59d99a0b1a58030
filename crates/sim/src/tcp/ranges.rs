//! Sets of segment numbers as disjoint ranges: what was received above a hole.

use std::collections::BTreeMap;

use crate::packet::Block;

/// A set of segment numbers as disjoint, non-adjacent blocks.
///
/// It is a tree, not a list: half of a window of 40,000 may be holes when slow start overshoots,
/// and moving the blocks above every hole that is filled took ten times as long as the rest of the
/// simulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// The end of each block, by its start.
    ends: BTreeMap<u32, u32>,
}

impl Ranges {
    /// Adds a block and calls `fresh` for every part of it that was not yet in the set. Returns the
    /// block of the set that now contains it.
    pub(crate) fn insert(&mut self, block: Block, mut fresh: impl FnMut(Block)) -> Block {
        debug_assert!(!block.is_empty(), "an empty block holds no segment");
        let (mut merged, mut from) = (block, block.start);
        if let Some((&start, &end)) = self.ends.range(..=block.start).next_back()
            && end >= block.start
        {
            merged.start = start;
            from = end;
        }
        while from < block.end {
            // The next block that touches the new one; usually there is none.
            let next = self.ends.range(from..=block.end).next().map(|(&start, &end)| (start, end));
            let (start, end) = next.unwrap_or((block.end, block.end));
            if from < start {
                fresh(Block { start: from, end: start });
            }
            if next.is_some() {
                self.ends.remove(&start);
            }
            from = end;
        }
        merged.end = from;
        self.ends.insert(merged.start, merged.end);
        merged
    }

    /// Removes everything below `floor`.
    pub(crate) fn forget_below(&mut self, floor: u32) {
        while let Some(first) = self.ends.first_entry()
            && *first.key() < floor
        {
            let end = first.remove();
            if end > floor {
                self.ends.insert(floor, end);
            }
        }
    }

    /// Takes the first block out if it starts at `start`.
    pub(crate) fn take_at(&mut self, start: u32) -> Option<Block> {
        let first = self.ends.first_entry().filter(|first| *first.key() <= start)?;
        let (start, end) = first.remove_entry();
        Some(Block { start, end })
    }

    /// One past the highest number in the set.
    #[inline]
    pub(crate) fn end(&self) -> Option<u32> {
        self.ends.last_key_value().map(|(_, &end)| end)
    }

    /// Whether a segment is in the set.
    pub(crate) fn contains(&self, seq: u32) -> bool {
        self.ends.range(..=seq).next_back().is_some_and(|(_, &end)| seq < end)
    }

    /// Whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
    }

    /// The `n`-th highest number in the set, counting from one.
    pub(crate) fn nth_highest(&self, n: u32) -> Option<u32> {
        let mut left = n;
        for (&start, &end) in self.ends.iter().rev() {
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
            prop_assert_eq!(ranges.nth_highest(3), third);
        }
    }
}
