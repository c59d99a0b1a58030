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

/// First and last mean nothing while the list is empty.
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

    /// The same, of a queue that may not exist.
    pub(crate) fn credits(&self, index: u32) -> Option<i64> {
        self.places.get(index as usize).map(|place| place.credits)
    }

    /// The list of a queue, by going through the new ones: for those who look on.
    pub(crate) fn list_of(&self, index: u32) -> Option<DrrList> {
        let is_new = || self.walk(DrrList::New).any(|listed| listed == index);
        self.contains(index).then(|| if is_new() { DrrList::New } else { DrrList::Old })
    }

    pub(crate) fn length(&self, list: DrrList) -> u32 {
        self.ends[list as usize].length
    }

    /// The queue to serve.
    #[inline]
    pub(crate) fn head(&self) -> Option<(DrrList, u32)> {
        let [new, old] = &self.ends;
        if new.length > 0 {
            return Some((DrrList::New, new.first));
        }
        (old.length > 0).then_some((DrrList::Old, old.first))
    }

    /// Puts a queue that is in neither list at the end of one.
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

    /// Takes the head out of its list.
    #[inline]
    pub(crate) fn remove_head(&mut self, list: DrrList) {
        let ends = &mut self.ends[list as usize];
        debug_assert!(ends.length > 0, "only a list with a head loses it");
        let place = &mut self.places[ends.first as usize];
        place.is_listed = false;
        ends.first = place.next;
        ends.length -= 1;
    }

    /// The head of a list goes to the end of the old ones.
    #[inline(always)]
    pub(crate) fn make_last(&mut self, list: DrrList) {
        let Ends { first, last, length } = self.ends[list as usize];
        debug_assert!(length > 0, "only a list with a head loses it");
        if list == DrrList::New {
            self.remove_head(DrrList::New);
            return self.append(DrrList::Old, first);
        }
        // It stays listed, and is behind itself where it is alone.
        self.places[last as usize].next = first;
        let second = self.places[first as usize].next;
        self.ends[DrrList::Old as usize] = Ends { first: second, last: first, length };
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

    #[test]
    fn new_queues_are_served_before_old_ones_and_each_list_in_order() {
        let mut lists = DrrLists::new(5);
        lists.append(DrrList::Old, 0);
        lists.append(DrrList::Old, 4);
        lists.append(DrrList::New, 2);
        lists.append(DrrList::New, 1);
        assert_eq!(lists.listed().collect::<Vec<_>>(), [2, 1, 0, 4]);
        assert_eq!(lists.head(), Some((DrrList::New, 2)));
        lists.remove_head(DrrList::New);
        lists.remove_head(DrrList::New);
        assert_eq!(lists.head(), Some((DrrList::Old, 0)));
        assert!(!lists.contains(2) && lists.contains(4));
    }

    #[test]
    fn the_only_queue_can_be_served_again_and_again() {
        let mut lists = DrrLists::new(1);
        for _ in 0..3 {
            lists.append(DrrList::Old, 0);
            assert_eq!(lists.head(), Some((DrrList::Old, 0)));
            lists.make_last(DrrList::Old);
            assert_eq!(lists.listed().collect::<Vec<_>>(), [0]);
            lists.remove_head(DrrList::Old);
            assert_eq!(lists.head(), None);
        }
    }

    #[test]
    fn the_head_of_either_list_can_become_the_last_of_the_old_ones() {
        let mut lists = DrrLists::new(4);
        for (list, index) in
            [(DrrList::New, 2), (DrrList::New, 1), (DrrList::Old, 0), (DrrList::Old, 3)]
        {
            lists.append(list, index);
        }
        let mut after = |list| {
            lists.make_last(list);
            lists.listed().collect::<Vec<_>>()
        };
        assert_eq!(after(DrrList::Old), [2, 1, 3, 0]);
        assert_eq!(after(DrrList::New), [1, 3, 0, 2]);
        assert_eq!(after(DrrList::Old), [1, 0, 2, 3]);
        assert!((0..4).all(|index| lists.contains(index)));
        assert_eq!((lists.length(DrrList::New), lists.length(DrrList::Old)), (1, 3));
    }
}
