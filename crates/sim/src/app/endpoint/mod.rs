//! A flow whose two ends are a transport library: the simulator is their network, clock and
//! application.
//!
//! The flow's receiver is the client: it connects, [asks for data](requests), each time on a new
//! stream, and reads it. The server answers as soon as it has the whole request. In a call, the
//! server has a camera or a microphone and [sends frames](frames). The flow stores the [contents of
//! the datagrams](in_flight), so packets stay small.

mod exchanges;
mod frames;
mod guard;
mod in_flight;
mod opener;
mod requests;
mod side;

use std::sync::Arc;

use sojourn_aqm::{Ecn, Time};
use sojourn_endpoint::{ConnectionEvent, Peer, Stack, Stats};

pub(crate) use self::frames::{VideoCall, VoiceCall};
pub(crate) use self::guard::{FirstFailure, LibraryFailure};
use self::opener::Opener;
pub(crate) use self::opener::draw_seed;
pub(crate) use self::requests::{Requests, User};
use self::side::{Link, Side};
use super::{FlowTimers, Outbox};
use crate::packet::{Packet, PacketKind};

/// Both ends of a flow over a library.
pub(crate) struct EndpointFlow {
    flow: u32,
    client: Side,
    server: Side,
    start: Time,
    stop: Time,
    warmup: Time,
    /// When it stopped.
    stopped: Time,
    application: Application,
    opener: Opener,
    client_state: ClientState,
    /// Whether lost packets of the flow are recorded, so that their contents can be freed.
    notes_losses: bool,
    /// Data that the client has read.
    pub(crate) delivered_bytes: u64,
    /// Bytes of datagrams that reached the client with CE.
    pub(crate) ce_bytes: u64,
    /// When and why the library ended the connection.
    pub(crate) lost: Option<(Time, String)>,
}

/// What a flow is used for.
pub(crate) enum Application {
    /// Requests and responses.
    Requests(Requests),
    /// The camera and the screen of a call.
    Video(VideoCall),
    /// The microphone and the loudspeaker of a call.
    Voice(VoiceCall),
}

/// The state of the client's connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ClientState {
    /// It has not begun to connect.
    Idle,
    /// It began to connect at this time.
    Connecting(Time),
    Connected,
    /// The connection ended while nothing was asked for, as by an idle timeout.
    Closed,
}

/// The settings of a flow.
pub(crate) struct About<'a> {
    /// Its number.
    pub(crate) flow: u32,
    /// Its name in reports of failures.
    pub(crate) name: String,
    /// The transport's name in the scenario.
    pub(crate) transport: &'a str,
    /// What it is used for.
    pub(crate) application: Application,
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
        stack: Arc<dyn Stack>,
        about: About<'_>,
        failure: &FirstFailure,
    ) -> Result<EndpointFlow, String> {
        if !HAS_LIBRARIES {
            return Err(NO_LIBRARIES.to_owned());
        }
        let About { flow, name, transport, application, mtu, ecn, times, warmup, seeds } = about;
        let (start, stop) = times;
        let link = Link { flow, header_bytes: stack.carries().header_bytes(), mtu, ecn };
        let names = (transport.to_owned(), name);
        let opener = Opener::new(stack, mtu, names, failure.clone(), seeds);
        let side = |role| Ok::<_, String>(Side::new(opener.open(role, Time::ZERO)?, role, link));
        Ok(EndpointFlow {
            flow,
            client: side(Peer::Client)?,
            server: side(Peer::Server)?,
            start: if start < stop { start } else { Time::NEVER },
            stop,
            warmup,
            stopped: Time::NEVER,
            application,
            opener,
            client_state: ClientState::Idle,
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
            rest: self.start.min(self.stop).min(self.next_action()),
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

    /// When the application acts next, once it has started.
    fn next_action(&self) -> Time {
        match &self.application {
            _ if self.client_state == ClientState::Idle => Time::NEVER,
            Application::Requests(requests) => requests.next_timer(),
            Application::Video(video) => video.next,
            Application::Voice(voice) => voice.next,
        }
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
            self.start = Time::NEVER;
            match &mut self.application {
                Application::Requests(requests) => requests.on_timer(now),
                Application::Video(video) => video.next = now,
                Application::Voice(_) => {} // the server begins once it is connected
            }
            self.connect(out);
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
        } else if self.next_action() <= now {
            match &mut self.application {
                Application::Requests(requests) => {
                    requests.on_timer(now);
                    self.request(out);
                }
                Application::Video(_) | Application::Voice(_) => self.send_frame(out),
            }
        }
    }

    /// Begins to connect.
    fn connect(&mut self, out: &mut Outbox<'_>) {
        let now = out.now;
        self.client_state = ClientState::Connecting(now);
        self.client.end.call(now, "connect", |end| end.connect(now));
        self.act(Peer::Client, out);
        self.client.set_due(now);
    }

    /// Stops the application: both ends close, and later arrivals are discarded.
    fn stop(&mut self, out: &mut Outbox<'_>) {
        let now = out.now;
        (self.stop, self.stopped) = (Time::NEVER, self.stop);
        match &mut self.application {
            Application::Requests(requests) => requests.stop(),
            Application::Video(video) => video.next = Time::NEVER,
            Application::Voice(voice) => voice.next = Time::NEVER,
        }
        for side in [&mut self.client, &mut self.server] {
            side.end.call(now, "close", |end| end.close(now));
            side.flush(out);
            side.end.drop_end();
            side.due = Time::NEVER;
        }
    }

    /// Handles a packet that reaches one end; returns the next timer of that end or of the
    /// application. Cold, so that this code does not affect how the main loop is compiled.
    #[cold]
    pub(crate) fn on_packet(&mut self, role: Peer, packet: &Packet, out: &mut Outbox<'_>) -> Time {
        if !HAS_LIBRARIES {
            unreachable!("{NO_LIBRARIES}");
        }
        let now = out.now;
        if role == Peer::Client
            && !matches!(self.application, Application::Voice(_))
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
        self.due(role).min(self.next_action())
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
                    (Peer::Server, ConnectionEvent::Connected) => self.begin_voice(out.now),
                    (Peer::Client, ConnectionEvent::FrameComplete(number)) => {
                        self.on_frame(*number, out);
                    }
                    _ => {}
                }
                if let Some(stream) = self.on_event(role, event, out.now) {
                    self.complete(stream, out);
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
        let before = std::mem::replace(&mut self.client_state, ClientState::Connected);
        if let ClientState::Connecting(began) = before
            && began >= self.warmup
        {
            let took = out.now.since(began);
            out.probe.classes[out.class as usize].handshake.add(took.as_nanos());
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
