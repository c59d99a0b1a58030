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
    new: List,
    old: List,
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug, Default)]
struct List {
    ends: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    is_listed: bool,
    behind: Option<u32>,
}

impl Rota {
    /// Empty lists for queues numbered `0..count`.
    pub(crate) fn new(count: usize) -> Rota {
        let (new, old) = (List::default(), List::default());
        Rota { new, old, places: vec![Place::default(); count] }
    }

    pub(crate) fn contains(&self, index: u32) -> bool {
        self.places[index as usize].is_listed
    }

    pub(crate) fn is_empty(&self, turn: Turn) -> bool {
        self.list(turn).ends.is_none()
    }

    /// The queue to serve.
    pub(crate) fn head(&self) -> Option<(Turn, u32)> {
        match (self.new.ends, self.old.ends) {
            (Some((first, _)), _) => Some((Turn::New, first)),
            (None, Some((first, _))) => Some((Turn::Old, first)),
            (None, None) => None,
        }
    }

    /// Puts a queue that is in neither list at the end of one.
    pub(crate) fn append(&mut self, turn: Turn, index: u32) {
        debug_assert!(!self.contains(index), "a queue is listed once");
        self.places[index as usize] = Place { is_listed: true, behind: None };
        let (first, last) = self.list(turn).ends.unwrap_or((index, index));
        if last != index {
            self.places[last as usize].behind = Some(index);
        }
        self.list_mut(turn).ends = Some((first, index));
    }

    /// Takes the head out of its list.
    pub(crate) fn remove_head(&mut self, turn: Turn) {
        let (first, last) = self.list(turn).ends.expect("only a list with a head loses it");
        let behind = core::mem::take(&mut self.places[first as usize]).behind;
        self.list_mut(turn).ends = behind.map(|next| (next, last));
    }

    /// All listed queues, in the order of service.
    pub(crate) fn listed(&self) -> impl Iterator<Item = u32> {
        self.walk(Turn::New).chain(self.walk(Turn::Old))
    }

    /// The queues of one list.
    pub(crate) fn walk(&self, turn: Turn) -> impl Iterator<Item = u32> {
        let first = self.list(turn).ends.map(|(first, _)| first);
        core::iter::successors(first, |&index| self.places[index as usize].behind)
    }

    fn list(&self, turn: Turn) -> &List {
        match turn {
            Turn::New => &self.new,
            Turn::Old => &self.old,
        }
    }

    fn list_mut(&mut self, turn: Turn) -> &mut List {
        match turn {
            Turn::New => &mut self.new,
            Turn::Old => &mut self.old,
        }
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
