//! A link in one direction: a queue under its discipline, and the server that empties it.

use sojourn_aqm::{Backlog, Qdisc, Rate, Rng, Sink, Span, Time, Var};

use crate::agenda::{Agenda, Slot};
use crate::opportunities::Opportunities;
use crate::packet::Packet;
use crate::probe::{Counters, Ear};
use crate::staged::{Above, Staged};
use crate::transmitter::Transmitter;
use crate::wlan::radio::Radio;

/// How a link sends.
#[derive(Debug)]
pub enum Server {
    /// One packet after the other, at a rate that may change at given times. The packet in service
    /// finishes at its old rate.
    Steady {
        /// The transmitter at the present rate.
        transmitter: Transmitter,
        /// Rates to come, the next one last.
        changes: Vec<(Time, Rate)>,
        /// The packet being sent.
        in_service: Option<Packet>,
    },
    /// At recorded opportunities.
    Recorded {
        /// The recording.
        opportunities: Opportunities,
        /// The packet being sent, and how many of its bytes are still to go.
        in_service: Option<(Packet, u32)>,
    },
    /// Through a token bucket, a device, or both.
    Staged(Box<Staged>),
    /// Over a medium for which others contend; [`World`](crate::world::World) lets it send.
    Wireless(Box<Radio>),
}

impl Server {
    /// Part of the capacity that was used between two times: busy time of a steady link, time on the air
    /// of a wireless one, bytes of a recorded one, bytes over tokens where a bucket shapes (its burst comes on top).
    pub fn used(&self, counts: &Counters, busy: Span, (from, to): (Time, Time)) -> f64 {
        let seconds = to.since(from).as_secs();
        match self {
            Server::Steady { .. } | Server::Wireless(_) => busy.as_secs() / seconds,
            Server::Staged(staged) => match staged.shaped() {
                None => busy.as_secs() / seconds,
                Some(rate) => counts.sent_bytes as f64 * 8.0 / (rate.as_bps() as f64 * seconds),
            },
            Server::Recorded { opportunities, .. } => {
                let offered = opportunities.count_until(to) - opportunities.count_until(from);
                let bytes = offered.max(1) * u64::from(opportunities.bytes());
                counts.carried_bytes as f64 / bytes as f64
            }
        }
    }
}

/// Queue and server.
pub struct Link {
    queue: Box<dyn Qdisc<Packet>>,
    rng: Rng,
    server: Server,
    framing_bytes: u32,
    done_slot: Slot,
    timer_slot: Slot,
}

impl Link {
    /// An idle link. `done_slot` rings for its server, `timer_slot` for its queue.
    pub fn new(
        queue: Box<dyn Qdisc<Packet>>,
        rng: Rng,
        server: Server,
        framing_bytes: u32,
        (done_slot, timer_slot): (Slot, Slot),
        agenda: &mut Agenda,
    ) -> Link {
        agenda.set(timer_slot, queue.next_timer().unwrap_or(Time::NEVER));
        Link { queue, rng, server, framing_bytes, done_slot, timer_slot }
    }

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// The state variables of the discipline.
    pub fn vars(&self) -> &'static [Var] {
        self.queue.vars()
    }

    /// Their values.
    pub fn observe(&self, out: &mut [f64]) {
        self.queue.observe(out);
    }

    /// A packet arrives at the queue.
    #[inline]
    pub fn arrive<const NOTES: bool>(
        &mut self,
        now: Time,
        mut packet: Packet,
        agenda: &mut Agenda,
        ear: &mut Ear<'_, NOTES>,
    ) {
        packet.link_bytes = packet.ip_bytes + self.framing_bytes;
        packet.ecn_in = packet.ecn;
        packet.marked = None;
        ear.arrived(&packet);
        let was_empty = self.queue.backlog().packets == 0;
        self.queue.enqueue(now, packet, &mut self.rng, ear);
        if was_empty && self.queue.backlog().packets > 0 {
            agenda.set(self.timer_slot, self.queue.next_timer().unwrap_or(Time::NEVER));
            self.wake(now, agenda, ear);
        }
    }

    /// Something waits: starts to serve it if the server is idle.
    fn wake<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        ear: &mut Ear<'_, NOTES>,
    ) {
        match &mut self.server {
            Server::Steady { in_service: None, .. } => self.start(now, agenda, ear),
            Server::Recorded { in_service: None, opportunities } => {
                agenda.set(self.done_slot, opportunities.after(now));
            }
            Server::Staged(_) => self.advance(now, agenda, ear),
            Server::Wireless(_) => self.fill(now, agenda, ear),
            Server::Steady { .. } | Server::Recorded { .. } => {}
        }
    }

    /// Moves a server of stages on.
    fn advance<const PACKETS: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        ear: &mut Ear<'_, PACKETS>,
    ) {
        let Server::Staged(staged) = &mut self.server else {
            unreachable!("only a server of stages advances");
        };
        let mut above = Above { queue: &mut *self.queue, rng: &mut self.rng };
        let next = staged.advance(now, &mut above, ear);
        agenda.set(self.done_slot, next);
    }

    /// Hands packets down to a radio. With its first one it wants the medium.
    fn fill<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        ear: &mut Ear<'_, NOTES>,
    ) {
        let Server::Wireless(radio) = &mut self.server else {
            unreachable!("only a radio is filled");
        };
        let was_idle = radio.head_bytes().is_none();
        let mut above = Above { queue: &mut *self.queue, rng: &mut self.rng };
        let ask_again = radio.fill(now, &mut above, ear);
        agenda.set(self.done_slot, ask_again);
        if was_idle && radio.head_bytes().is_some() {
            agenda.advance(radio.medium, now);
        }
    }

    /// The medium is done with the packet of a radio. Returns it, and takes the next.
    pub fn on_settled<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        ear: &mut Ear<'_, NOTES>,
    ) -> Packet {
        let Server::Wireless(radio) = &mut self.server else {
            unreachable!("only a radio uses a medium");
        };
        let packet = radio.pop();
        self.fill(now, agenda, ear);
        packet
    }

    /// The size of the packet that wants a medium, if there is one.
    pub fn wants_to_send(&self) -> Option<u32> {
        match &self.server {
            Server::Wireless(radio) => radio.head_bytes(),
            _ => None,
        }
    }

    /// Takes the next packet into service.
    fn start<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        ear: &mut Ear<'_, NOTES>,
    ) {
        let Server::Steady { transmitter, changes, in_service } = &mut self.server else {
            unreachable!("only a steady server starts on its own");
        };
        while let Some((_, rate)) = changes.pop_if(|&mut (at, _)| at <= now) {
            *transmitter = Transmitter::new(rate);
            self.queue.on_rate(now, rate);
        }
        *in_service = self.queue.dequeue(now, &mut self.rng, ear).map(|departure| {
            ear.departed(&departure);
            departure.packet
        });
        let done = match in_service {
            Some(packet) => {
                let span = transmitter.next(packet.link_bytes);
                ear.busy(span);
                now + span
            }
            // A shaper may hold packets back; then the server asks again.
            None => self.queue.held_until().unwrap_or(Time::NEVER),
        };
        agenda.set(self.done_slot, done);
    }

    /// The server has finished something: hands every packet that is now on the wire to `forward`.
    #[inline]
    pub fn on_done<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        ear: &mut Ear<'_, NOTES>,
        mut forward: impl FnMut(Packet, &mut Agenda),
    ) {
        match &mut self.server {
            Server::Steady { in_service, .. } => {
                if let Some(packet) = in_service.take() {
                    forward(packet, agenda);
                }
                self.start(now, agenda, ear);
            }
            Server::Staged(staged) => {
                if let Some(packet) = staged.sent(now) {
                    forward(packet, agenda);
                }
                self.advance(now, agenda, ear);
            }
            Server::Recorded { .. } => self.on_opportunity(now, agenda, ear, forward),
            Server::Wireless(_) => self.fill(now, agenda, ear),
        }
    }

    /// An opportunity carries bytes of the packet in service and of those behind it; what it cannot
    /// carry is lost.
    fn on_opportunity<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        ear: &mut Ear<'_, NOTES>,
        mut forward: impl FnMut(Packet, &mut Agenda),
    ) {
        let Server::Recorded { opportunities, in_service } = &mut self.server else {
            unreachable!("only a recorded server has opportunities");
        };
        let mut room = opportunities.bytes();
        opportunities.advance();
        while room > 0 {
            let served = in_service.take().or_else(|| {
                let departure = self.queue.dequeue(now, &mut self.rng, ear)?;
                ear.departed(&departure);
                Some((departure.packet, departure.packet.link_bytes))
            });
            let Some((packet, left)) = served else { break };
            let carried = left.min(room);
            room -= carried;
            ear.carried(carried);
            match left - carried {
                0 => forward(packet, agenda),
                rest => *in_service = Some((packet, rest)),
            }
        }
        let idle = in_service.is_none() && self.queue.backlog().packets == 0;
        let next = if idle { Time::NEVER } else { opportunities.next() };
        agenda.set(self.done_slot, next);
    }

    /// The timer of the discipline is due.
    pub fn on_timer(&mut self, now: Time, agenda: &mut Agenda) {
        self.queue.on_timer(now);
        let next = self.queue.next_timer().unwrap_or(Time::NEVER);
        debug_assert!(next > now, "a timer makes progress");
        agenda.set(self.timer_slot, next);
    }

    /// Empties the queue into `sink` at the end of the run.
    pub fn drain(
        &mut self,
        now: Time,
        sink: &mut dyn Sink<Packet>,
        mut take: impl FnMut(Packet, Time),
    ) {
        let mut when = now;
        while self.queue.backlog().packets > 0 {
            match self.queue.dequeue(when, &mut self.rng, sink) {
                Some(departure) => take(departure.packet, departure.enqueued),
                None => when = self.queue.held_until().unwrap_or(when),
            }
        }
    }

    /// How the link sends.
    pub fn server(&self) -> &Server {
        &self.server
    }
}
