//! Three lists of queue numbers, linked in both directions: a queue may leave from the middle.

use alloc::vec;
use alloc::vec::Vec;

/// The lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum List {
    /// Active since their last turn.
    New,
    /// The others that are active.
    Old,
    /// Empty, with a COBALT that has not forgotten yet.
    Decaying,
}

/// The lists of all queues.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    ends: [Option<(u32, u32)>; 3],
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    list: Option<List>,
    before: Option<u32>,
    behind: Option<u32>,
}

impl Lists {
    /// Empty lists for queues numbered `0..count`.
    pub(super) fn new(count: usize) -> Lists {
        Lists { ends: [None; 3], places: vec![Place::default(); count] }
    }

    pub(super) fn head(&self, list: List) -> Option<u32> {
        self.ends[list as usize].map(|(first, _)| first)
    }

    /// Takes a queue out of the list it is in, if any, and puts it at the end of another.
    pub(super) fn move_to(&mut self, list: List, index: u32) {
        self.remove(index);
        let ends = &mut self.ends[list as usize];
        let last = ends.map(|(_, last)| last);
        *ends = Some((ends.map_or(index, |(first, _)| first), index));
        self.places[index as usize] = Place { list: Some(list), before: last, behind: None };
        if let Some(last) = last {
            self.places[last as usize].behind = Some(index);
        }
    }

    /// Takes a queue out of the list it is in, if any.
    pub(super) fn remove(&mut self, index: u32) {
        let Place { list, before, behind } = core::mem::take(&mut self.places[index as usize]);
        let Some(list) = list else { return };
        if let Some(before) = before {
            self.places[before as usize].behind = behind;
        }
        if let Some(behind) = behind {
            self.places[behind as usize].before = before;
        }
        let (first, last) = self.ends[list as usize].expect("it is in the list");
        let first = if first == index { behind } else { Some(first) };
        let last = if last == index { before } else { Some(last) };
        self.ends[list as usize] = first.zip(last);
    }

    /// The queues of a list, in order.
    pub(super) fn walk(&self, list: List) -> impl Iterator<Item = u32> {
        core::iter::successors(self.head(list), |&index| self.places[index as usize].behind)
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
        lists.remove(3);
        lists.remove(2);
        assert_eq!((lists.head(List::New), lists.head(List::Decaying)), (None, None));
        assert_eq!(lists.walk(List::Old).collect::<Vec<_>>(), [1, 0]);
    }
}
