//! Deficit round robin: lists of queue numbers, new before old, and the credits of each queue (RFC
//! 8290 §4.2).

use alloc::vec;
use alloc::vec::Vec;

/// One of the two lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DrrList {
    /// Queues that became active since they were last served; served first.
    New,
    /// The other active queues, in rounds.
    Old,
}

/// The lists, linked by queue number so that nothing is allocated when queues come and go.
#[derive(Clone, Debug)]
pub(crate) struct DrrLists {
    ends: [Ends; 2],
    places: Vec<Place>,
}

/// The ends of a list; unspecified while the list is empty.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    first: u32,
    last: u32,
    length: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Bytes that the queue may still send in this round.
    credits: i64,
    is_listed: bool,
    /// The next queue of the list, unless this is the last.
    next: u32,
}

impl DrrLists {
    /// Empty lists for queues numbered `0..count`.
    pub(crate) fn new(count: usize) -> DrrLists {
        DrrLists { ends: [Ends::default(); 2], places: vec![Place::default(); count] }
    }

    pub(crate) fn contains(&self, index: u32) -> bool {
        self.places[index as usize].is_listed
    }

    /// Bytes that a queue may still send in this round.
    #[inline]
    pub(crate) fn credits_mut(&mut self, index: u32) -> &mut i64 {
        &mut self.places[index as usize].credits
    }

    /// Like `of`, for a queue that may not exist.
    pub(crate) fn credits(&self, index: u32) -> Option<i64> {
        self.places.get(index as usize).map(|place| place.credits)
    }

    /// The list that contains a queue. Searches the new list, so only for inspection.
    pub(crate) fn list_of(&self, index: u32) -> Option<DrrList> {
        let is_new = || self.walk(DrrList::New).any(|listed| listed == index);
        self.contains(index).then(|| if is_new() { DrrList::New } else { DrrList::Old })
    }

    pub(crate) fn length(&self, list: DrrList) -> u32 {
        self.ends[list as usize].length
    }

    /// The next queue with credits. Each queue without credits gets a quantum and moves to the end
    /// of the old list.
    // Inlined in native code only, because the web page must stay small.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(crate) fn next_to_send(&mut self, quantum: i64) -> Option<(DrrList, u32)> {
        while self.ends[DrrList::New as usize].length > 0 {
            let index = self.ends[DrrList::New as usize].first;
            let credits = self.credits_mut(index);
            if *credits > 0 {
                return Some((DrrList::New, index));
            }
            *credits += quantum;
            self.remove_head(DrrList::New);
            self.append(DrrList::Old, index);
        }
        let Ends { mut first, mut last, length } = self.ends[DrrList::Old as usize];
        if length == 0 {
            return None;
        }
        loop {
            let place = &mut self.places[first as usize];
            if place.credits > 0 {
                self.ends[DrrList::Old as usize] = Ends { first, last, length };
                return Some((DrrList::Old, first));
            }
            place.credits += quantum;
            // If there is only one queue, it is its own successor.
            self.places[last as usize].next = first;
            (first, last) = (self.places[first as usize].next, first);
        }
    }

    /// Appends an unlisted queue to a list.
    #[inline]
    pub(crate) fn append(&mut self, list: DrrList, index: u32) {
        debug_assert!(!self.contains(index), "a queue is listed once");
        let ends = &mut self.ends[list as usize];
        if ends.length == 0 {
            ends.first = index;
        } else {
            self.places[ends.last as usize].next = index;
        }
        ends.last = index;
        ends.length += 1;
        self.places[index as usize].is_listed = true;
    }

    /// Removes the head of a list.
    #[inline]
    pub(crate) fn remove_head(&mut self, list: DrrList) {
        let ends = &mut self.ends[list as usize];
        debug_assert!(ends.length > 0, "only a list with a head loses it");
        let place = &mut self.places[ends.first as usize];
        place.is_listed = false;
        ends.first = place.next;
        ends.length -= 1;
    }

    /// All listed queues, in the order of service.
    pub(crate) fn listed(&self) -> impl Iterator<Item = u32> {
        self.walk(DrrList::New).chain(self.walk(DrrList::Old))
    }

    fn walk(&self, list: DrrList) -> impl Iterator<Item = u32> {
        let Ends { first, length, .. } = self.ends[list as usize];
        let next = |&index: &u32| Some(self.places[index as usize].next);
        core::iter::successors(Some(first), next).take(length as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list and number of the queue that sends a packet; the packet uses up its credits.
    fn sends(lists: &mut DrrLists) -> Option<(DrrList, u32)> {
        let next = lists.next_to_send(1)?;
        *lists.credits_mut(next.1) -= 1;
        Some(next)
    }

    fn listed(lists: &DrrLists) -> Vec<u32> {
        lists.listed().collect()
    }

    #[test]
    fn new_queues_are_served_before_old_ones_and_each_list_in_order() {
        let mut lists = DrrLists::new(5);
        lists.append(DrrList::Old, 0);
        lists.append(DrrList::Old, 4);
        lists.append(DrrList::New, 2);
        lists.append(DrrList::New, 1);
        assert_eq!(listed(&lists), [2, 1, 0, 4]);
        (0..5).for_each(|index| *lists.credits_mut(index) = 1);
        assert_eq!(sends(&mut lists), Some((DrrList::New, 2)));
        lists.remove_head(DrrList::New);
        lists.remove_head(DrrList::New);
        assert_eq!(sends(&mut lists), Some((DrrList::Old, 0)));
        assert!(!lists.contains(2) && lists.contains(4));
    }

    #[test]
    fn the_only_queue_can_be_served_again_and_again() {
        let mut lists = DrrLists::new(1);
        for _ in 0..3 {
            lists.append(DrrList::Old, 0);
            for _ in 0..2 {
                assert_eq!(sends(&mut lists), Some((DrrList::Old, 0)));
                assert_eq!(listed(&lists), [0]);
            }
            lists.remove_head(DrrList::Old);
            assert_eq!(sends(&mut lists), None);
        }
    }

    #[test]
    fn a_queue_without_credits_becomes_the_last_of_the_old_ones() {
        let mut lists = DrrLists::new(4);
        for (list, index) in
            [(DrrList::New, 2), (DrrList::New, 1), (DrrList::Old, 0), (DrrList::Old, 3)]
        {
            lists.append(list, index);
        }
        *lists.credits_mut(1) = 1;
        assert_eq!(sends(&mut lists), Some((DrrList::New, 1)));
        assert_eq!(listed(&lists), [1, 0, 3, 2]);
        *lists.credits_mut(3) = 1;
        assert_eq!(sends(&mut lists), Some((DrrList::Old, 3)));
        assert_eq!(listed(&lists), [3, 2, 1, 0]);
        // All queues but the first keep the credits of the last round.
        assert_eq!([(); 4].map(|()| sends(&mut lists).expect("it is listed").1), [2, 1, 0, 3]);
        assert!((0..4).all(|index| lists.contains(index)));
        assert_eq!((lists.length(DrrList::New), lists.length(DrrList::Old)), (0, 4));
    }
}
