//! Metrics, each declared once, as a row of [`table`].
//!
//! The row determines a metric's name and unit in the tables of every engine, the Python module
//! `sojourn.describing.metric_table`, `web/src/metric-table.ts`, the tables of
//! `docs/reference/tables.md` and the names accepted by the schema of a study. Comparisons read
//! direction, centre, margin and family from the row; all outputs read its label and format.

mod table;

use sojourn_record::rows::{BinRow, Scope, SummaryRow};

pub use table::*;

/// A metric of table `summary`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Metric {
    /// The scope of the metric.
    pub scope: Scope,
    /// Its name in tables, unique among all metrics.
    pub name: &'static str,
    /// The kind of number, which decides unit and format.
    pub kind: MetricKind,
    /// Its name in sentences and on axes, without the unit; for a class metric, the class follows.
    pub label: &'static str,
    /// Which direction is an improvement.
    pub better: Better,
    /// The statistic estimated over the seeds.
    pub centre: Centre,
    /// The largest difference without practical relevance.
    pub margin: Margin,
    /// Whether comparisons make claims about it.
    pub family: Family,
    /// The outputs that select metrics and include this one.
    pub tables: &'static [Output],
    /// Whether table `bins` has it, and how values of several bins are combined.
    pub bins: Option<OverBins>,
    /// Which statistic of a distribution the metric is.
    pub statistic: Statistic,
    /// Whether it is a time of the order of seconds, shown in s from one second on, otherwise in
    /// ms.
    pub is_long: bool,
    /// Which engines write it.
    pub written: Written,
    /// Its meaning, as Markdown.
    pub text: &'static str,
}

/// The kind of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricKind {
    /// Seconds, shown in ms.
    Time,
    /// bit/s, shown in Mbit/s.
    Rate,
    /// A fraction between 0 and 1, shown in percent; intervals of its mean use the logit.
    Share,
    /// A count of something, or a pure number of things (`1`).
    Count(&'static str),
    /// A number on its own scale, without a unit.
    Score,
}

impl MetricKind {
    /// One of each kind; the unit of a count differs between metrics.
    pub const ALL: [MetricKind; 5] = [
        MetricKind::Time,
        MetricKind::Rate,
        MetricKind::Share,
        MetricKind::Count("1"),
        MetricKind::Score,
    ];

    /// The name in generated files.
    pub const fn word(self) -> &'static str {
        match self {
            MetricKind::Time => "time",
            MetricKind::Rate => "rate",
            MetricKind::Share => "share",
            MetricKind::Count(_) => "count",
            MetricKind::Score => "score",
        }
    }

    /// The unit in tables.
    pub const fn unit(self) -> &'static str {
        match self {
            MetricKind::Time => "s",
            MetricKind::Rate => "bit/s",
            MetricKind::Share | MetricKind::Score => "1",
            MetricKind::Count(what) => what,
        }
    }

    /// The usual margin: 5 % of the baseline, but at least 1 ms for times; half a percentage point
    /// for shares.
    pub const fn margin(self) -> Margin {
        match self {
            MetricKind::Time => Margin { relative: 0.05, least: 0.001 },
            MetricKind::Share => Margin { relative: 0.0, least: 0.005 },
            MetricKind::Rate | MetricKind::Count(_) | MetricKind::Score => {
                Margin { relative: 0.05, least: 0.0 }
            }
        }
    }
}

/// A direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Improvement {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

impl Improvement {
    /// The name in generated files.
    pub const fn word(self) -> &'static str {
        match self {
            Improvement::Lower => "lower",
            Improvement::Higher => "higher",
        }
    }
}

/// Which direction of a metric is an improvement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// This direction.
    Always(Improvement),
    /// Neither on its own, for this reason; the given direction if judged together with another
    /// metric.
    Together(Improvement, &'static str),
    /// Neither, for this reason.
    Neither(&'static str),
}

/// The statistic estimated over the seeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Centre {
    /// The mean.
    Mean,
    /// The median: for metrics with a long tail, a bound or rare events, whose mean has no valid
    /// interval with ten seeds (docs/evidence/coverage.md).
    Median,
}

impl Centre {
    /// The name in generated files.
    pub const fn word(self) -> &'static str {
        match self {
            Centre::Mean => "mean",
            Centre::Median => "median",
        }
    }
}

/// A margin: the larger of two amounts. The values are our choice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Margin {
    /// The amount as a fraction of the baseline's value.
    pub relative: f64,
    /// The smallest amount, in the metric's unit.
    pub least: f64,
}

impl Margin {
    /// An amount that does not depend on the baseline.
    const fn of(least: f64) -> Margin {
        Margin { relative: 0.0, least }
    }
}

/// The family of tests that a metric belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Declared under this name before any result; gets verdicts and Holm's correction.
    Headline(&'static str),
    /// Intervals without verdicts.
    Exploratory,
}

/// An output that shows a selection of metrics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// `sojourn compare`, its report and sentences.
    Compare,
    /// The headline numbers of the live page.
    Live,
    /// The leaf classes of a link's scheduler, wherever a table shows them.
    Leaf,
    /// `sojourn diff`.
    Diff,
    /// `sojourn router`, when it ends.
    Router,
    /// `sojourn agree` over the grid of one bottleneck.
    Agree,
    /// `sojourn agree` over the wide grid.
    AgreeWide,
    /// The atlas.
    Atlas,
}

impl Output {
    /// The name in generated files.
    pub const fn word(self) -> &'static str {
        match self {
            Output::Compare => "compare",
            Output::Live => "live",
            Output::Leaf => "leaf",
            Output::Diff => "diff",
            Output::Router => "router",
            Output::Agree => "agree",
            Output::AgreeWide => "agree_wide",
            Output::Atlas => "atlas",
        }
    }
}

/// How a metric over several bins follows from its values in each bin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverBins {
    /// As their mean.
    Mean,
    /// Cannot be computed, because the denominator differs between bins.
    Unknown,
}

/// Which statistic of a distribution a metric is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Statistic {
    /// Not a statistic of a distribution.
    Single,
    /// The mean.
    Mean,
    /// This quantile, interpolated within a bin of the histogram.
    Quantile(f64),
    /// A lower bound of this quantile, if the quantile cannot be computed.
    Above(f64),
    /// The maximum.
    Max,
}

/// Which engines write a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// All engines.
    Always,
    /// One program only, for this reason.
    Only(&'static str, &'static str),
    /// None, for this reason.
    Never(&'static str),
}

impl Metric {
    /// A metric with the usual settings of its kind.
    const fn usual(scope: Scope, kind: MetricKind) -> Metric {
        Metric {
            scope,
            name: "",
            kind,
            label: "",
            better: Better::Neither(""),
            centre: Centre::Mean,
            margin: kind.margin(),
            family: Family::Exploratory,
            tables: &[],
            bins: None,
            statistic: Statistic::Single,
            is_long: false,
            written: Written::Always,
            text: "",
        }
    }

    /// A row of table `summary` for the queue, class or run with this name.
    // tidy: allow(SummaryRow {) as this is the one place that makes them
    pub fn row(&self, name: &str, value: f64) -> SummaryRow {
        self.row_of(self.scope, name, value)
    }

    /// The same row for another scope: a leaf class has the metrics of a queue.
    // tidy: allow(SummaryRow {) as above
    pub(crate) fn row_of(&self, scope: Scope, name: &str, value: f64) -> SummaryRow {
        debug_assert!(!matches!(self.written, Written::Never(_)), "{} is written", self.name);
        let (name, unit) = (name.to_owned(), self.kind.unit());
        // tidy: allow(SummaryRow {) as above
        SummaryRow { scope, name, metric: self.name, value, unit }
    }

    /// A row of table `bins` for the index `index` within a scope.
    pub(crate) fn bin(
        &self,
        scope: Scope,
        index: usize,
        t: sojourn_aqm::Time,
        value: f64,
    ) -> BinRow {
        debug_assert!(self.bins.is_some(), "{} is in table `bins`", self.name);
        let (index, unit) = (index as u32, self.kind.unit());
        BinRow { scope, index, t, metric: self.name, value, unit }
    }

    /// Whether an output shows it.
    pub fn is_in(&self, table: Output) -> bool {
        self.tables.contains(&table)
    }

    /// Its meaning: the lines of its documentation as one text.
    pub fn meaning(&self) -> &'static str {
        self.text.trim()
    }
}

/// Every metric, in the order in which comparisons show them.
pub fn all() -> impl Iterator<Item = &'static Metric> {
    GROUPS.iter().copied().flatten()
}

/// Declares metrics. A row is a single metric, `(name, label)`, or several metrics with one
/// meaning, `[(name, label), ...]`. Fields in the braces after the kind apply to all metrics of the
/// row, fields after a label only to that metric.
macro_rules! metrics {
    ($($(#[doc = $text:literal])+ $NAME:ident = $what:tt of $scope:ident, $kind:expr, {
        $($field:ident: $value:expr),* $(,)?
    };)+) => {
        $($crate::metrics::declare! {
            $NAME $what, Metric {
                text: concat!($($text),+), $($field: $value,)*
                ..Metric::usual(Scope::$scope, $kind)
            }, $($text)+
        })+

        /// The rows of the table, in order.
        pub const GROUPS: &[&[Metric]] = &[$($crate::metrics::listed!($NAME $what)),+];
    };
}

/// One row of the table as a constant.
macro_rules! declare {
    ($NAME:ident ($name:literal, $label:literal), $shared:expr, $($text:literal)+) => {
        #[doc = concat!($($text),+)]
        pub const $NAME: Metric = Metric { name: $name, label: $label, ..$shared };
    };
    ($NAME:ident [$(($name:literal, $label:literal)
        $({ $($field:ident: $value:expr),+ })?),+ $(,)?], $shared:expr, $($text:literal)+) => {
        #[doc = concat!($($text),+)]
        pub const $NAME: [Metric; [$($name),+].len()] = {
            const SHARED: Metric = $shared;
            [$(Metric { name: $name, label: $label, $($($field: $value,)+)? ..SHARED }),+]
        };
    };
}

/// One row of the table as a slice.
macro_rules! listed {
    ($NAME:ident ($($single:tt)+)) => {
        std::slice::from_ref(&$NAME)
    };
    ($NAME:ident [$($several:tt)+]) => {
        &$NAME
    };
}

use {declare, listed, metrics};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_metrics_share_a_name_or_within_a_scope_a_label() {
        let mut names: Vec<_> = all().map(|metric| metric.name).collect();
        let mut labels: Vec<_> = all().map(|it| (it.scope.word(), it.label)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!((names.len(), labels.len()), (count, count));
    }

    #[test]
    fn every_metric_has_a_label_a_meaning_a_margin_and_a_reason_for_no_direction() {
        for metric in all() {
            if let Better::Together(_, why) | Better::Neither(why) = metric.better {
                assert!(!why.is_empty(), "{}", metric.name);
            }
            assert!(!metric.label.is_empty() && !metric.meaning().is_empty(), "{}", metric.name);
            assert!(metric.margin.relative + metric.margin.least > 0.0, "{}", metric.name);
        }
    }

    #[test]
    fn a_name_says_which_statistic_a_metric_is() {
        for metric in all() {
            let end = metric.name.rsplit_once('_').map_or("", |(_, end)| end);
            let expected = match metric.statistic {
                Statistic::Quantile(q) => format!("p{}", (100.0 * q).round()),
                Statistic::Mean => "mean".to_owned(),
                Statistic::Max => "max".to_owned(),
                Statistic::Above(_) => "above".to_owned(),
                Statistic::Single => continue,
            };
            assert_eq!(end, expected, "{}", metric.name);
        }
    }

    #[test]
    fn headline_metrics_are_shown_by_comparisons() {
        for metric in all().filter(|metric| metric.family != Family::Exploratory) {
            assert!(metric.is_in(Output::Compare), "{}", metric.name);
        }
    }
}
