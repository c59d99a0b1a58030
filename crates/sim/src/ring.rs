//! A ring buffer: `VecDeque` for items that are copied. The number of slots is a power of two, so a
//! slot is found with one mask, and every slot is initialised, so no `Option` is needed.

use crate::prefetch::prefetch;

/// Slots of the first allocation.
const FIRST_PLACES: usize = 4;

/// First in, first out. An empty ring that was never used allocates nothing.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// A power of two in length, or empty. Slots outside `first..end` hold stale copies or the
    /// filler.
    places: Vec<T>,
    /// Total numbers of items taken and appended, modulo 2^64.
    first: usize,
    end: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring { places: Vec::new(), first: 0, end: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// The number of items.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.end.wrapping_sub(self.first)
    }

    /// Whether the ring is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.end
    }

    #[inline]
    fn mask(&self) -> usize {
        self.places.len().wrapping_sub(1)
    }

    /// The oldest item.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.is_empty() {
            return None;
        }
        Some(&self.places[self.first & self.mask()])
    }

    /// The newest item.
    #[inline]
    pub(crate) fn back(&self) -> Option<&T> {
        self.get(self.len().wrapping_sub(1))
    }

    /// The item at index `place`, counted from the front.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        if place >= self.len() {
            return None;
        }
        Some(&self.places[self.first.wrapping_add(place) & self.mask()])
    }

    /// The item at index `place`, counted from the back.
    #[inline]
    pub(crate) fn get_back(&self, place: usize) -> Option<&T> {
        self.get(self.len().wrapping_sub(place + 1))
    }

    /// Prefetches the slot at index `place`, counted from the front; it may hold no item.
    #[inline]
    pub(crate) fn prefetch(&self, place: usize) {
        if let Some(item) = self.places.get(self.first.wrapping_add(place) & self.mask()) {
            prefetch(item);
        }
    }

    /// Appends an item.
    #[inline]
    pub(crate) fn push_back(&mut self, item: T) {
        self.push_back_made(|| item);
    }

    /// Appends the result of `item`, built in place to save a copy.
    #[inline]
    pub(crate) fn push_back_made(&mut self, item: impl Fn() -> T) {
        if self.len() == self.places.len() {
            self.grow(item());
        }
        self.append(item());
    }

    /// Appends an item, without a call, if the ring is neither empty nor full (the usual case).
    /// Returns whether it was appended.
    #[inline]
    pub(crate) fn push_behind(&mut self, item: T) -> bool {
        let has_room = !self.is_empty() && self.len() < self.places.len();
        if has_room {
            self.append(item);
        }
        has_room
    }

    /// Appends an item; a slot must be free.
    #[inline(always)]
    fn append(&mut self, item: T) {
        let place = self.end & self.mask();
        self.places[place] = item;
        self.end = self.end.wrapping_add(1);
    }

    /// Inserts an item in front of the newest `behind` items.
    pub(crate) fn insert_before(&mut self, behind: usize, item: T) {
        self.push_back(item);
        let mask = self.mask();
        let newest = self.end.wrapping_sub(1);
        for step in 0..behind {
            let place = newest.wrapping_sub(step);
            self.places[place & mask] = self.places[place.wrapping_sub(1) & mask];
        }
        self.places[newest.wrapping_sub(behind) & mask] = item;
    }

    /// Takes the oldest item, with a value computed from the next item. The taken item stays in its
    /// slot until the next call.
    #[inline(always)]
    pub(crate) fn pop_front_before<R>(
        &mut self,
        look: impl FnOnce(&T) -> R,
    ) -> Option<(&mut T, Option<R>)> {
        let (mask, place) = (self.mask(), self.first & self.mask());
        // The second test lets the compiler elide both bounds checks.
        if self.is_empty() || place >= self.places.len() {
            return None;
        }
        self.first = self.first.wrapping_add(1);
        let next = (!self.is_empty()).then(|| look(&self.places[self.first & mask]));
        Some((&mut self.places[place], next))
    }

    /// The item taken last, if none was appended since.
    #[inline]
    pub(crate) fn last_taken(&self) -> Option<&T> {
        self.places.get(self.first.wrapping_sub(1) & self.mask())
    }

    /// Doubles the slots. The new ones are filled with `filler`.
    #[cold]
    fn grow(&mut self, filler: T) {
        let places = (2 * self.places.len()).max(FIRST_PLACES);
        let mut items = Vec::with_capacity(places);
        items.extend((0..self.len()).filter_map(|place| self.get(place)));
        (self.first, self.end) = (0, items.len());
        items.resize(places, filler);
        self.places = items;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Steps above 45 append a number, those above 35 insert one; the other steps remove one.
        #[test]
        fn behaves_like_a_double_ended_queue(steps in prop::collection::vec(0usize..100, 0..200)) {
            let (mut ring, mut plain) = (Ring::default(), VecDeque::new());
            for step in steps {
                match step {
                    0..35 => {
                        let popped = ring.pop_front_before(|&next| next);
                        let popped = popped.map(|(&mut item, next)| (item, next));
                        let first = plain.pop_front();
                        let expected = first.map(|item| (item, plain.front().copied()));
                        prop_assert_eq!(popped, expected);
                        prop_assert!(first.is_none() || ring.last_taken() == first.as_ref());
                    }
                    35..45 => {
                        let behind = plain.len() / 2;
                        ring.insert_before(behind, step);
                        plain.insert(plain.len() - behind, step);
                    }
                    _ => {
                        if step < 70 || !ring.push_behind(step) {
                            ring.push_back(step);
                        }
                        plain.push_back(step);
                    }
                }
                prop_assert_eq!((ring.front(), ring.back()), (plain.front(), plain.back()));
                prop_assert_eq!((ring.len(), ring.is_empty()), (plain.len(), plain.is_empty()));
                prop_assert!((0..=plain.len()).all(|place| ring.get(place) == plain.get(place)));
            }
        }
    }
}
