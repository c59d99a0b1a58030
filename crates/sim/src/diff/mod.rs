//! Replays the same arrivals to two AQMs and finds the first packet on which they decide
//! differently, and the state of both at that point.
//!
//! The scenario is run with the first AQM, and every arrival at one link is recorded. The recorded
//! arrivals are then replayed to the link alone, once for each AQM, under the same random stream.
//! This is an open loop: no sender reacts to a signal. The first replay repeats the decisions of
//! the run.

mod single_link;

use sojourn_aqm::{Time, Var};
use sojourn_measure::decisions;
use sojourn_record::Run;
use sojourn_record::rows::SignalRow;
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::Capacity;

use self::single_link::{Position, RecordedArrivals, SingleLink, replay};
use crate::Custom;
use crate::assemble::Timing;
use crate::sightings::Wanted;
use crate::{SimError, assemble};

/// Both replays, and the first decision in which they differ.
#[derive(Debug)]
pub struct Diff {
    /// How many packets arrived.
    pub arrivals: usize,
    /// Number of packets treated differently: dropped or marked by one AQM only, at a different
    /// stage, or for a different cause.
    pub different: usize,
    /// The first signal given by only one AQM.
    pub first: Option<First>,
    /// The results of both replays; packets are numbered in order of arrival.
    pub sides: [Run; 2],
}

/// A signal that one AQM gave and the other did not.
#[derive(Clone, Debug)]
pub struct First {
    /// The index of the packet in order of arrival.
    pub packet: usize,
    /// The AQM that gave the signal: 0 or 1.
    pub side: usize,
    /// The signal.
    pub signal: SignalRow,
    /// The state of the queue's law, or of the scheme, just before the signal: variables and
    /// values.
    pub evidence: Vec<(Var, f64)>,
    /// The state of both disciplines before the event in which the signal was given.
    pub states: [Vec<(Var, f64)>; 2],
}

/// Runs the first plan with `custom`, and replays the arrivals at one of its links under the AQMs
/// of both plans.
///
/// # Errors
/// As [`crate::run_with`].
pub fn diff(
    plans: [&Resolved; 2],
    custom: &Custom,
    link: usize,
    keep_going: &dyn Fn(Time) -> bool,
) -> Result<Diff, SimError> {
    let replayed = &plans[0].links[link];
    if let Capacity::Wireless { .. } = replayed.capacity {
        let message = "when a wireless link sends depends on the others of its LAN, \
                       so it cannot be replayed alone; compare the AQMs by `sojourn compare`";
        return Err(SimError::invalid(&format!("links.{}", replayed.name), message.to_owned()));
    }
    let arrivals = record_arrivals((plans[0], custom), link, keep_going)?;
    let [a, b] = plans.map(|plan| replay(plan, link, &arrivals));
    let mut sides = [a?, b?];
    let found = decisions::compare(&sides);
    let first = match found.first {
        None => None,
        Some((side, row)) => Some(explain(plans, link, &arrivals, side, &sides[side], row)?),
    };
    sides.iter_mut().for_each(|run| arrivals.restore_seqs(run));
    let first = first.map(|first| First { signal: arrivals.with_seq(first.signal), ..first });
    Ok(Diff { arrivals: arrivals.count(), different: found.packets, first, sides })
}

/// Runs the scenario and records the arrivals at a link.
fn record_arrivals(
    (plan, custom): (&Resolved, &Custom),
    link: usize,
    keep_going: &dyn Fn(Time) -> bool,
) -> Result<RecordedArrivals, SimError> {
    let mut plan = plan.clone();
    (plan.record.packets, plan.record.signals) = (false, false);
    let mut world = assemble::world(&plan, custom, Timing::Events, keep_going)?;
    world.path.sightings().keep(Wanted::ArrivalsAt(link));
    let failure = world.failure.clone();
    let is_finished = world.run::<true>(&|now| keep_going(now) && !failure.has_happened());
    world.check_libraries()?;
    if !is_finished {
        return Err(SimError::Cancelled);
    }
    Ok(RecordedArrivals::new(world.path.sightings().take()))
}

/// Replays again, up to the event in which the signal is given.
fn explain(
    plans: [&Resolved; 2],
    link: usize,
    arrivals: &RecordedArrivals,
    side: usize,
    run: &Run,
    row: usize,
) -> Result<First, SimError> {
    let signal = run.signals[row];
    let mut own = SingleLink::new(plans[side], link, arrivals)?;
    let (position, before) = own.before_signal(row);
    let mut other = SingleLink::new(plans[1 - side], link, arrivals)?;
    let mut states = [before, state_at(&mut other, position)];
    if side == 1 {
        states.swap(0, 1);
    }
    let values = run.evidence[signal.evidence..].iter().copied();
    let evidence = run.evidence_vars[0].iter().copied().zip(values).collect();
    Ok(First { packet: signal.seq as usize, side, signal, evidence, states })
}

fn state_at(link: &mut SingleLink<'_>, position: Position) -> Vec<(Var, f64)> {
    while link.next().is_some_and(|next| next < position) {
        link.step();
    }
    link.state()
}
