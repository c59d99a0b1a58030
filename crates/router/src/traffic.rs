//! Traffic programs: what the flows of a scenario do on real hosts. Both ends of a flow live in one
//! process; their sockets belong to the name spaces of senders and receivers.
//!
//! Random streams have the names that the simulator gives them, so files, pauses and periods are the
//! same there.

mod datagrams;
mod pace;
mod stream;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use sojourn_aqm::{Rng, Time};

use crate::host::{Hosts, Key};
use crate::plan::{self, Load, Plan, receiver_address, sender_address};
use crate::record_files::{Count, Diary};
use crate::sys::TcpInfo;

/// Which socket of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Waits for connections.
    Listener,
    /// Sends.
    Sender,
    /// Receives.
    Receiver,
}

/// Both ends of a flow.
pub trait Program {
    /// When it wants [`Program::on_timer`].
    fn next_timer(&self) -> Time;
    /// Its time has come.
    ///
    /// # Errors
    /// What the kernel says.
    fn on_timer(&mut self, now: Time, hosts: &Hosts) -> io::Result<()>;
    /// One of its sockets is ready.
    ///
    /// # Errors
    /// What the kernel says.
    fn on_ready(&mut self, now: Time, end: End, hosts: &Hosts, diary: &mut Diary)
    -> io::Result<()>;
    /// What it has achieved.
    fn count(&self) -> Count;
    /// The kernel's account of the sender's connection, and payload of former ones: sent, sent again.
    fn sample(&self) -> Option<(TcpInfo, u64, u64)>;
}

/// The program of a flow.
///
/// # Errors
/// What the kernel says.
pub fn program(plan: &Plan, flow: usize, hosts: &Hosts) -> io::Result<Box<dyn Program>> {
    let row = &plan.flows[flow];
    let rng = Rng::stream(plan.seed, &format!("{}/app", row.name), u64::from(row.place));
    let key = Key { flow: flow as u32, end: End::Listener };
    Ok(match row.load {
        Load::Datagrams { .. } => Box::new(datagrams::Datagrams::new(row, key, rng, hosts)?),
        _ => Box::new(stream::Stream::new(row, key, rng, hosts)?),
    })
}

/// When a flow stops.
fn stop(flow: &plan::Flow) -> Time {
    flow.stop_ns.map_or(Time::NEVER, Time::from_nanos)
}

fn sender(flow: &plan::Flow, port: u16) -> SocketAddr {
    address(sender_address(flow.group), port)
}

fn receiver(flow: &plan::Flow) -> SocketAddr {
    address(receiver_address(flow.group), flow.port)
}

fn address(ip: [u8; 4], port: u16) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::from(ip), port))
}

/// Nothing, where the kernel says that it would have to wait.
fn unless_waiting<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
