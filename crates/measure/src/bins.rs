//! Series bin by bin: what flows, classes and queues achieved in each of consecutive spans of time.

use sojourn_aqm::{Span, Time};
use sojourn_record::rows::{BinRow, Scope};

use crate::{Counters, LinkStats, Utilisation};

/// What there was at the end of the last bin.
#[derive(Clone, Debug)]
pub struct Bins {
    width: Span,
    began: Time,
    delivered: Vec<u64>,
    links: Vec<(Counters, Span)>,
    rows: Vec<BinRow>,
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

    /// The rows of all bins that have ended.
    pub fn into_rows(self) -> Vec<BinRow> {
        self.rows
    }
}

/// What flows and links have counted when a bin is over.
pub struct Totals<'a> {
    /// Bytes delivered by each flow since the start.
    pub delivered: &'a [u64],
    /// The class of each flow, by place.
    pub class_of: &'a [usize],
    /// How many classes there are.
    pub classes: usize,
    /// What was counted at each link.
    pub links: &'a [LinkStats],
    /// What the use of each is measured against.
    pub utilisations: &'a [Utilisation],
}

impl Bins {
    /// The present bin is over, the next begins.
    pub fn end(&mut self, now: Time, totals: &Totals<'_>) {
        self.end_flows(now, totals);
        for link in 0..totals.links.len() {
            self.end_link(now, link, totals);
        }
        self.began = now;
    }

    fn end_flows(&mut self, now: Time, totals: &Totals<'_>) {
        let seconds = now.since(self.began).as_secs();
        let mut of_class = vec![0.0; totals.classes];
        for (index, (&delivered, &class)) in
            totals.delivered.iter().zip(totals.class_of).enumerate()
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

    fn end_link(&mut self, now: Time, link: usize, totals: &Totals<'_>) {
        let stats = &totals.links[link];
        let busy = stats.busy_until(now);
        let (then, busy_then) = std::mem::replace(&mut self.links[link], (stats.total, busy));
        let counts = stats.total.since(&then);
        let seconds = now.since(self.began).as_secs();
        let window = (self.began, now);
        let used = totals.utilisations[link].used(&counts, busy - busy_then, window);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// (scope, place, metric, value) of the rows of one bin of two seconds, all from given counts.
    #[test]
    fn a_bin_has_what_was_added_within_it() {
        let at = |s: u64| Time::ZERO + Span::from_secs(s);
        let mut bins = Bins::new(Span::from_secs(2), 2, 1);
        let mut link = LinkStats::new((Time::ZERO, at(4)));
        let utilisations = [Utilisation::Busy];
        let mut end = |now, delivered: [u64; 2], link: &LinkStats| {
            let links = std::slice::from_ref(link);
            let class_of = &[0, 0];
            let (delivered, utilisations) = (&delivered, &utilisations);
            bins.end(now, &Totals { delivered, class_of, classes: 1, links, utilisations });
        };
        end(at(2), [1_000, 500], &link);
        link.total.arrived = 10;
        link.total.sent_bytes = 4_000;
        link.total.dropped = [1, 1, 0];
        link.total.marked = [0, 0, 5];
        // Busy for a second and for another one that ends half a second after the bin.
        link.busy_total = Span::from_secs(2);
        link.busy_end = at(4) + Span::from_millis(500);
        end(at(4), [1_250, 1_000], &link);
        let rows = bins.into_rows();
        let second = rows.iter().filter(|row| row.t == at(2));
        let second: Vec<_> =
            second.map(|row| (row.scope, row.index, row.metric, row.value)).collect();
        let expected = [
            (Scope::Flow, 0, "goodput", 1_000.0),
            (Scope::Flow, 1, "goodput", 2_000.0),
            (Scope::Class, 0, "goodput", 3_000.0),
            (Scope::Queue, 0, "throughput", 16_000.0),
            (Scope::Queue, 0, "utilisation", 0.75),
            (Scope::Queue, 0, "drop_rate", 0.2),
            (Scope::Queue, 0, "mark_rate", 0.5),
        ];
        assert_eq!(second, expected);
        // Rates of packets need packets.
        assert!(rows.iter().all(|row| row.t == at(2) || !row.metric.ends_with("_rate")));
    }
}
