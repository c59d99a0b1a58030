//! Two AQMs on the same arrivals: where do their decisions part, and what comes of it?
//!
//! The scenario is run with the first AQM and every arrival at one link is taped. Then the link alone
//! is fed the tape, once for each AQM, under the same random stream: an open loop, in which no sender
//! hears of a drop. The first replay repeats what happened in the run.

use std::collections::BTreeMap;

use sojourn_aqm::{Cause, Stage, Time, Var};
use sojourn_record::Run;
use sojourn_record::rows::SignalRow;
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::Capacity;

use crate::cc::CustomControls;
use crate::replay::{Bench, Moment, Tape};
use crate::{SimError, build, replay};

/// Both replays, and the first decision in which they part.
#[derive(Debug)]
pub struct Diff {
    /// How many packets arrived.
    pub arrivals: usize,
    /// How many of them were treated differently: dropped or marked by one, or elsewhere, or for another
    /// cause.
    pub different: usize,
    /// The first of the signals that only one of them gave.
    pub first: Option<First>,
    /// The results of both replays; packets are in the order of their arrival.
    pub sides: [Run; 2],
}

/// A signal that one gave and the other did not.
#[derive(Clone, Debug)]
pub struct First {
    /// The packet: its place in the order of arrival.
    pub packet: usize,
    /// Who gave it: 0 or 1.
    pub side: usize,
    /// The signal.
    pub signal: SignalRow,
    /// The state of the queue's law, or of the scheme, just before it: variable and value.
    pub evidence: Vec<(Var, f64)>,
    /// How the disciplines of both stood before the event in which it was given.
    pub states: [Vec<(Var, f64)>; 2],
}

/// What was done to a packet: by its place in the order of arrival.
type Deed = (u32, bool, Stage, Cause);

/// Runs the first plan, and replays the arrivals at one of its links under the AQMs that both have there.
///
/// # Errors
/// As [`crate::run`].
pub fn diff(
    plans: [&Resolved; 2],
    link: usize,
    keep_going: &dyn Fn(Time) -> bool,
) -> Result<Diff, SimError> {
    let replayed = &plans[0].links[link];
    if let Capacity::Wireless { .. } = replayed.capacity {
        let message = "when a wireless link sends depends on the others of its LAN, so it cannot be \
                       replayed alone; compare the AQMs by `sojourn compare`";
        return Err(SimError::invalid(&format!("links.{}", replayed.name), message.to_owned()));
    }
    let tape = tape(plans[0], link, keep_going)?;
    let [a, b] = plans.map(|plan| replay::replay(plan, link, &tape));
    let mut sides = [a?, b?];
    let deeds = sides.each_ref().map(deeds_of);
    let first = match first_apart(&sides, &deeds) {
        None => None,
        Some((side, row)) => Some(explain(plans, link, &tape, side, &sides[side], row)?),
    };
    let different = different(&deeds);
    sides.iter_mut().for_each(|run| tape.name_packets(run));
    let first = first.map(|first| First { signal: tape.named(first.signal), ..first });
    Ok(Diff { arrivals: tape.arrivals(), different, first, sides })
}

/// What arrives at a link when the scenario runs.
fn tape(plan: &Resolved, link: usize, keep_going: &dyn Fn(Time) -> bool) -> Result<Tape, SimError> {
    let mut plan = plan.clone();
    (plan.record.packets, plan.record.signals) = (false, false);
    let mut world = build::world(&plan, &CustomControls::new())?;
    world.probe.notes.taped = Some(link as u16);
    if !world.run::<true>(keep_going) {
        return Err(SimError::Cancelled);
    }
    Ok(Tape::new(world.probe.notes.tape))
}

/// Everything that was done, and when first.
fn deeds_of(run: &Run) -> BTreeMap<Deed, Time> {
    let mut deeds = BTreeMap::new();
    for row in &run.signals {
        deeds.entry(deed(row)).or_insert(row.t);
    }
    deeds
}

fn deed(row: &SignalRow) -> Deed {
    (row.seq, row.is_mark, row.stage, row.cause)
}

/// The earliest signal that the other side did not give: who gave it, and its row.
fn first_apart(sides: &[Run; 2], deeds: &[BTreeMap<Deed, Time>; 2]) -> Option<(usize, usize)> {
    let first_of = |side: usize| {
        let alone = |row: &SignalRow| !deeds[1 - side].contains_key(&deed(row));
        let place = sides[side].signals.iter().position(alone)?;
        Some((sides[side].signals[place].t, side, place))
    };
    let (_, side, place) = [first_of(0), first_of(1)].into_iter().flatten().min()?;
    Some((side, place))
}

fn different(deeds: &[BTreeMap<Deed, Time>; 2]) -> usize {
    let alone = |side: usize| {
        deeds[side].keys().filter(move |deed| !deeds[1 - side].contains_key(deed)).map(|d| d.0)
    };
    let mut packets: Vec<u32> = alone(0).chain(alone(1)).collect();
    packets.sort_unstable();
    packets.dedup();
    packets.len()
}

/// Replays once more, up to the event in which the signal is given.
fn explain(
    plans: [&Resolved; 2],
    link: usize,
    tape: &Tape,
    side: usize,
    run: &Run,
    row: usize,
) -> Result<First, SimError> {
    let signal = run.signals[row];
    let mut own = Bench::new(plans[side], link, tape)?;
    let (moment, before) = own.before_signal(row);
    let mut other = Bench::new(plans[1 - side], link, tape)?;
    let mut states = [before, state_at(&mut other, moment)];
    if side == 1 {
        states.swap(0, 1);
    }
    let values = run.evidence[signal.evidence..].iter().copied();
    let evidence = run.evidence_vars[0].iter().copied().zip(values).collect();
    Ok(First { packet: signal.seq as usize, side, signal, evidence, states })
}

fn state_at(bench: &mut Bench<'_>, moment: Moment) -> Vec<(Var, f64)> {
    while bench.next().is_some_and(|next| next < moment) {
        bench.step();
    }
    bench.state()
}
