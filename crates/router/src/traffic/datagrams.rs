//! Datagrams at a constant rate, all the time or in on periods. Each carries its number and the time at
//! which it was sent.

use std::io;
use std::net::UdpSocket;

use socket2::{Domain, Protocol, Socket, Type};
use sojourn_aqm::{Ecn, Rate, Rng, Span, Time};

use super::{End, Program, receiver, sender, stop, unless_waiting};
use crate::host::{Hosts, Key};
use crate::plan::{self, Load, Space};
use crate::record_files::{Count, Diary, OneWay};
use crate::sys::TcpInfo;
use crate::traffic::pace::{Pace, Periods};

/// Number and time.
const STAMP_BYTES: usize = 12;
const LARGEST: usize = 1 << 16;

/// Both ends.
pub struct Datagrams {
    flow: u32,
    pace: Pace,
    sending: UdpSocket,
    receiving: UdpSocket,
    packet_bytes: u32,
    buffer: Vec<u8>,
    sent: u32,
    received: u64,
}

impl Datagrams {
    /// Opens both sockets.
    pub fn new(flow: &plan::Flow, key: Key, rng: Rng, hosts: &Hosts) -> io::Result<Datagrams> {
        let Load::Datagrams { packet_bytes, rate_bps, periods_s } = flow.load else {
            unreachable!("the load is datagrams");
        };
        let receiving = hosts.within(Space::Receivers, || {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            socket.bind(&receiver(flow).into())?;
            Ok(socket)
        })?;
        let sending = hosts.within(Space::Senders, || {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            socket.bind(&sender(flow, 0).into())?;
            if flow.ecn {
                socket.set_tos_v4(Ecn::Ect0 as u32)?;
            }
            // Connected, so that the kernel numbers its packets.
            socket.connect(&receiver(flow).into())?;
            Ok(socket)
        })?;
        receiving.set_nonblocking(true)?;
        sending.set_nonblocking(true)?;
        hosts.watch(&receiving, Key { end: End::Receiver, ..key })?;
        let span = |seconds| Span::from_secs_f64(seconds);
        let periods = periods_s.map(|(on, off)| Periods { on: span(on), off: span(off) });
        let times = (Time::from_nanos(flow.start_ns), stop(flow));
        Ok(Datagrams {
            flow: key.flow,
            pace: Pace::new(packet_bytes, Rate::from_bps(rate_bps), periods, times, rng),
            sending: sending.into(),
            receiving: receiving.into(),
            packet_bytes,
            buffer: vec![0; LARGEST.max(flow.payload_bytes as usize)],
            sent: 0,
            received: 0,
        })
    }

    fn payload_bytes(&self) -> usize {
        self.packet_bytes as usize - 28
    }
}

impl Program for Datagrams {
    fn next_timer(&self) -> Time {
        self.pace.next_timer()
    }

    fn on_timer(&mut self, now: Time, _hosts: &Hosts) -> io::Result<()> {
        if !self.pace.take(now) {
            return Ok(());
        }
        let length = self.payload_bytes();
        self.buffer[..4].copy_from_slice(&self.sent.to_le_bytes());
        self.buffer[4..STAMP_BYTES].copy_from_slice(&now.as_nanos().to_le_bytes());
        self.sent += 1;
        // A full socket buffer loses the datagram, as it does for any program.
        unless_waiting(self.sending.send(&self.buffer[..length])).map(drop)
    }

    fn on_ready(
        &mut self,
        now: Time,
        _end: End,
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
        }
        Ok(())
    }

    fn count(&self) -> Count {
        Count {
            delivered_bytes: self.received * u64::from(self.packet_bytes),
            sent: u64::from(self.sent),
            received: self.received,
        }
    }

    fn sample(&self) -> Option<(TcpInfo, u64, u64)> {
        None
    }
}
