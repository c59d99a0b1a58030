//! From what was recorded of real packets to the tables of results: the packets are told to the
//! simulator's probe in the order of their times, so that both engines count alike.

mod stories;
mod verdict;

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sojourn_aqm::{Backlog, Departure, Rate, Sink, Span, Stage, Time, Var};
use sojourn_record::Run;
use sojourn_record::rows::{Fate, FlowRow, FlowStateRow, StateRow, TransferRow};
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::{App, Capacity};
use sojourn_sim::build::classes;
use sojourn_sim::packet::{Kind as SimKind, Packet};
use sojourn_sim::probe::Probe;
use sojourn_sim::summary::{self, BUILTIN_VARS, Outcome};
use sojourn_sim::transmitter::Transmitter;
use sojourn_sim::world::FlowCount;

use crate::chronicle::Memory;
use crate::plan::{Bottleneck, Plan};
use crate::record_files::{RESULT, RunResult, Sample};
use crate::seen::{Kind, Story};
use crate::street::Street;

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
    replay.tell(&told);
    invalid.extend(verdict::elsewhere(plan, &replay.probe));
    let outcome = replay.outcome(scenario, plan, &result);
    let facts = json!({
        "hz": plan.hz,
        "virtual_time": virtual_time,
        "commands": plan.commands,
        "settings": plan.settings,
        "bottleneck": plan.bottleneck,
        "qdiscs_before": result.before,
        "qdiscs_after": result.after,
        "router": result.street,
        "offloads_on": result.offloads,
        "broken_connections": result.broken,
        "latest_ns": result.latest_ns,
        "delay_accuracy_ns": if virtual_time { verdict::GRAIN_NS } else { result.latest_ns },
    });
    let mut run = summary::collect(outcome, scenario);
    run.warnings.extend(plan.warnings.iter().cloned());
    Ok(Collected { run, facts, invalid })
}

/// Tells the stories to a probe.
struct Replay {
    probe: Probe,
    states: bool,
    every: Span,
    next_sample: Time,
    warmup: Time,
    framing_bytes: u32,
    /// Rates from given times on, the next one last.
    rates: Vec<(Time, Rate)>,
    transmitter: Transmitter,
    backlog: Backlog,
    /// Samples of the law of our router that are still to come.
    law: VecDeque<Vec<f64>>,
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
        let link = &scenario.links[0];
        let mut rates = match &link.capacity {
            Capacity::Schedule(steps) => steps.clone(),
            other => vec![(Time::ZERO, other.initial_rate())],
        };
        rates.reverse();
        let (_, first) = rates.pop().expect("there is a first rate");
        let warmup = Time::ZERO + scenario.warmup;
        let window = (warmup, Time::ZERO + scenario.duration);
        let mut probe = Probe::new(1, classes(scenario).len(), window);
        probe.notes.wants_packets = scenario.record.packets;
        probe.notes.wants_signals = scenario.record.signals;
        if scenario.warmup == Span::ZERO {
            probe.end_warmup();
        }
        Replay {
            probe,
            states: scenario.record.states,
            every: scenario.record.sample,
            next_sample: Time::ZERO + scenario.record.sample,
            warmup,
            framing_bytes: link.framing_bytes,
            rates,
            transmitter: Transmitter::new(first),
            backlog: Backlog::EMPTY,
            law: VecDeque::new(),
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
        let mut packets: Vec<Packet> = stories.iter().map(|story| self.packet(story)).collect();
        for (at, step, place) in steps {
            self.advance(at);
            self.events += 1;
            match step {
                Step::Arrives => self.arrives(at, &stories[place], &mut packets[place]),
                Step::Leaves => self.leaves(at, &stories[place], packets[place]),
            }
        }
        for (story, packet) in stories.iter().zip(&packets) {
            if story.fate == Fate::Waiting {
                self.probe.ear::<true>(self.next_sample, 0).waiting(packet, story.arrived);
            }
        }
    }

    /// Samples and changes that come before `at`.
    fn advance(&mut self, at: Time) {
        if !self.probe.counting && self.warmup <= at {
            self.probe.end_warmup();
        }
        while let Some((_, rate)) = self.rates.pop_if(|(from, _)| *from <= at) {
            self.transmitter = Transmitter::new(rate);
        }
        while self.next_sample < at {
            if self.states {
                self.sample();
            }
            self.next_sample += self.every;
        }
    }

    fn sample(&mut self) {
        let interval = std::mem::take(&mut self.probe.links[0].interval);
        let builtin = interval.values(self.backlog, self.every);
        let law = self.law.pop_front().unwrap_or_default();
        let rows = builtin.into_iter().chain(law).enumerate().map(|(var, value)| StateRow {
            queue: 0,
            t: self.next_sample,
            var: var as u16,
            value,
        });
        self.probe.states.extend(rows);
    }

    /// A mark on arrival is told now, one at the head when it leaves.
    fn arrives(&mut self, at: Time, story: &Story, packet: &mut Packet) {
        let mut ear = self.probe.ear::<true>(at, 0);
        ear.arrived(packet);
        if let Some((Stage::Enqueue, cause)) = story.marked {
            ear.marked(packet, at, Stage::Enqueue, cause);
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.link_bytes);
    }

    fn leaves(&mut self, at: Time, story: &Story, mut packet: Packet) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.link_bytes);
        let mut ear = self.probe.ear::<true>(at, 0);
        if let Some((stage, cause)) = story.marked.filter(|&(stage, _)| stage != Stage::Enqueue) {
            ear.marked(&mut packet, story.arrived, stage, cause);
        }
        match story.fate {
            Fate::Dropped(stage, cause) => ear.dropped(packet, story.arrived, stage, cause),
            Fate::Sent => {
                ear.departed(&Departure { packet, enqueued: story.arrived });
                ear.busy(self.transmitter.next(packet.link_bytes));
            }
            Fate::Waiting => {}
        }
    }

    /// A story's packet as the simulator has it.
    fn packet(&mut self, story: &Story) -> Packet {
        let (payload, first) = &mut self.numbering[story.flow as usize];
        let (kind, seq) = match story.kind {
            Kind::Syn => {
                *first = story.seq.wrapping_add(1);
                (SimKind::Syn, 0)
            }
            Kind::Data => (SimKind::Data, story.seq.wrapping_sub(*first) / *payload),
            Kind::Datagram => (SimKind::Datagram, story.seq),
        };
        let ip_bytes = u32::from(story.bytes);
        let mut packet = Packet::new(kind, story.flow, 0, seq, ip_bytes, story.arrived);
        packet.link_bytes = ip_bytes + self.framing_bytes;
        (packet.ecn, packet.ecn_in) = (story.ecn_in, story.ecn_in);
        packet
    }

    fn outcome(mut self, scenario: &Resolved, plan: &Plan, result: &RunResult) -> Outcome {
        self.advance(Time::ZERO + scenario.duration);
        let names = classes(scenario);
        let class_of = |flow: u32| {
            let group = plan.flows[flow as usize].group;
            names.iter().position(|name| *name == scenario.flows[group].class)
        };
        for delay in &result.diary.one_way {
            if let Some(class) = class_of(delay.flow).filter(|_| counts(delay.at_ns, plan)) {
                self.probe.classes[class].one_way.add(delay.delay_ns);
            }
        }
        for row in &result.diary.transfers {
            let completion = Span::from_nanos(row.completion_ns);
            let start = Time::from_nanos(row.start_ns);
            self.probe.transfers.push(TransferRow {
                flow: row.flow,
                start,
                bytes: row.bytes,
                completion,
            });
            let end_ns = row.start_ns + row.completion_ns;
            if let Some(class) = class_of(row.flow).filter(|_| counts(end_ns, plan)) {
                self.probe.classes[class].completion.add(row.completion_ns);
            }
        }
        let seconds = (scenario.duration - scenario.warmup).as_secs();
        Outcome {
            utilisations: vec![self.probe.links[0].busy.as_secs() / seconds],
            vars: vec![[&BUILTIN_VARS, law_vars(plan)].concat()],
            counts: flow_counts(result),
            wire_losses: vec![None],
            flow_samples: flow_rows(result),
            flow_states: flow_state_rows(plan, result),
            bins: Vec::new(),
            events: self.events,
            probe: self.probe,
        }
    }
}

fn counts(at_ns: u64, plan: &Plan) -> bool {
    at_ns >= plan.warmup_ns
}

fn flow_counts(result: &RunResult) -> Vec<FlowCount> {
    let count = |count: &crate::record_files::Count| FlowCount {
        delivered_bytes: count.delivered_bytes,
        sent: count.sent,
        received: count.received,
    };
    let pairs = result.counts.iter().zip(&result.at_warmup);
    pairs.map(|(end, then)| count(end).since(count(then))).collect()
}

fn flow_rows(result: &RunResult) -> Vec<FlowRow> {
    let rows =
        result.samples.iter().map(|Sample { flow, at_ns, delivered_bytes, account }| FlowRow {
            flow: *flow,
            t: Time::from_nanos(*at_ns),
            sent_bytes: account.sent_bytes,
            delivered_bytes: *delivered_bytes,
            retransmitted_bytes: account.retransmitted_bytes,
            inflight_bytes: account.inflight_bytes,
            cwnd_bytes: account.cwnd_bytes,
            srtt: Span::from_micros(u64::from(account.srtt_us)),
            ce_bytes: account.ce_bytes,
        });
    rows.collect()
}

/// Where the kernel's senders stand, as the simulator tells it of its own.
fn flow_state_rows(plan: &Plan, result: &RunResult) -> Vec<FlowStateRow> {
    /// `TCP_INFINITE_SSTHRESH`: before the first reduction.
    const INFINITE: u32 = 0x7fff_ffff;
    let has_one = |flow: u32| !matches!(plan.flows[flow as usize].app, App::Web { .. });
    // Without a connection there is no threshold.
    let open = result.samples.iter().filter(|s| s.account.ssthresh > 0 && has_one(s.flow));
    let rows = open.flat_map(|&Sample { flow, at_ns, account, .. }| {
        let ssthresh = match account.ssthresh {
            INFINITE => f64::INFINITY,
            packets => f64::from(packets),
        };
        let of_sender = [("ssthresh", ssthresh), ("state", f64::from(account.state))];
        let t = Time::from_nanos(at_ns);
        of_sender.map(|(var, value)| FlowStateRow { flow, t, var, value })
    });
    rows.collect()
}

/// The variables of our router's law; the kernel does not tell its own.
fn law_vars(plan: &Plan) -> &'static [Var] {
    let Bottleneck::Sojourn(street) = &plan.bottleneck else { return &[] };
    Street::new(street, plan.seed, Memory::Nothing).map_or(&[], |street| street.vars())
}

/// Whether any flow sends without end.
fn is_greedy(plan: &Plan) -> bool {
    plan.flows.iter().any(|flow| matches!(flow.app, App::Bulk { bytes: None, .. }))
}

/// Arrivals that wait for their departure.
type Waiting = VecDeque<usize>;
