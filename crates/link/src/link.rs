//! A link in one direction: a queue under its discipline, and the server that empties it.

use std::mem;

use sojourn_aqm::{Backlog, Cause, Packet, Qdisc, Rng, Sink, Span, Stage, Time, Var, qdisc};

use crate::queue::Queue;
use crate::server::Steady;
use crate::{LinkObserver, Policer, Server, TokenReserve};

/// Queue and server.
///
/// A host offers packets with [`Link::enqueue`] and calls [`Link::on_service`] and
/// [`Link::on_timer`] when they are due; if both are due at the same time, the service comes first.
/// The two times change only in these calls, and in `enqueue` only if it returns true.
pub struct Link<P> {
    policer: Option<Box<Policer>>,
    queue: Queue<P>,
    server: Server<P>,
    next_service: Time,
    /// Whether a dequeue from an empty queue may change the discipline's state.
    notices_empty: bool,
    /// Whether an arrival may be served while the discipline holds other packets back.
    serves_while_held: bool,
}

impl<P: Packet> Link<P> {
    /// An idle link.
    pub fn new(discipline: Box<dyn Qdisc<P>>, rng: Rng, server: Server<P>) -> Link<P> {
        let notices_empty = discipline.notices_empty();
        let serves_while_held = discipline.serves_while_held();
        let queue = Queue { discipline, rng };
        let next_service = Time::NEVER;
        Link { policer: None, queue, server, next_service, notices_empty, serves_while_held }
    }

    /// The link with a policer in front of its queue.
    pub fn policed(self, policer: Option<Policer>) -> Link<P> {
        Link { policer: policer.map(Box::new), ..self }
    }

    /// Offers a packet to the queue. Returns whether the server has been woken: either the queue
    /// was empty and the packet was taken into service, or the packet may be served before others.
    /// [`Link::next_service`] and [`Link::next_timer`] may then have changed.
    #[inline]
    pub fn enqueue<O: LinkObserver<P>>(&mut self, now: Time, packet: P, observer: &mut O) -> bool {
        let bytes = packet.bytes();
        if !self.conforms(now, &packet) {
            observer.dropped(packet, now, Stage::Enqueue, Cause::Policed);
            return false;
        }
        if let Server::Steady(server) = &mut self.server
            && server.lets_pass()
            && self.queue.discipline.lets_through(bytes)
        {
            self.next_service = server.pass(now, packet, observer);
            return true;
        }
        let was_empty = self.queue.is_empty();
        match &self.server {
            Server::Shaped(shaper) if packet.segments() > 1 && shaper.splits(bytes) => {
                // Linux sch_tbf.c, tbf_enqueue.
                let queue = &mut self.queue;
                qdisc::split(packet, observer, |segment, it| queue.put(now, segment, it));
            }
            _ => self.queue.put(now, packet, observer),
        }
        let is_woken = (was_empty || self.serves_while_held) && !self.queue.is_empty();
        if is_woken {
            self.wake(now, observer);
        }
        is_woken
    }

    /// [`Link::enqueue`] for the server of a steady line, except that a packet taken into service
    /// is handed to `forward` at once, with its departure time, so the server need not hold it. If
    /// no packet follows, no event ends its service. From then on the host must call
    /// [`Link::settle`] before any other use of this link.
    ///
    /// # Panics
    /// With another server.
    // Inlined in native code only, because the web page must stay small.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub fn enqueue_ahead<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        packet: &mut P,
        observer: &mut O,
        mut forward: impl FnMut(Time, &mut P),
    ) -> bool
    where
        P: Copy,
    {
        let bytes = packet.bytes();
        if !self.conforms(now, packet) {
            observer.dropped(*packet, now, Stage::Enqueue, Cause::Policed);
            return false;
        }
        let server = Self::steady(&mut self.server);
        if server.lets_pass() && self.queue.discipline.lets_through(bytes) {
            forward(server.pass_ahead(now, packet, observer), packet);
            return mem::replace(&mut self.next_service, Time::NEVER) != Time::NEVER;
        }
        let was_empty = !server.is_followed() && self.queue.is_empty();
        let Queue { discipline, rng } = &mut self.queue;
        discipline.enqueue(now, *packet, rng, observer);
        let is_woken = (was_empty || self.serves_while_held) && !self.queue.is_empty();
        if is_woken {
            if server.is_idle() {
                self.next_service = server.start_ahead(now, &mut self.queue, observer, forward);
            } else if let Some(left) = server.follow() {
                self.next_service = left;
            }
        }
        is_woken
    }

    fn steady(server: &mut Server<P>) -> &mut Steady<P> {
        let Server::Steady(server) = server else {
            panic!("only a steady line knows when a packet will have left");
        };
        server
    }

    /// Whether a packet conforms to the policer, if there is one.
    #[inline]
    fn conforms(&mut self, now: Time, packet: &P) -> bool {
        let conforms = |policer: &mut Box<Policer>| {
            policer.conforms(now, packet.bytes(), packet.segment_bytes())
        };
        self.policer.as_mut().is_none_or(conforms)
    }

    /// Starts service if the server is idle; the queue is not empty.
    fn wake<O: LinkObserver<P>>(&mut self, now: Time, observer: &mut O) {
        match &mut self.server {
            Server::Steady(server) => {
                if server.is_idle() {
                    self.next_service = server.start(now, &mut self.queue, observer);
                }
            }
            Server::Recorded(server) => {
                if let Some(next) = server.wake(now) {
                    self.next_service = next;
                }
            }
            Server::Shaped(shaper) => {
                self.next_service = shaper.advance(now, &mut self.queue, observer);
            }
            Server::SharedMedium(_) => self.fill_ring(now, observer),
        }
    }

    /// Hands packets down to the ring of a shared medium while it has room.
    fn fill_ring<O: LinkObserver<P>>(&mut self, now: Time, observer: &mut O) {
        let Server::SharedMedium(ring) = &mut self.server else {
            unreachable!("only a shared medium has a separate ring");
        };
        self.next_service = Time::NEVER; // the next departure will make room
        while ring.has_room() {
            // `Queue::take` would copy the packet once more.
            let Some(departure) = self.queue.depart(now, observer) else {
                self.next_service = self.queue.held_until();
                return;
            };
            observer.departed(&departure.packet, departure.enqueued);
            ring.push(departure.packet);
        }
    }

    /// When the server needs [`Link::on_service`]; `NEVER` while it is idle.
    #[inline]
    pub fn next_service(&self) -> Time {
        self.next_service
    }

    /// Handles the end of a service. Passes every packet that has left the link to `forward`.
    #[inline]
    pub fn on_service<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        observer: &mut O,
        mut forward: impl FnMut(P),
    ) {
        match &mut self.server {
            Server::Steady(server) => {
                if let Some(packet) = server.sent() {
                    forward(packet);
                }
                self.next_service = server.start(now, &mut self.queue, observer);
            }
            Server::Shaped(shaper) => {
                if let Some(packet) = shaper.sent(now) {
                    forward(packet);
                }
                self.next_service = shaper.advance(now, &mut self.queue, observer);
            }
            Server::Recorded(server) => {
                self.next_service = server.on_opportunity(now, &mut self.queue, observer, forward);
            }
            Server::SharedMedium(_) => self.fill_ring(now, observer),
        }
    }

    /// [`Link::on_service`] for packets enqueued with [`Link::enqueue_ahead`].
    ///
    /// # Panics
    /// With another server.
    #[inline]
    pub fn serve_ahead<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        observer: &mut O,
        forward: impl FnMut(Time, &mut P),
    ) {
        let server = Self::steady(&mut self.server);
        self.next_service = server.start_ahead(now, &mut self.queue, observer, forward);
    }

    /// Whether its server is one of a steady line.
    pub fn is_steady(&self) -> bool {
        matches!(self.server, Server::Steady(_))
    }

    /// If a packet sent ahead has left by now, asks the discipline for the next packet at that
    /// time. The queue is empty then, but a law may need the call: CoDel ends its drop state. A
    /// discipline without such a law is not called.
    #[inline]
    pub fn settle<O: LinkObserver<P>>(&mut self, now: Time, observer: &mut O) {
        if let Server::Steady(server) = &mut self.server
            && let Some(left) = server.left_ahead(now)
        {
            if self.notices_empty {
                self.next_service = server.start(left, &mut self.queue, observer);
            } else {
                server.forget_ahead();
            }
            debug_assert!(self.next_service == Time::NEVER, "nothing waited");
        }
    }

    /// When the discipline wants [`Link::on_timer`].
    pub fn next_timer(&self) -> Time {
        self.queue.discipline.next_timer().unwrap_or(Time::NEVER)
    }

    /// Handles the timer of the discipline, which is due.
    pub fn on_timer(&mut self, now: Time) {
        self.queue.discipline.on_timer(now);
        debug_assert!(self.next_timer() > now, "a timer makes progress");
    }

    /// Reports to the discipline that a station of a wireless LAN has used this much airtime; see
    /// [`Qdisc::on_airtime`].
    pub fn on_airtime(&mut self, now: Time, station: usize, airtime: Span) {
        self.queue.discipline.on_airtime(now, station, airtime);
    }

    /// The packet that waits for a shared medium, if any.
    pub fn head(&self) -> Option<&P> {
        match &self.server {
            Server::SharedMedium(ring) => ring.head(),
            Server::Steady(_) | Server::Recorded(_) | Server::Shaped(_) => None,
        }
    }

    /// Hands the packet at the head of the ring to `take` once the shared medium is done with it,
    /// and refills the ring. The packet stays in place, so that `take` copies it only once.
    ///
    /// # Panics
    /// Without such a packet.
    pub fn take_head<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        observer: &mut O,
        take: impl FnOnce(&mut P, &mut O),
    ) {
        let Server::SharedMedium(ring) = &mut self.server else {
            panic!("the link has no shared medium");
        };
        take(ring.head_mut(), observer);
        ring.pop();
        self.fill_ring(now, observer);
    }

    /// Empties the queue at the end of a run: passes departures to `take`, with the time at which
    /// they were accepted, and drops to `sink`. Packets in the server are not included.
    pub fn drain(&mut self, now: Time, sink: &mut dyn Sink<P>, mut take: impl FnMut(P, Time)) {
        let Queue { discipline, rng } = &mut self.queue;
        let mut when = now;
        while discipline.backlog().packets > 0 {
            match discipline.dequeue(when, rng, sink) {
                Some(departure) => take(departure.packet, departure.enqueued),
                None => when = discipline.held_until().unwrap_or(when),
            }
        }
    }

    /// Replaces the discipline. The old one sends its whole backlog at once, and drops and marks in
    /// the process are reported. The new one receives the packets with their arrival times, as if
    /// it had always been there; its drops and marks are reported too.
    pub fn replace_discipline<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        discipline: Box<dyn Qdisc<P>>,
        observer: &mut O,
    ) {
        let mut waiting = Vec::new();
        self.drain(now, observer, |packet, enqueued| waiting.push((enqueued, packet)));
        waiting.sort_by_key(|&(enqueued, _)| enqueued); // stable: keeps the order within a flow
        self.notices_empty = discipline.notices_empty();
        self.serves_while_held = discipline.serves_while_held();
        self.queue.discipline = discipline;
        for (enqueued, packet) in waiting {
            self.queue.catch_up(enqueued);
            let Queue { discipline, rng } = &mut self.queue;
            discipline.enqueue(enqueued, packet, rng, observer);
        }
        self.queue.catch_up(now);
    }

    /// The contents of its token bucket at `now`; `None` without a bucket.
    pub fn reserve(&self, now: Time) -> Option<TokenReserve> {
        match &self.server {
            Server::Shaped(shaper) => shaper.reserve(now),
            Server::Steady(_) | Server::Recorded(_) | Server::SharedMedium(_) => None,
        }
    }

    /// The queue's backlog.
    pub fn backlog(&self) -> Backlog {
        self.queue.discipline.backlog()
    }

    /// The state variables of the discipline.
    pub fn vars(&self) -> &'static [Var] {
        self.queue.discipline.vars()
    }

    /// Writes the values of the state variables.
    pub fn observe(&self, out: &mut [f64]) {
        self.queue.discipline.observe(out);
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
