//! Expectations: bounds that contradict each other, and references that do not exist, are refused.
//! Whether a metric exists is checked where metrics are declared, in `sojourn-measure`.

use sojourn_aqm::CustomLaws;

use super::{Checked, refuse};
use crate::document::algorithm::AlgorithmSpec;
use crate::document::expect::{Bound, Expectation};

/// Checks all expectations of a scenario.
pub(super) fn check(expectations: &[Expectation]) -> Checked<()> {
    for (index, expectation) in expectations.iter().enumerate() {
        let place = format!("expect[{index}]");
        check_bounds(&place, expectation)?;
        check_reference(&place, expectation)?;
        check_seeds(&place, expectation)?;
        check_cases(&place, expectation)?;
    }
    Ok(())
}

fn check_bounds(place: &str, expectation: &Expectation) -> Checked<()> {
    let mut bounds = expectation.bounds();
    let Some((first_key, first)) = bounds.next() else {
        return refuse(place, "has no bound; write below, above, within, or equivalent");
    };
    if let Some((key, other)) = bounds.find(|(_, bound)| !bound.is_like(first)) {
        let (other, first) = (other.what(), first.what());
        let what = format!("is {other}, but {first_key} is {first}; write both in one unit");
        return refuse(&format!("{place}.{key}"), what);
    }
    let is_single = expectation.below.is_some() || expectation.above.is_some();
    if expectation.within.is_some() && is_single {
        let what = "cannot be combined with below or above; write within alone, or the other two";
        return refuse(&format!("{place}.within"), what);
    }
    if expectation.equivalent.is_some() && (is_single || expectation.within.is_some()) {
        let what = "cannot be combined with another bound; write it alone, or two expectations";
        return refuse(&format!("{place}.equivalent"), what);
    }
    if let (Some(below), Some(above)) = (expectation.below, expectation.above) {
        check_order(&format!("{place}.below"), above, below)?;
    }
    match expectation.within {
        Some([above, below]) => check_order(&format!("{place}.within"), above, below),
        None => Ok(()),
    }
}

fn check_order(place: &str, above: Bound, below: Bound) -> Checked<()> {
    match above.size() < below.size() {
        true => Ok(()),
        false => {
            let what = format!("no value is above {above} and below {below}");
            refuse(place, what + "; the lower bound must be the smaller one")
        }
    }
}

fn check_reference(place: &str, expectation: &Expectation) -> Checked<()> {
    let Some(against) = &expectation.against else {
        return match expectation.equivalent {
            Some(_) => refuse(
                &format!("{place}.equivalent"),
                "needs a reference; add against = \"pie\" or against = \"baseline\"",
            ),
            None => Ok(()),
        };
    };
    if against != Expectation::BASELINE && !Expectation::ENGINES.contains(&against.as_str()) {
        check_aqm(&format!("{place}.against"), against)?;
    }
    for (key, bound) in expectation.bounds() {
        let place = format!("{place}.{key}");
        if bound.size() <= 0.0 {
            return refuse(
                &place,
                format!("{bound} of a reference is meaningless; write more than 0"),
            );
        }
        if key != "equivalent" && !matches!(bound, Bound::Percent(_)) {
            let what = format!("{bound} is {}; with `against`, write a percentage", bound.what());
            return refuse(&place, what + " of the reference's value, such as 90%");
        }
    }
    Ok(())
}

fn check_seeds(place: &str, expectation: &Expectation) -> Checked<()> {
    let confidence = expectation.confidence;
    if !(0.5..1.0).contains(&confidence) {
        let what = format!("{confidence} is not a confidence level; write one from 0.5 to below 1");
        return refuse(&format!("{place}.confidence"), what);
    }
    match expectation.max_seeds {
        0 => refuse(&format!("{place}.max_seeds"), "must be at least 1"),
        _ => Ok(()),
    }
}

fn check_cases(place: &str, expectation: &Expectation) -> Checked<()> {
    for (index, case) in expectation.cases.iter().enumerate() {
        let place = format!("{place}.for[{index}]");
        let variant = case.variant();
        if variant == Default::default() {
            return refuse(&place, "changes nothing; write an AQM, or aqm, engine or set");
        }
        if let Some(aqm) = &variant.aqm {
            check_aqm(&place, aqm)?;
        }
        if let Some(key) = variant.set.keys().find(|key| key.starts_with("expect")) {
            return refuse(&place, format!("sets {key}; expectations cannot be changed by a case"));
        }
        if expectation.cases[..index].contains(case) {
            return refuse(&place, "is listed twice; name each case once");
        }
    }
    Ok(())
}

fn check_aqm(place: &str, aqm: &str) -> Checked<()> {
    super::queue(place, &AlgorithmSpec::Text(aqm.to_owned()), &CustomLaws::default()).map(|_| ())
}
