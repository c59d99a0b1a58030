//! The alarms of a path.
//!
//! Events of one instant happen in the order of the slots: servers, wireless LANs, queue timers,
//! wires, access links. Departures come before arrivals.
//!
//! An uplink has no slot: it uses the alarm of the access link from which its next packet came, so
//! packets of one instant arrive in the order of their flows.

use sojourn_aqm::Time;

use crate::alarms::{Alarm, Alarms, Due, Slot, horizon};

/// The first slot of each kind of component; servers begin at slot zero.
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
    /// How many slots there are.
    pub(crate) count: usize,
    /// How many uplinks there are; they have no slots.
    pub(crate) uplinks: usize,
}

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
    /// Wireless LANs and queue timers.
    Rare,
}

/// The trees of alarms: wires; uplinks and servers; access links; rare components.
const TREES: usize = 4;
const WIRES: usize = 0;
const UPLINKS: usize = 1;
const ACCESSES: usize = 2;
const OTHERS: usize = 3;

impl Slots {
    /// Alarms must lie before this time.
    pub(crate) fn horizon(&self) -> Time {
        horizon(self.count)
    }

    /// The tree that holds the alarm of a slot, and its leaf there. Uplinks come first in their
    /// tree.
    fn leaf_of(&self, slot: Slot) -> (usize, usize) {
        let Slots { media, wires, accesses, uplinks, .. } = *self;
        if slot < media {
            (UPLINKS, uplinks + slot)
        } else if slot < wires {
            (OTHERS, slot - media)
        } else if slot < accesses {
            (WIRES, slot - wires)
        } else {
            (ACCESSES, slot - accesses)
        }
    }
}

/// All alarms of a path.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    alarms: Alarms<TREES>,
    slots: Slots,
}

impl Agenda {
    /// An agenda in which no alarm is set.
    pub(crate) fn new(slots: &Slots) -> Agenda {
        let Slots { media, wires, accesses, count, uplinks, .. } = *slots;
        let leaves = [accesses - wires, uplinks + media, count - accesses, wires - media];
        Agenda { alarms: Alarms::new(count, leaves), slots: *slots }
    }

    /// The alarm of a slot.
    pub(crate) fn alarm(&self, slot: Slot) -> Alarm {
        self.alarms.alarm(slot, self.slots.leaf_of(slot))
    }

    /// The alarm of an uplink whose next packet belongs to this flow.
    #[inline]
    pub(crate) fn of_uplink(&self, uplink: usize, flow: usize) -> Alarm {
        self.alarms.alarm(self.slots.accesses + flow, (UPLINKS, uplink))
    }

    /// Sets an alarm.
    #[inline]
    pub(crate) fn set(&mut self, alarm: Alarm, time: Time) {
        self.alarms.set(alarm, time);
    }

    /// Sets the alarm that is due now; see [`Alarms::set_due`].
    #[inline]
    pub(crate) fn set_due(&mut self, alarm: Alarm, time: Time) {
        self.alarms.set_due(alarm, time);
    }

    /// Moves an alarm to an earlier time; does nothing if `time` is later.
    #[inline]
    pub(crate) fn advance(&mut self, alarm: Alarm, time: Time) {
        self.alarms.advance(alarm, time);
    }

    /// The next alarm.
    #[inline]
    pub(crate) fn next(&self) -> Due {
        self.alarms.next()
    }

    /// The kind of the component whose alarm is next. Packets on an uplink were sent before those
    /// still on the access link of the same flow. The most frequent kinds come first.
    #[inline]
    pub(crate) fn kind_of(&self, next: Due) -> Kind {
        if self.alarms.is_in(next, WIRES) {
            Kind::Wire
        } else if self.alarms.is_in(next, UPLINKS) {
            if next.slot < self.slots.media { Kind::Server } else { Kind::Uplink }
        } else if self.alarms.is_in(next, ACCESSES) {
            Kind::Access
        } else {
            Kind::Rare
        }
    }

    /// The first slot of each kind.
    #[inline]
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_one_instant_come_in_the_order_of_flows_whatever_they_are_on() {
        let slots = Slots { media: 0, timers: 0, wires: 0, accesses: 0, count: 9, uplinks: 3 };
        let mut agenda = Agenda::new(&slots);
        let now = Time::from_nanos(7);
        agenda.set(agenda.of_uplink(2, 5), now);
        agenda.set(agenda.alarm(slots.accesses + 4), now);
        agenda.set(agenda.of_uplink(0, 3), now);
        agenda.set(agenda.alarm(slots.accesses + 5), now);
        for (kind, flow) in
            [(Kind::Uplink, 3), (Kind::Access, 4), (Kind::Uplink, 5), (Kind::Access, 5)]
        {
            let next = agenda.next();
            assert_eq!(next.at(), (now, slots.accesses + flow));
            assert_eq!(agenda.kind_of(next), kind);
            let uplink = if flow == 3 { 0 } else { 2 };
            agenda.set_due(
                match kind {
                    Kind::Uplink => agenda.of_uplink(uplink, flow),
                    _ => agenda.alarm(slots.accesses + flow),
                },
                Time::NEVER,
            );
        }
        assert_eq!(agenda.next().time, slots.horizon());
    }

    #[test]
    fn a_slot_has_an_alarm_of_its_kind() {
        let slots = Slots { media: 2, timers: 3, wires: 5, accesses: 8, count: 12, uplinks: 3 };
        for slot in 0..slots.count {
            let mut agenda = Agenda::new(&slots);
            agenda.set(agenda.alarm(slot), Time::from_nanos(5));
            let kind = match slot {
                0..2 => Kind::Server,
                2..5 => Kind::Rare,
                5..8 => Kind::Wire,
                _ => Kind::Access,
            };
            let next = agenda.next();
            assert_eq!(next.at(), (Time::from_nanos(5), slot));
            assert_eq!(agenda.kind_of(next), kind);
        }
    }
}
