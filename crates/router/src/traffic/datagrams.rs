//! Datagrams, when the simulator's [`Source`] sends them. Each carries its number and the time at which it
//! was sent.

use std::io;
use std::net::UdpSocket;

use socket2::{Domain, Protocol, Socket, Type};
use sojourn_aqm::{Ecn, Time};
use sojourn_sim::app::datagrams::Source;

use super::{Program, STAMP_BYTES, UDP_HEADER, receiver, sender, unless_waiting};
use crate::host::{Hosts, Key};
use crate::plan::{self, Space};
use crate::record_files::{Account, Count, Diary, OneWay};
use crate::traffic::End;

const LARGEST: usize = 1 << 16;

/// Both ends.
pub struct Datagrams {
    flow: u32,
    source: Source,
    sending: UdpSocket,
    receiving: UdpSocket,
    buffer: Vec<u8>,
    sent: u32,
    received: u64,
    received_bytes: u64,
}

impl Datagrams {
    /// Opens both sockets.
    pub fn new(
        flow: &plan::Flow,
        source: Source,
        key: Key,
        hosts: &Hosts,
    ) -> io::Result<Datagrams> {
        let receiving = hosts.within(Space::Receivers, || {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            socket.bind(&receiver(flow).into())?;
            Ok(socket)
        })?;
        let sending = hosts.within(Space::Senders, || {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            socket.bind(&sender(flow, 0).into())?;
            if flow.app.datagrams_ecn() {
                socket.set_tos_v4(Ecn::Ect0 as u32)?;
            }
            // Connected, so that the kernel numbers its packets.
            socket.connect(&receiver(flow).into())?;
            Ok(socket)
        })?;
        receiving.set_nonblocking(true)?;
        sending.set_nonblocking(true)?;
        hosts.watch(&receiving, Key { end: End::Receiver, ..key })?;
        Ok(Datagrams {
            flow: key.flow,
            source,
            sending: sending.into(),
            receiving: receiving.into(),
            buffer: vec![0; LARGEST],
            sent: 0,
            received: 0,
            received_bytes: 0,
        })
    }
}

impl Program for Datagrams {
    fn next_timer(&self) -> Time {
        self.source.next_timer()
    }

    fn on_timer(&mut self, now: Time, _hosts: &Hosts) -> io::Result<()> {
        let Some(bytes) = self.source.take(now) else { return Ok(()) };
        // The last one of a frame may be smaller than what it has to carry.
        let length = (bytes.saturating_sub(UDP_HEADER) as usize).max(STAMP_BYTES);
        self.buffer[..4].copy_from_slice(&self.sent.to_le_bytes());
        self.buffer[4..STAMP_BYTES].copy_from_slice(&now.as_nanos().to_le_bytes());
        self.sent += 1;
        // A full socket buffer loses the datagram, as it does for any program.
        unless_waiting(self.sending.send(&self.buffer[..length])).map(drop)
    }

    fn on_ready(
        &mut self,
        now: Time,
        _key: Key,
        _hosts: &Hosts,
        diary: &mut Diary,
    ) -> io::Result<()> {
        while let Some(length) = unless_waiting(self.receiving.recv(&mut self.buffer))? {
            if length < STAMP_BYTES {
                continue;
            }
            let stamp = self.buffer[4..STAMP_BYTES].try_into().expect("8 bytes");
            let delay_ns = now.as_nanos().saturating_sub(u64::from_le_bytes(stamp));
            diary.one_way.push(OneWay { flow: self.flow, at_ns: now.as_nanos(), delay_ns });
            self.received += 1;
            self.received_bytes += length as u64 + u64::from(UDP_HEADER);
        }
        Ok(())
    }

    fn count(&self) -> Count {
        Count {
            delivered_bytes: self.received_bytes,
            sent: u64::from(self.sent),
            received: self.received,
        }
    }

    fn account(&self) -> Option<Account> {
        None
    }
}
