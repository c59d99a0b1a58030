//! A hash table of fixed size with eight-way sets: hashes collide only if nine of them are in use
//! in one set.

use alloc::vec;
use alloc::vec::Vec;

/// Ways of a set (Linux `CAKE_SET_WAYS`).
pub(super) const WAYS: usize = 8;

/// Maps hashes to places.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    sets: Vec<[u64; WAYS]>,
}

/// The place that a hash gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) index: usize,
    /// Whether the place was taken over from another hash that is still in use.
    pub(super) is_taken_over: bool,
}

impl Ways {
    /// `places` is a multiple of [`WAYS`].
    pub(super) fn new(places: usize) -> Ways {
        debug_assert!(places > 0 && places.is_multiple_of(WAYS), "sets are whole");
        Ways { sets: vec![[0; WAYS]; places / WAYS] }
    }

    /// The place of a hash: its last place, a free place of its set or, if all eight are in use,
    /// the place selected by the hash (Linux 6.1 sch_cake.c, cake_hash).
    pub(super) fn place(&mut self, hash: u64, is_free: impl Fn(usize) -> bool) -> Place {
        let places = self.sets.len() * WAYS;
        let direct = ((u128::from(hash) * places as u128) >> 64) as usize;
        let (first, start) = (direct - direct % WAYS, direct % WAYS);
        let hashes = &mut self.sets[direct / WAYS];
        let mut ways = (start..start + WAYS).map(|way| way % WAYS);
        if let Some(own) = ways.clone().find(|&way| hashes[way] == hash) {
            return Place { index: first + own, is_taken_over: false };
        }
        let free = ways.find(|&way| is_free(first + way));
        let way = free.unwrap_or(start);
        hashes[way] = hash;
        Place { index: first + way, is_taken_over: free.is_none() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.1 sch_cake.c, cake_hash.
    #[test]
    fn eight_hashes_of_one_set_have_separate_places_and_the_ninth_shares_one() {
        let mut ways = Ways::new(1024);
        let mut used = [false; 1024];
        let same_set = |n: u64| (1 << 50) | n; // high bits choose the set
        for n in 0..8 {
            let Place { index: place, .. } = ways.place(same_set(n), |place| !used[place]);
            assert!(!used[place]);
            used[place] = true;
        }
        let ninth = ways.place(same_set(8), |place| !used[place]);
        assert!(used[ninth.index] && ninth.is_taken_over);
    }

    /// Linux 6.1 sch_cake.c, cake_hash, searches tags before free queues, used or not.
    #[test]
    fn a_hash_gets_the_place_back_that_it_had_last() {
        let mut ways = Ways::new(8);
        let first = ways.place(77, |_| true);
        let second = ways.place(78, |place| place != first.index);
        assert_ne!(first, second);
        assert_eq!(ways.place(78, |_| true), second);
    }

    #[test]
    fn a_hash_keeps_its_place_while_it_is_used() {
        let mut ways = Ways::new(8);
        let place = ways.place(77, |_| true);
        assert_eq!(ways.place(77, |other| other != place.index), place);
    }
}
