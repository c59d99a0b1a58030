//! Classes that take turns, in the order of their numbers.

/// A set of classes and the one whose turn it is (Linux 6.1 sch_htb.c, struct htb_prio).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Feed {
    members: u128,
    /// The class whose turn it is; `None` after the last.
    at: Option<u8>,
    /// The class that had the turn when it was removed.
    removed: Option<u8>,
}

impl Feed {
    pub(super) fn is_empty(&self) -> bool {
        self.members == 0
    }

    pub(super) fn insert(&mut self, class: u8) {
        debug_assert!(!self.contains(class), "a class is in a feed once");
        self.members |= 1 << class;
    }

    fn contains(&self, class: u8) -> bool {
        self.members & 1 << class != 0
    }

    /// Removes a class from a row; the turn goes to the next class (htb_remove_class_from_row).
    pub(super) fn remove_from_row(&mut self, class: u8) {
        if self.at == Some(class) {
            self.advance();
        }
        self.remove(class);
    }

    /// Removes a class from its parent's feed, which resumes with that class or the one behind it
    /// (htb_deactivate_prios).
    pub(super) fn remove_from_parent(&mut self, class: u8) {
        if self.at == Some(class) {
            (self.at, self.removed) = (None, Some(class));
        }
        self.remove(class);
    }

    fn remove(&mut self, class: u8) {
        debug_assert!(self.contains(class), "only a member is removed");
        self.members &= !(1 << class);
    }

    /// Gives the turn to the next class; after the last class, to none.
    pub(super) fn advance(&mut self) {
        self.at = self.at.and_then(|at| self.from(u32::from(at) + 1));
    }

    /// The class whose turn it is; after the last `None` once, then the first again.
    pub(super) fn turn(&mut self) -> Option<u8> {
        if let (None, Some(removed)) = (self.at, self.removed) {
            self.at = self.from(u32::from(removed));
        }
        self.removed = None;
        if self.at.is_none() {
            self.at = self.from(0);
            return None;
        }
        self.at
    }

    /// The first class of at least this number.
    fn from(&self, number: u32) -> Option<u8> {
        let left = self.members & u128::MAX.checked_shl(number).unwrap_or(0);
        (left != 0).then(|| left.trailing_zeros() as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(classes: &[u8]) -> Feed {
        let mut feed = Feed::default();
        classes.iter().for_each(|&class| feed.insert(class));
        feed
    }

    #[test]
    fn classes_take_turns_in_the_order_of_their_numbers() {
        let mut feed = of(&[127, 0, 5]);
        let mut turns = [None; 5];
        for turn in &mut turns {
            *turn = feed.turn();
            feed.advance();
        }
        // `None` stands for the rewind, after which `advance` skips the first class here.
        assert_eq!(turns, [None, Some(5), Some(127), None, Some(5)]);
    }

    /// Linux 6.1 sch_htb.c, htb_deactivate_prios: last_ptr_id.
    #[test]
    fn a_removed_class_that_comes_back_still_has_its_turn() {
        let mut feed = of(&[1, 3, 6]);
        assert_eq!((feed.turn(), feed.turn()), (None, Some(1)));
        feed.advance();
        feed.remove_from_parent(3);
        let mut gone = feed;
        assert_eq!(gone.turn(), Some(6));
        feed.insert(3);
        assert_eq!(feed.turn(), Some(3));
        feed.remove_from_row(3);
        assert_eq!(feed.turn(), Some(6));
    }
}
