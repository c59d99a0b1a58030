//! Sequential connections over the kernel's TCP, with both ends of each connection. The sender
//! opens them, as in the simulator.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;

use socket2::{Domain, Protocol, Socket, Type};
use sojourn_aqm::Ecn;
use sojourn_measure::EcnConnections;

use super::program::{receiver, sender, set_ip_fields, unless_blocking};
use crate::linux::hosts::{Hosts, SocketKey, SocketRole};
use crate::linux::sys::{self, TcpInfo};
use crate::plan::{Flow, Netns};
use crate::run_files::TcpTotals;

/// The most unsent data in the socket (`TCP_NOTSENT_LOWAT`): enough for a program that keeps up.
const WAITING_BYTES: u32 = 256 * 1024;
const CHUNK_BYTES: usize = 128 * 1024;

/// The receiver's listening socket.
pub(super) struct Listener {
    socket: Socket,
}

impl Listener {
    /// Opens the socket.
    pub(super) fn open(flow: &Flow, key: SocketKey, hosts: &Hosts) -> io::Result<Listener> {
        let socket = hosts.within(Netns::Receivers, || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
            socket.bind(&receiver(flow).into())?;
            // Accepted connections inherit this option.
            set_ip_fields(&socket, flow.dscp, Ecn::NotEct)?;
            if let Some(cc) = &flow.cc {
                // The receiver's congestion control determines how it echoes marks (DCTCP, RFC 8257
                // §3.2).
                set_congestion_control(&socket, cc)?;
            }
            socket.listen(16)?;
            Ok(socket)
        })?;
        socket.set_nonblocking(true)?;
        hosts.watch(&socket, SocketKey { role: SocketRole::Listener, ..key })?;
        Ok(Listener { socket })
    }

    /// The next connection, if one has arrived: its socket and its sender's port.
    pub(super) fn accept(&self) -> io::Result<Option<(Socket, u16)>> {
        let Some((socket, from)) = unless_blocking(self.socket.accept())? else { return Ok(None) };
        socket.set_nonblocking(true)?;
        Ok(Some((socket, from.as_socket_ipv4().map_or(0, |from| from.port()))))
    }
}

/// Both ends of a flow.
pub(super) struct Connection {
    key: SocketKey,
    sending: Option<TcpStream>,
    receiving: Option<TcpStream>,
    chunk: Vec<u8>,
    /// Bytes that the application has yet to write; `None` if unlimited.
    to_write: Option<u64>,
    /// Bytes that have yet to arrive; `None` if unlimited.
    to_read: Option<u64>,
    /// Bytes that have arrived over all connections.
    delivered_bytes: u64,
    /// Payload of earlier connections: sent and retransmitted.
    past: (u64, u64),
    /// Earlier connections, counted as if all had requested ECN.
    past_ecn: EcnConnections,
    past_limits_us: [u64; 3],
}

impl Connection {
    /// A flow without a connection yet. `key` identifies the flow and its lane.
    pub(super) fn new(key: SocketKey) -> Connection {
        Connection {
            key,
            sending: None,
            receiving: None,
            chunk: vec![0; CHUNK_BYTES],
            to_write: None,
            to_read: None,
            delivered_bytes: 0,
            past: (0, 0),
            past_ecn: EcnConnections::default(),
            past_limits_us: [0; 3],
        }
    }

    /// Opens a connection to transfer `bytes`, or unlimited data.
    pub(super) fn open(
        &mut self,
        flow: &Flow,
        bytes: Option<u64>,
        hosts: &Hosts,
    ) -> io::Result<()> {
        self.close();
        (self.to_write, self.to_read) = (bytes, bytes);
        let socket = hosts.within(Netns::Senders, || {
            Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))
        })?;
        socket.bind(&sender(flow, 0).into())?;
        set_ip_fields(&socket, flow.dscp, Ecn::NotEct)?;
        if let Some(cc) = &flow.cc {
            set_congestion_control(&socket, cc)?;
        }
        if flow.paced {
            sys::pace(&socket)?;
        }
        socket.set_tcp_notsent_lowat(WAITING_BYTES)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_nonblocking(true)?;
        hosts.watch(&socket, SocketKey { role: SocketRole::Sender, ..self.key })?;
        match socket.connect(&receiver(flow).into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        self.sending = Some(socket.into());
        Ok(())
    }

    /// The port of its sender, while the connection is open.
    pub(super) fn port(&self) -> Option<u16> {
        Some(self.sending.as_ref()?.local_addr().ok()?.port())
    }

    /// Takes a connection that the receiver has accepted.
    pub(super) fn accepted(&mut self, socket: Socket, hosts: &Hosts) -> io::Result<()> {
        hosts.watch(&socket, SocketKey { role: SocketRole::Receiver, ..self.key })?;
        self.receiving = Some(socket.into());
        Ok(())
    }

    /// Writes until the socket takes no more.
    pub(super) fn write(&mut self) -> io::Result<()> {
        let Some(socket) = self.sending.as_mut() else { return Ok(()) };
        loop {
            let chunk =
                self.to_write.map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES as u64) as usize);
            if chunk == 0 {
                return Ok(());
            }
            match socket.write(&self.chunk[..chunk]) {
                Ok(written) => {
                    if let Some(left) = &mut self.to_write {
                        *left -= written as u64;
                    }
                }
                Err(error) if is_not_ready(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads the available data; returns whether the transfer is complete.
    pub(super) fn read(&mut self) -> io::Result<bool> {
        let Some(socket) = self.receiving.as_mut() else { return Ok(false) };
        let mut arrived = 0;
        while let Some(bytes) = unless_blocking(socket.read(&mut self.chunk))? {
            arrived += bytes as u64;
            // A read that does not fill the buffer has emptied the socket or reached the end of the
            // stream.
            if bytes < CHUNK_BYTES {
                break;
            }
        }
        self.delivered_bytes += arrived;
        let Some(left) = &mut self.to_read else { return Ok(false) };
        *left = left.saturating_sub(arrived);
        Ok(*left == 0)
    }

    /// Closes both ends.
    pub(super) fn close(&mut self) {
        if let Some(info) = self.info() {
            self.past.0 += info.bytes_sent;
            self.past.1 += info.bytes_retrans;
            self.past_ecn.add(ecn_of(&info));
            add_each(&mut self.past_limits_us, info.limits_us);
        }
        (self.sending, self.receiving) = (None, None);
    }

    /// Aborts the connection at both ends.
    pub(super) fn abort(&mut self) -> io::Result<()> {
        for socket in [&self.sending, &self.receiving].into_iter().flatten() {
            socket2::SockRef::from(socket).set_linger(Some(std::time::Duration::ZERO))?;
        }
        self.close();
        Ok(())
    }

    /// Bytes that have arrived over all connections.
    pub(super) fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// The number of connections established so far, and of those that negotiated ECN.
    pub(super) fn ecn_connections(&self) -> EcnConnections {
        let mut all = self.past_ecn;
        all.add(self.info().map_or(EcnConnections::default(), |info| ecn_of(&info)));
        all
    }

    /// `tcp_info` of the sender's end, while it is open.
    fn info(&self) -> Option<TcpInfo> {
        sys::tcp_info(self.sending.as_ref()?.as_fd()).ok()
    }

    /// Adds its state, and the payload of earlier connections, to the flow's totals.
    pub(super) fn add_to(&self, totals: &mut TcpTotals) {
        let (sent, retransmitted) = self.past;
        totals.sent_bytes += sent;
        totals.retransmitted_bytes += retransmitted;
        let limits = totals.limits.get_or_insert_default();
        add_each(&mut limits.times_us, self.past_limits_us);
        if let Some(info) = self.info() {
            totals.add(&info);
        }
    }
}

impl TcpTotals {
    /// Adds the state of a connection's sender.
    pub(crate) fn add(&mut self, info: &TcpInfo) {
        let segments = |count: u32| u64::from(count) * u64::from(info.mss);
        self.sent_bytes += info.bytes_sent;
        self.retransmitted_bytes += info.bytes_retrans;
        // Linux 6.1 include/net/tcp.h, tcp_packets_in_flight.
        let inflight = (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost);
        self.inflight_bytes += segments(inflight);
        self.cwnd_bytes += segments(info.cwnd);
        self.ce_bytes += segments(info.delivered_ce);
        (self.srtt_us, self.ssthresh, self.state) = (info.rtt_us, info.ssthresh, info.ca_state);
        let limits = self.limits.get_or_insert_default();
        (limits.pacing_rate, limits.min_rtt_us) = (info.pacing_rate, info.min_rtt_us);
        add_each(&mut limits.times_us, info.limits_us);
    }
}

fn add_each(sums: &mut [u64; 3], more: [u64; 3]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

fn ecn_of(info: &TcpInfo) -> EcnConnections {
    let established = u32::from(info.is_established);
    EcnConnections { established, capable: established.min(u32::from(info.uses_ecn)) }
}

fn set_congestion_control(socket: &Socket, name: &str) -> io::Result<()> {
    socket.set_tcp_congestion(name.as_bytes()).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!(
                "this kernel has no congestion control `{name}`; `sysctl \
                 net.ipv4.tcp_available_congestion_control` in a kernel of your own, given with \
                 --kernel, would list it, or choose another cc"
            ),
        )
    })
}

/// Whether the socket is not yet connected, or its buffer is full.
fn is_not_ready(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected)
}
