//! Time series in bins: the rates and other metrics of flows, classes and queues per bin.

use sojourn_aqm::{Span, Time};
use sojourn_link::TokenReserve;
use sojourn_record::rows::{BinRow, Scope};

use crate::counters::LateSignal;
use crate::metrics::{self, Metric};
use crate::{Counters, LinkStats, LinkTotals, LinkUse, Utilisation};

/// Totals at the end of the last bin.
#[derive(Clone, Debug)]
pub struct Bins {
    width: Span,
    began: Time,
    delivered: Vec<u64>,
    links: Vec<LinkTotals>,
    rows: Vec<BinRow>,
    /// The index of each link's last row of utilisation.
    last_use: Vec<Option<usize>>,
    /// Arrivals at each link, per bin.
    arrivals: Vec<Vec<Arrivals>>,
}

/// Arrivals at a link in a bin, and their fates so far.
#[derive(Clone, Copy, Debug, Default)]
struct Arrivals {
    arrived: u64,
    dropped: u64,
    marked: u64,
    /// The index of their drop-rate row, which the mark-rate row follows; `None` if nothing
    /// arrived.
    row: Option<usize>,
}

impl Arrivals {
    fn share(&self, count: u64) -> f64 {
        count as f64 / self.arrived as f64
    }
}

impl Bins {
    /// The state before the first bin. Links with a bucket also need [`Bins::with_reserves`].
    pub fn new(width: Span, flows: usize, links: usize) -> Bins {
        Bins {
            width,
            began: Time::ZERO,
            delivered: vec![0; flows],
            links: vec![LinkTotals::default(); links],
            rows: Vec::new(),
            last_use: vec![None; links],
            arrivals: vec![Vec::new(); links],
        }
    }

    /// Sets the initial reserves of token buckets.
    pub fn with_reserves(mut self, reserves: &[Option<TokenReserve>]) -> Bins {
        for (totals, reserve) in self.links.iter_mut().zip(reserves) {
            totals.reserve = *reserve;
        }
        self
    }

    /// The end of the current bin.
    pub fn over_at(&self) -> Time {
        self.began + self.width
    }

    /// The rows of all bins that have ended, given the links' final counters.
    pub fn into_rows(mut self, links: &[LinkStats]) -> Vec<BinRow> {
        for (link, stats) in links.iter().enumerate() {
            self.add_late(link, &stats.late);
        }
        self.rows
    }
}

/// Counters of flows and links at the end of a bin.
pub struct Totals<'a> {
    /// Bytes delivered by each flow since the start.
    pub delivered: &'a [u64],
    /// The class of each flow, by index.
    pub class_of: &'a [usize],
    /// How many classes there are.
    pub classes: usize,
    /// Whether events exactly at the end of the bin count.
    pub includes_end: bool,
    /// The counters of each link.
    pub links: &'a mut [LinkStats],
    /// The reserves of their token buckets; empty if no link has one.
    pub reserves: &'a [Option<TokenReserve>],
    /// How the utilisation of each link is computed.
    pub utilisations: &'a [Utilisation],
}

impl Bins {
    /// Ends the current bin and begins the next.
    pub fn end(&mut self, now: Time, mut totals: Totals<'_>) {
        self.end_flows(now, &totals);
        for link in 0..totals.links.len() {
            self.end_link(now, link, &mut totals);
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
            self.write(Scope::Flow, index, &metrics::GOODPUT, rate);
        }
        for (class, rate) in of_class.into_iter().enumerate() {
            self.write(Scope::Class, class, &metrics::GOODPUT, rate);
        }
    }

    fn end_link(&mut self, now: Time, link: usize, totals: &mut Totals<'_>) {
        let stats = &mut totals.links[link];
        let airtime_before = std::mem::take(&mut stats.airtime_before_bin);
        stats.bin_began = now;
        let late = std::mem::take(&mut stats.late);
        let reserve = totals.reserves.get(link).copied().flatten();
        let found = LinkTotals { includes_at: totals.includes_end, ..stats.totals(now, reserve) };
        let mut then = std::mem::replace(&mut self.links[link], found);
        let counts = found.counts.since(&then.counts);
        // A frame is reported when it ends; its airtime before this bin belongs to the previous
        // bin.
        then.carried.busy = then.carried.busy + airtime_before;
        if let Some(row) = self.last_use[link] {
            self.rows[row].value += airtime_before.as_secs() / self.width.as_secs();
        }
        let capacity = &totals.utilisations[link];
        let LinkUse { utilisation, throughput } = capacity.used(&then, &found);
        self.write(Scope::Queue, link, &metrics::THROUGHPUT, throughput);
        // Without capacity, the utilisation is unknown, although a packet may still finish at its
        // old rate.
        let is_known = utilisation > 0.0 || capacity.could_carry(&then, &found);
        self.last_use[link] = is_known.then_some(self.rows.len());
        if is_known {
            self.write(Scope::Queue, link, &metrics::UTILISATION, utilisation);
        }
        self.end_arrivals(link, &counts, &late);
    }

    /// Assigns drops and marks to the bin in which their packet arrived.
    fn end_arrivals(&mut self, link: usize, counts: &Counters, late: &[LateSignal]) {
        let (late_marks, late_drops): (Vec<_>, Vec<_>) = late.iter().partition(|it| it.is_mark);
        let of_bin =
            |all: [u64; 4], late: Vec<LateSignal>| all.iter().sum::<u64>() - late.len() as u64;
        self.add_late(link, late);
        let (dropped, marked) =
            (of_bin(counts.dropped, late_drops), of_bin(counts.marked, late_marks));
        let row = (counts.arrived > 0).then_some(self.rows.len());
        let bin = Arrivals { arrived: counts.arrived, dropped, marked, row };
        self.arrivals[link].push(bin);
        if row.is_some() {
            self.write(Scope::Queue, link, &metrics::DROP_RATE, bin.share(dropped));
            self.write(Scope::Queue, link, &metrics::MARK_RATE, bin.share(marked));
        }
    }

    /// Adds drops and marks of packets that arrived in earlier bins.
    fn add_late(&mut self, link: usize, late: &[LateSignal]) {
        for signal in late {
            // Events at the end of a bin belong to it.
            let place = signal.arrived.as_nanos().saturating_sub(1) / self.width.as_nanos();
            let bin = &mut self.arrivals[link][place as usize];
            bin.dropped += u64::from(!signal.is_mark);
            bin.marked += u64::from(signal.is_mark);
            let row = bin.row.expect("the packet arrived in this bin");
            self.rows[row].value = bin.share(bin.dropped);
            self.rows[row + 1].value = bin.share(bin.marked);
        }
    }

    fn write(&mut self, scope: Scope, index: usize, metric: &Metric, value: f64) {
        self.rows.push(metric.bin(scope, index, self.began, value));
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use sojourn_aqm::Rate;
    use sojourn_scenario::wlan_timing::OfdmRate;

    use super::*;
    use crate::Probe;

    /// Ends a bin of a link of 1 Mbit/s and of flows of one class.
    fn end(bins: &mut Bins, now: Time, delivered: &[u64], links: &mut [LinkStats]) {
        let totals = Totals {
            delivered,
            class_of: &vec![0; delivered.len()],
            classes: delivered.len().min(1),
            includes_end: true,
            links,
            reserves: &[],
            utilisations: &[Utilisation::of_rate("b", Rate::from_bps(1_000_000))],
        };
        bins.end(now, totals);
    }

    /// A frame on the air from 1.9 to 2.1 s counts in two bins in equal parts.
    #[test]
    fn a_frame_over_the_edge_of_a_bin_counts_in_both() {
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut probe = Probe::new(1, 0, (Time::ZERO, at(4_000)));
        let mut bins = Bins::new(Span::from_secs(2), 0, 1);
        end(&mut bins, at(2_000), &[], &mut probe.links);
        probe.at_link::<false>(at(2_100), 0).sent_frame(
            Span::from_millis(200),
            OfdmRate::all()[0],
            Some(1_000),
        );
        end(&mut bins, at(4_000), &[], &mut probe.links);
        let rows = bins.into_rows(&probe.links);
        let used = rows.iter().filter(|row| row.metric == "utilisation").map(|row| row.value);
        assert_eq!(used.collect::<Vec<_>>(), [0.05, 0.05]);
    }

    /// The rows of one bin of two seconds as (scope, index, metric, value), computed from given
    /// counts.
    #[test]
    fn a_bin_has_what_was_added_within_it() {
        let at = |s: u64| Time::ZERO + Span::from_secs(s);
        let mut bins = Bins::new(Span::from_secs(2), 2, 1);
        let mut link = LinkStats::new(0, (Time::ZERO, at(4)));
        end(&mut bins, at(2), &[1_000, 500], slice::from_mut(&mut link));
        link.total.arrived = 10;
        link.total.dropped = [1, 1, 0, 0];
        link.total.marked = [0, 0, 5, 0];
        // The link is busy for one second, then for another second that ends half a second after
        // the bin.
        link.transmissions.begin(at(2), (2_000, 0), Span::from_secs(1));
        let half = Span::from_millis(500);
        link.transmissions.begin(at(3) + half, (4_000, 0), Span::from_secs(1));
        end(&mut bins, at(4), &[1_250, 1_000], slice::from_mut(&mut link));
        let rows = bins.into_rows(slice::from_ref(&link));
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
        // A bin without arrivals has no drop rate and no mark rate.
        assert!(rows.iter().all(|row| row.t == at(2) || !row.metric.ends_with("_rate")));
    }
}
