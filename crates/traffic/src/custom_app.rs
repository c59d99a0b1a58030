//! Applications of a caller, in place of those of a scenario.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use sojourn_aqm::{Rng, Time};

use crate::FinishedTransfer;

/// What an application of the caller sends, and when: transfers over TCP one after the other, or
/// datagrams.
pub trait CustomApp: Send + fmt::Debug {
    /// The bytes that the connection which opens now carries, at least one; none: unlimited.
    fn next_bytes(&mut self, now: Time, rng: &mut Rng) -> Option<u64>;

    /// When the next connection opens after a transfer that is finished now; [`Time::NEVER`] if
    /// none does.
    fn next_start(&mut self, finished: &FinishedTransfer, now: Time, rng: &mut Rng) -> Time;

    /// When the next datagram leaves, at `now` or later, and its bytes, headers included; none
    /// after the last. Called at the start, and whenever a datagram has left.
    fn next_datagram(&mut self, now: Time, rng: &mut Rng) -> Option<(Time, u32)>;
}

/// Makes the application of one flow: (place of the flow among those of its name, largest datagram
/// in bytes, headers included).
pub type AppFactory = Box<dyn Fn(u32, u32) -> Box<dyn CustomApp> + Send + Sync>;

/// Applications of one kind.
pub struct ConfiguredApp {
    /// Its code, as manifests name it.
    pub source: String,
    /// Makes one for a flow.
    pub factory: AppFactory,
}

/// Applications of a caller, by the name of the flows that have them.
pub type CustomApps = BTreeMap<String, Arc<ConfiguredApp>>;
