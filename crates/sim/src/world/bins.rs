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

impl World {
    /// A bin is over. What remains at the end of a run and is shorter than a bin is left out.
    pub(super) fn end_bin(&mut self, now: Time) {
        let Some(mut bins) = self.bins.take() else { return };
        let seconds = now.since(bins.began).as_secs();
        self.bin_flows(&mut bins, seconds);
        for link in 0..self.links.len() {
            self.bin_link(&mut bins, link, now);
        }
        bins.began = now;
        self.agenda.set(self.slots.binner, bins.over_at());
        self.bins = Some(bins);
    }

    fn bin_flows(&self, bins: &mut Bins, seconds: f64) {
        let mut of_class = vec![0.0; self.probe.classes.len()];
        let goodput = |scope, index, value| (scope, index as u32, "goodput", value, "bit/s");
        let mut rows = Vec::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let delivered = flow.count().delivered_bytes;
            let before = std::mem::replace(&mut bins.delivered[index], delivered);
            let rate = (delivered - before) as f64 * 8.0 / seconds;
            of_class[self.groups[self.group_of[index] as usize].class] += rate;
            rows.push(goodput(Scope::Flow, index, rate));
        }
        let classes = of_class.into_iter().enumerate();
        rows.extend(classes.map(|(class, rate)| goodput(Scope::Class, class, rate)));
        let t = bins.began;
        bins.rows.extend(rows.into_iter().map(|(scope, index, metric, value, unit)| BinRow {
            scope,
            index,
            t,
            metric,
            value,
            unit,
        }));
    }

    fn bin_link(&self, bins: &mut Bins, link: usize, now: Time) {
        let stats = &self.probe.links[link];
        let busy = stats.busy_until(now);
        let total = (stats.total, busy);
        let (then, busy_then) = std::mem::replace(&mut bins.links[link], total);
        let counts = stats.total.since(&then);
        let seconds = now.since(bins.began).as_secs();
        let used = self.links[link].server().used(&counts, busy - busy_then, (bins.began, now));
        let t = bins.began;
        let mut row = |metric, value, unit| {
            bins.rows.push(BinRow {
                scope: Scope::Queue,
                index: link as u32,
                t,
                metric,
                value,
                unit,
            });
        };
        row("throughput", counts.sent_bytes as f64 * 8.0 / seconds, "bit/s");
        row("utilisation", used, "1");
        if counts.arrived > 0 {
            let rate = |count: [u64; 3]| count.iter().sum::<u64>() as f64 / counts.arrived as f64;
            row("drop_rate", rate(counts.dropped), "1");
            row("mark_rate", rate(counts.marked), "1");
        }
    }
}

impl LinkStats {
    /// Time that the server was busy from the start until now.
    fn busy_until(&self, now: Time) -> Span {
        self.busy_total - self.busy_end.since(now)
    }
}
