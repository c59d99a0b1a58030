//! Three lists of queue numbers, linked in both directions, so that a queue can leave from the
//! middle.

use alloc::vec;
use alloc::vec::Vec;

/// The lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum List {
    /// Queues that became active since they were last served.
    New,
    /// The other active queues.
    Old,
    /// Empty queues whose COBALT is not at rest yet.
    Decaying,
}

/// The lists of all queues.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// By list.
    ends: [Ends; 3],
    places: Vec<Place>,
}

/// Unspecified while the list is empty.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    first: u32,
    last: u32,
    length: u32,
}

/// Neighbours are unspecified at the ends of a list.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    before: u32,
    behind: u32,
    list: Option<List>,
}

impl Lists {
    /// Empty lists for queues numbered `0..count`.
    pub(super) fn new(count: usize) -> Lists {
        Lists { ends: [Ends::default(); 3], places: vec![Place::default(); count] }
    }

    pub(super) fn length(&self, list: List) -> u32 {
        self.ends[list as usize].length
    }

    pub(super) fn head(&self, list: List) -> Option<u32> {
        let ends = &self.ends[list as usize];
        (ends.length > 0).then_some(ends.first)
    }

    /// Moves a queue to the end of a list, from its current one if any.
    pub(super) fn move_to(&mut self, list: List, index: u32) {
        self.remove(index);
        let ends = &mut self.ends[list as usize];
        if ends.length == 0 {
            ends.first = index;
        } else {
            self.places[ends.last as usize].behind = index;
        }
        let place = &mut self.places[index as usize];
        (place.list, place.before) = (Some(list), ends.last);
        ends.last = index;
        ends.length += 1;
    }

    /// Removes a queue from its list, if any.
    pub(super) fn remove(&mut self, index: u32) {
        let place = &mut self.places[index as usize];
        let Some(list) = place.list.take() else { return };
        let Place { before, behind, .. } = *place;
        let ends = &mut self.ends[list as usize];
        ends.length -= 1;
        // At an end that is left, a neighbour that means nothing becomes an end of an empty list.
        if ends.first == index {
            ends.first = behind;
        } else {
            self.places[before as usize].behind = behind;
        }
        if ends.last == index {
            ends.last = before;
        } else {
            self.places[behind as usize].before = before;
        }
    }

    /// Moves the head of a list to its end while `turns` says so of it.
    pub(super) fn turn_while(&mut self, list: List, mut turns: impl FnMut(u32) -> bool) {
        let Ends { mut first, last, length } = self.ends[list as usize];
        if length == 0 {
            return;
        }
        // Closed to a ring, the list turns without changes to the links.
        self.places[last as usize].behind = first;
        self.places[first as usize].before = last;
        while turns(first) {
            first = self.places[first as usize].behind;
        }
        let last = self.places[first as usize].before;
        self.ends[list as usize] = Ends { first, last, length };
    }

    /// The queues of a list, in order.
    pub(super) fn walk(&self, list: List) -> impl Iterator<Item = u32> {
        let Ends { first, length, .. } = self.ends[list as usize];
        let next = |&index: &u32| Some(self.places[index as usize].behind);
        core::iter::successors(Some(first), next).take(length as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_move_between_lists_and_leave_from_the_middle() {
        let mut lists = Lists::new(5);
        (0..4).for_each(|index| lists.move_to(List::New, index));
        lists.move_to(List::Old, 1);
        lists.move_to(List::Old, 3);
        lists.move_to(List::Old, 0);
        assert_eq!(lists.walk(List::New).collect::<Vec<_>>(), [2]);
        assert_eq!(lists.walk(List::Old).collect::<Vec<_>>(), [1, 3, 0]);
        let mut turns = 0;
        lists.turn_while(List::Old, |index| {
            turns += 1;
            index != 0 || turns < 4
        });
        assert_eq!((turns, lists.walk(List::Old).collect::<Vec<_>>()), (6, vec![0, 1, 3]));
        lists.turn_while(List::Old, |index| index == 0);
        assert_eq!(lists.walk(List::Old).collect::<Vec<_>>(), [1, 3, 0]);
        lists.turn_while(List::Decaying, |_| unreachable!("it is empty"));
        lists.remove(3);
        lists.remove(2);
        assert_eq!((lists.head(List::New), lists.head(List::Decaying)), (None, None));
        assert_eq!(lists.walk(List::Old).collect::<Vec<_>>(), [1, 0]);
    }
}
