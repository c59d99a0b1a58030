//! quinn-proto over a UDP socket and the system's clock: a program with the library, the settings
//! and the application of the simulator's flows. `benches/witness.py` compares the packets of both.
//!
//! ```text
//! socket serve 0.0.0.0:4433 BYTES
//! socket fetch ADDRESS:4433
//! ```

use std::error::Error;
use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

use sojourn_aqm::{Ecn, Time};
use sojourn_endpoint::{ConnectionEvent, Datagram, Endpoint, HostSettings, Peer, Stack};
use sojourn_endpoint_quinn::{Quinn, QuinnSettings};

const STREAM: u64 = 0;
const REQUEST_BYTES: u64 = 100;
/// Bytes that the server offers at one time.
const MOST_OFFERED: u64 = 1 << 20;

/// One end of a connection, and its socket.
struct Program {
    end: Box<dyn Endpoint>,
    socket: UdpSocket,
    peer: Option<SocketAddr>,
    start: Instant,
    /// Bytes that the server has not yet written; `None` before the request.
    to_write: Option<u64>,
    /// Bytes of the response.
    answer_bytes: u64,
    received: u64,
    is_over: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve", address, bytes] => {
            let socket = UdpSocket::bind(address)?;
            Program::new(Peer::Server, socket, None, bytes.parse()?)?.run()
        }
        ["fetch", address] => {
            let peer = address.to_socket_addrs()?.find(SocketAddr::is_ipv4);
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            let mut program = Program::new(Peer::Client, socket, peer, 0)?;
            let now = program.now();
            program.end.connect(now);
            program.run()?;
            println!("{} bytes in {:.6} s", program.received, program.now().as_secs());
            Ok(())
        }
        _ => Err("usage: socket serve ADDRESS BYTES | socket fetch ADDRESS".into()),
    }
}

impl Program {
    fn new(
        role: Peer,
        socket: UdpSocket,
        peer: Option<SocketAddr>,
        answer_bytes: u64,
    ) -> Result<Program, Box<dyn Error>> {
        let host = HostSettings { role, seed: [role as u8 + 1; 32], mtu: 1500 };
        let end = Quinn::new(QuinnSettings::default()).open(host, Time::ZERO)?;
        let (start, to_write, received) = (Instant::now(), None, 0);
        let is_over = false;
        Ok(Program { end, socket, peer, start, to_write, answer_bytes, received, is_over })
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    fn run(&mut self) -> Result<(), Box<dyn Error>> {
        let mut buffer = vec![0; 65_536];
        loop {
            self.send_all()?;
            if self.is_over {
                return Ok(());
            }
            let now = self.now();
            let due = self.end.deadline();
            if due <= now {
                self.end.expire(now);
                continue;
            }
            let wait =
                (due != Time::NEVER).then(|| Duration::from_nanos(due.since(now).as_nanos()));
            self.socket.set_read_timeout(wait)?;
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) => {
                    self.peer.get_or_insert(from);
                    let datagram = Datagram { ecn: Ecn::NotEct, bytes: &buffer[..length] };
                    self.end.input(self.now(), datagram);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Handles all events and sends all datagrams.
    fn send_all(&mut self) -> Result<(), Box<dyn Error>> {
        loop {
            let mut is_quiet = true;
            while let Some(event) = self.end.event() {
                is_quiet = false;
                self.on_event(event);
            }
            let mut datagram = Vec::new();
            while self.end.output(self.now(), &mut datagram).is_some() {
                is_quiet = false;
                self.socket.send_to(&datagram, self.peer.ok_or("no peer is known")?)?;
                datagram.clear();
            }
            if is_quiet {
                return Ok(());
            }
        }
    }

    fn on_event(&mut self, event: ConnectionEvent) {
        let (now, is_server) = (self.now(), self.answer_bytes > 0);
        match event {
            ConnectionEvent::Connected if !is_server => {
                self.end.write(now, STREAM, REQUEST_BYTES, true);
            }
            ConnectionEvent::Readable(STREAM) => {
                let read = self.end.read(now, STREAM);
                self.received += read.bytes;
                if is_server && read.is_finished && self.to_write.is_none() {
                    self.to_write = Some(self.answer_bytes);
                    self.pour(now);
                } else if !is_server && read.is_finished {
                    self.end.close(now);
                    self.is_over = true;
                }
            }
            ConnectionEvent::Writable(STREAM) => self.pour(now),
            ConnectionEvent::Closed(_) => self.is_over = true,
            _ => {}
        }
    }

    fn pour(&mut self, now: Time) {
        while let Some(left) = self.to_write.filter(|left| *left > 0) {
            let offered = left.min(MOST_OFFERED);
            let taken = self.end.write(now, STREAM, offered, offered == left);
            self.to_write = Some(left - taken);
            if taken < offered {
                return;
            }
        }
    }
}
