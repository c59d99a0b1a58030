//! Series bin by bin: what flows, classes and queues achieved in each of consecutive spans of time.

use sojourn_aqm::{Span, Time};
use sojourn_record::rows::{BinRow, Scope};

use super::World;
use crate::probe::{Counters, LinkStats};

/// What there was at the end of the last bin.
#[derive(Clone, Debug)]
pub struct Bins {
    width: Span,
    began: Time,
    delivered: Vec<u64>,
    links: Vec<(Counters, Span)>,
    /// The rows so far.
    pub rows: Vec<BinRow>,
}

impl Bins {
    /// Before the first bin.
    pub fn new(width: Span, flows: usize, links: usize) -> Bins {
        let links = vec![(Counters::default(), Span::ZERO); links];
        Bins { width, began: Time::ZERO, delivered: vec![0; flows], links, rows: Vec::new() }
    }

    /// When the present bin is over.
    pub fn over_at(&self) -> Time {
        self.began + self.width
    }
}

/// Where flows and links stand when a bin is over.
pub struct Standing<'a> {
    /// Bytes delivered by each flow since the start.
    pub delivered: &'a [u64],
    /// The class of each flow, by place.
    pub class_of: &'a [usize],
    /// How many classes there are.
    pub classes: usize,
    /// What was counted at each link.
    pub links: &'a [LinkStats],
    /// How much of each was used.
    pub used: &'a Used<'a>,
}

/// Part of a link's capacity that was used, as [`Server::used`](crate::link::Server::used) says it.
pub type Used<'a> = dyn Fn(usize, &Counters, Span, (Time, Time)) -> f64 + 'a;

impl Bins {
    /// The present bin is over, the next begins.
    pub fn end(&mut self, now: Time, standing: &Standing<'_>) {
        self.end_flows(now, standing);
        for link in 0..standing.links.len() {
            self.end_link(now, link, standing);
        }
        self.began = now;
    }

    fn end_flows(&mut self, now: Time, standing: &Standing<'_>) {
        let seconds = now.since(self.began).as_secs();
        let mut of_class = vec![0.0; standing.classes];
        for (index, (&delivered, &class)) in
            standing.delivered.iter().zip(standing.class_of).enumerate()
        {
            let before = std::mem::replace(&mut self.delivered[index], delivered);
            let rate = (delivered - before) as f64 * 8.0 / seconds;
            of_class[class] += rate;
            self.write(Scope::Flow, index, ("goodput", rate, "bit/s"));
        }
        for (class, rate) in of_class.into_iter().enumerate() {
            self.write(Scope::Class, class, ("goodput", rate, "bit/s"));
        }
    }

    fn end_link(&mut self, now: Time, link: usize, standing: &Standing<'_>) {
        let stats = &standing.links[link];
        let busy = stats.busy_until(now);
        let (then, busy_then) = std::mem::replace(&mut self.links[link], (stats.total, busy));
        let counts = stats.total.since(&then);
        let seconds = now.since(self.began).as_secs();
        let used = (standing.used)(link, &counts, busy - busy_then, (self.began, now));
        let throughput = counts.sent_bytes as f64 * 8.0 / seconds;
        self.write(Scope::Queue, link, ("throughput", throughput, "bit/s"));
        self.write(Scope::Queue, link, ("utilisation", used, "1"));
        if counts.arrived > 0 {
            let rate = |count: [u64; 3]| count.iter().sum::<u64>() as f64 / counts.arrived as f64;
            self.write(Scope::Queue, link, ("drop_rate", rate(counts.dropped), "1"));
            self.write(Scope::Queue, link, ("mark_rate", rate(counts.marked), "1"));
        }
    }

    fn write(
        &mut self,
        scope: Scope,
        index: usize,
        (metric, value, unit): (&'static str, f64, &'static str),
    ) {
        let (index, t) = (index as u32, self.began);
        self.rows.push(BinRow { scope, index, t, metric, value, unit });
    }
}

impl World {
    /// A bin is over. What remains at the end of a run and is shorter than a bin is left out.
    pub(super) fn end_bin(&mut self, now: Time) {
        let Some(mut bins) = self.bins.take() else { return };
        let delivered: Vec<u64> = self.flows.iter().map(|f| f.count().delivered_bytes).collect();
        let class_of = self.group_of.iter().map(|&group| self.groups[group as usize].class);
        let class_of: Vec<usize> = class_of.collect();
        bins.end(
            now,
            &Standing {
                delivered: &delivered,
                class_of: &class_of,
                classes: self.probe.classes.len(),
                links: &self.probe.links,
                used: &|link, counts, busy, window| {
                    self.links[link].server().used(counts, busy, window)
                },
            },
        );
        self.agenda.set(self.slots.binner, bins.over_at());
        self.bins = Some(bins);
    }
}

impl LinkStats {
    /// Time that the server was busy from the start until now.
    fn busy_until(&self, now: Time) -> Span {
        self.busy_total - self.busy_end.since(now)
    }
}
