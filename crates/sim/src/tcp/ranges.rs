//! Sets of segment numbers as disjoint ranges: the segments received above a hole.

use crate::packet::Block;
use crate::prefetch::{Prefetch, prefetch};

/// Stored for a number that is not in the set.
const ABSENT: u32 = u32::MAX;

/// Slots of the first allocation.
const FIRST_PLACES: usize = 16;

/// A set of segment numbers as disjoint, non-adjacent blocks.
///
/// Nearly every segment extends the last block, which is stored separately. A segment that fills a
/// hole further down joins its neighbours without a search, regardless of the number of blocks:
/// when slow start overshoots, half of a window of 40,000 may be holes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// The last block; empty if the set is.
    last: Block,
    /// The other blocks, allocated when first needed.
    lower: Option<Box<Lower>>,
}

/// The blocks below the last one. Every number has a slot; the slots at both ends of a block hold
/// the number at the opposite end.
#[derive(Clone, Debug, Default)]
struct Lower {
    /// Indexed by number modulo the length, which is a power of two. Slots inside a block hold
    /// arbitrary numbers.
    places: Vec<u32>,
    /// The number of blocks, and the lowest number in them, which is meaningless without blocks.
    count: u32,
    first: u32,
    /// Numbers of the set below this one are stored in `places`, including those of the last block;
    /// numbers from this one on are not.
    placed: u32,
}

impl Ranges {
    /// The number of blocks.
    pub(crate) fn count(&self) -> u32 {
        let lower = || self.lower.as_ref().map_or(0, |lower| lower.count);
        if self.is_empty() { 0 } else { lower() + 1 }
    }

    /// Whether the set is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// One past the highest number in the set.
    #[inline]
    pub(crate) fn end(&self) -> Option<u32> {
        (!self.is_empty()).then_some(self.last.end)
    }

    /// Whether a segment is in the set.
    #[inline]
    pub(crate) fn contains(&self, seq: u32) -> bool {
        if seq >= self.last.start {
            return seq < self.last.end;
        }
        self.lower.as_ref().is_some_and(|lower| lower.contains(seq))
    }

    /// Adds a block and calls `fresh` for every part of it that was not yet in the set. Returns the
    /// block of the set that now contains it.
    #[inline]
    pub(crate) fn insert(&mut self, block: Block, mut fresh: impl FnMut(Block)) -> Block {
        let Some(part) = self.append(block) else { return self.insert_below(block, fresh) };
        if !part.is_empty() {
            fresh(part);
        }
        self.last
    }

    /// Adds a block that begins in or beyond the last one, and returns the part of it that was not
    /// yet in the set, which may be empty. Returns `None` for any other block, without adding it.
    #[inline(always)]
    pub(crate) fn append(&mut self, block: Block) -> Option<Block> {
        debug_assert!(!block.is_empty(), "an empty block holds no segment");
        if self.is_empty() || block.start > self.last.end {
            self.begin(block);
            return Some(block);
        }
        if block.start < self.last.start {
            return None;
        }
        let start = self.last.end;
        self.last.end = start.max(block.end);
        Some(Block { start, end: self.last.end })
    }

    /// Adds a block that lies behind all others and touches none of them. Out of line, because this
    /// is rarer.
    #[inline(never)]
    fn begin(&mut self, block: Block) {
        if !self.is_empty() {
            self.lower.get_or_insert_default().push(self.last, block.start);
        } else if let Some(lower) = &mut self.lower {
            lower.placed = block.start;
        }
        self.last = block;
    }

    /// Adds a block that begins below the last one.
    #[inline(never)]
    fn insert_below(&mut self, block: Block, fresh: impl FnMut(Block)) -> Block {
        let new = || Box::new(Lower { placed: self.last.start, ..Lower::default() });
        self.lower.get_or_insert_with(new).insert(block, &mut self.last, fresh)
    }

    /// Removes everything below `floor`.
    #[inline]
    pub(crate) fn forget_below(&mut self, floor: u32) {
        if let Some(lower) = self.lower.as_mut().filter(|lower| lower.count > 0) {
            lower.forget_below(floor, self.last.start);
        }
        if self.last.start < floor {
            self.cut_last(floor.min(self.last.end));
        }
    }

    /// Takes out the first block if it starts at `start`.
    #[inline]
    pub(crate) fn take_at(&mut self, start: u32) -> Option<Block> {
        if let Some(lower) = self.lower.as_mut().filter(|lower| lower.count > 0) {
            return lower.take_at(start, self.last.start);
        }
        let last = self.last;
        if last.is_empty() || last.start > start {
            return None;
        }
        self.cut_last(last.end);
        Some(last)
    }

    /// Removes the part of the last block below `end`.
    fn cut_last(&mut self, end: u32) {
        if let Some(lower) = &mut self.lower {
            (self.last.start..end.min(lower.placed)).for_each(|seq| lower.set(seq, ABSENT));
        }
        self.last.start = end;
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        *self = Ranges::default();
    }

    /// The `n`-th highest number in the set, counting from one.
    pub(crate) fn nth_highest(&self, n: u32) -> Option<u32> {
        let (mut left, mut block) = (n, self.last);
        while left > block.end - block.start {
            left -= block.end - block.start;
            block = self.lower.as_ref()?.last_before(block.start)?;
        }
        Some(block.end - left)
    }
}

impl Lower {
    /// The slot of a number within the range from the first to the last block.
    #[inline]
    fn at(&self, seq: u32) -> u32 {
        self.places[seq as usize & (self.places.len() - 1)]
    }

    #[inline]
    fn set(&mut self, seq: u32, value: u32) {
        let mask = self.places.len() - 1;
        self.places[seq as usize & mask] = value;
    }

    /// Whether a number below the last block is in the set.
    fn contains(&self, seq: u32) -> bool {
        self.count > 0 && seq >= self.first && self.at(seq) != ABSENT
    }

    /// Stores the previous last block; the new last block begins at `next`.
    fn push(&mut self, last: Block, next: u32) {
        let Block { start, end } = last;
        if self.count == 0 {
            self.first = start;
        }
        self.provide(self.first, next);
        (self.placed.max(start)..end).for_each(|seq| self.set(seq, start));
        self.close(last);
        self.count += 1;
    }

    /// Adds a block that begins below the last one; the two may join.
    fn insert(&mut self, block: Block, last: &mut Block, mut fresh: impl FnMut(Block)) -> Block {
        let touched = self.touched_by(block.start);
        let Block { start, end: mut from } = touched.unwrap_or(Block { end: block.start, ..block });
        if from >= block.end {
            return Block { start, end: from };
        }
        let before = *last;
        if self.count == 0 {
            self.first = before.start;
        }
        let first = self.first.min(start);
        self.provide(first, self.placed.max(before.start));
        let mut joined = u32::from(touched.is_some());
        while from < block.end {
            let gap = from;
            let is_gap = |seq: u32| match seq {
                _ if seq >= before.start => seq >= before.end,
                _ => !self.contains(seq),
            };
            while from < block.end && is_gap(from) {
                from += 1;
            }
            // Blocks that begin here, or right behind the block, are joined.
            let follows = !is_gap(from);
            if gap < from {
                fresh(Block { start: gap, end: from });
                (gap..from.min(before.start)).for_each(|seq| self.set(seq, seq));
            }
            if follows && from == before.start {
                from = before.end;
            } else if follows {
                from = self.at(from) + 1;
                joined += 1;
            }
        }
        self.count -= joined;
        let merged = Block { start, end: from };
        if from > before.start {
            *last = merged;
            self.placed = self.placed.max(before.start);
        } else {
            self.first = first;
            self.count += 1;
            self.close(merged);
        }
        merged
    }

    /// The block that contains a number or ends just before it.
    fn touched_by(&self, seq: u32) -> Option<Block> {
        if !self.contains(seq) {
            let below = seq.checked_sub(1).filter(|&below| self.contains(below))?;
            return Some(Block { start: self.at(below), end: seq });
        }
        let start = if seq == self.first || !self.contains(seq - 1) {
            seq
        } else if !self.contains(seq + 1) {
            self.at(seq)
        } else {
            let hole = (self.first..seq).rev().find(|&below| self.at(below) == ABSENT);
            hole.map_or(self.first, |hole| hole + 1)
        };
        Some(Block { start, end: self.at(start) + 1 })
    }

    /// The last block that ends before a hole below this number.
    fn last_before(&self, seq: u32) -> Option<Block> {
        if self.count == 0 {
            return None;
        }
        let last = (self.first..seq).rev().find(|&below| self.at(below) != ABSENT)?;
        Some(Block { start: self.at(last), end: last + 1 })
    }

    /// Stores the ends of a block, all numbers of which have slots.
    fn close(&mut self, block: Block) {
        self.set(block.start, block.end - 1);
        self.set(block.end - 1, block.start);
        self.placed = self.placed.max(block.end);
    }

    /// Makes room for the numbers from `lowest` to `end`.
    fn provide(&mut self, lowest: u32, end: u32) {
        let numbers = (end - lowest) as usize;
        if numbers <= self.places.len() {
            return;
        }
        let places = numbers.next_power_of_two().max(FIRST_PLACES);
        let old = std::mem::replace(&mut self.places, vec![ABSENT; places]);
        if !old.is_empty() {
            let placed = self.first..self.placed;
            placed.for_each(|seq| self.set(seq, old[seq as usize & (old.len() - 1)]));
        }
    }

    /// Removes everything below `floor`; the last block of the set begins at `last`.
    fn forget_below(&mut self, floor: u32, last: u32) {
        while self.count > 0 && self.first < floor {
            let end = self.at(self.first) + 1;
            if end <= floor {
                self.remove_first(end, last);
            } else {
                (self.first..floor).for_each(|seq| self.set(seq, ABSENT));
                self.first = floor;
                self.close(Block { start: floor, end });
            }
        }
    }

    /// Takes out the first block if it starts at `start`; there must be one.
    fn take_at(&mut self, start: u32, last: u32) -> Option<Block> {
        if self.first > start {
            return None;
        }
        let block = Block { start: self.first, end: self.at(self.first) + 1 };
        self.remove_first(block.end, last);
        Some(block)
    }

    /// Removes the first block, which ends at `end`.
    fn remove_first(&mut self, end: u32, last: u32) {
        (self.first..end).for_each(|seq| self.set(seq, ABSENT));
        self.count -= 1;
        if self.count > 0 {
            let next = (end..last).find(|&seq| self.at(seq) != ABSENT);
            self.first = next.expect("there is another block");
        }
    }
}

impl Prefetch for Ranges {
    /// The blocks below the last one.
    fn far(&self) {
        self.lower.iter().for_each(|lower| prefetch(&**lower));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The maximal runs of consecutive numbers.
    fn rows(set: &BTreeSet<u32>) -> Vec<Block> {
        let mut rows: Vec<Block> = Vec::new();
        for &seq in set {
            match rows.last_mut().filter(|row| row.end == seq) {
                Some(row) => row.end += 1,
                None => rows.push(Block::one(seq)),
            }
        }
        rows
    }

    proptest! {
        #[test]
        fn behaves_like_a_set_of_numbers(
            base in prop::sample::select(vec![0, 13, u32::MAX - 100]),
            steps in prop::collection::vec((0usize..12, 0u32..60, 1u32..8), 1..80),
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (step, offset, len) in steps {
                let start = base + offset;
                let block = Block { start, end: start + len };
                let mut fresh = BTreeSet::new();
                let known = rows(&set);
                let numbers = || (block.start..block.end).filter(|seq| !set.contains(seq));
                match step {
                    0 => {
                        ranges.forget_below(start);
                        set.retain(|&seq| seq >= start);
                    }
                    1 => {
                        let first = known.first().copied().filter(|first| first.start <= start);
                        prop_assert_eq!(ranges.take_at(start), first);
                        set.retain(|&seq| first.is_none_or(|first| seq >= first.end));
                    }
                    2 if offset < 5 => {
                        ranges.clear();
                        set.clear();
                    }
                    2..=5 => {
                        let begins_late = known.last().is_none_or(|last| last.start <= start);
                        let appended = ranges.append(block);
                        prop_assert_eq!(appended.is_some(), begins_late);
                        fresh.extend(appended.iter().flat_map(|part| part.start..part.end));
                        let expected = numbers().filter(|_| begins_late).collect();
                        prop_assert_eq!(&fresh, &expected);
                    }
                    _ => {
                        let row = ranges.insert(block, |part| fresh.extend(part.start..part.end));
                        prop_assert_eq!(&fresh, &numbers().collect());
                        set.extend(&fresh);
                        prop_assert!(rows(&set).contains(&row), "{:?}", row);
                        prop_assert!(row.start <= block.start && block.end <= row.end);
                    }
                }
                set.extend(fresh);
                prop_assert_eq!(ranges.count() as usize, rows(&set).len());
                prop_assert_eq!(ranges.end(), set.last().map(|last| last + 1));
                let all = base..base + 80;
                prop_assert!(all.into_iter().all(|seq| ranges.contains(seq) == set.contains(&seq)));
                let highest = |n: u32| set.iter().rev().nth(n as usize - 1).copied();
                prop_assert!((1..9).all(|n| ranges.nth_highest(n) == highest(n)));
            }
        }
    }
}
