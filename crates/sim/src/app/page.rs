//! A user who reads web pages (endpoints sheet §4.3): the main object, a pause to parse it, then what it
//! embeds over several connections at once, a pause to read, the next page.
//!
//! The user is at the receiving end. A request travels the way back; the server answers over a new
//! connection that it opens itself, so that the first byte takes two round trips from the request, as
//! with a handshake by the client. A request whose answer does not begin is sent again.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::resolved::Web;

use super::Outbox;
use super::stream::{Finished, Stream};
use crate::draw;
use crate::packet::{Kind, Packet};

/// What the user does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Reads until the next page is wanted.
    Reading,
    /// Waits for the main object.
    Main,
    /// The browser finds out what is embedded.
    Parsing,
    /// Waits for embedded objects.
    Objects,
}

/// A connection, one object after the other, and the request for the present one.
struct Lane {
    stream: Stream,
    request: Option<Request>,
    /// Requests sent, and those that the server has seen.
    asked: u32,
    served: u32,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    due: Time,
    timeout: Span,
}

/// Both ends of what a user does.
pub struct Page {
    flow: u32,
    web: Web,
    lanes: Vec<Lane>,
    rng: Rng,
    phase: Phase,
    /// When a pause is over.
    wake: Time,
    stop: Time,
    stopped: bool,
    began: Time,
    bytes: u64,
    /// Objects still to ask for, and those asked for and not complete.
    to_ask: u32,
    under_way: u32,
}

/// After this long without an answer a request is sent again; it doubles from then on (RFC 6298 §2.1).
const FIRST_TIMEOUT: Span = Span::from_secs(1);

/// The number of embedded objects is Pareto distributed: shape, scale, and the most there are.
const OBJECTS: (f64, f64, f64) = (1.1, 2.0, 55.0);

impl Page {
    /// A user who wants the first page at `start`. Connection `i` has numbers that are `i` modulo the
    /// number of streams.
    pub fn new(
        flow: u32,
        web: Web,
        streams: Vec<Stream>,
        (start, stop): (Time, Time),
        rng: Rng,
    ) -> Page {
        debug_assert!(streams.len().is_power_of_two(), "numbers of connections wrap around");
        let lane = |stream| Lane { stream, request: None, asked: 0, served: 0, bytes: 0 };
        Page {
            flow,
            web,
            lanes: streams.into_iter().map(lane).collect(),
            rng,
            phase: Phase::Reading,
            wake: if start < stop { start } else { Time::NEVER },
            stop,
            stopped: false,
            began: start,
            bytes: 0,
            to_ask: 0,
            under_way: 0,
        }
    }

    /// The streams of its connections.
    pub fn streams(&self) -> impl Iterator<Item = &Stream> {
        self.lanes.iter().map(|lane| &lane.stream)
    }

    /// Round trips that observers have seen since the last question.
    pub fn observed(&mut self) -> impl Iterator<Item = Span> {
        self.lanes.iter_mut().flat_map(|lane| lane.stream.observed())
    }

    /// The next of its timers.
    pub fn next_timer(&self) -> Time {
        let of_lane = |lane: &Lane| {
            lane.request.map_or(Time::NEVER, |request| request.due).min(lane.stream.next_timer())
        };
        let lanes = self.lanes.iter().map(of_lane).min().unwrap_or(Time::NEVER);
        self.wake.min(self.stop).min(lanes)
    }

    /// One of its timers is due.
    pub fn on_timer(&mut self, out: &mut Outbox<'_>) {
        let now = out.now;
        if self.stop <= now {
            // The streams stop on their own; a page under way is never complete.
            (self.stop, self.wake, self.to_ask) = (Time::NEVER, Time::NEVER, 0);
            self.stopped = true;
            self.lanes.iter_mut().for_each(|lane| lane.request = None);
        }
        if self.wake <= now {
            self.wake = Time::NEVER;
            self.on_pause_over(out);
        }
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            let mut out = out.on_lane(place as u8);
            if let Some(request) = lane.request.as_mut().filter(|request| request.due <= now) {
                request.timeout = request.timeout + request.timeout;
                request.due = now + request.timeout;
                ask(self.flow, place, lane.asked, &self.web, &mut out);
            }
            if lane.stream.next_timer() <= now {
                lane.stream.on_timer(&mut out);
            }
        }
    }

    fn on_pause_over(&mut self, out: &mut Outbox<'_>) {
        match self.phase {
            Phase::Reading => {
                (self.began, self.bytes, self.phase) = (out.now, 0, Phase::Main);
                let bytes = draw::size(&mut self.rng, &self.web.main);
                self.fetch(0, bytes, out);
            }
            Phase::Parsing => {
                self.phase = Phase::Objects;
                let parallel = (self.web.parallel as usize).min(self.lanes.len());
                (0..parallel).for_each(|place| self.fetch_next(place, out));
            }
            Phase::Main | Phase::Objects => unreachable!("nothing is paused for"),
        }
    }

    /// Asks for the next embedded object, if there is one.
    fn fetch_next(&mut self, place: usize, out: &mut Outbox<'_>) {
        if self.to_ask > 0 {
            self.to_ask -= 1;
            let bytes = draw::size(&mut self.rng, &self.web.object);
            self.fetch(place, bytes, out);
        }
    }

    fn fetch(&mut self, place: usize, bytes: u64, out: &mut Outbox<'_>) {
        self.under_way += 1;
        self.bytes += bytes;
        let lane = &mut self.lanes[place];
        lane.asked += 1;
        lane.bytes = bytes;
        lane.request = Some(Request { due: out.now + FIRST_TIMEOUT, timeout: FIRST_TIMEOUT });
        ask(self.flow, place, lane.asked, &self.web, &mut out.on_lane(place as u8));
    }

    /// A packet reaches the user. Returns the page that it completed, if it did.
    pub fn on_data(&mut self, packet: &Packet, out: &mut Outbox<'_>) -> Option<Finished> {
        let place = self.lane_of(packet);
        let lane = &mut self.lanes[place];
        lane.request = lane.request.filter(|_| lane.served != lane.asked);
        lane.stream.on_data(packet, &mut out.on_lane(place as u8))?;
        self.under_way -= 1;
        if self.phase == Phase::Main {
            return self.after_main(out.now);
        }
        self.fetch_next(place, out);
        (self.under_way == 0).then(|| self.complete(out.now))
    }

    fn after_main(&mut self, now: Time) -> Option<Finished> {
        self.to_ask = match self.web.objects {
            Some(objects) => objects,
            None => {
                let (shape, scale, most) = OBJECTS;
                (draw::pareto(&mut self.rng, shape, scale).min(most) - scale) as u32
            }
        };
        if self.to_ask == 0 {
            return Some(self.complete(now));
        }
        self.phase = Phase::Parsing;
        self.wake = now + self.pause(self.web.parsing);
        None
    }

    fn complete(&mut self, now: Time) -> Finished {
        self.phase = Phase::Reading;
        self.wake = now + self.pause(self.web.reading);
        Finished { start: self.began, bytes: self.bytes }
    }

    fn pause(&mut self, mean: Span) -> Span {
        Span::from_secs_f64(self.rng.exponential(mean.as_secs()))
    }

    /// Something reaches the server: a request, or an answer to what it sent.
    pub fn on_ack(&mut self, packet: &Packet, out: &mut Outbox<'_>) {
        let place = self.lane_of(packet);
        let lane = &mut self.lanes[place];
        let mut out = out.on_lane(place as u8);
        match packet.kind {
            Kind::Request if packet.seq == lane.served + 1 && !self.stopped => {
                lane.served += 1;
                lane.stream.serve(lane.bytes, &mut out);
            }
            Kind::Request => {} // it comes twice, or too late
            _ => lane.stream.on_ack(packet, &mut out),
        }
    }

    fn lane_of(&self, packet: &Packet) -> usize {
        usize::from(packet.connection) % self.lanes.len()
    }
}

/// Sends a request for the object number `number` of a lane.
fn ask(flow: u32, place: usize, number: u32, web: &Web, out: &mut Outbox<'_>) {
    let connection = place as u16;
    out.reply(Packet::new(Kind::Request, flow, connection, number, web.request_bytes, out.now));
}
