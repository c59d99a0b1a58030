//! The empty queues whose COBALT is not at rest yet: a doubly linked list, so a queue can be
//! removed from the middle.

use alloc::vec;
use alloc::vec::Vec;

/// The list.
#[derive(Clone, Debug)]
pub(super) struct Decaying {
    /// The ends of the list; unspecified while it is empty.
    first: u32,
    last: u32,
    length: u32,
    places: Vec<Place>,
}

/// Neighbours are unspecified at the ends of the list.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    before: u32,
    behind: u32,
}

impl Decaying {
    /// An empty list for queues numbered `0..count`.
    pub(super) fn new(count: usize) -> Decaying {
        Decaying { first: 0, last: 0, length: 0, places: vec![Place::default(); count] }
    }

    pub(super) fn length(&self) -> u32 {
        self.length
    }

    pub(super) fn head(&self) -> Option<u32> {
        (self.length > 0).then_some(self.first)
    }

    /// Appends a queue that is not in the list.
    pub(super) fn push(&mut self, queue: u32) {
        if self.length == 0 {
            self.first = queue;
        } else {
            self.places[self.last as usize].behind = queue;
        }
        self.places[queue as usize].before = self.last;
        self.last = queue;
        self.length += 1;
    }

    /// Removes a queue that is in the list.
    pub(super) fn remove(&mut self, queue: u32) {
        debug_assert!(self.length > 0, "the queue is in the list");
        let Place { before, behind } = self.places[queue as usize];
        self.length -= 1;
        // If the list becomes empty, an unspecified neighbour is copied to its ends, which are then
        // unspecified too.
        if self.first == queue {
            self.first = behind;
        } else {
            self.places[before as usize].behind = behind;
        }
        if self.last == queue {
            self.last = before;
        } else {
            self.places[behind as usize].before = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_leave_from_the_middle_and_from_both_ends() {
        let mut list = Decaying::new(6);
        let mut left = Vec::new();
        (0..6).for_each(|queue| list.push(queue));
        [2, 0, 5].into_iter().for_each(|queue| list.remove(queue));
        list.push(0);
        assert_eq!(list.length(), 4);
        while let Some(head) = list.head() {
            list.remove(head);
            left.push(head);
        }
        assert_eq!(left, [1, 3, 4, 0]);
        list.push(3);
        assert_eq!((list.head(), list.length()), (Some(3), 1));
    }
}
