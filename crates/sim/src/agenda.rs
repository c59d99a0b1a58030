//! The agenda, the event queue of a world: one alarm per component, and which of them is due next.
//!
//! An alarm is one number, its time above its slot, so that the smaller of two is the one due
//! first; alarms of the same instant are due in the order of their slots. They are the leaves of
//! winner trees, in which every node holds the smallest of its four children. Setting an alarm
//! replays its path to the root and stops where nothing changes; cancelling is setting it to
//! [`Time::NEVER`]. There are no stale entries.
//!
//! Each kind of component that is set at every packet has a tree of its own, the others share one:
//! a shallow tree costs one level, and the next alarm is the smallest of four roots.
//!
//! The uplink of a group has no slot of its own: its alarm is that of the access link from which
//! its next packet came, so that packets of one instant come in the order of their flows.

use sojourn_aqm::Time;

/// The number of an alarm, which orders those of the same instant.
pub(crate) type Slot = usize;

/// The number of the first slot of each kind of component; servers come before, from zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    /// Wireless LANs.
    pub(crate) media: Slot,
    /// Queue timers.
    pub(crate) timers: Slot,
    /// Wires.
    pub(crate) wires: Slot,
    /// Access links.
    pub(crate) accesses: Slot,
    /// Flows.
    pub(crate) flows: Slot,
    /// The sampler, the only one of its kind.
    pub(crate) sampler: Slot,
    /// The end of bins, the last.
    pub(crate) binner: Slot,
    /// How many uplinks there are, which have no slots.
    pub(crate) uplinks: usize,
}

/// In a place without an alarm; later than every alarm.
const UNSET: u64 = u64::MAX;

/// The children of a node.
const CHILDREN: usize = 4;

/// The kinds of components.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The servers of links.
    Server,
    /// Wires.
    Wire,
    /// Uplinks.
    Uplink,
    /// Access links.
    Access,
    /// Flows.
    Flow,
    /// Wireless LANs, queue timers, the sampler and the end of bins.
    Rare,
}

/// The trees of alarms: of wires, of uplinks and servers, of access links, and of flows with all
/// that is rare.
const TREES: usize = 4;
const WIRES: usize = 0;
const UPLINKS: usize = 1;
const ACCESSES: usize = 2;
const OTHERS: usize = 3;

/// Where an alarm of an agenda is kept: its slot and the place of its leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarm {
    slot: Slot,
    leaf: usize,
}

impl Slots {
    /// The tree in which the alarm of a slot is, and the number of its leaf there. Uplinks and
    /// flows come first in theirs.
    fn leaf_of(&self, slot: Slot) -> (usize, usize) {
        let Slots { media, wires, accesses, flows, uplinks, .. } = *self;
        if slot < media {
            (UPLINKS, uplinks + slot)
        } else if slot < wires {
            (OTHERS, self.count() - flows + slot - media)
        } else if slot < accesses {
            (WIRES, slot - wires)
        } else if slot < flows {
            (ACCESSES, slot - accesses)
        } else {
            (OTHERS, slot - flows)
        }
    }

    /// How many slots there are.
    pub(crate) fn count(&self) -> usize {
        self.binner + 1
    }
}

/// A node of a tree.
#[derive(Clone, Debug)]
struct Node {
    /// Alarms, or the smallest of those below each child.
    children: [u64; CHILDREN],
    /// Where the smallest of them goes: a place, four to a node; below [`TREES`] a root.
    parent: usize,
}

/// Adds the nodes of a tree with so many leaves, its root first, then level by level, the children
/// of each node side by side. Returns the place of the first leaf.
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

/// What one of so many alarms is set to has to lie before this time; later is never.
pub(crate) fn horizon(slots: usize) -> Time {
    Time::from_nanos(UNSET >> slot_bits(slots))
}

/// All alarms of a world.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// How many bits of an alarm are its slot, and the number in which these are set.
    slot_bits: u32,
    slot_mask: u64,
    /// The first time in nanoseconds that the other bits do not hold.
    horizon_ns: u64,
    /// Of all trees; as many as would hold the roots are left out.
    nodes: Vec<Node>,
    slots: Slots,
    /// By tree: the place of its first leaf, and the smallest of its leaves.
    first_leaves: [usize; TREES],
    roots: [u64; TREES],
}

impl Agenda {
    /// An agenda in which no alarm is set.
    pub(crate) fn new(slots: &Slots) -> Agenda {
        let Slots { media, wires, accesses, flows, uplinks, .. } = *slots;
        let others = slots.count() - flows + wires - media;
        let leaves = [accesses - wires, uplinks + media, flows - accesses, others];
        let left_out = Node { children: [UNSET; CHILDREN], parent: 0 };
        let mut nodes = vec![left_out; TREES.div_ceil(CHILDREN)];
        Agenda {
            slot_bits: slot_bits(slots.count()),
            slot_mask: (1 << slot_bits(slots.count())) - 1,
            horizon_ns: horizon(slots.count()).as_nanos(),
            first_leaves: std::array::from_fn(|tree| add_tree(&mut nodes, tree, leaves[tree])),
            nodes,
            slots: *slots,
            roots: [UNSET; TREES],
        }
    }

    /// Where the alarm of a slot is kept.
    pub(crate) fn alarm(&self, slot: Slot) -> Alarm {
        let (tree, leaf) = self.slots.leaf_of(slot);
        Alarm { slot, leaf: self.first_leaves[tree] + leaf }
    }

    /// Where the alarm of a flow is kept.
    #[inline]
    pub(crate) fn of_flow(&self, flow: usize) -> Alarm {
        let leaf = self.first_leaves[OTHERS] + flow;
        Alarm { slot: self.slots.flows + flow, leaf }
    }

    /// Where the alarm of an uplink is kept whose next packet is of this flow.
    #[inline]
    pub(crate) fn of_uplink(&self, uplink: usize, flow: usize) -> Alarm {
        let leaf = self.first_leaves[UPLINKS] + uplink;
        Alarm { slot: self.slots.accesses + flow, leaf }
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

    /// Sets the alarm that is due, which is the smallest of its tree.
    #[inline]
    pub(crate) fn set_due(&mut self, alarm: Alarm, time: Time) {
        debug_assert_eq!(self.key_at(alarm.leaf), self.soonest(), "it is due");
        self.replay::<true>(alarm.leaf, self.key(alarm.slot, time));
    }

    /// Moves an alarm to an earlier time; a later one leaves it alone. Owners whose timer has
    /// moved away look again when it is due.
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

    /// Sets a leaf, and what follows from it up to the root. If it was the smallest of its tree,
    /// all of that changes, which is not asked then.
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

    /// The next alarm that is due; the time is the horizon if none is set.
    #[inline]
    pub(crate) fn next(&self) -> (Time, Slot) {
        let key = self.soonest();
        (Time::from_nanos(key >> self.slot_bits), (key & self.slot_mask) as usize)
    }

    #[inline]
    fn soonest(&self) -> u64 {
        smallest(&self.roots)
    }

    /// The flow whose alarm is the next of all flows, if nothing that is rare comes first.
    #[inline]
    pub(crate) fn next_flow(&self) -> Option<usize> {
        let slot = (self.roots[OTHERS] & self.slot_mask) as usize;
        let Slots { flows, sampler, .. } = self.slots;
        (flows..sampler).contains(&slot).then(|| slot - flows)
    }

    /// The kind of the component whose alarm is the next that is due, if one is set, by the tree
    /// whose root it is: that takes less than to look where its slot lies. The most frequent come
    /// first; what is on an uplink was sent before what is still on the access link of its flow.
    #[inline]
    pub(crate) fn next_kind(&self) -> Kind {
        let soonest = self.soonest();
        let slot = (soonest & self.slot_mask) as usize;
        let Slots { media, flows, sampler, .. } = self.slots;
        if soonest == self.roots[WIRES] {
            Kind::Wire
        } else if soonest == self.roots[UPLINKS] {
            if slot < media { Kind::Server } else { Kind::Uplink }
        } else if soonest == self.roots[ACCESSES] {
            Kind::Access
        } else {
            let is_flow = slot >= flows && slot < sampler;
            if is_flow { Kind::Flow } else { Kind::Rare }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Slots of so many components of each kind, in their order.
    fn slots([servers, media, timers, wires, accesses, flows]: [usize; 6]) -> Slots {
        let media_end = servers + media;
        let wires_start = media_end + timers;
        let accesses_start = wires_start + wires;
        let flows_start = accesses_start + accesses;
        let sampler = flows_start + flows;
        Slots {
            media: servers,
            timers: media_end,
            wires: wires_start,
            accesses: accesses_start,
            flows: flows_start,
            sampler,
            binner: sampler + 1,
            uplinks: 3,
        }
    }

    fn kind(slots: &Slots, slot: Slot) -> Kind {
        let Slots { media, wires, accesses, flows, sampler, .. } = *slots;
        match slot {
            _ if slot < media => Kind::Server,
            _ if slot < wires => Kind::Rare,
            _ if slot < accesses => Kind::Wire,
            _ if slot < flows => Kind::Access,
            _ if slot < sampler => Kind::Flow,
            _ => Kind::Rare,
        }
    }

    proptest! {
        #[test]
        fn finds_the_alarm_that_a_linear_search_finds(
            few in prop::array::uniform4(0usize..20),
            many in prop::array::uniform2(0usize..70),
            steps in prop::collection::vec((0usize..400, prop::option::of(0u64..20)), 1..300),
        ) {
            let [servers, media, timers, wires] = few;
            let slots = slots([servers, media, timers, wires, many[0], many[1]]);
            let mut agenda = Agenda::new(&slots);
            let mut plain = vec![Time::NEVER; slots.count()];
            for (slot, time) in steps {
                let slot = slot % slots.count();
                let time = time.map_or(Time::NEVER, Time::from_nanos);
                let is_due = agenda.next().1 == slot;
                let alarm = agenda.alarm(slot);
                if is_due {
                    agenda.set_due(alarm, time);
                } else {
                    agenda.set(alarm, time);
                }
                plain[slot] = time;
                let first = plain.iter().enumerate().map(|(slot, &time)| (time, slot)).min();
                let first = first.filter(|&(time, _)| time < Time::NEVER);
                let (time, slot) = agenda.next();
                if first.is_none() {
                    prop_assert_eq!(time, horizon(slots.count()));
                } else {
                    prop_assert_eq!(Some((time, slot)), first);
                    prop_assert_eq!(agenda.next_kind(), kind(&slots, slot));
                }
            }
        }
    }

    #[test]
    fn advance_never_delays() {
        for kind in 0..6 {
            let mut counts = [0; 6];
            counts[kind] = 3;
            let slots = slots(counts);
            let mut agenda = Agenda::new(&slots);
            let alarm = agenda.alarm(1);
            agenda.set(alarm, Time::from_nanos(5));
            agenda.advance(alarm, Time::from_nanos(9));
            assert_eq!(agenda.next(), (Time::from_nanos(5), 1));
            agenda.advance(alarm, Time::from_nanos(2));
            assert_eq!(agenda.next(), (Time::from_nanos(2), 1));
        }
    }

    #[test]
    fn packets_of_one_instant_come_in_the_order_of_flows_whatever_they_are_on() {
        let slots = slots([0, 0, 0, 0, 9, 9]);
        let mut agenda = Agenda::new(&slots);
        let now = Time::from_nanos(7);
        agenda.set(agenda.of_uplink(2, 5), now);
        agenda.set(agenda.alarm(slots.accesses + 4), now);
        agenda.set(agenda.of_uplink(0, 3), now);
        agenda.set(agenda.alarm(slots.accesses + 5), now);
        for (kind, flow) in
            [(Kind::Uplink, 3), (Kind::Access, 4), (Kind::Uplink, 5), (Kind::Access, 5)]
        {
            assert_eq!((agenda.next(), agenda.next_kind()), ((now, slots.accesses + flow), kind));
            let uplink = if flow == 3 { 0 } else { 2 };
            agenda.set_due(
                match kind {
                    Kind::Uplink => agenda.of_uplink(uplink, flow),
                    _ => agenda.alarm(slots.accesses + flow),
                },
                Time::NEVER,
            );
        }
        assert_eq!(agenda.next().0, horizon(slots.count()));
    }

    #[test]
    fn an_alarm_beyond_the_horizon_is_never_due() {
        let slots = slots([2, 0, 0, 0, 1_000_000, 1_000_000]);
        let mut agenda = Agenda::new(&slots);
        let horizon = horizon(slots.count());
        let hours = horizon.as_nanos() / 3_600_000_000_000;
        assert_eq!(hours, 2, "a million flows leave 43 bits for the time");
        let last = Time::from_nanos(horizon.as_nanos() - 1);
        agenda.set(agenda.alarm(1), horizon);
        assert_eq!(agenda.next().0, horizon);
        agenda.set(agenda.alarm(2_000_003), last);
        assert_eq!(agenda.next(), (last, 2_000_003));
    }
}
