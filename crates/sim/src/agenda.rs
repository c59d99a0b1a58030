//! The agenda, the event queue of a world: one alarm per component, and which of them is due next.
//!
//! An alarm is one number, its time above its slot, so that the smaller of two is the one due
//! first; alarms of the same instant are due in the order of their slots. They are the leaves of a
//! winner tree, in which every node holds the smallest of its four children. Setting an alarm
//! replays its path to the root and stops where nothing changes; cancelling is setting it to
//! [`Time::NEVER`]. There are no stale entries.
//!
//! What every flow has is set rarely, what flows share at every packet. So the alarms of flows are
//! two trees of their own, whose roots are leaves of a small tree beside the shared ones.

use sojourn_aqm::Time;

/// The place of an alarm.
pub(crate) type Slot = usize;

/// An alarm that is not set.
const UNSET: u64 = u64::MAX;

/// The children of a node.
const CHILDREN: usize = 4;

/// A winner tree, the children of each node side by side: those of the root first, then those of
/// its first child, and so on level by level.
#[derive(Clone, Debug)]
struct Tree {
    nodes: Vec<[u64; CHILDREN]>,
    /// The node that holds the first leaves.
    first_leaves: usize,
}

impl Tree {
    fn new(leaves: usize) -> Tree {
        let (mut first_leaves, mut last_level) = (0, 1);
        while last_level * CHILDREN < leaves {
            first_leaves += last_level;
            last_level *= CHILDREN;
        }
        let nodes = first_leaves + leaves.div_ceil(CHILDREN).max(1);
        Tree { nodes: vec![[UNSET; CHILDREN]; nodes], first_leaves }
    }

    #[inline]
    fn leaf(&self, place: usize) -> u64 {
        self.nodes[self.first_leaves + place / CHILDREN][place % CHILDREN]
    }

    /// The earliest of all leaves.
    #[inline]
    fn earliest(&self) -> u64 {
        smallest(&self.nodes[0])
    }

    /// Sets a leaf.
    #[inline]
    fn set(&mut self, place: usize, key: u64) {
        let mut node = self.first_leaves + place / CHILDREN;
        let mut child = place % CHILDREN;
        let mut winner = key;
        loop {
            let children = &mut self.nodes[node];
            if children[child] == winner {
                return;
            }
            children[child] = winner;
            if node == 0 {
                return;
            }
            winner = smallest(children);
            child = (node - 1) % CHILDREN;
            node = (node - 1) / CHILDREN;
        }
    }
}

#[inline]
fn smallest(children: &[u64; CHILDREN]) -> u64 {
    let [a, b, c, d] = *children;
    a.min(b).min(c.min(d))
}

fn slot_bits(slots: usize) -> u32 {
    usize::BITS - slots.leading_zeros()
}

/// What one of so many alarms is set to has to lie before this time; later is never.
pub(crate) fn horizon(slots: usize) -> Time {
    Time::from_nanos(UNSET >> slot_bits(slots))
}

/// All alarms of a world.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// How many bits of an alarm are its slot, and the first time in nanoseconds that the others do
    /// not hold.
    slot_bits: u32,
    horizon_ns: u64,
    /// The shared alarms, and the earliest of each crowd in their place.
    shared: Tree,
    crowds: [Tree; 2],
    /// Where the crowds begin, and one past the last.
    starts: [Slot; 3],
}

impl Agenda {
    /// An agenda with so many alarms that are shared, then two for each flow, the ones behind all
    /// the others, then `last` more that are shared. None is set.
    pub fn new(first: usize, flows: usize, last: usize) -> Agenda {
        let slots = first + 2 * flows + last;
        Agenda {
            slot_bits: slot_bits(slots),
            horizon_ns: horizon(slots).as_nanos(),
            shared: Tree::new(first + 2 + last),
            crowds: [Tree::new(flows), Tree::new(flows)],
            starts: [first, first + flows, first + 2 * flows],
        }
    }

    #[inline]
    fn key(&self, slot: Slot, time: Time) -> u64 {
        let nanos = time.as_nanos();
        if nanos < self.horizon_ns { nanos << self.slot_bits | slot as u64 } else { UNSET }
    }

    /// The crowd of a slot, by its place, or else its leaf among the shared.
    #[inline]
    fn crowd(&self, slot: Slot) -> Result<usize, usize> {
        let [accesses, flows, last] = self.starts;
        if slot < accesses {
            Err(slot)
        } else if slot < flows {
            Ok(0)
        } else if slot < last {
            Ok(1)
        } else {
            Err(accesses + 2 + (slot - last))
        }
    }

    /// Sets an alarm.
    #[inline]
    pub fn set(&mut self, slot: Slot, time: Time) {
        let key = self.key(slot, time);
        match self.crowd(slot) {
            Err(leaf) => self.shared.set(leaf, key),
            Ok(crowd) => self.set_of_flow(crowd, slot, key),
        }
    }

    /// Not inlined, so that what is set at every packet needs few registers.
    #[inline(never)]
    fn set_of_flow(&mut self, crowd: usize, slot: Slot, key: u64) {
        let alarms = &mut self.crowds[crowd];
        alarms.set(slot - self.starts[crowd], key);
        self.shared.set(self.starts[0] + crowd, alarms.earliest());
    }

    /// Moves an alarm to an earlier time; a later one leaves it alone. Owners whose deadline has
    /// moved away look again when it is due.
    #[inline]
    pub fn advance(&mut self, slot: Slot, time: Time) {
        let set = match self.crowd(slot) {
            Err(leaf) => self.shared.leaf(leaf),
            Ok(crowd) => self.crowds[crowd].leaf(slot - self.starts[crowd]),
        };
        if self.key(slot, time) < set {
            self.set(slot, time);
        }
    }

    /// The next alarm that is due; the time is [`Time::NEVER`] if none is set.
    #[inline]
    pub fn next(&self) -> (Time, Slot) {
        let key = self.shared.earliest();
        let time = if key == UNSET { Time::NEVER } else { Time::from_nanos(key >> self.slot_bits) };
        (time, (key & ((1 << self.slot_bits) - 1)) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_alarm_that_a_linear_search_finds(
            (first, flows, last) in (0usize..20, 0usize..70, 1usize..4),
            steps in prop::collection::vec((0usize..200, prop::option::of(0u64..20)), 1..300),
        ) {
            let slots = first + 2 * flows + last;
            let mut agenda = Agenda::new(first, flows, last);
            let mut plain = vec![Time::NEVER; slots];
            for (slot, time) in steps {
                let slot = slot % slots;
                let time = time.map_or(Time::NEVER, Time::from_nanos);
                agenda.set(slot, time);
                plain[slot] = time;
                let first = plain.iter().enumerate().map(|(slot, &time)| (time, slot)).min();
                let (time, slot) = agenda.next();
                prop_assert_eq!(Some(time), first.map(|f| f.0));
                prop_assert!(time == Time::NEVER || Some(slot) == first.map(|f| f.1));
            }
        }
    }

    #[test]
    fn advance_never_delays() {
        for (first, flows) in [(3, 0), (0, 3)] {
            let mut agenda = Agenda::new(first, flows, 1);
            agenda.set(1, Time::from_nanos(5));
            agenda.advance(1, Time::from_nanos(9));
            assert_eq!(agenda.next(), (Time::from_nanos(5), 1));
            agenda.advance(1, Time::from_nanos(2));
            assert_eq!(agenda.next(), (Time::from_nanos(2), 1));
        }
    }

    #[test]
    fn an_alarm_beyond_the_horizon_is_never_due() {
        let mut agenda = Agenda::new(2, 1_000_000, 2);
        let horizon = horizon(2_000_004);
        let hours = horizon.as_nanos() / 3_600_000_000_000;
        assert_eq!(hours, 2, "a million flows leave 43 bits for the time");
        let last = Time::from_nanos(horizon.as_nanos() - 1);
        agenda.set(1, horizon);
        assert_eq!(agenda.next().0, Time::NEVER);
        agenda.set(2_000_003, last);
        assert_eq!(agenda.next(), (last, 2_000_003));
    }
}
