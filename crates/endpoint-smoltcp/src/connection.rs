//! One end of a connection.

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{RecvError, Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use sojourn_aqm::{Ecn, Time};
use sojourn_endpoint::{
    ConnectionEvent, Datagram, Endpoint, HostSettings, Peer, Read, Stats, StreamNumber, Transmit,
};

use crate::settings::SmoltcpSettings;
use crate::wire::{Leaving, Wire};

/// A connection of TCP is one stream.
const STREAM: StreamNumber = 0;
const SERVER_PORT: u16 = 80;
/// The first of the dynamic ports.
const CLIENT_PORT: u16 = 49_152;
/// The buffer of the direction that carries requests.
const REQUEST_BUFFER: usize = 65_536;

/// One end of a connection.
pub(crate) struct TcpConnection {
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    leaving: Leaving,
    mtu: u32,
    /// The time of the last call, in whole microseconds.
    now: Instant,
    progress: Progress,
}

/// The events that the host has been given.
#[derive(Debug, Default)]
struct Progress {
    is_connected: bool,
    /// Segments have arrived since the host read.
    is_readable: bool,
    /// The host knows that the peer sends nothing more.
    is_finished: bool,
    /// A write took less than was offered.
    is_blocked: bool,
    is_closed: bool,
}

fn address(peer: Peer) -> IpAddress {
    IpAddress::v4(192, 0, 2, if peer == Peer::Client { 1 } else { 2 })
}

/// The microsecond in which `now` lies.
fn instant(now: Time) -> Instant {
    Instant::from_micros((now.as_nanos() / 1000) as i64)
}

fn buffer(bytes: usize) -> SocketBuffer<'static> {
    SocketBuffer::new(vec![0; bytes])
}

fn socket(role: Peer, settings: &SmoltcpSettings) -> Socket<'static> {
    let (receive, send) = match role {
        Peer::Client => (settings.buffer, REQUEST_BUFFER),
        Peer::Server => (REQUEST_BUFFER, settings.buffer),
    };
    let mut socket = Socket::new(buffer(receive), buffer(send));
    socket.set_congestion_control(settings.control.of_library());
    if role == Peer::Server {
        socket.listen(SERVER_PORT).expect("a new socket can listen");
    }
    socket
}

impl TcpConnection {
    /// One end, not connected yet.
    pub(crate) fn new(host: HostSettings, settings: &SmoltcpSettings) -> TcpConnection {
        let HostSettings { role, seed, mtu } = host;
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = u64::from_le_bytes(seed[..8].try_into().expect("a seed has 32 bytes"));
        let (mut leaving, now) = (Leaving::default(), Instant::ZERO);
        let mut wire = Wire { arriving: None, leaving: &mut leaving, mtu };
        let mut interface = Interface::new(config, &mut wire, now);
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(address(role), 24)).expect("there is room for one address");
        });
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket(role, settings));
        let progress = Progress::default();
        TcpConnection { interface, sockets, handle, leaving, mtu, now, progress }
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }
}

/// Whether the handshake is complete.
fn is_connected(state: State) -> bool {
    !matches!(state, State::Closed | State::Listen | State::SynSent | State::SynReceived)
}

impl Endpoint for TcpConnection {
    fn connect(&mut self, now: Time) {
        self.now = instant(now);
        let server = (address(Peer::Server), SERVER_PORT);
        let socket = self.sockets.get_mut::<Socket<'_>>(self.handle);
        let connected = socket.connect(self.interface.context(), server, CLIENT_PORT);
        connected.expect("the addresses suit a first connection");
    }

    fn input(&mut self, now: Time, datagram: Datagram<'_>) {
        self.now = instant(now);
        let arriving = Some(datagram.bytes);
        let mut wire = Wire { arriving, leaving: &mut self.leaving, mtu: self.mtu };
        self.interface.poll_ingress_single(self.now, &mut wire, &mut self.sockets);
        self.progress.is_readable = true;
    }

    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.now = instant(now);
        // Answers to arrivals leave first. A socket sends at most one packet in each poll.
        if !self.leaving.take(buffer) {
            let mut wire = Wire { arriving: None, leaving: &mut self.leaving, mtu: self.mtu };
            self.interface.poll_egress(self.now, &mut wire, &mut self.sockets);
            if !self.leaving.take(buffer) {
                return None;
            }
        }
        Some(Transmit { ecn: Ecn::NotEct, earliest: now })
    }

    fn deadline(&mut self) -> Time {
        let Some(due) = self.interface.poll_at(self.now, &self.sockets) else { return Time::NEVER };
        // All that can be sent now has been sent, so the next try is at least a microsecond later.
        let micros = due.total_micros().max(self.now.total_micros() + 1);
        Time::from_nanos(micros as u64 * 1000)
    }

    /// Timers act when the host asks for output.
    fn expire(&mut self, now: Time) {
        self.now = instant(now);
    }

    fn event(&mut self) -> Option<ConnectionEvent> {
        let state = self.socket().state();
        if !self.progress.is_connected {
            self.progress.is_connected = is_connected(state);
            return self.progress.is_connected.then_some(ConnectionEvent::Connected);
        }
        if std::mem::take(&mut self.progress.is_readable) && !self.progress.is_finished {
            return Some(ConnectionEvent::Readable(STREAM));
        }
        if self.progress.is_blocked && self.socket().can_send() {
            self.progress.is_blocked = false;
            return Some(ConnectionEvent::Writable(STREAM));
        }
        if state == State::Closed && !std::mem::replace(&mut self.progress.is_closed, true) {
            let whole = self.progress.is_finished;
            let reason = if whole { "both ends have closed" } else { "the peer has reset it" };
            return Some(ConnectionEvent::Closed(reason.to_owned()));
        }
        None
    }

    fn write(&mut self, now: Time, stream: StreamNumber, bytes: u64, finish: bool) -> u64 {
        self.now = instant(now);
        if stream != STREAM {
            return 0;
        }
        let mut taken = 0;
        while taken < bytes {
            let left = usize::try_from(bytes - taken).unwrap_or(usize::MAX);
            let written = self.socket().send(|free| {
                let piece = free.len().min(left);
                free[..piece].fill(0);
                (piece, piece)
            });
            match written {
                Ok(0) | Err(_) => break, // the buffer is full, or nothing more may be sent
                Ok(piece) => taken += piece as u64,
            }
        }
        self.progress.is_blocked = taken < bytes;
        if finish && taken == bytes {
            self.socket().close();
        }
        taken
    }

    fn read(&mut self, now: Time, stream: StreamNumber) -> Read {
        self.now = instant(now);
        let mut read = Read::default();
        if stream != STREAM {
            return read;
        }
        loop {
            match self.socket().recv(|arrived| (arrived.len(), arrived.len())) {
                Ok(0) | Err(RecvError::InvalidState) => break,
                Ok(bytes) => read.bytes += bytes as u64,
                Err(RecvError::Finished) => {
                    read.is_finished = true;
                    break;
                }
            }
        }
        self.progress.is_finished |= read.is_finished;
        read
    }

    fn close(&mut self, now: Time) {
        self.now = instant(now);
        self.progress.is_closed = true;
        self.socket().abort();
    }

    /// smoltcp does not report its window, round-trip time and losses.
    fn stats(&self) -> Stats {
        Stats::default()
    }
}
