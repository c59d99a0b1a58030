//! Connections over the kernel's TCP, one after the other, both ends of each. The sender opens them, as in
//! the simulator.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;

use socket2::{Domain, Protocol, Socket, Type};

use super::{End, receiver, sender, unless_waiting};
use crate::host::{Hosts, Key};
use crate::plan::{self, Space};
use crate::sys::{self, TcpInfo};

/// Data that waits in the socket beside what is in the network: enough for any program that keeps up.
const WAITING_BYTES: u32 = 256 * 1024;
const CHUNK_BYTES: usize = 128 * 1024;

/// The receiver's door.
pub struct Door {
    listener: Socket,
}

impl Door {
    /// Opens it.
    pub fn open(flow: &plan::Flow, key: Key, hosts: &Hosts) -> io::Result<Door> {
        let listener = hosts.within(Space::Receivers, || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
            socket.bind(&receiver(flow).into())?;
            if let Some(cc) = &flow.cc {
                // A receiver echoes marks as its congestion control wants them (DCTCP).
                set_congestion_control(&socket, cc)?;
            }
            socket.listen(16)?;
            Ok(socket)
        })?;
        listener.set_nonblocking(true)?;
        hosts.watch(&listener, Key { end: End::Listener, ..key })?;
        Ok(Door { listener })
    }

    /// Who has come in, if anyone: the socket and its sender's port.
    pub fn accept(&self) -> io::Result<Option<(Socket, u16)>> {
        let Some((socket, from)) = unless_waiting(self.listener.accept())? else { return Ok(None) };
        socket.set_nonblocking(true)?;
        Ok(Some((socket, from.as_socket_ipv4().map_or(0, |from| from.port()))))
    }
}

/// Both ends.
pub struct Connection {
    key: Key,
    sending: Option<TcpStream>,
    receiving: Option<TcpStream>,
    chunk: Vec<u8>,
    /// Bytes that the application has still to write; none: without end.
    to_write: Option<u64>,
    /// Bytes that are still to come; none: without end.
    to_read: Option<u64>,
    /// Bytes that have come over all connections.
    pub delivered_bytes: u64,
    /// Payload of former connections: sent, sent again.
    past: (u64, u64),
}

impl Connection {
    /// None yet. `key` names its flow and its lane.
    pub fn new(key: Key) -> Connection {
        Connection {
            key,
            sending: None,
            receiving: None,
            chunk: vec![0; CHUNK_BYTES],
            to_write: None,
            to_read: None,
            delivered_bytes: 0,
            past: (0, 0),
        }
    }

    /// Opens one that carries so many bytes, or data without end.
    pub fn open(&mut self, flow: &plan::Flow, bytes: Option<u64>, hosts: &Hosts) -> io::Result<()> {
        self.close();
        (self.to_write, self.to_read) = (bytes, bytes);
        let socket = hosts.within(Space::Senders, || {
            Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))
        })?;
        socket.bind(&sender(flow, 0).into())?;
        if let Some(cc) = &flow.cc {
            set_congestion_control(&socket, cc)?;
        }
        socket.set_tcp_notsent_lowat(WAITING_BYTES)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_nonblocking(true)?;
        hosts.watch(&socket, Key { end: End::Sender, ..self.key })?;
        match socket.connect(&receiver(flow).into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        self.sending = Some(socket.into());
        Ok(())
    }

    /// The port of its sender, while it is open.
    pub fn port(&self) -> Option<u16> {
        Some(self.sending.as_ref()?.local_addr().ok()?.port())
    }

    /// The receiver has accepted it.
    pub fn accepted(&mut self, socket: Socket, hosts: &Hosts) -> io::Result<()> {
        hosts.watch(&socket, Key { end: End::Receiver, ..self.key })?;
        self.receiving = Some(socket.into());
        Ok(())
    }

    /// Writes until the socket takes no more.
    pub fn write(&mut self) -> io::Result<()> {
        let Some(socket) = self.sending.as_mut() else { return Ok(()) };
        loop {
            let room =
                self.to_write.map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES as u64) as usize);
            if room == 0 {
                return Ok(());
            }
            match socket.write(&self.chunk[..room]) {
                Ok(written) => {
                    if let Some(left) = &mut self.to_write {
                        *left -= written as u64;
                    }
                }
                Err(error) if is_patience(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads what has come; returns whether that was the last of what it carries.
    pub fn read(&mut self) -> io::Result<bool> {
        let Some(socket) = self.receiving.as_mut() else { return Ok(false) };
        let mut arrived = 0;
        while let Some(bytes) = unless_waiting(socket.read(&mut self.chunk))? {
            arrived += bytes as u64;
            // A read that does not fill the buffer has emptied the socket, or met its end.
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
    pub fn close(&mut self) {
        if let Some(info) = self.info() {
            self.past.0 += info.bytes_sent;
            self.past.1 += info.bytes_retrans;
        }
        (self.sending, self.receiving) = (None, None);
    }

    /// Abandons what is under way: both ends end it at once.
    pub fn abandon(&mut self) -> io::Result<()> {
        for socket in [&self.sending, &self.receiving].into_iter().flatten() {
            socket2::SockRef::from(socket).set_linger(Some(std::time::Duration::ZERO))?;
        }
        self.close();
        Ok(())
    }

    /// The kernel's account of the sender's end, while it is open.
    pub fn info(&self) -> Option<TcpInfo> {
        sys::tcp_info(self.sending.as_ref()?.as_fd()).ok()
    }

    /// Payload of former connections: sent, sent again.
    pub fn past(&self) -> (u64, u64) {
        self.past
    }
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

/// Not yet connected, or no room.
fn is_patience(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected)
}
