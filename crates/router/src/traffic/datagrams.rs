//! Datagrams, sent when a [`DatagramSource`] says so. Each carries its number and its sending time.

use std::io;
use std::mem;
use std::net::UdpSocket;

use socket2::{Domain, Protocol, Socket, Type};
use sojourn_aqm::Time;
use sojourn_traffic::{DatagramSource, UDP_HEADER_BYTES};

use super::program::{Program, receiver, sender, set_ip_fields, unless_blocking};
use crate::linux::hosts::{Hosts, SocketKey, SocketRole};
use crate::plan::{Flow, Netns};
use crate::run_files::{OneWay, ProgramCounts, ProgramLog, TcpTotals};

/// The largest datagram, bytes.
const LARGEST: usize = 1 << 16;
/// The number and the time in a datagram.
const STAMP_BYTES: usize = 12;

/// Both ends of a flow.
pub(super) struct Datagrams {
    flow: u32,
    source: DatagramSource,
    sending: UdpSocket,
    receiving: UdpSocket,
    buffer: Vec<u8>,
    sent: u32,
    refused: u64,
    received_bytes: u64,
    /// Which datagrams have arrived: a link may have copied them.
    has_arrived: Vec<bool>,
}

impl Datagrams {
    /// Opens both sockets.
    pub(super) fn new(
        flow: &Flow,
        source: DatagramSource,
        key: SocketKey,
        hosts: &Hosts,
    ) -> io::Result<Datagrams> {
        let receiving = hosts.within(Netns::Receivers, || {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            socket.bind(&receiver(flow).into())?;
            Ok(socket)
        })?;
        let sending = hosts.within(Netns::Senders, || {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            socket.bind(&sender(flow, 0).into())?;
            set_ip_fields(&socket, flow.dscp, flow.app.datagrams_ecn())?;
            // Linux gives consecutive identifications to the packets of a connected socket.
            socket.connect(&receiver(flow).into())?;
            Ok(socket)
        })?;
        receiving.set_nonblocking(true)?;
        sending.set_nonblocking(true)?;
        hosts.watch(&receiving, SocketKey { role: SocketRole::Receiver, ..key })?;
        Ok(Datagrams {
            flow: key.flow,
            source,
            sending: sending.into(),
            receiving: receiving.into(),
            buffer: vec![0; LARGEST],
            sent: 0,
            refused: 0,
            received_bytes: 0,
            has_arrived: Vec::new(),
        })
    }
}

impl Datagrams {
    /// Whether a datagram of this number has arrived before.
    fn is_copy(&mut self, number: u32) -> bool {
        let number = number as usize;
        let length = self.has_arrived.len().max(number + 1);
        self.has_arrived.resize(length, false);
        mem::replace(&mut self.has_arrived[number], true)
    }
}

impl Program for Datagrams {
    fn next_timer(&self) -> Time {
        self.source.next_timer()
    }

    fn on_timer(&mut self, now: Time, _hosts: &Hosts) -> io::Result<()> {
        let Some(bytes) = self.source.take(now) else { return Ok(()) };
        // The last datagram of a frame may be too small for number and time.
        let length = (bytes.saturating_sub(UDP_HEADER_BYTES) as usize).max(STAMP_BYTES);
        self.buffer[..4].copy_from_slice(&self.sent.to_le_bytes());
        self.buffer[4..STAMP_BYTES].copy_from_slice(&now.as_nanos().to_le_bytes());
        match unless_blocking(self.sending.send(&self.buffer[..length]))? {
            Some(_) => self.sent += 1,
            // If the socket buffer is full, the datagram is lost, as for any program.
            None => self.refused += 1,
        }
        Ok(())
    }

    fn on_ready(
        &mut self,
        now: Time,
        _key: SocketKey,
        _hosts: &Hosts,
        log: &mut ProgramLog,
    ) -> io::Result<()> {
        while let Some(length) = unless_blocking(self.receiving.recv(&mut self.buffer))? {
            if length < STAMP_BYTES {
                continue;
            }
            let stamp = self.buffer[4..STAMP_BYTES].try_into().expect("8 bytes");
            let delay_ns = now.as_nanos().saturating_sub(u64::from_le_bytes(stamp));
            let number = u32::from_le_bytes(self.buffer[..4].try_into().expect("4 bytes"));
            if self.is_copy(number) {
                continue;
            }
            log.one_way.push(OneWay { flow: self.flow, number, at_ns: now.as_nanos(), delay_ns });
            self.received_bytes += length as u64;
        }
        Ok(())
    }

    fn counts(&self) -> ProgramCounts {
        ProgramCounts {
            delivered_bytes: self.received_bytes,
            sent: u64::from(self.sent),
            refused: self.refused,
        }
    }

    fn tcp_totals(&self) -> Option<TcpTotals> {
        None
    }
}
