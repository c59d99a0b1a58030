//! Applications supplied by the caller, replacing those of a scenario.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use sojourn_aqm::{Rng, Time};

use crate::FinishedTransfer;

/// What a custom application sends, and when: sequential transfers over TCP, or datagrams.
pub trait CustomApp: Send + fmt::Debug {
    /// The size in bytes, at least one, of the connection that opens now; `None` if unlimited.
    fn next_bytes(&mut self, now: Time, rng: &mut Rng) -> Option<u64>;

    /// When the next connection opens, after a transfer that finishes now; [`Time::NEVER`] if none
    /// opens.
    fn next_start(&mut self, finished: &FinishedTransfer, now: Time, rng: &mut Rng) -> Time;

    /// When the next datagram leaves, at `now` or later, and its size in bytes with headers; `None`
    /// after the last. Called at the start and after each datagram.
    fn next_datagram(&mut self, now: Time, rng: &mut Rng) -> Option<(Time, u32)>;
}

/// Creates the application of one flow, given its index among the flows of its name and the largest
/// datagram in bytes with headers.
pub type AppFactory = Box<dyn Fn(u32, u32) -> Box<dyn CustomApp> + Send + Sync>;

/// Applications of one kind.
pub struct ConfiguredApp {
    /// Its source code, as recorded in manifests.
    pub source: String,
    /// Creates an instance for a flow.
    pub factory: AppFactory,
}

/// Applications supplied by the caller, by the name of the flows that use them.
pub type CustomApps = BTreeMap<String, Arc<ConfiguredApp>>;
