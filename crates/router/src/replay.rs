//! From what was recorded of real packets to the tables of results: the packets are told to the
//! simulator's probe in the order of their times, so that both engines count alike.

mod latency;
mod link;
mod rows;
#[cfg(test)]
mod sample;
mod stories;
mod verdict;

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use sojourn_aqm::{Span, Time};
use sojourn_measure::bins::Standing;
use sojourn_measure::summary;
use sojourn_measure::{
    BUILTIN_VARS, Bins, Kind as MeasuredKind, Outcome, PacketView, Probe, Utilisation,
};
use sojourn_record::Run;
use sojourn_record::rows::{Fate, StateRow, TransferRow};
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::App;
use sojourn_sim::build::classes;

use self::link::PassedLink;
use crate::plan::{Direction, Plan};
use crate::record_files::{RESULT, RunResult};
use crate::seen::{Kind, Story};

/// The results of a run.
pub struct Collected {
    /// Its tables.
    pub run: Run,
    /// What was configured, read back and measured beside them.
    pub facts: Value,
    /// Why it is no valid experiment, one sentence each.
    pub invalid: Vec<String>,
}

/// Reads the results in `folder`. `virtual_time`: whether the clock of the run stood still while it
/// worked.
///
/// # Errors
/// A sentence, where a file is missing or not whole.
pub fn collect(
    folder: &Path,
    scenario: &Resolved,
    plan: &Plan,
    virtual_time: bool,
) -> Result<Collected, String> {
    let text = fs::read(folder.join(RESULT)).map_err(|e| format!("{RESULT}: {e}"))?;
    let result: RunResult = serde_json::from_slice(&text).map_err(|e| format!("{RESULT}: {e}"))?;
    let told = stories::read(folder, plan, &result)?;
    let mut invalid = verdict::doubts(&result, &told, virtual_time);
    let mut replay = Replay::new(scenario, plan);
    replay.law =
        result.law.iter().map(|bits| bits.iter().map(|&b| f64::from_bits(b)).collect()).collect();
    replay.delivered = result.bins.iter().cloned().collect();
    replay.tell(&told);
    invalid.extend(verdict::elsewhere(plan, &replay.probe));
    let outcome = replay.outcome(folder, scenario, plan, &result)?;
    let facts = json!({
        "hz": plan.hz,
        "virtual_time": virtual_time,
        "commands": plan.commands,
        "settings": plan.settings,
        "bottleneck": shown(&plan.bottleneck),
        "wire": plan.wire,
        "back": plan.back.as_ref().map(|back| json!({
            "router": shown(&back.street), "wire": back.wire, "groups": back.groups,
        })),
        "wire_counts": result.wires,
        "qdiscs_before": result.before,
        "qdiscs_after": result.after,
        "router": result.streets,
        "offloads_on": result.offloads,
        "broken_connections": result.broken,
        "latest_ns": result.latest_ns,
        "delay_accuracy_ns": if virtual_time { verdict::GRAIN_NS } else { result.latest_ns },
    });
    let mut run = summary::collect(outcome, scenario);
    run.warnings.extend(plan.warnings.iter().cloned());
    Ok(Collected { run, facts, invalid })
}

/// A bottleneck, or a link of ours, without the times of a recording, which the scenario names.
fn shown(bottleneck: &impl Serialize) -> Value {
    let mut shown = json!(bottleneck);
    for path in ["/sojourn/service/recorded", "/service/recorded"] {
        if let Some(recording) = shown.pointer_mut(path) {
            recording["opportunities_ms"] = Value::Null;
        }
    }
    shown
}

/// Tells the stories to a probe.
struct Replay {
    probe: Probe,
    states: bool,
    every: Span,
    next_sample: Time,
    warmup: Time,
    /// The links in the order of the scenario.
    links: Vec<PassedLink>,
    /// What the use of each is measured against.
    utilisations: Vec<Utilisation>,
    /// The place of the link of each way.
    place_of: [usize; 2],
    /// How many variables the law of the forward one has.
    forward_vars: usize,
    /// Samples of the laws of our routers that are still to come.
    law: VecDeque<Vec<f64>>,
    /// Series bin by bin, if wanted.
    bins: Option<Bins>,
    /// What each flow had delivered at the end of each bin that is still to come.
    delivered: VecDeque<Vec<u64>>,
    /// The class of each flow, by place.
    class_of: Vec<usize>,
    /// Payload per segment and the first sequence number of each flow's connection.
    numbering: Vec<(u32, u32)>,
    events: u64,
}

/// What happens to a story at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Step {
    Leaves,
    Arrives,
}

impl Replay {
    fn new(scenario: &Resolved, plan: &Plan) -> Replay {
        let warmup = Time::ZERO + scenario.warmup;
        let window = (warmup, Time::ZERO + scenario.duration);
        let links: Vec<PassedLink> = scenario.links.iter().map(PassedLink::new).collect();
        let mut probe = Probe::new(links.len(), classes(scenario).len(), window);
        probe.notes.wants_packets = scenario.record.packets;
        probe.notes.wants_signals = scenario.record.signals;
        if scenario.warmup == Span::ZERO {
            probe.end_warmup();
        }
        let forward = scenario.flows[0].path[0];
        let bins = scenario.record.bins;
        Replay {
            probe,
            states: scenario.record.states,
            every: scenario.record.sample,
            next_sample: Time::ZERO + scenario.record.sample,
            warmup,
            // With two links the other one is the way back.
            place_of: [forward, links.len() - 1 - forward],
            forward_vars: rows::law_vars(plan, Direction::Forward as usize).len(),
            bins: bins.map(|width| Bins::new(width, plan.flows.len(), links.len())),
            links,
            utilisations: scenario.links.iter().map(Utilisation::of).collect(),
            law: VecDeque::new(),
            delivered: VecDeque::new(),
            class_of: class_of(scenario, plan),
            numbering: plan.flows.iter().map(|flow| (flow.payload_bytes, 0)).collect(),
            events: 0,
        }
    }

    fn tell(&mut self, stories: &[Story]) {
        let mut steps: Vec<(Time, Step, usize)> = Vec::with_capacity(2 * stories.len());
        for (place, story) in stories.iter().enumerate() {
            steps.push((story.arrived, Step::Arrives, place));
            steps.extend(story.left.map(|left| (left, Step::Leaves, place)));
        }
        // Departures first, as in the simulator; but no packet leaves before it came.
        steps.sort_by_key(|&(at, step, place)| {
            let at_once = stories[place].left == Some(stories[place].arrived);
            (at, if at_once { Step::Arrives } else { step }, place, step == Step::Leaves)
        });
        let mut packets: Vec<PacketView> = stories.iter().map(|story| self.packet(story)).collect();
        for (at, step, place) in steps {
            self.advance(at);
            self.events += 1;
            let (story, packet) = (&stories[place], &mut packets[place]);
            let link = self.place_of[story.way as usize];
            let mut ear = self.probe.at_link::<true>(at, link);
            match step {
                Step::Arrives => self.links[link].arrives(at, story, packet, &mut ear),
                Step::Leaves => self.links[link].leaves(story, *packet, &mut ear),
            }
        }
        for (story, packet) in stories.iter().zip(&packets) {
            if story.fate == Fate::Waiting {
                let link = self.place_of[story.way as usize];
                self.probe.at_link::<true>(self.next_sample, link).waiting(packet, story.arrived);
            }
        }
    }

    /// Samples and changes that come before `at`.
    fn advance(&mut self, at: Time) {
        if !self.probe.counting && self.warmup <= at {
            self.probe.end_warmup();
        }
        self.links.iter_mut().for_each(|link| link.advance(at));
        while self.next_sample < at {
            if self.states {
                self.sample();
            }
            self.next_sample += self.every;
        }
        while self.bins.as_ref().is_some_and(|bins| bins.over_at() < at) {
            self.end_bin();
        }
    }

    /// The present bin is over.
    fn end_bin(&mut self) {
        let Some(bins) = &mut self.bins else { return };
        let delivered = self.delivered.pop_front().expect("the guest counts at the end of each");
        let standing = Standing {
            delivered: &delivered,
            class_of: &self.class_of,
            classes: self.probe.classes.len(),
            links: &self.probe.links,
            utilisations: &self.utilisations,
        };
        bins.end(bins.over_at(), &standing);
    }

    /// The laws of our routers were asked forward first; rows come in the order of the links.
    fn sample(&mut self) {
        let law = self.law.pop_front().unwrap_or_default();
        let (forward, back) = law.split_at(self.forward_vars.min(law.len()));
        for (place, link) in self.links.iter().enumerate() {
            let own =
                if place == self.place_of[Direction::Forward as usize] { forward } else { back };
            let interval = std::mem::take(&mut self.probe.links[place].interval);
            let values = interval.values(link.backlog, self.every).into_iter();
            let rows = values.chain(own.iter().copied()).enumerate().map(|(var, value)| StateRow {
                queue: place as u16,
                t: self.next_sample,
                var: var as u16,
                value,
            });
            self.probe.states.extend(rows);
        }
    }

    /// A story's packet as the simulator has it.
    fn packet(&mut self, story: &Story) -> PacketView {
        let (payload, first) = &mut self.numbering[story.flow as usize];
        let number = |first: u32, payload: u32| story.seq.wrapping_sub(first) / payload;
        let (kind, seq) = match (story.kind, story.way) {
            (Kind::Syn, Direction::Forward) => {
                *first = story.seq.wrapping_add(1);
                (MeasuredKind::Syn, 0)
            }
            (Kind::Data, Direction::Forward) => (MeasuredKind::Data, number(*first, *payload)),
            (Kind::Datagram, Direction::Forward) => (MeasuredKind::Datagram, story.seq),
            (Kind::Syn, Direction::Back) => (MeasuredKind::SynAck, 0),
            (Kind::Data, Direction::Back) => (MeasuredKind::Ack, number(*first, *payload)),
            (Kind::Datagram, Direction::Back) => (MeasuredKind::Request, story.seq),
        };
        let framing_bytes = self.links[self.place_of[story.way as usize]].framing_bytes;
        PacketView {
            flow: story.flow,
            seq,
            kind,
            bytes: u32::from(story.bytes) + framing_bytes,
            ecn_in: story.ecn_in,
            marked: None,
        }
    }

    fn outcome(
        mut self,
        folder: &Path,
        scenario: &Resolved,
        plan: &Plan,
        result: &RunResult,
    ) -> Result<Outcome, String> {
        let end = Time::ZERO + scenario.duration;
        self.advance(end);
        if self.bins.as_ref().is_some_and(|bins| bins.over_at() == end) {
            self.end_bin();
        }
        if self.states {
            self.next_sample = end;
            self.sample();
        }
        latency::add(folder, plan, &self.class_of, &mut self.probe.classes)?;
        self.note_programs(plan, result);
        let window = (self.warmup, end);
        let used = self.utilisations.iter().zip(&self.probe.links);
        let used = used.map(|(link, stats)| link.used(&stats.counted(), stats.busy, window));
        // In the order of the links what is known in the order of the ways.
        let way = |place: usize| usize::from(place != self.place_of[Direction::Forward as usize]);
        let places = 0..self.links.len();
        let wires = places.clone().map(|place| result.wires[way(place)]);
        let vars = places.map(|place| [&BUILTIN_VARS, rows::law_vars(plan, way(place))].concat());
        Ok(Outcome {
            class_names: classes(scenario),
            utilisations: used.collect(),
            vars: vars.collect(),
            counts: rows::flow_counts(result),
            wire_losses: wires.map(|wire| Some((wire?.offered, wire?.lost))).collect(),
            flow_samples: rows::flow_rows(result),
            flow_states: rows::flow_state_rows(plan, result),
            bins: self.bins.map(Bins::into_rows).unwrap_or_default(),
            events: self.events,
            probe: self.probe,
        })
    }

    /// What the programs have written down: delays of datagrams, transfers.
    fn note_programs(&mut self, plan: &Plan, result: &RunResult) {
        for delay in &result.diary.one_way {
            if counts(Time::from_nanos(delay.at_ns), plan) {
                let class = self.class_of[delay.flow as usize];
                self.probe.classes[class].one_way.add(delay.delay_ns);
            }
        }
        for row in &result.diary.transfers {
            let completion = Span::from_nanos(row.completion_ns);
            let start = Time::from_nanos(row.start_ns);
            let (flow, bytes) = (row.flow, row.bytes);
            self.probe.transfers.push(TransferRow { flow, start, bytes, completion });
            if counts(start + completion, plan) {
                let class = self.class_of[flow as usize];
                self.probe.classes[class].completion.add(row.completion_ns);
            }
        }
    }
}

/// The class of each flow, by place.
fn class_of(scenario: &Resolved, plan: &Plan) -> Vec<usize> {
    let names = classes(scenario);
    let place = |class: &String| names.iter().position(|name| name == class);
    let of_flow = plan.flows.iter().map(|flow| place(&scenario.flows[flow.group].class));
    of_flow.map(|class| class.expect("every class is listed")).collect()
}

/// Whether summaries count what happens at a time.
fn counts(at: Time, plan: &Plan) -> bool {
    at.as_nanos() >= plan.warmup_ns
}

/// Whether any flow sends without end.
fn is_greedy(plan: &Plan) -> bool {
    plan.flows.iter().any(|flow| matches!(flow.app, App::Bulk { bytes: None, .. }))
}

/// Arrivals that wait for their departure.
type Waiting = VecDeque<usize>;
