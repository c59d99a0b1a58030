//! The order of alarms.

use crate::agenda::Slot;

/// The number of the first slot of each kind of component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    /// Wireless LANs; servers come before, from zero.
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
}
