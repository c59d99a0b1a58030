//! Traffic programs: what the flows of a scenario do on real hosts. Both ends of a flow live in one
//! process; their sockets belong to the name spaces of senders and receivers.
//!
//! What they send, and when, the simulator's sources, plans and readers say, with random streams of the
//! same names: files, pauses, frames and pages are the same there.

mod connection;
mod datagrams;
mod page;
mod stream;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use sojourn_aqm::{Rng, Time};
use sojourn_scenario::resolved::App;
use sojourn_sim::app::datagrams::Source;
use sojourn_sim::app::stream::{Finished, Plan as StreamPlan};

use crate::host::{Hosts, Key};
use crate::plan::{self, Plan, receiver_address, sender_address};
use crate::record_files::{Account, Count, Diary, Transfer};
use connection::Connection;

/// Headers of a datagram.
pub(crate) const UDP_HEADER: u32 = 28;
/// The number and the time in a datagram.
pub(crate) const STAMP_BYTES: usize = 12;

/// Which socket of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Waits for connections.
    Listener,
    /// Sends.
    Sender,
    /// Receives.
    Receiver,
    /// Hears requests.
    Server,
}

impl End {
    /// All of them, as they are numbered.
    pub const ALL: [End; 4] = [End::Listener, End::Sender, End::Receiver, End::Server];
}

impl Account {
    fn add(&mut self, connection: &Connection) {
        let (sent, again) = connection.past();
        self.sent_bytes += sent;
        self.retransmitted_bytes += again;
        let Some(info) = connection.info() else { return };
        let segments = |count: u32| u64::from(count) * u64::from(info.mss);
        self.sent_bytes += info.bytes_sent;
        self.retransmitted_bytes += info.bytes_retrans;
        // Linux: tcp_packets_in_flight.
        let inflight = (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost);
        self.inflight_bytes += segments(inflight);
        self.cwnd_bytes += segments(info.cwnd);
        self.ce_bytes += segments(info.delivered_ce);
        (self.srtt_us, self.ssthresh, self.state) = (info.rtt_us, info.ssthresh, info.ca_state);
    }
}

impl Transfer {
    /// A transfer that is finished now.
    fn of(flow: u32, finished: &Finished, now: Time) -> Transfer {
        Transfer {
            flow,
            start_ns: finished.start.as_nanos(),
            bytes: finished.bytes,
            completion_ns: now.since(finished.start).as_nanos(),
        }
    }
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
    fn on_ready(&mut self, now: Time, key: Key, hosts: &Hosts, diary: &mut Diary)
    -> io::Result<()>;
    /// What it has achieved.
    fn count(&self) -> Count;
    /// The kernel's account of its connections; datagrams have none.
    fn account(&self) -> Option<Account>;
}

/// The program of a flow.
///
/// # Errors
/// What the kernel says.
pub fn program(plan: &Plan, flow: usize, hosts: &Hosts) -> io::Result<Box<dyn Program>> {
    let row = &plan.flows[flow];
    let stream_of = |purpose: &str| {
        Rng::stream(plan.seed, &format!("{}/{purpose}", row.name), u64::from(row.place))
    };
    let key = Key { flow: flow as u32, lane: 0, end: End::Listener };
    let times = (Time::from_nanos(row.start_ns), stop(row));
    if let Some(source) = Source::new(&row.app, times, stream_of("app")) {
        return Ok(Box::new(datagrams::Datagrams::new(row, source, key, hosts)?));
    }
    if let App::Web { web, .. } = &row.app {
        return Ok(Box::new(page::Page::new(row, web, key, stream_of("pages"), hosts)?));
    }
    let plan = StreamPlan::of(&row.app).expect("all else has one connection at a time");
    Ok(Box::new(stream::Stream::new(row, plan, key, stream_of("app"), hosts)?))
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
