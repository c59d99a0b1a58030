//! Handles one event at a time, for runs that can be paused and changed.

use sojourn_aqm::{Qdisc, Time};

use super::World;
use crate::packet::Packet;

impl World {
    /// When the next event is due; `None` if the run ends first.
    pub(crate) fn next_event(&self) -> Option<Time> {
        let due = self.next().time();
        (due < self.end).then_some(due)
    }

    /// Handles the next event, which must be due before the end.
    pub(crate) fn handle_next<const NOTES: bool>(&mut self) {
        let next = self.next();
        let now = next.time();
        debug_assert!(now < self.end, "events at the end are not handled");
        if now >= self.warmup && !self.probe.counting {
            self.end_warmup();
        }
        self.events += 1;
        self.handle::<NOTES>(next);
    }

    /// Ends the run after its last event.
    pub(crate) fn end_after_last<const NOTES: bool>(&mut self) {
        debug_assert!(self.next_event().is_none(), "every event has been handled");
        if !self.probe.counting {
            self.end_warmup();
        }
        self.end_run::<NOTES>();
    }

    /// Replaces the discipline of a link.
    pub(crate) fn replace_discipline(
        &mut self,
        now: Time,
        link: usize,
        discipline: Box<dyn Qdisc<Packet>>,
    ) {
        self.path.replace_discipline(now, link, discipline, &mut self.probe);
    }
}
