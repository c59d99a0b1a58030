//! Streams over the kernel's TCP: unlimited or given data, and users who fetch short files, each over a
//! new connection. The sender opens it, as in the simulator; completion counts from there to the last
//! byte's arrival.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;

use socket2::{Domain, Protocol, Socket, Type};
use sojourn_aqm::{Rng, Span, Time};

use super::{End, Program, receiver, sender, stop, unless_waiting};
use crate::host::{Hosts, Key};
use crate::plan::{self, Load, Space};
use crate::record_files::{Count, Diary, Transfer};
use crate::sys::{self, TcpInfo};

/// Data that waits in the socket beside what is in the network: enough for any program that keeps up.
const WAITING_BYTES: u32 = 256 * 1024;
const CHUNK_BYTES: usize = 128 * 1024;

/// Both ends of a flow.
pub struct Stream {
    plan: plan::Flow,
    key: Key,
    rng: Rng,
    listener: Socket,
    sending: Option<TcpStream>,
    receiving: Option<TcpStream>,
    chunk: Vec<u8>,
    next_start: Time,
    stop: Time,
    /// Bytes of this connection that the application has still to write; none: without end.
    to_write: Option<u64>,
    /// The transfer under way: when it was asked for, its size, what of it has arrived.
    transfer: Option<(Time, u64)>,
    arrived_bytes: u64,
    delivered_bytes: u64,
    /// Payload of former connections: sent, sent again.
    past: (u64, u64),
}

impl Stream {
    /// Opens the receiver's door.
    pub fn new(flow: &plan::Flow, key: Key, rng: Rng, hosts: &Hosts) -> io::Result<Stream> {
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
        Ok(Stream {
            key,
            rng,
            listener,
            sending: None,
            receiving: None,
            chunk: vec![0; CHUNK_BYTES],
            next_start: Time::from_nanos(flow.start_ns),
            stop: stop(flow),
            to_write: None,
            transfer: None,
            arrived_bytes: 0,
            delivered_bytes: 0,
            past: (0, 0),
            plan: flow.clone(),
        })
    }

    fn open(&mut self, now: Time, hosts: &Hosts) -> io::Result<()> {
        let bytes = match &self.plan.load {
            Load::Bulk { bytes } => *bytes,
            Load::Files { sizes, .. } => Some(sizes[self.rng.below(sizes.len() as u64) as usize]),
            Load::Datagrams { .. } => unreachable!("the load is a stream"),
        };
        self.transfer = bytes.map(|bytes| (now, bytes));
        self.to_write = bytes;
        self.arrived_bytes = 0;
        let socket = hosts.within(Space::Senders, || {
            Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))
        })?;
        socket.bind(&sender(&self.plan, 0).into())?;
        if let Some(cc) = &self.plan.cc {
            set_congestion_control(&socket, cc)?;
        }
        socket.set_tcp_notsent_lowat(WAITING_BYTES)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_nonblocking(true)?;
        hosts.watch(&socket, Key { end: End::Sender, ..self.key })?;
        match socket.connect(&receiver(&self.plan).into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        self.sending = Some(socket.into());
        Ok(())
    }

    /// Writes until the socket takes no more.
    fn write(&mut self) -> io::Result<()> {
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

    fn read(&mut self, now: Time, diary: &mut Diary) -> io::Result<()> {
        let Some(socket) = self.receiving.as_mut() else { return Ok(()) };
        while let Some(bytes) = unless_waiting(socket.read(&mut self.chunk))? {
            self.arrived_bytes += bytes as u64;
            self.delivered_bytes += bytes as u64;
            // A read that does not fill the buffer has emptied the socket, or met its end.
            if bytes < CHUNK_BYTES {
                break;
            }
        }
        if let Some((start, bytes)) = self.transfer.filter(|(_, all)| self.arrived_bytes >= *all) {
            let (flow, start_ns) = (self.key.flow, start.as_nanos());
            let completion_ns = now.since(start).as_nanos();
            diary.transfers.push(Transfer { flow, start_ns, bytes, completion_ns });
            self.transfer = None;
            self.close();
            if let Load::Files { think_s, .. } = self.plan.load {
                self.next_start = now + Span::from_secs_f64(self.rng.exponential(think_s));
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some((info, ..)) = self.sample() {
            self.past.0 += info.bytes_sent;
            self.past.1 += info.bytes_retrans;
        }
        self.sending = None;
        self.receiving = None;
    }
}

impl Program for Stream {
    fn next_timer(&self) -> Time {
        self.next_start.min(self.stop)
    }

    fn on_timer(&mut self, now: Time, hosts: &Hosts) -> io::Result<()> {
        if self.stop <= now {
            // What is under way is abandoned, not finished.
            for socket in [&self.sending, &self.receiving].into_iter().flatten() {
                socket2::SockRef::from(socket).set_linger(Some(std::time::Duration::ZERO))?;
            }
            self.close();
            (self.stop, self.next_start, self.transfer) = (Time::NEVER, Time::NEVER, None);
        } else if self.next_start <= now {
            self.next_start = Time::NEVER;
            self.open(now, hosts)?;
        }
        Ok(())
    }

    fn on_ready(
        &mut self,
        now: Time,
        end: End,
        hosts: &Hosts,
        diary: &mut Diary,
    ) -> io::Result<()> {
        match end {
            End::Listener => {
                while let Some((socket, _)) = unless_waiting(self.listener.accept())? {
                    socket.set_nonblocking(true)?;
                    hosts.watch(&socket, Key { end: End::Receiver, ..self.key })?;
                    self.receiving = Some(socket.into());
                }
                Ok(())
            }
            End::Sender => self.write(),
            End::Receiver => self.read(now, diary),
        }
    }

    fn count(&self) -> Count {
        Count { delivered_bytes: self.delivered_bytes, ..Count::default() }
    }

    fn sample(&self) -> Option<(TcpInfo, u64, u64)> {
        let info = sys::tcp_info(self.sending.as_ref()?.as_fd()).ok()?;
        Some((info, self.past.0, self.past.1))
    }
}

fn set_congestion_control(socket: &Socket, name: &str) -> io::Result<()> {
    socket.set_tcp_congestion(name.as_bytes()).map_err(|error| {
        io::Error::new(error.kind(), format!("this kernel has no congestion control `{name}`"))
    })
}

/// Not yet connected, or no room.
fn is_patience(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected)
}
