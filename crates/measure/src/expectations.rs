//! Checks expectations against the table of metrics: the metric, the names of its links or classes,
//! and the units of the bounds.

use sojourn_aqm::{params, registry};
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{Bound, Expectation, Link};
use sojourn_scenario::{Resolved, ScenarioError};

use crate::metrics::{self, Metric, MetricKind, Written};

/// Checks the expectations of a scenario.
///
/// # Errors
/// The first unknown metric, name or unit, with its dotted path.
pub fn check(plan: &Resolved) -> Result<(), ScenarioError> {
    for (index, expectation) in plan.expect.iter().enumerate() {
        let place = format!("expect[{index}]");
        let metric = metric_of(&format!("{place}.metric"), &expectation.metric)?;
        check_names(&format!("{place}.of"), plan, metric, &expectation.of.0)?;
        check_units(&place, metric, expectation)?;
    }
    Ok(())
}

fn metric_of(place: &str, name: &str) -> Result<&'static Metric, ScenarioError> {
    if let Some((of, last)) = name.rsplit_once('/') {
        let owner = of.rsplit('/').next().unwrap_or_default();
        let what = format!("`{name}` is a key; write metric = \"{last}\" and of = \"{owner}\"");
        return Err(ScenarioError::new(place, what));
    }
    named(name).map_err(|what| ScenarioError::new(place, what))
}

/// The metric with this name.
///
/// # Errors
/// A sentence with the nearest name.
pub fn named(name: &str) -> Result<&'static Metric, String> {
    let known = || metrics::all().filter(|metric| matches!(metric.written, Written::Always));
    known().find(|metric| metric.name == name).ok_or_else(|| {
        let near = params::nearest(name, known().map(|metric| metric.name));
        let meant = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        format!("unknown metric `{name}`; {meant}docs/reference/tables.md has all")
    })
}

fn check_names(
    place: &str,
    plan: &Resolved,
    metric: &Metric,
    of: &[String],
) -> Result<(), ScenarioError> {
    let refuse = |what: String| Err(ScenarioError::new(place, what));
    let (noun, known): (&str, Vec<String>) = match metric.scope {
        Scope::Queue => ("link", plan.links.iter().map(|link| link.name.clone()).collect()),
        Scope::Class => ("traffic class", plan.classes()),
        Scope::Run | Scope::Flow | Scope::Leaf if of.is_empty() => return Ok(()),
        Scope::Run | Scope::Flow | Scope::Leaf => {
            return refuse(format!("{} is a metric of the whole run; leave `of` out", metric.name));
        }
    };
    let leaves = match metric.scope {
        Scope::Queue => leaves(plan),
        _ => Vec::new(),
    };
    let mut names: Vec<&str> = known.iter().map(String::as_str).collect();
    if of.is_empty() && names.len() > 1 {
        let known = names.join(", ");
        return refuse(format!("is missing, and {} has {known}; name some of them", plan.name));
    }
    names.extend(leaves.iter().map(String::as_str));
    for (index, name) in of.iter().enumerate() {
        if !names.contains(&name.as_str()) {
            let hint = registry::hint(name, &names);
            let what = format!("unknown {noun} `{name}` (metric {} is per {noun})", metric.name);
            return refuse(what + &hint);
        }
        if of[..index].contains(name) {
            return refuse(format!("`{name}` is named twice"));
        }
    }
    Ok(())
}

/// The leaf classes of all links, `LINK.CLASS`.
fn leaves(plan: &Resolved) -> Vec<String> {
    let of = |link: &Link| {
        let scheduler = link.scheduler.as_ref()?;
        let name = |class: usize| format!("{}.{}", link.name, scheduler.classes[class].name);
        Some(scheduler.leaves().map(name).collect::<Vec<_>>())
    };
    plan.links.iter().filter_map(of).flatten().collect()
}

fn check_units(
    place: &str,
    metric: &Metric,
    expectation: &Expectation,
) -> Result<(), ScenarioError> {
    for (key, bound) in expectation.bounds() {
        let is_part = expectation.against.is_some() && matches!(bound, Bound::Percent(_));
        if !is_part {
            let refuse = |what| ScenarioError::new(format!("{place}.{key}"), what);
            check_unit(metric, bound).map_err(refuse)?;
        }
    }
    Ok(())
}

/// Checks that a bound has the unit of a metric.
///
/// # Errors
/// A sentence with an example.
pub fn check_unit(metric: &Metric, bound: Bound) -> Result<(), String> {
    if fits(metric, bound) {
        return Ok(());
    }
    Err(format!("is {}, but {} is {}", bound.what(), metric.name, example(metric)))
}

fn fits(metric: &Metric, bound: Bound) -> bool {
    match metric.kind {
        MetricKind::Time => matches!(bound, Bound::Time(_)),
        MetricKind::Rate => matches!(bound, Bound::Rate(_)),
        MetricKind::Share => matches!(bound, Bound::Percent(_) | Bound::Plain(_)),
        MetricKind::Count("bytes") => matches!(bound, Bound::Bytes(_)),
        MetricKind::Count(_) | MetricKind::Score => matches!(bound, Bound::Plain(_)),
    }
}

fn example(metric: &Metric) -> &'static str {
    match metric.kind {
        MetricKind::Time => "a time; write one such as 20ms",
        MetricKind::Rate => "a rate; write one such as 5mbit",
        MetricKind::Share => "a share; write one such as 5% or 0.05",
        MetricKind::Count("bytes") => "a number of bytes; write one such as 150kB",
        MetricKind::Count(_) | MetricKind::Score => "a number; write it without a unit",
    }
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::{Scenario, Source};

    use super::*;

    /// The error for an expectation in a scenario with the links a and b and the classes x and y.
    fn error(expectation: &str) -> String {
        let text = format!(
            "name = \"two\"\nduration = \"10s\"\n\
             [links.a]\nrate = \"10mbit\"\n[links.b]\nrate = \"10mbit\"\n\
             [[flows]]\nname = \"x\"\npath = [\"a\", \"b\"]\nrtt = \"9ms\"\n\
             app = {{ kind = \"bulk\" }}\n\
             [[flows]]\nname = \"y\"\npath = [\"a\"]\nrtt = \"9ms\"\napp = {{ kind = \"bulk\" }}\n\
             [[expect]]\n{expectation}\n"
        );
        let no_file = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let loaded = Scenario::load_for(&text, &Source::default(), &no_file, &check);
        loaded.map_or_else(|error| error.to_string(), |_| "none".to_owned())
    }

    #[test]
    fn an_unknown_metric_is_refused_with_the_nearest() {
        let found = error("metric = \"delay_p59\"\nof = \"a\"\nbelow = \"20ms\"");
        assert!(found.contains("expect[0].metric: unknown metric `delay_p59`"), "{found}");
        assert!(found.contains("did you mean `delay_p"), "{found}");
        let key = error("metric = \"queue/a/delay_p95\"\nbelow = \"20ms\"");
        assert!(key.contains("write metric = \"delay_p95\" and of = \"a\""), "{key}");
    }

    #[test]
    fn names_are_of_links_or_classes_as_the_metric_is() {
        let of_link = |of: &str| error(&format!("metric = \"delay_p95\"\n{of}\nbelow = \"20ms\""));
        assert_eq!(of_link("of = [\"a\", \"b\"]"), "none");
        assert!(of_link("of = \"x\"").contains("unknown link `x`"), "{}", of_link("of = \"x\""));
        assert!(of_link("").contains("expect[0].of: is missing, and two has a, b"));
        assert!(of_link("of = [\"a\", \"a\"]").contains("named twice"));
        let of_class = error("metric = \"goodput\"\nof = \"a\"\nabove = \"1mbit\"");
        assert!(of_class.contains("unknown traffic class `a`"), "{of_class}");
        let of_run = error("metric = \"events\"\nof = \"a\"\nabove = 1");
        assert!(of_run.contains("of the whole run") || of_run.contains("no metric"), "{of_run}");
    }

    #[test]
    fn a_leaf_class_has_metrics_of_a_queue() {
        let error = |of: &str| {
            let text = format!(
                "name = \"tree\"\nduration = \"10s\"\n[links.up]\nrate = \"10mbit\"\n\
                 [links.up.scheduler]\nkind = \"prio\"\ndefault = \"rest\"\n\
                 [[links.up.scheduler.classes]]\nname = \"call\"\ndscp = [\"ef\"]\n\
                 [[links.up.scheduler.classes]]\nname = \"rest\"\n\
                 [[flows]]\nname = \"x\"\npath = [\"up\"]\nrtt = \"9ms\"\n\
                 app = {{ kind = \"bulk\" }}\n\
                 [[expect]]\nmetric = \"delay_p95\"\nof = \"{of}\"\nbelow = \"9ms\"\n"
            );
            let no_file = |_: &str| Err(std::io::ErrorKind::NotFound.into());
            let loaded = Scenario::load_for(&text, &Source::default(), &no_file, &check);
            loaded.map_or_else(|error| error.to_string(), |_| "none".to_owned())
        };
        assert_eq!(
            [error("up"), error("up.call"), error("up.rest")],
            ["none"; 3].map(str::to_owned)
        );
        assert!(error("up.cal").contains("unknown link `up.cal`"), "{}", error("up.cal"));
    }

    #[test]
    fn a_bound_has_the_unit_of_its_metric() {
        let wrong = [
            ("delay_p95", "5mbit", "a time"),
            ("delay_p95", "5%", "a time"),
            ("throughput", "20ms", "a rate"),
            ("drop_rate", "20ms", "a share"),
        ];
        for (metric, bound, right) in wrong {
            let text = format!("metric = \"{metric}\"\nof = \"a\"\nbelow = \"{bound}\"");
            let found = error(&text);
            assert!(found.contains(&format!("but {metric} is {right}")), "{found}");
        }
        let against = "metric = \"delay_p95\"\nof = \"a\"\nbelow = \"90%\"\nagainst = \"pie\"";
        assert_eq!(error(against), "none");
    }
}
