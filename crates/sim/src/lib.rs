//! The packet simulator of Sojourn: single-threaded and deterministic, in virtual time.
//!
//! Start with `world`, which shows the life of a packet; then read `path`, which holds everything
//! between two endpoints; then [`app`], [`tcp`] and [`cc`]. Links come from `sojourn-link`, traffic
//! models from `sojourn-traffic`, counters from `sojourn-measure`.
//!
//! The same seed gives the same bytes on every machine: times are integer nanoseconds; floating
//! point uses only + - * / sqrt and `libm`; there is no clock and no dependence on hash map order;
//! and each simulation runs on one thread. Every run ends with a digest of the events at each link;
//! `testdata/fingerprints.txt` holds the digests of the shipped scenarios, so a change of behaviour
//! is visible.

#![warn(unreachable_pub)]

mod alarms;
pub mod app;
pub mod assemble;
pub mod capture;
pub mod cc;
pub mod diff;
mod memory;
pub mod packet;
mod path;
mod prefetch;
mod ring;
pub mod session;
mod sightings;
pub mod tcp;
mod wlan;
mod world;

use std::fmt;

use sojourn_aqm::Time;
use sojourn_endpoint::Stacks;
use sojourn_record::Run;
use sojourn_scenario::Resolved;
use sojourn_traffic::CustomApps;

use crate::assemble::Timing;
use crate::cc::CustomControls;
pub use crate::memory::{MemoryNeed, memory_needs};

/// Why a run has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SimError {
    /// The scenario contains something that cannot be built.
    Invalid {
        /// Where in the scenario.
        place: String,
        /// The problem, and the remedy.
        message: String,
    },
    /// The caller stopped the run.
    Cancelled,
}

impl SimError {
    fn invalid(place: &str, message: String) -> SimError {
        SimError::Invalid { place: place.to_owned(), message }
    }
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimError::Invalid { place, message } => write!(f, "{place}: {message}"),
            SimError::Cancelled => f.write_str("the run was cancelled"),
        }
    }
}

impl std::error::Error for SimError {}

/// Performs the checks that only the simulator can perform: whether every AQM and congestion
/// control can be built.
///
/// # Errors
/// [`SimError::Invalid`], with the place of the problem and the remedy.
pub fn check(plan: &Resolved) -> Result<(), SimError> {
    assemble::check(plan)
}

/// Checks that every transport has a library that supports its flows' traffic, and that every
/// library is used.
///
/// # Errors
/// As [`check`].
pub fn check_stacks(plan: &Resolved, stacks: &Stacks) -> Result<(), SimError> {
    assemble::check_stacks(plan, stacks)
}

/// Simulates a scenario. `keep_going` is called regularly with the simulated time; when it returns
/// false the run stops.
///
/// # Errors
/// [`SimError::Invalid`] when the scenario cannot be built, [`SimError::Cancelled`] when
/// `keep_going` returned false.
pub fn run(plan: &Resolved, keep_going: &dyn Fn(Time) -> bool) -> Result<Run, SimError> {
    run_with(plan, &Custom::default(), keep_going)
}

/// Code supplied by the caller: a scenario is data and cannot contain code.
#[derive(Clone, Default)]
pub struct Custom {
    /// Congestion controls.
    pub controls: CustomControls,
    /// Applications.
    pub apps: CustomApps,
    /// Transport libraries, by the transport's name in the scenario.
    pub stacks: Stacks,
}

/// Like [`run`], with congestion controls, applications and transport libraries supplied by the
/// caller.
///
/// # Errors
/// As [`run`]; also [`SimError::Invalid`] when custom code is for flows that do not exist, an
/// application is for flows that cannot have one, or a transport library breaks its contract.
pub fn run_with(
    plan: &Resolved,
    custom: &Custom,
    keep_going: &dyn Fn(Time) -> bool,
) -> Result<Run, SimError> {
    let notes = plan.record.packets || plan.record.signals;
    let timing = if plan.record.packets { Timing::Events } else { Timing::Late };
    let mut world = assemble::world(plan, custom, timing, keep_going)?;
    let failure = world.failure.clone();
    let keep_going = &|now| keep_going(now) && !failure.has_happened();
    let finished =
        if notes { world.run::<true>(keep_going) } else { world.run::<false>(keep_going) };
    world.check_libraries()?;
    if finished && keep_going(world.end) {
        Ok(world.into_results(plan))
    } else {
        drop_elsewhere(world);
        Err(SimError::Cancelled)
    }
}

/// Drops a value on another thread: freeing a million flows takes a second, which would delay a
/// user who cancels a run. On targets without threads the value is dropped here.
fn drop_elsewhere<T: Send + 'static>(value: T) {
    let _ = std::thread::Builder::new().spawn(move || drop(value));
}
