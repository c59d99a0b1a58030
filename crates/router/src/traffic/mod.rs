//! Traffic programs: the flows of a scenario on real hosts. Both ends of a flow are in this
//! process; their sockets belong to the namespaces of senders and receivers.
//!
//! `sojourn-traffic` decides what the flows send and when, as in the simulator and with random
//! streams of the same names: files, pauses, frames and pages are the same in both engines.

mod connection;
mod datagrams;
mod page;
mod program;
mod stream;

use std::io;

use sojourn_aqm::{Rng, Time};
use sojourn_scenario::resolved::App;
use sojourn_traffic::{DatagramSource, TransferPlan};

use crate::linux::hosts::{Hosts, SocketKey, SocketRole};
use crate::plan::Plan;
use datagrams::Datagrams;
use page::Page;
use stream::Stream;

pub(crate) use program::Program;

/// Creates the program of a flow.
///
/// # Errors
///
/// The error of a system call.
pub(crate) fn program(plan: &Plan, flow: usize, hosts: &Hosts) -> io::Result<Box<dyn Program>> {
    let row = &plan.flows[flow];
    let stream_of = |purpose: &str| {
        Rng::stream(plan.seed, &format!("{}/{purpose}", row.name), u64::from(row.index))
    };
    let key = SocketKey { flow: flow as u32, lane: 0, role: SocketRole::Listener };
    let times = (Time::from_nanos(row.start_ns), program::stop(row));
    if let Some(source) = DatagramSource::new(&row.app, times, stream_of("app")) {
        return Ok(Box::new(Datagrams::new(row, source, key, hosts)?));
    }
    if let App::Web { web, .. } = &row.app {
        return Ok(Box::new(Page::new(row, web, key, stream_of("pages"), hosts)?));
    }
    let plan = TransferPlan::of(&row.app).expect("all others have one connection at a time");
    Ok(Box::new(Stream::new(row, plan, key, stream_of("app"), hosts)?))
}
