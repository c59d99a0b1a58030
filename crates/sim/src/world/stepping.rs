//! Event by event, for runs that can be paused and changed.

use sojourn_aqm::{Qdisc, Time};

use super::World;
use crate::packet::Packet;

impl World {
    /// When the next event is due; none if the run ends before it.
    pub(crate) fn next_event(&self) -> Option<Time> {
        let (due, _) = self.network.agenda.next();
        (due < self.end).then_some(due)
    }

    /// Handles the next event, which is due before the end.
    pub(crate) fn handle_next<const NOTES: bool>(&mut self) {
        let (now, slot) = self.network.agenda.next();
        let kind = self.network.agenda.next_kind();
        debug_assert!(now < self.end, "what would happen at the end does not");
        if now >= self.warmup && !self.network.probe.counting {
            self.end_warmup();
        }
        self.events += 1;
        self.handle::<NOTES>(now, kind, slot);
    }

    /// Ends the run after its last event.
    pub(crate) fn end_after_last<const NOTES: bool>(&mut self) {
        debug_assert!(self.next_event().is_none(), "every event has been handled");
        if !self.network.probe.counting {
            self.end_warmup();
        }
        self.end_run::<NOTES>();
    }

    /// Puts another discipline in the place of a link's.
    pub(crate) fn replace_discipline(
        &mut self,
        now: Time,
        link: usize,
        discipline: Box<dyn Qdisc<Packet>>,
    ) {
        let mut probe = self.network.probe.at_link::<true>(now, link);
        self.network.links[link].replace_discipline(
            now,
            discipline,
            &mut self.network.agenda,
            &mut probe,
        );
    }
}
