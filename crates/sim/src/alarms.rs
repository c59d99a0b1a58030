//! The event queue: one alarm per component.
//!
//! A component may have several timers; its alarm is never later than the earliest of them. An
//! alarm is one integer, with the time in the high bits and the slot in the low bits, so comparing
//! two integers orders alarms by time, and those of the same instant by slot. Alarms are the leaves
//! of winner trees in which every node holds the minimum of its four children. Setting an alarm
//! replays its path to the root and stops where nothing changes. Setting it to [`Time::NEVER`]
//! cancels it, so there are no stale entries.
//!
//! Components whose alarm is set for every packet have a separate tree per kind, which keeps the
//! trees shallow. The next alarm is the smallest of the roots.

use sojourn_aqm::Time;

/// The index of an alarm, which orders alarms of the same instant.
pub(crate) type Slot = usize;

/// Marks a leaf without an alarm; later than every alarm.
const UNSET: u64 = u64::MAX;

/// Children per node.
const CHILDREN: usize = 4;

/// The next alarm of several trees. It keeps the key of the alarm, so that its tree is found
/// without comparing the roots again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// When the alarm is due; the horizon if no alarm is set.
    pub(crate) time: Time,
    /// Its slot.
    pub(crate) slot: Slot,
    key: u64,
}

impl Due {
    /// When it is due, and its slot.
    pub(crate) fn at(self) -> (Time, Slot) {
        (self.time, self.slot)
    }
}

/// Where an alarm is stored: its slot and the index of its leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarm {
    slot: Slot,
    leaf: usize,
}

/// A node of a tree.
#[derive(Clone, Debug)]
struct Node {
    /// Alarms, or the minimum below each child.
    children: [u64; CHILDREN],
    /// Index of the entry that receives this node's minimum: each node has four entries, and the
    /// first entries are the roots.
    parent: usize,
}

/// Adds the nodes of a tree with `leaves` leaves: its root first, then level by level, siblings
/// next to each other. Returns the index of the first leaf.
fn add_tree(nodes: &mut Vec<Node>, root: usize, leaves: usize) -> usize {
    let (mut inner, mut last_level) = (0, 1);
    while last_level * CHILDREN < leaves {
        inner += last_level;
        last_level *= CHILDREN;
    }
    let base = nodes.len();
    for node in 0..inner + leaves.div_ceil(CHILDREN).max(1) {
        let parent = if node == 0 { root } else { base * CHILDREN + node - 1 };
        nodes.push(Node { children: [UNSET; CHILDREN], parent });
    }
    (base + inner) * CHILDREN
}

#[inline]
fn smallest(children: &[u64; CHILDREN]) -> u64 {
    let [a, b, c, d] = *children;
    a.min(b).min(c.min(d))
}

fn slot_bits(slots: usize) -> u32 {
    usize::BITS - slots.leading_zeros()
}

/// With this number of slots, alarms must lie before this time; later ones never fire.
pub(crate) fn horizon(slots: usize) -> Time {
    Time::from_nanos(UNSET >> slot_bits(slots))
}

/// Alarms in `TREES` trees.
#[derive(Clone, Debug)]
pub(crate) struct Alarms<const TREES: usize> {
    /// Number of low bits of an alarm that hold its slot, and their mask.
    slot_bits: u32,
    slot_mask: u64,
    /// The first time, in nanoseconds, that does not fit into the other bits.
    horizon_ns: u64,
    /// The nodes of all trees. Nodes that would hold the roots are left out.
    nodes: Vec<Node>,
    /// Per tree: the index of its first leaf, and its smallest leaf.
    first_leaves: [usize; TREES],
    roots: [u64; TREES],
}

impl<const TREES: usize> Alarms<TREES> {
    /// Creates alarms for slots below `slots`, all unset; `leaves` is the number of leaves per
    /// tree.
    pub(crate) fn new(slots: usize, leaves: [usize; TREES]) -> Alarms<TREES> {
        let left_out = Node { children: [UNSET; CHILDREN], parent: 0 };
        let mut nodes = vec![left_out; TREES.div_ceil(CHILDREN)];
        Alarms {
            slot_bits: slot_bits(slots),
            slot_mask: (1 << slot_bits(slots)) - 1,
            horizon_ns: horizon(slots).as_nanos(),
            first_leaves: std::array::from_fn(|tree| add_tree(&mut nodes, tree, leaves[tree])),
            nodes,
            roots: [UNSET; TREES],
        }
    }

    /// The alarm of a slot at a leaf of a tree.
    #[inline]
    pub(crate) fn alarm(&self, slot: Slot, (tree, leaf): (usize, usize)) -> Alarm {
        Alarm { slot, leaf: self.first_leaves[tree] + leaf }
    }

    #[inline]
    fn key(&self, slot: Slot, time: Time) -> u64 {
        time.as_nanos().min(self.horizon_ns) << self.slot_bits | slot as u64
    }

    /// Sets an alarm.
    #[inline]
    pub(crate) fn set(&mut self, alarm: Alarm, time: Time) {
        self.replay::<false>(alarm.leaf, self.key(alarm.slot, time));
    }

    /// Sets an alarm that is due now and is therefore the smallest of its tree.
    #[inline]
    pub(crate) fn set_due(&mut self, alarm: Alarm, time: Time) {
        debug_assert_eq!(self.key_at(alarm.leaf), self.soonest(), "it is due");
        self.replay::<true>(alarm.leaf, self.key(alarm.slot, time));
    }

    /// Moves an alarm to an earlier time; does nothing if `time` is later. An owner whose timer has
    /// moved to a later time checks again when the alarm fires.
    #[inline]
    pub(crate) fn advance(&mut self, alarm: Alarm, time: Time) {
        let Alarm { slot, leaf } = alarm;
        let key = self.key(slot, time);
        if key < self.key_at(leaf) {
            self.replay::<false>(leaf, key);
        }
    }

    #[inline]
    fn key_at(&self, leaf: usize) -> u64 {
        self.nodes[leaf / CHILDREN].children[leaf % CHILDREN]
    }

    /// Sets a leaf and updates the nodes up to the root. With `WAS_SMALLEST` the leaf was the
    /// smallest of its tree, so every node on the path changes and the comparison is skipped.
    #[inline]
    fn replay<const WAS_SMALLEST: bool>(&mut self, leaf: usize, key: u64) {
        let (mut place, mut winner) = (leaf, key);
        loop {
            let node = &mut self.nodes[place / CHILDREN];
            let child = &mut node.children[place % CHILDREN];
            if !WAS_SMALLEST && *child == winner {
                return;
            }
            *child = winner;
            winner = smallest(&node.children);
            place = node.parent;
            if place < TREES {
                self.roots[place] = winner;
                return;
            }
        }
    }

    /// The next alarm.
    #[inline]
    pub(crate) fn next(&self) -> Due {
        let key = self.soonest();
        let time = Time::from_nanos(key >> self.slot_bits);
        Due { time, slot: (key & self.slot_mask) as usize, key }
    }

    #[inline]
    fn soonest(&self) -> u64 {
        self.roots.iter().copied().fold(UNSET, u64::min)
    }

    /// Whether the next alarm is in this tree. Comparing roots is cheaper than decoding the slot.
    #[inline]
    pub(crate) fn is_in(&self, next: Due, tree: usize) -> bool {
        self.roots[tree] == next.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_alarm_that_a_linear_search_finds(
            leaves in prop::array::uniform3(0usize..70),
            steps in prop::collection::vec((0usize..400, prop::option::of(0u64..20)), 1..300),
        ) {
            let slots = leaves.iter().sum::<usize>().max(1);
            let leaves = [leaves[0].max(1), leaves[1], leaves[2]];
            let tree_of = |slot: usize| match slot {
                _ if slot < leaves[0] => (0, slot),
                _ if slot < leaves[0] + leaves[1] => (1, slot - leaves[0]),
                _ => (2, slot - leaves[0] - leaves[1]),
            };
            let mut alarms = Alarms::new(slots, leaves);
            let mut plain = vec![Time::NEVER; slots];
            for (slot, time) in steps {
                let slot = slot % slots;
                let time = time.map_or(Time::NEVER, Time::from_nanos);
                let alarm = alarms.alarm(slot, tree_of(slot));
                match alarms.next().slot == slot && alarms.next().time < horizon(slots) {
                    true => alarms.set_due(alarm, time),
                    false => alarms.set(alarm, time),
                }
                plain[slot] = time;
                let first = plain.iter().enumerate().map(|(slot, &time)| (time, slot)).min();
                match first.filter(|&(time, _)| time < Time::NEVER) {
                    None => prop_assert_eq!(alarms.next().time, horizon(slots)),
                    Some(first) => {
                        let next = alarms.next();
                        prop_assert_eq!(next.at(), first);
                        prop_assert!(alarms.is_in(next, tree_of(first.1).0));
                    }
                }
            }
        }
    }

    #[test]
    fn advance_never_delays() {
        let mut alarms = Alarms::new(3, [3]);
        let alarm = alarms.alarm(1, (0, 1));
        alarms.set(alarm, Time::from_nanos(5));
        alarms.advance(alarm, Time::from_nanos(9));
        assert_eq!(alarms.next().at(), (Time::from_nanos(5), 1));
        alarms.advance(alarm, Time::from_nanos(2));
        assert_eq!(alarms.next().at(), (Time::from_nanos(2), 1));
    }

    #[test]
    fn an_alarm_beyond_the_horizon_is_never_due() {
        let mut alarms = Alarms::new(1_000_000, [1_000_000]);
        let horizon = horizon(1_000_000);
        let hours = horizon.as_nanos() / 3_600_000_000_000;
        assert_eq!(hours, 4, "a million slots leave 44 bits for the time");
        let last = Time::from_nanos(horizon.as_nanos() - 1);
        alarms.set(alarms.alarm(1, (0, 1)), horizon);
        assert_eq!(alarms.next().time, horizon);
        alarms.set(alarms.alarm(999_999, (0, 999_999)), last);
        assert_eq!(alarms.next().at(), (last, 999_999));
    }
}
