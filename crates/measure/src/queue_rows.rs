//! Rows that queues and leaf classes have in common.

use sojourn_aqm::CauseClass;
use sojourn_record::Histogram;
use sojourn_record::rows::{HistogramOf, Scope};

use crate::Fates;
use crate::metrics::{self, Metric, Statistic, Written};

pub(crate) const CAUSES: [CauseClass; 4] =
    [CauseClass::Overflow, CauseClass::Random, CauseClass::Deterministic, CauseClass::Policed];

/// Writes the shares of packets dropped and marked.
pub(crate) fn summarise_fates(row: &mut impl FnMut(&Metric, f64), fates: &Fates) {
    if fates.arrived == 0 {
        return; // no rates without packets
    }
    let rate = |count: u64| count as f64 / fates.arrived as f64;
    row(&metrics::DROP_RATE, rate(fates.dropped.iter().sum()));
    row(&metrics::MARK_RATE, rate(fates.marked.iter().sum()));
    let polices = fates.dropped[CauseClass::Policed as usize] > 0;
    for cause in CAUSES.into_iter().filter(|it| polices || *it != CauseClass::Policed) {
        let (by_drop, by_mark) = of_cause(cause);
        row(by_drop, rate(fates.dropped[cause as usize]));
        if let Some(by_mark) = by_mark {
            row(by_mark, rate(fates.marked[cause as usize]));
        }
    }
}

/// The metrics of the shares dropped and marked for a cause; overflow marks nothing.
fn of_cause(cause: CauseClass) -> (&'static Metric, Option<&'static Metric>) {
    let [overflow, random, deterministic] = &metrics::DROP_RATES;
    let [random_mark, deterministic_mark] = &metrics::MARK_RATES;
    match cause {
        CauseClass::Overflow => (overflow, None),
        CauseClass::Random => (random, Some(random_mark)),
        CauseClass::Deterministic => (deterministic, Some(deterministic_mark)),
        CauseClass::Policed => (&metrics::DROP_RATE_POLICED, None),
    }
}

/// Writes the statistics of a distribution that the table of metrics declares; nothing without
/// values.
pub(crate) fn push_delays(
    row: &mut impl FnMut(&Metric, f64),
    histogram: &Histogram,
    metrics: &[Metric],
) {
    let Some(mean_ns) = histogram.mean_ns() else { return };
    for metric in metrics.iter().filter(|metric| !matches!(metric.written, Written::Never(_))) {
        let ns = match metric.statistic {
            Statistic::Mean => mean_ns,
            Statistic::Quantile(q) => histogram.quantile_ns(q).unwrap_or(0.0),
            Statistic::Max => histogram.max_ns().unwrap_or(0) as f64,
            Statistic::Single | Statistic::Above(_) => continue,
        };
        row(metric, ns / 1e9);
    }
}

pub(crate) fn push_histogram(
    rows: &mut Vec<HistogramOf>,
    scope: Scope,
    name: &str,
    metric: &'static str,
    histogram: &mut Histogram,
) {
    if histogram.count() > 0 {
        let histogram = std::mem::take(histogram); // a copy per link would be large
        rows.push(HistogramOf { scope, name: name.into(), metric, histogram });
    }
}
