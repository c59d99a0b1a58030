//! Records every packet of a run wherever a capture could be taken: at both ends of its flow, and
//! before and behind each queue.

use sojourn_aqm::Time;
use sojourn_record::Run;
use sojourn_record::rows::PacketRow;
use sojourn_scenario::Resolved;

use crate::assemble::{self, Timing};
use crate::sightings::Wanted;
pub use crate::sightings::{Point, Sighting};
use crate::{Custom, SimError, memory_needs};

/// The most sightings per packet at a queue: both sides of the queue, both ends of its flow, and
/// both ends of an acknowledgement that passes no queue.
const OF_A_PACKET: f64 = 6.0;
/// A growing list has capacity for twice its contents.
const ROOM: f64 = 2.0;

/// Upper bound on the memory for the sightings of a run, in bytes.
pub fn memory_bytes(plan: &Resolved) -> f64 {
    let mut plan = plan.clone();
    plan.record.packets = true;
    let needs = memory_needs(&plan);
    let rows = needs.iter().filter(|need| need.place == "record.packets");
    let rows = rows.map(|need| need.bytes).sum::<f64>() / size_of::<PacketRow>() as f64;
    rows * OF_A_PACKET * ROOM * size_of::<Sighting>() as f64
}

/// Simulates a scenario that records drops and marks, and keeps every sighting. The digest is that
/// of [`crate::run_with`].
///
/// # Errors
/// As [`crate::run_with`].
pub fn run(
    plan: &Resolved,
    custom: &Custom,
    keep_going: &dyn Fn(Time) -> bool,
) -> Result<(Run, Vec<Sighting>), SimError> {
    let mut plan = plan.clone();
    plan.record.signals = true;
    let mut world = assemble::world(&plan, custom, Timing::Events, keep_going)?;
    world.path.sightings().keep(Wanted::Everything);
    let failure = world.failure.clone();
    let keep_going = &|now| keep_going(now) && !failure.has_happened();
    let finished = world.run::<true>(keep_going);
    world.check_libraries()?;
    if !finished || !keep_going(world.end) {
        return Err(SimError::Cancelled);
    }
    let mut sightings = world.path.sightings().take();
    // A packet that is being sent when the run ends has not left the link.
    sightings.retain(|sighting| sighting.t < world.end);
    Ok((world.into_results(&plan), sightings))
}
