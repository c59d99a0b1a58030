//! Capture comments that say why a packet was dropped or marked.

use std::collections::HashMap;
use std::fmt::Write;

use sojourn_aqm::{Cause, Span, Stage, Time, Var};
use sojourn_record::Run;
use sojourn_record::rows::SignalRow;
use sojourn_scenario::Resolved;
use sojourn_sim::capture::{Point, Sighting};

/// The signals of a run, by packet.
pub(crate) struct Comments<'a> {
    run: &'a Run,
    /// The AQM of each link, as text.
    aqms: Vec<String>,
    /// The signals' indices, those of drops and those of marks, keyed by queue, flow, number,
    /// arrival and whether the packet is a copy.
    drops: HashMap<Key, usize>,
    marks: HashMap<Key, usize>,
}

type Key = (usize, u32, u32, Time, bool);

impl<'a> Comments<'a> {
    /// The comments of a run that has recorded its signals.
    pub(crate) fn of(plan: &Resolved, run: &'a Run) -> Comments<'a> {
        let (mut drops, mut marks) = (HashMap::new(), HashMap::new());
        for (place, signal) in run.signals.iter().enumerate() {
            let arrived = Time::from_nanos(signal.t.as_nanos() - signal.sojourn.as_nanos());
            let queue = signal.queue as usize;
            let key = (queue, signal.flow, signal.seq, arrived, signal.is_copy);
            if signal.is_mark { &mut marks } else { &mut drops }.insert(key, place);
        }
        let aqms = plan.links.iter().map(|link| link.queue.to_string()).collect();
        Comments { run, aqms, drops, marks }
    }

    /// The comment of a packet at a place: that a link made it as a copy and, for an arrival at a
    /// queue, its drop or mark there.
    pub(crate) fn on(&self, sighting: &Sighting) -> Option<String> {
        let is_copy = sighting.packet.is_copy();
        let copy = is_copy.then(|| "copy made by a link's `duplicate`".to_owned());
        let signal = self.signal(sighting, is_copy);
        match (copy, signal) {
            (Some(copy), Some(signal)) => Some(format!("{copy}; {signal}")),
            (copy, signal) => copy.or(signal),
        }
    }

    fn signal(&self, sighting: &Sighting, is_copy: bool) -> Option<String> {
        let Point::Arrived(link) = sighting.point else { return None };
        let key = (link, sighting.packet.flow, sighting.packet.seq, sighting.t, is_copy);
        let dropped = self.drops.get(&key);
        dropped.or_else(|| self.marks.get(&key)).map(|&place| self.text(&self.run.signals[place]))
    }

    fn text(&self, signal: &SignalRow) -> String {
        let queue = signal.queue as usize;
        let vars = self.run.evidence_vars[queue].iter();
        let of_packet = Signal {
            is_mark: signal.is_mark,
            rule: Some((signal.stage, signal.cause)),
            sojourn: Some(signal.sojourn),
            state: vars.zip(self.run.evidence[signal.evidence..].iter().copied()).collect(),
        };
        of_packet.text(&self.aqms[queue], &self.run.queues[queue])
    }
}

/// The drop or mark of a packet.
#[derive(Clone, PartialEq, Debug)]
pub struct Signal {
    /// Whether it was marked; otherwise it was dropped.
    pub is_mark: bool,
    /// The stage and the cause; `None` if the kernel decided, since it does not report them.
    pub rule: Option<(Stage, Cause)>,
    /// Its time in the queue until then, if known.
    pub sojourn: Option<Span>,
    /// The state of the law just before, if known.
    pub state: Vec<(&'static Var, f64)>,
}

impl Signal {
    /// `dropped by codel of link cell at dequeue, deterministic, after 12.100 ms; count 4, ...`.
    pub(crate) fn text(&self, aqm: &str, link: &str) -> String {
        let verb = if self.is_mark { "marked" } else { "dropped" };
        let mut text = format!("{verb} by {aqm} of link {link}");
        match self.rule {
            Some((stage, cause)) => {
                let _ = write!(text, " at {}, {}", stage.word(), cause.class().word());
            }
            None => text.push_str(", whose kernel does not tell why"),
        }
        if let Some(sojourn) = self.sojourn {
            let _ = write!(text, ", after {:.3} ms", sojourn.as_nanos() as f64 / 1e6);
        }
        for (number, (var, value)) in self.state.iter().enumerate() {
            let joint = if number == 0 { ";" } else { "," };
            let _ = write!(text, "{joint} {} {}{}", var.name, rounded(*value), unit(var.unit));
        }
        text
    }
}

/// A number with six digits, without trailing zeros.
fn rounded(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn unit(unit: &str) -> String {
    if unit == "1" { String::new() } else { format!(" {unit}") }
}
