//! One end of a connection.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::{
    ClientConfig, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, Dir,
    EcnCodepoint, Endpoint as QuinnEndpoint, EndpointConfig, Event, ServerConfig, Side,
    StreamEvent, StreamId, VarInt,
};
use sojourn_aqm::{Ecn, Rng, Span, Time};
use sojourn_endpoint::{
    ConnectionEvent, Datagram, Endpoint, FrameNumber, HostSettings, MediaFrame, Peer, Read, Stats,
    StreamNumber, Transmit,
};

use crate::tls;

/// Bytes of a connection ID; quinn's own default.
const CID_BYTES: usize = 8;
/// The content of all writes, in shared memory.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
/// The least data that may be buffered beyond the congestion window.
const LEAST_AHEAD: u64 = 256 << 10;

/// One end of a connection.
pub(crate) struct Connection {
    role: Peer,
    endpoint: QuinnEndpoint,
    client: ClientConfig,
    /// An arbitrary origin: only differences between times matter.
    epoch: Instant,
    connection: Option<(ConnectionHandle, quinn_proto::Connection)>,
    /// Datagrams that the endpoint answers by itself.
    answers: VecDeque<Vec<u8>>,
    events: VecDeque<ConnectionEvent>,
    /// Streams that the client has opened.
    opened: StreamNumber,
}

/// Connection IDs from the host's seed.
struct Cids {
    rng: Rng,
}

impl ConnectionIdGenerator for Cids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.rng.next_u64().to_le_bytes())
    }

    fn cid_len(&self) -> usize {
        CID_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

fn address(peer: Peer) -> SocketAddr {
    let last = if peer == Peer::Client { 1 } else { 2 };
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)), 4433)
}

impl Connection {
    /// One end, not connected yet.
    pub(crate) fn new(
        host: HostSettings,
        mut client: ClientConfig,
        server: ServerConfig,
    ) -> Connection {
        let word = u64::from_le_bytes(host.seed[..8].try_into().expect("a seed has 32 bytes"));
        let mut config = EndpointConfig::default();
        config.rng_seed(Some(host.seed));
        config.cid_generator(move || Box::new(Cids { rng: Rng::stream(word, "cids", 0) }));
        let first = Mutex::new(Cids { rng: Rng::stream(word, "first cid", 0) });
        client.initial_dst_cid_provider(Arc::new(move || {
            first.lock().expect("nobody panics while holding it").generate_cid()
        }));
        let server = (host.role == Peer::Server).then(|| Arc::new(server));
        Connection {
            role: host.role,
            endpoint: QuinnEndpoint::new(Arc::new(config), server, true, None),
            client,
            epoch: Instant::now(),
            connection: None,
            answers: VecDeque::new(),
            events: VecDeque::new(),
            opened: 0,
        }
    }

    fn instant(&self, now: Time) -> Instant {
        self.epoch + Duration::from_nanos(now.as_nanos())
    }

    /// Exchanges events between the connection and the endpoint.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    /// A client's first datagram has arrived.
    fn accept(&mut self, now: Instant, incoming: quinn_proto::Incoming) {
        if self.connection.is_some() {
            return self.endpoint.ignore(incoming);
        }
        let mut buffer = Vec::new();
        match self.endpoint.accept(incoming, now, &mut buffer, None) {
            Ok(accepted) => self.connection = Some(accepted),
            Err(error) => {
                self.answers.extend(error.response.map(|_| buffer));
                self.events.push_back(ConnectionEvent::Closed(error.cause.to_string()));
            }
        }
    }

    /// Events of one kind of stream.
    fn on_stream(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Opened { dir } => {
                let Some((_, connection)) = &mut self.connection else { return };
                while let Some(id) = connection.streams().accept(dir) {
                    self.events.push_back(ConnectionEvent::Readable(id.index()));
                }
            }
            StreamEvent::Readable { id } => {
                self.events.push_back(ConnectionEvent::Readable(id.index()));
            }
            StreamEvent::Writable { id } => {
                self.events.push_back(ConnectionEvent::Writable(id.index()));
            }
            // The peer grants more streams: the host writes again to the first that it was refused.
            StreamEvent::Available { .. } => {
                self.events.push_back(ConnectionEvent::Writable(self.opened));
            }
            StreamEvent::Finished { .. } | StreamEvent::Stopped { .. } => {}
        }
    }
}

/// Bytes of a frame's number.
const NUMBER_BYTES: usize = size_of::<FrameNumber>();

/// The number with which a datagram begins.
fn number_of(frame: &[u8]) -> Option<FrameNumber> {
    let (number, _) = frame.split_first_chunk::<NUMBER_BYTES>()?;
    Some(FrameNumber::from_be_bytes(*number))
}

fn stream(number: StreamNumber) -> StreamId {
    StreamId::new(Side::Client, Dir::Bi, number)
}

/// Limits buffered data to the congestion window plus as much again, at least `LEAST_AHEAD`.
fn set_send_window(connection: &mut quinn_proto::Connection) {
    let window = connection.congestion_state().window();
    connection.set_send_window(window + window.max(LEAST_AHEAD));
}

impl Endpoint for Connection {
    fn connect(&mut self, now: Time) {
        let (now, server) = (self.instant(now), address(Peer::Server));
        let client = self.client.clone();
        let connected = self.endpoint.connect(now, client, server, tls::SERVER);
        self.connection = Some(connected.expect("the settings suit a first connection"));
    }

    fn input(&mut self, now: Time, datagram: Datagram<'_>) {
        let now = self.instant(now);
        let from = self.role.other();
        let ecn = match datagram.ecn {
            Ecn::NotEct => None,
            Ecn::Ect0 => Some(EcnCodepoint::Ect0),
            Ecn::Ect1 => Some(EcnCodepoint::Ect1),
            Ecn::Ce => Some(EcnCodepoint::Ce),
        };
        let bytes = BytesMut::from(datagram.bytes);
        let mut buffer = Vec::new();
        match self.endpoint.handle(now, address(from), None, ecn, bytes, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(now, incoming),
            Some(DatagramEvent::Response(_)) => self.answers.push_back(buffer),
            None => {}
        }
        self.settle();
    }

    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let at_once = |ecn| Transmit { ecn, earliest: now };
        if let Some(answer) = self.answers.pop_front() {
            *buffer = answer;
            return Some(at_once(Ecn::NotEct));
        }
        let now = self.instant(now);
        let (_, connection) = self.connection.as_mut()?;
        let transmit = connection.poll_transmit(now, 1, buffer)?;
        buffer.truncate(transmit.size);
        self.settle();
        Some(at_once(match transmit.ecn {
            None => Ecn::NotEct,
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
        }))
    }

    fn deadline(&mut self) -> Time {
        let due = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        due.map_or(Time::NEVER, |due| {
            Time::from_nanos(due.saturating_duration_since(self.epoch).as_nanos() as u64)
        })
    }

    fn expire(&mut self, now: Time) {
        let now = self.instant(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.settle();
    }

    fn event(&mut self) -> Option<ConnectionEvent> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let (_, connection) = self.connection.as_mut()?;
            set_send_window(connection);
            match connection.poll()? {
                Event::Connected => return Some(ConnectionEvent::Connected),
                Event::ConnectionLost { reason } => {
                    return Some(ConnectionEvent::Closed(reason.to_string()));
                }
                Event::Stream(event) => self.on_stream(event),
                Event::DatagramReceived => {
                    while let Some(frame) = connection.datagrams().recv() {
                        self.events.extend(number_of(&frame).map(ConnectionEvent::FrameComplete));
                    }
                }
                Event::HandshakeDataReady | Event::DatagramsUnblocked => {}
            }
        }
    }

    fn write(&mut self, _now: Time, number: StreamNumber, bytes: u64, finish: bool) -> u64 {
        let Some((_, connection)) = &mut self.connection else { return 0 };
        while self.role == Peer::Client && self.opened <= number {
            if connection.streams().open(Dir::Bi).is_none() {
                return 0; // the peer grants no more streams yet
            }
            self.opened += 1;
        }
        set_send_window(connection);
        let mut send = connection.send_stream(stream(number));
        let mut taken = 0;
        while taken < bytes {
            let piece = (bytes - taken).min(ZEROS.len() as u64) as usize;
            match send.write_chunks(&mut [Bytes::from_static(&ZEROS[..piece])]) {
                Ok(written) => taken += written.bytes as u64,
                Err(_) => return taken, // blocked, or the peer wants no more
            }
        }
        if finish {
            // The peer may have stopped the stream, which ends it too.
            let _ = send.finish();
        }
        taken
    }

    /// A frame of voice is a datagram (RFC 9221) that begins with the frame's number.
    fn send_frame(&mut self, _now: Time, frame: MediaFrame) -> u64 {
        let Some((_, connection)) = &mut self.connection else { return 0 };
        let mut content = vec![0; frame.most_bytes as usize];
        content[..NUMBER_BYTES].copy_from_slice(&frame.number.to_be_bytes());
        match connection.datagrams().send(content.into(), true) {
            Ok(()) => frame.most_bytes,
            Err(_) => 0, // not connected yet, or too large
        }
    }

    fn read(&mut self, _now: Time, number: StreamNumber) -> Read {
        let mut read = Read::default();
        let Some((_, connection)) = &mut self.connection else { return read };
        let mut receive = connection.recv_stream(stream(number));
        let Ok(mut chunks) = receive.read(true) else { return read };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => read.bytes += chunk.bytes.len() as u64,
                Ok(None) => {
                    read.is_finished = true;
                    break;
                }
                Err(_) => break, // nothing more now, or reset
            }
        }
        // The host asks for output after every call.
        let _ = chunks.finalize();
        read
    }

    fn close(&mut self, now: Time) {
        let now = self.instant(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
        self.settle();
    }

    fn stats(&self) -> Stats {
        let Some((_, connection)) = &self.connection else { return Stats::default() };
        let path = connection.stats().path;
        Stats {
            cwnd_bytes: Some(path.cwnd),
            in_flight_bytes: None,
            smoothed_rtt: Some(Span::from_nanos(path.rtt.as_nanos() as u64)),
            pacing_bps: None,
            quantum_bytes: None,
            lost_bytes: Some(path.lost_bytes),
            estimate_bps: None,
        }
    }
}
