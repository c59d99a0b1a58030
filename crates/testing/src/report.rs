//! The metrics of a run, and assertions about them.

use std::fmt;

use sojourn_measure::expectations;
use sojourn_measure::metrics::{self, Metric, MetricKind};
use sojourn_record::rows::SummaryRow;
use sojourn_scenario::resolved::Bound;

/// The metrics of a run. Names and meanings are those of table `summary`: `delay_p95`,
/// `utilisation`, `throughput`, `drop_rate`, `mark_rate` of a link; `goodput`, `completion_p95` of
/// the flows of a scenario.
///
/// Assertions name a metric and a bound with its unit, `20ms`, `9mbit`, `90%`. They panic with all
/// numbers if the value is outside, if the metric or value is unknown, or if the unit is wrong.
#[derive(Clone, Debug)]
pub struct Report {
    title: String,
    rows: Vec<SummaryRow>,
    warnings: Vec<String>,
    /// The link or class to which assertions apply.
    of: Option<String>,
}

impl Report {
    pub(crate) fn new(title: String, rows: Vec<SummaryRow>, warnings: Vec<String>) -> Report {
        Report { title, rows, warnings, of: None }
    }

    /// Settings that are legal but probably mistakes.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The same report, with assertions about one link or traffic class.
    ///
    /// # Panics
    /// If the report has no such name.
    #[must_use]
    #[track_caller]
    pub fn of(&self, name: &str) -> Report {
        if !self.rows.iter().any(|row| row.name == name) {
            let mut known: Vec<&str> = self.rows.iter().map(|row| row.name.as_str()).collect();
            known.retain(|name| !name.is_empty());
            known.dedup();
            panic!("{}: unknown name `{name}`; known: {}", self.title, known.join(", "));
        }
        Report { of: Some(name.to_owned()), ..self.clone() }
    }

    /// A value, in seconds, bit/s, or as a fraction.
    ///
    /// # Panics
    /// If the metric or value is unknown, or several links or classes have it.
    #[track_caller]
    pub fn value(&self, metric: &str) -> f64 {
        let known = match expectations::named(metric) {
            Ok(metric) => metric,
            Err(why) => panic!("{why}"),
        };
        let is_meant = |row: &&SummaryRow| self.of.as_ref().is_none_or(|name| *name == row.name);
        let rows = self.rows.iter().filter(|row| row.metric == known.name).filter(is_meant);
        let rows: Vec<_> = rows.collect();
        match rows[..] {
            [row] if row.value.is_finite() => row.value,
            [] | [_] => panic!("{metric} has no value\n{self}"),
            _ => {
                let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
                panic!("{metric} exists for each of {}; select one with `of`", names.join(", "));
            }
        }
    }

    /// Asserts that a value is below a bound.
    #[track_caller]
    pub fn assert_below(&self, metric: &str, bound: &str) {
        self.check(metric, ("below", bound), |value, bound| value < bound);
    }

    /// Asserts that a value is above a bound.
    #[track_caller]
    pub fn assert_above(&self, metric: &str, bound: &str) {
        self.check(metric, ("above", bound), |value, bound| value > bound);
    }

    #[track_caller]
    fn check(&self, metric: &str, (side, text): (&str, &str), holds: fn(f64, f64) -> bool) {
        let value = self.value(metric);
        let known = expectations::named(metric).expect("`value` has found it");
        let bound = text.parse::<Bound>().and_then(|bound| {
            let size = bound.size();
            expectations::check_unit(known, bound).map(|()| size)
        });
        match bound {
            Ok(bound) if holds(value, bound) => {}
            Ok(_) => {
                panic!("{metric} is {}, expected {side} {text}\n{self}", shown(known, value))
            }
            Err(why) => panic!("assert_{side}: `{text}` {why}"),
        }
    }
}

/// The title, then one line for each of the metrics that comparisons or the router show.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.title)?;
        for row in &self.rows {
            let metric = metrics::all().find(|metric| metric.name == row.metric);
            if let Some(metric) = metric.filter(|metric| !metric.tables.is_empty()) {
                let (name, value) = (&row.name, shown(metric, row.value));
                write!(f, "\n  {name:<12} {:<24} {value:>14}", row.metric)?;
            }
        }
        for warning in &self.warnings {
            write!(f, "\n  warning: {warning}")?;
        }
        Ok(())
    }
}

/// A value with its unit.
fn shown(metric: &Metric, value: f64) -> String {
    match metric.kind {
        MetricKind::Time => format!("{:.3} ms", value * 1e3),
        MetricKind::Rate => format!("{:.3} Mbit/s", value / 1e6),
        MetricKind::Share => format!("{:.3} %", value * 1e2),
        MetricKind::Count("1") | MetricKind::Score => format!("{value:.3}"),
        MetricKind::Count(unit) => format!("{value} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    fn report() -> Report {
        let rows = vec![
            metrics::UTILISATION.row("up", 0.5),
            metrics::UTILISATION.row("down", 0.9),
            metrics::GOODPUT.row("bulk", 9e6),
            metrics::JAIN.row("bulk", f64::NAN),
        ];
        Report::new("test".to_owned(), rows, Vec::new())
    }

    fn message(act: impl FnOnce(&Report) + std::panic::UnwindSafe) -> String {
        let caught = catch_unwind(|| act(&report())).expect_err("it panics");
        caught.downcast_ref::<String>().expect("with a sentence").clone()
    }

    #[test]
    fn a_failed_assertion_prints_value_bound_and_all_numbers() {
        let text = message(|report| report.assert_above("goodput", "9500kbit"));
        assert!(text.starts_with("goodput is 9.000 Mbit/s, expected above 9500kbit\ntest:"));
        assert!(text.contains("utilisation") && text.contains("90.000 %"), "{text}");
        report().assert_below("goodput", "9500kbit");
        report().of("down").assert_above("utilisation", "0.85");
    }

    #[test]
    fn what_cannot_be_decided_fails_with_the_remedy() {
        for (text, act) in [
            (
                "did you mean `utilisation`?",
                (|r| r.assert_below("utilization", "1%")) as fn(&Report),
            ),
            ("exists for each of up, down; select one with `of`", |r| {
                r.assert_below("utilisation", "1%")
            }),
            ("jain has no value", |r| r.assert_above("jain", "0.5")),
            ("delay_p95 has no value", |r| r.assert_below("delay_p95", "5ms")),
            ("`5ms` is a time, but goodput is a rate", |r| r.assert_above("goodput", "5ms")),
            ("`5 furlongs` `furlongs` is not a unit", |r| r.assert_above("goodput", "5 furlongs")),
            ("unknown name `left`; known: up, down, bulk", |r| drop(r.of("left"))),
        ] {
            let found = message(act);
            assert!(found.contains(text), "{found}");
        }
    }
}
