//! The interface of traffic programs, and helpers that several of them share.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use socket2::Socket;
use sojourn_aqm::{Ecn, Span, Time};
use sojourn_measure::EcnConnections;
use sojourn_traffic::FinishedTransfer;

use crate::linux::hosts::{Hosts, SocketKey};
use crate::plan::{Flow, receiver_address, sender_address};
use crate::run_files::{ProgramCounts, ProgramLog, TcpTotals, Transfer};

/// Both ends of a flow.
pub(crate) trait Program {
    /// When it wants [`Program::on_timer`].
    fn next_timer(&self) -> Time;
    /// Handles its timer, which is due.
    ///
    /// # Errors
    ///
    /// The error of a system call.
    fn on_timer(&mut self, now: Time, hosts: &Hosts) -> io::Result<()>;
    /// Handles one of its sockets becoming ready.
    ///
    /// # Errors
    /// The error of a system call.
    fn on_ready(
        &mut self,
        now: Time,
        key: SocketKey,
        hosts: &Hosts,
        log: &mut ProgramLog,
    ) -> io::Result<()>;
    /// Its counts so far.
    fn counts(&self) -> ProgramCounts;
    /// The kernel's state of its connections; `None` for datagrams.
    fn tcp_totals(&self) -> Option<TcpTotals>;
    /// Its connections so far; empty for datagrams.
    fn ecn_connections(&self) -> EcnConnections {
        EcnConnections::default()
    }
    /// The transfer unfinished at `end`, or cut off when the flow stopped: when it was requested,
    /// and how long it had been running.
    fn under_way(&self, _end: Time) -> Option<(Time, Span)> {
        None
    }
}

/// The log entry of a transfer that finishes now.
pub(super) fn transfer(flow: u32, finished: &FinishedTransfer, now: Time) -> Transfer {
    Transfer {
        flow,
        start_ns: finished.start.as_nanos(),
        bytes: finished.bytes,
        completion_ns: now.since(finished.start).as_nanos(),
    }
}

/// How long a transfer that began at `start` had been running when the flow stopped or the run
/// ended.
pub(super) fn seen_for(start: Time, flow: &Flow, end: Time) -> (Time, Span) {
    (start, stop(flow).min(end).since(start))
}

/// When a flow stops.
pub(super) fn stop(flow: &Flow) -> Time {
    flow.stop_ns.map_or(Time::NEVER, Time::from_nanos)
}

/// The address of a flow's sender.
pub(super) fn sender(flow: &Flow, port: u16) -> SocketAddr {
    address(sender_address(flow.group), port)
}

/// The address of a flow's receiver.
pub(super) fn receiver(flow: &Flow) -> SocketAddr {
    address(receiver_address(flow.group), flow.port)
}

fn address(ip: [u8; 4], port: u16) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::from(ip), port))
}

/// Sets the code point and the ECN field of packets sent by a socket. For TCP the kernel sets the
/// ECN field itself (Linux 6.1 `__ip_sock_set_tos`).
pub(super) fn set_ip_fields(socket: &Socket, dscp: u8, ecn: Ecn) -> io::Result<()> {
    match u32::from(dscp) << 2 | ecn as u32 {
        0 => Ok(()),
        tos => socket.set_tos_v4(tos),
    }
}

/// `None` if the call would block.
pub(super) fn unless_blocking<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
