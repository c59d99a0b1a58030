//! A user who reads web pages over TCP, driven by a [`WebUser`].
//!
//! The user is at the receiving end. A request travels on the return path; the server responds on a
//! new connection that it opens itself, so the first byte arrives two round trips after the
//! request, as if the client had opened the connection. A request without a response is repeated.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::resolved::Web;
use sojourn_traffic::{Fetch, FinishedTransfer, WebUser};

use super::Outbox;
use super::stream::Stream;
use crate::packet::{Packet, PacketKind};

/// A connection that carries one object at a time, and the current request.
struct Lane {
    stream: Stream,
    request: Option<Request>,
    /// Requests sent, and requests received by the server.
    asked: u32,
    served: u32,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    due: Time,
    timeout: Span,
}

impl Lane {
    /// The earliest of its timers.
    fn next_timer(&self) -> Time {
        self.request.map_or(Time::NEVER, |request| request.due).min(self.stream.next_timer())
    }
}

/// Both ends of a web user's connections.
pub struct Page {
    flow: u32,
    request_bytes: u32,
    lanes: Vec<Lane>,
    /// The earliest timer of each lane, so that only a lane that acts is asked for its timers.
    timers: Vec<Time>,
    user: WebUser,
    stop: Time,
    stopped: Option<Time>,
}

/// Timeout of a request, doubled after each retransmission (RFC 6298 §2.1, §5.5).
const FIRST_TIMEOUT: Span = Span::from_secs(1);

impl Page {
    /// A user who requests the first page at `start`. The connection numbers of stream `i` are
    /// congruent to `i` modulo the number of streams.
    pub fn new(
        flow: u32,
        web: Web,
        streams: Vec<Stream>,
        (start, stop): (Time, Time),
        rng: Rng,
    ) -> Page {
        debug_assert!(streams.len().is_power_of_two(), "numbers of connections wrap around");
        debug_assert!(streams.len() >= web.parallel as usize, "every lane has a stream");
        let lane = |stream| Lane { stream, request: None, asked: 0, served: 0, bytes: 0 };
        let start = if start < stop { start } else { Time::NEVER };
        let lanes: Vec<Lane> = streams.into_iter().map(lane).collect();
        Page {
            flow,
            request_bytes: web.request_bytes,
            timers: lanes.iter().map(Lane::next_timer).collect(),
            lanes,
            user: WebUser::new(web, start, rng),
            stop,
            stopped: None,
        }
    }

    /// The streams of its connections.
    pub fn streams(&self) -> impl Iterator<Item = &Stream> {
        self.lanes.iter().map(|lane| &lane.stream)
    }

    /// The earliest of its timers.
    pub fn next_timer(&self) -> Time {
        debug_assert!(self.lanes.iter().map(Lane::next_timer).eq(self.timers.iter().copied()));
        self.timers.iter().fold(self.user.next_timer().min(self.stop), |first, &it| first.min(it))
    }

    /// Called after a lane has acted.
    fn update_timer(&mut self, place: usize) {
        self.timers[place] = self.lanes[place].next_timer();
    }

    /// Handles expired timers.
    pub fn on_timer(&mut self, out: &mut Outbox<'_>) {
        let now = out.now;
        if self.stop <= now {
            // The streams stop on their own timers.
            self.user.stop();
            (self.stop, self.stopped) = (Time::NEVER, Some(self.stop));
            self.lanes.iter_mut().for_each(|lane| lane.request = None);
        }
        if self.user.next_timer() <= now {
            for fetch in self.user.on_timer(now) {
                self.fetch(fetch, out);
            }
        }
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            let mut out = out.on_lane(place as u8);
            if let Some(request) = lane.request.as_mut().filter(|request| request.due <= now) {
                request.timeout = request.timeout + request.timeout;
                request.due = now + request.timeout;
                ask(self.flow, place, lane.asked, self.request_bytes, &mut out);
            }
            if lane.stream.next_timer() <= now {
                lane.stream.on_timer(&mut out);
            }
            self.timers[place] = lane.next_timer();
        }
    }

    fn fetch(&mut self, Fetch { lane: place, bytes }: Fetch, out: &mut Outbox<'_>) {
        let lane = &mut self.lanes[place];
        lane.asked += 1;
        lane.bytes = bytes;
        lane.request = Some(Request { due: out.now + FIRST_TIMEOUT, timeout: FIRST_TIMEOUT });
        ask(self.flow, place, lane.asked, self.request_bytes, &mut out.on_lane(place as u8));
        self.update_timer(place);
    }

    /// Handles a packet at the user. Returns the page if this packet completes it.
    pub fn on_data(&mut self, packet: &Packet, out: &mut Outbox<'_>) -> Option<FinishedTransfer> {
        let place = self.lane_of(packet);
        let lane = &mut self.lanes[place];
        lane.request = lane.request.filter(|_| lane.served != lane.asked);
        let object = lane.stream.on_data(packet, &mut out.on_lane(place as u8));
        self.update_timer(place);
        object?;
        let (next, page) = self.user.on_object(out.now, place);
        if let Some(fetch) = next {
            self.fetch(fetch, out);
        }
        page
    }

    /// The page being loaded: its request time, and how long it had been loading at `end`.
    pub fn under_way(&self, end: Time) -> Option<(Time, Span)> {
        let start = self.user.under_way_since()?;
        Some((start, self.stopped.map_or(end, |stopped| end.min(stopped)).since(start)))
    }

    /// Handles a packet at the server: a request, or an acknowledgement of its data.
    pub fn on_ack(&mut self, packet: &Packet, out: &mut Outbox<'_>) {
        let place = self.lane_of(packet);
        let lane = &mut self.lanes[place];
        let mut out = out.on_lane(place as u8);
        match packet.kind {
            PacketKind::Request if packet.seq == lane.served + 1 && self.stopped.is_none() => {
                lane.served += 1;
                lane.stream.serve(lane.bytes, &mut out);
            }
            PacketKind::Request => {} // a duplicate, or too late
            _ => lane.stream.on_ack(packet, &mut out),
        }
        self.update_timer(place);
    }

    fn lane_of(&self, packet: &Packet) -> usize {
        usize::from(packet.connection) % self.lanes.len()
    }
}

/// Sends a request for object number `number` of a lane.
fn ask(flow: u32, place: usize, number: u32, bytes: u32, out: &mut Outbox<'_>) {
    let connection = place as u16;
    let mut request = Packet::new(PacketKind::Request, flow, connection, number, bytes, out.now);
    out.reply(&mut request);
}
