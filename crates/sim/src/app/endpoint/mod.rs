//! A flow whose two ends are a transport library: the simulator is their network, clock and
//! application.
//!
//! The flow's receiver is the client: it connects, asks for the data on a stream, and reads it. The
//! server answers as soon as it has the whole request. In a call, the server has a camera and sends
//! the [frames of its video](video). The flow stores the [contents of the datagrams](in_flight), so
//! packets stay small.

mod guard;
mod in_flight;
mod side;
mod video;

use sojourn_aqm::{Ecn, Time};
use sojourn_endpoint::{ConnectionEvent, HostSettings, Peer, Read, Stack, Stats};
use sojourn_traffic::FinishedTransfer;

use self::guard::Guarded;
pub(crate) use self::guard::{FirstFailure, LibraryFailure};
use self::side::{Link, Side};
pub(crate) use self::video::VideoCall;
use super::{FlowTimers, Outbox, record_transfer};
use crate::packet::{Packet, PacketKind};

/// The stream that carries the request and the data.
const STREAM: u64 = 0;
/// Bytes of the request; our choice, the size of a short GET.
const REQUEST_BYTES: u64 = 100;
/// Bytes offered at one time if the amount of data is unlimited.
const MOST_OFFERED: u64 = 1 << 20;

/// The most bytes that a library may accept at one instant; it could not send more.
const MOST_TAKEN: u64 = 256 << 20;

/// Both ends of a flow over a library.
pub(crate) struct EndpointFlow {
    flow: u32,
    client: Side,
    server: Side,
    start: Time,
    stop: Time,
    warmup: Time,
    /// The amount of data, if limited.
    bytes: Option<u64>,
    /// The camera and the screen of a call.
    video: Option<Box<VideoCall>>,
    /// When the client began to connect; `None` once the transfer is complete.
    began: Option<Time>,
    /// Whether the client is connected.
    is_connected: bool,
    /// Data that the server has not yet written; `None` before the request arrives.
    to_write: Option<u64>,
    /// Whether lost packets of the flow are recorded, so that their contents can be freed.
    notes_losses: bool,
    /// Data that the client has read.
    pub(crate) delivered_bytes: u64,
    /// Bytes of datagrams that reached the client with CE.
    pub(crate) ce_bytes: u64,
    /// When and why the library ended the connection.
    pub(crate) lost: Option<(Time, String)>,
}

/// The settings of a flow.
pub(crate) struct About<'a> {
    /// Its number.
    pub(crate) flow: u32,
    /// Its name in reports of failures.
    pub(crate) name: String,
    /// The transport's name in the scenario.
    pub(crate) transport: &'a str,
    /// The amount of data, if limited.
    pub(crate) bytes: Option<u64>,
    /// The video, in a call.
    pub(crate) video: Option<VideoCall>,
    /// The largest packet of the path.
    pub(crate) mtu: u32,
    /// Whether hosts pass the ECN field on.
    pub(crate) ecn: bool,
    /// When it starts and stops.
    pub(crate) times: (Time, Time),
    /// When the warm-up ends.
    pub(crate) warmup: Time,
    /// A seed for each end.
    pub(crate) seeds: [[u8; 32]; 2],
}

/// In a browser no library can be loaded; code for libraries is left out.
const HAS_LIBRARIES: bool = cfg!(not(target_arch = "wasm32"));
const NO_LIBRARIES: &str = "in a browser there are no transport libraries";

impl EndpointFlow {
    /// A flow over `stack`.
    ///
    /// # Errors
    /// The library refuses the path.
    pub(crate) fn new(
        stack: &dyn Stack,
        about: About<'_>,
        failure: &FirstFailure,
    ) -> Result<EndpointFlow, String> {
        if !HAS_LIBRARIES {
            return Err(NO_LIBRARIES.to_owned());
        }
        let About { flow, name, transport, bytes, video, mtu, ecn, times, warmup, seeds } = about;
        let (start, stop) = times;
        let link = Link { flow, header_bytes: stack.carries().header_bytes(), mtu, ecn };
        let side = |role, seed| {
            let end = stack.open(HostSettings { role, seed, mtu }, Time::ZERO)?;
            let names = (transport.to_owned(), name.clone());
            Ok::<_, String>(Side::new(Guarded::new(end, names, role, failure.clone()), role, link))
        };
        let [of_client, of_server] = seeds;
        Ok(EndpointFlow {
            flow,
            client: side(Peer::Client, of_client)?,
            server: side(Peer::Server, of_server)?,
            start: if start < stop { start } else { Time::NEVER },
            stop,
            warmup,
            bytes,
            video: video.map(Box::new),
            began: None,
            is_connected: false,
            to_write: None,
            notes_losses: false,
            delivered_bytes: 0,
            ce_bytes: 0,
            lost: None,
        })
    }

    /// When its timers are due.
    pub(crate) fn timers(&self) -> FlowTimers {
        FlowTimers {
            receiver: self.client.due,
            sender: self.server.due,
            rest: self.start.min(self.stop).min(self.next_frame()),
        }
    }

    /// The next timer of one end.
    fn due(&self, role: Peer) -> Time {
        match role {
            Peer::Client => self.client.due,
            Peer::Server => self.server.due,
        }
    }

    /// Bytes that the server has sent.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.server.sent_bytes
    }

    /// The server's statistics of its connection.
    pub(crate) fn stats(&self) -> Stats {
        self.server.end.stats()
    }

    /// When the unfinished transfer began; `None` if no limited transfer is in progress.
    pub(crate) fn under_way_since(&self) -> Option<Time> {
        self.bytes.and(self.began)
    }

    /// Handles its expired timers.
    #[cold]
    pub(crate) fn on_timer(&mut self, out: &mut Outbox<'_>) {
        if !HAS_LIBRARIES {
            unreachable!("{NO_LIBRARIES}");
        }
        let now = out.now;
        self.free_lost(out);
        if self.start <= now {
            (self.start, self.began) = (Time::NEVER, Some(now));
            if let Some(video) = &mut self.video {
                video.next = now;
            }
            self.client.end.call(now, "connect", |end| end.connect(now));
            self.act(Peer::Client, out);
            self.client.set_due(now);
        }
        for role in [Peer::Client, Peer::Server] {
            let mut idle = 0;
            while self.due(role) <= now && self.side(role).may_expire_again(now, idle) {
                self.side(role).expire(out);
                idle = if self.act(role, out) > 0 { 0 } else { idle + 1 };
                self.side(role).set_due(now);
            }
        }
        if self.stop <= now {
            self.stop(out);
        } else if self.next_frame() <= now {
            self.film(out);
        }
    }

    /// Stops the application: both ends close, and later arrivals are discarded.
    fn stop(&mut self, out: &mut Outbox<'_>) {
        let now = out.now;
        self.stop = Time::NEVER;
        if let Some(video) = &mut self.video {
            video.next = Time::NEVER;
        }
        for side in [&mut self.client, &mut self.server] {
            side.end.call(now, "close", |end| end.close(now));
            side.flush(out);
            side.end.drop_end();
            side.due = Time::NEVER;
        }
    }

    /// Handles a packet that reaches one end; returns the next timer of that end. Cold, so that
    /// this code does not affect how the main loop is compiled.
    #[cold]
    pub(crate) fn on_packet(&mut self, role: Peer, packet: &Packet, out: &mut Outbox<'_>) -> Time {
        if !HAS_LIBRARIES {
            unreachable!("{NO_LIBRARIES}");
        }
        let now = out.now;
        if role == Peer::Client
            && let Some(counted) = out.counted()
        {
            counted.one_way.add(now.since(packet.sent).as_nanos());
        }
        self.free_lost(out);
        let content = self.side(role.other()).in_flight.take(packet.seq);
        let content = content.expect("what a packet carries is kept until it arrives");
        if role == Peer::Client && packet.ecn == Ecn::Ce {
            self.ce_bytes += content.len() as u64;
        }
        self.side(role).input(now, packet, &content);
        self.side(role.other()).in_flight.recycle(content);
        self.act(role, out);
        self.side(role).set_due(now);
        self.due(role)
    }

    /// Handles the events of one end and sends its datagrams; returns the number sent.
    fn act(&mut self, role: Peer, out: &mut Outbox<'_>) -> u32 {
        let (mut all, mut events) = (0, 0);
        loop {
            let mut is_quiet = true;
            while let Some(event) = self.side(role).event(out.now, &mut events) {
                is_quiet = false;
                match (role, &event) {
                    (Peer::Client, ConnectionEvent::Connected) => self.count_handshake(out),
                    (Peer::Client, ConnectionEvent::FrameComplete(number)) => {
                        self.show(*number, out);
                    }
                    _ => {}
                }
                if let Some(finished) = self.on_event(role, event, out.now) {
                    record_transfer((out.now, self.warmup), self.flow, finished, out);
                }
            }
            let sent = self.side(role).flush(out);
            all += sent;
            if is_quiet && sent == 0 {
                return all;
            }
        }
    }

    /// Records that the client has connected; the handshake counts if it began after the warm-up.
    fn count_handshake(&mut self, out: &mut Outbox<'_>) {
        let began = self.began.filter(|&began| began >= self.warmup && !self.is_connected);
        self.is_connected = true;
        if let Some(began) = began {
            let took = out.now.since(began);
            out.probe.classes[out.class as usize].handshake.add(took.as_nanos());
        }
    }

    /// Handles an event; returns the transfer if the event completes it.
    fn on_event(
        &mut self,
        role: Peer,
        event: ConnectionEvent,
        now: Time,
    ) -> Option<FinishedTransfer> {
        match (role, event) {
            (Peer::Client, ConnectionEvent::Connected) if self.video.is_none() => {
                let asked = self
                    .client
                    .end
                    .call(now, "write", |end| end.write(now, STREAM, REQUEST_BYTES, true));
                if asked.is_some_and(|taken| taken != REQUEST_BYTES) {
                    let why = format!("it does not take the {REQUEST_BYTES} bytes of a request");
                    self.client.end.fail(now, "write", &why);
                }
                None
            }
            (Peer::Client, ConnectionEvent::Readable(STREAM)) => {
                let Read { bytes, is_finished } = self.client.read(now, STREAM);
                self.delivered_bytes += bytes;
                let start = self.began.filter(|_| is_finished)?;
                self.began = None;
                Some(FinishedTransfer { start, bytes: self.delivered_bytes })
            }
            (Peer::Server, ConnectionEvent::Readable(STREAM)) => {
                let read = self.server.read(now, STREAM);
                if read.is_finished && self.to_write.is_none() {
                    self.to_write = Some(self.bytes.unwrap_or(u64::MAX));
                    self.pour(now);
                }
                None
            }
            (Peer::Server, ConnectionEvent::Writable(STREAM)) => {
                self.pour(now);
                None
            }
            (_, ConnectionEvent::Closed(reason)) => {
                if self.began.is_some() {
                    self.lost.get_or_insert((now, reason));
                }
                None
            }
            _ => None,
        }
    }

    /// Lets the server write as much as its library accepts.
    fn pour(&mut self, now: Time) {
        let mut all = 0;
        while let Some(left) = self.to_write.filter(|left| *left > 0) {
            let offered = left.min(MOST_OFFERED);
            let last = self.bytes.is_some() && offered == left;
            let written =
                self.server.end.call(now, "write", |end| end.write(now, STREAM, offered, last));
            let taken = written.unwrap_or(0);
            if taken > offered {
                let why = format!("it took {taken} of {offered} bytes");
                return self.server.end.fail(now, "write", &why);
            }
            all += taken;
            if all > MOST_TAKEN {
                let why = format!(
                    "it took {all} bytes at one instant; a few congestion windows are enough"
                );
                return self.server.end.fail(now, "write", &why);
            }
            self.to_write = Some(if self.bytes.is_some() { left - taken } else { left });
            if taken < offered {
                return;
            }
        }
    }

    fn side(&mut self, role: Peer) -> &mut Side {
        match role {
            Peer::Client => &mut self.client,
            Peer::Server => &mut self.server,
        }
    }

    /// Frees the contents of packets dropped by queues or lost on wires, after counting copies.
    fn free_lost(&mut self, out: &mut Outbox<'_>) {
        if !self.notes_losses {
            self.notes_losses = true;
            out.note_losses(self.flow);
        }
        for (kind, number) in out.probe.notes.losses.take_copied(self.flow) {
            self.side(sender_of(kind)).in_flight.copy(number);
        }
        for (kind, number) in out.noted_losses(self.flow) {
            let in_flight = &mut self.side(sender_of(kind)).in_flight;
            let content = in_flight.take(number);
            in_flight.recycle(content.expect("a packet is lost once"));
        }
    }
}

/// The end that sends packets of a kind.
fn sender_of(kind: PacketKind) -> Peer {
    if kind == PacketKind::Datagram { Peer::Server } else { Peer::Client }
}

#[cfg(test)]
mod tests;
