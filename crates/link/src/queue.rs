//! The queue of a link.

use sojourn_aqm::{Departure, Packet, Qdisc, Rate, Rng, Time};

use crate::LinkObserver;

/// A discipline with its random stream, in the form that servers use.
pub(crate) struct Queue<P> {
    pub(crate) discipline: Box<dyn Qdisc<P>>,
    pub(crate) rng: Rng,
}

impl<P: Packet> Queue<P> {
    /// Offers a packet to the discipline.
    #[inline]
    pub(crate) fn put<O: LinkObserver<P>>(&mut self, now: Time, packet: P, observer: &mut O) {
        self.discipline.enqueue(now, packet, &mut self.rng, observer);
    }

    /// Takes the next packet. Inlined, because an extra copy of the packet would cost 1 % of a run.
    #[inline(always)]
    pub(crate) fn take<O: LinkObserver<P>>(&mut self, now: Time, observer: &mut O) -> Option<P> {
        let departure = self.depart(now, observer)?;
        observer.departed(&departure.packet, departure.enqueued);
        Some(departure.packet)
    }

    /// [`Queue::take`], except that the caller reports the departure to the observer.
    #[inline(always)]
    pub(crate) fn depart<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        observer: &mut O,
    ) -> Option<Departure<P>> {
        self.discipline.dequeue(now, &mut self.rng, observer)
    }

    /// When to try again after [`Queue::take`] returned nothing.
    pub(crate) fn held_until(&self) -> Time {
        self.discipline.held_until().unwrap_or(Time::NEVER)
    }

    pub(crate) fn on_rate(&mut self, now: Time, rate: Rate) {
        self.discipline.on_rate(now, rate);
    }

    /// Handles every timer due by `now`.
    pub(crate) fn catch_up(&mut self, now: Time) {
        while let Some(due) = self.discipline.next_timer().filter(|&due| due <= now) {
            self.discipline.on_timer(due);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.discipline.is_empty()
    }
}
