//! The agenda, the event queue of a world: one alarm per component, and which of them is due next.
//!
//! A winner tree in one flat array: leaves are the alarms, every inner node repeats the earlier of
//! its two children. Setting an alarm replays its path to the root and stops where nothing changes;
//! cancelling is setting it to [`Time::NEVER`]. There are no stale entries. Alarms of the same
//! instant are due in the order of their slots.

use sojourn_aqm::Time;

/// The place of an alarm.
pub(crate) type Slot = usize;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Alarm {
    time: Time,
    slot: u32,
}

/// All alarms of a world.
#[derive(Clone, Debug)]
pub struct Agenda {
    nodes: Vec<Alarm>,
    leaves: usize,
}

impl Agenda {
    /// An agenda of `slots` alarms, none of which is set.
    pub fn new(slots: usize) -> Agenda {
        let leaves = slots.next_power_of_two().max(2);
        let mut nodes = vec![Alarm { time: Time::NEVER, slot: 0 }; 2 * leaves];
        for (slot, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.slot = u32::try_from(slot).expect("fewer than 2^32 alarms");
        }
        for i in (1..leaves).rev() {
            nodes[i] = nodes[2 * i];
        }
        Agenda { nodes, leaves }
    }

    /// Sets an alarm.
    #[inline]
    pub fn set(&mut self, slot: Slot, time: Time) {
        let mut i = self.leaves + slot;
        self.nodes[i].time = time;
        while i > 1 {
            let pair = i & !1;
            let (left, right) = (self.nodes[pair], self.nodes[pair + 1]);
            let winner = if right.time < left.time { right } else { left };
            i >>= 1;
            if self.nodes[i] == winner {
                break;
            }
            self.nodes[i] = winner;
        }
    }

    /// Moves an alarm to an earlier time; a later one leaves it alone. Owners whose deadline has
    /// moved away look again when it is due.
    #[inline]
    pub fn advance(&mut self, slot: Slot, time: Time) {
        if time < self.nodes[self.leaves + slot].time {
            self.set(slot, time);
        }
    }

    /// The next alarm that is due.
    #[inline]
    pub fn next(&self) -> (Time, Slot) {
        (self.nodes[1].time, self.nodes[1].slot as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_alarm_that_a_linear_search_finds(
            slots in 1usize..40,
            steps in prop::collection::vec((0usize..40, prop::option::of(0u64..20)), 1..200),
        ) {
            let mut agenda = Agenda::new(slots);
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
        let mut agenda = Agenda::new(3);
        agenda.set(1, Time::from_nanos(5));
        agenda.advance(1, Time::from_nanos(9));
        assert_eq!(agenda.next(), (Time::from_nanos(5), 1));
        agenda.advance(1, Time::from_nanos(2));
        assert_eq!(agenda.next(), (Time::from_nanos(2), 1));
    }
}
