//! Who is served next: two lists of queue numbers, new before old (RFC 8290 §4.2).

use alloc::vec;
use alloc::vec::Vec;

/// The two lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// Queues that became active since their last turn; served first.
    New,
    /// The others that are active, in rounds.
    Old,
}

/// The lists, linked by number so that nothing is allocated when queues come and go.
#[derive(Clone, Debug)]
pub(crate) struct Rota {
    /// By turn.
    lists: [List; 2],
    places: Vec<Place>,
}

/// The ends mean nothing while the list is empty.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    first: u32,
    last: u32,
    length: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    is_listed: bool,
    /// The next queue of the list, unless this is the last.
    behind: u32,
}

impl Rota {
    /// Empty lists for queues numbered `0..count`.
    pub(crate) fn new(count: usize) -> Rota {
        Rota { lists: [List::default(); 2], places: vec![Place::default(); count] }
    }

    pub(crate) fn contains(&self, index: u32) -> bool {
        self.places[index as usize].is_listed
    }

    pub(crate) fn length(&self, turn: Turn) -> u32 {
        self.lists[turn as usize].length
    }

    /// The queue to serve.
    #[inline]
    pub(crate) fn head(&self) -> Option<(Turn, u32)> {
        let turn = if self.length(Turn::New) > 0 { Turn::New } else { Turn::Old };
        let list = &self.lists[turn as usize];
        (list.length > 0).then_some((turn, list.first))
    }

    /// Puts a queue that is in neither list at the end of one.
    #[inline]
    pub(crate) fn append(&mut self, turn: Turn, index: u32) {
        debug_assert!(!self.contains(index), "a queue is listed once");
        let list = &mut self.lists[turn as usize];
        if list.length == 0 {
            list.first = index;
        } else {
            self.places[list.last as usize].behind = index;
        }
        list.last = index;
        list.length += 1;
        self.places[index as usize].is_listed = true;
    }

    /// Takes the head out of its list.
    #[inline]
    pub(crate) fn remove_head(&mut self, turn: Turn) {
        let list = &mut self.lists[turn as usize];
        debug_assert!(list.length > 0, "only a list with a head loses it");
        let place = &mut self.places[list.first as usize];
        place.is_listed = false;
        list.first = place.behind;
        list.length -= 1;
    }

    /// All listed queues, in the order of service.
    pub(crate) fn listed(&self) -> impl Iterator<Item = u32> {
        self.walk(Turn::New).chain(self.walk(Turn::Old))
    }

    fn walk(&self, turn: Turn) -> impl Iterator<Item = u32> {
        let List { first, length, .. } = self.lists[turn as usize];
        let next = |&index: &u32| Some(self.places[index as usize].behind);
        core::iter::successors(Some(first), next).take(length as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_queues_are_served_before_old_ones_and_each_list_in_order() {
        let mut rota = Rota::new(5);
        rota.append(Turn::Old, 0);
        rota.append(Turn::Old, 4);
        rota.append(Turn::New, 2);
        rota.append(Turn::New, 1);
        assert_eq!(rota.listed().collect::<Vec<_>>(), [2, 1, 0, 4]);
        assert_eq!(rota.head(), Some((Turn::New, 2)));
        rota.remove_head(Turn::New);
        rota.remove_head(Turn::New);
        assert_eq!(rota.head(), Some((Turn::Old, 0)));
        assert!(!rota.contains(2) && rota.contains(4));
    }

    #[test]
    fn a_queue_may_go_round_for_ever() {
        let mut rota = Rota::new(1);
        for _ in 0..3 {
            rota.append(Turn::Old, 0);
            assert_eq!(rota.head(), Some((Turn::Old, 0)));
            rota.remove_head(Turn::Old);
            assert_eq!(rota.head(), None);
        }
    }
}
