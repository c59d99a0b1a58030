//! The description of every AQM in the schema, Python and the documentation.

use sojourn_aqm::registry;
use sojourn_aqm::{Discipline, QdiscSpec};
use sojourn_scenario::aqms::{AqmInfo, class_name};

fn info(kind: &str) -> AqmInfo {
    AqmInfo::of(&QdiscSpec::parse(kind).unwrap())
}

#[test]
fn every_registered_name_is_listed_under_itself() {
    let names: Vec<_> = AqmInfo::all().into_iter().map(|info| info.name).collect();
    assert_eq!(names, registry::names().collect::<Vec<_>>());
    assert!(
        ["taildrop", "pie", "cake", "fq_codel"].iter().all(|name| names.iter().any(|n| n == name))
    );
}

#[test]
fn only_what_may_stand_under_flow_queues_is_a_law() {
    let kinds = ["pie", "fq_pie", "fq(pie)", "choke"];
    assert_eq!(kinds.map(|kind| info(kind).is_law), [true, false, false, false]);
    assert_eq!(kinds.map(|kind| info(kind).is_preset), [false, true, false, false]);
    assert_eq!(kinds.map(|kind| info(kind).law), ["pie", "pie", "pie", "choke"]);
    assert_eq!(info("fq(pie)").name, "fq(pie)");
    assert_ne!(info("fq_pie").doc, info("pie").doc);
}

#[test]
fn an_aqm_under_flow_queues_has_the_parameters_and_behaviours_of_both() {
    let names = |kind: &str| -> Vec<_> { info(kind).params().map(|param| param.name).collect() };
    let of_law = info("pie").law_params.len();
    assert_eq!(names("fq(pie)")[..of_law], names("pie")[..of_law]);
    assert!(names("fq(pie)")[of_law..].contains(&"quantum") && !names("pie").contains(&"quantum"));
    let of = |discipline| registry::discipline_behaviours(discipline).len();
    let (pie, fq_pie) = (info("pie").behaviours.len(), info("fq(pie)").behaviours.len());
    assert_eq!(fq_pie - of(Discipline::Fq), pie - of(Discipline::Fifo));
    assert!(pie > of(Discipline::Fifo) && of(Discipline::Fq) > 0);
}

#[test]
fn a_default_is_that_of_the_dialect_and_of_the_preset() {
    let pie = info("pie");
    assert_eq!(pie.default_of("rfc8033", "target"), "15ms");
    assert_eq!(pie.default_of("rfc8033", "ecn"), "false");
    assert_eq!(pie.default_of("ns2", "target"), "20ms");
    let [codel, fq_codel] = [info("codel"), info("fq_codel")];
    assert_eq!(codel.default_of("rfc8289", "ecn"), "false");
    assert_eq!(fq_codel.default_of("rfc8290", "ecn"), "true");
}

#[test]
fn the_source_of_a_default_is_that_of_whoever_set_it() {
    let source = |kind: &str, dialect: &str| {
        let found = info(kind);
        let ecn = found.params().find(|param| param.name == "ecn").unwrap();
        found.source_of(dialect, ecn)
    };
    assert_eq!(source("fq_codel", "rfc8290"), "Linux sch_fq_codel.c; RFC 8290 §5.2.6");
    assert!(source("codel", "rfc8289").contains("RFC 8289"), "{}", source("codel", "rfc8289"));
}

#[test]
fn a_parameter_without_effect_in_a_dialect_is_known() {
    let pie = info("pie");
    assert!(pie.has_effect("paper2013", "heuristics") && !pie.has_effect("rfc8033", "heuristics"));
    assert!(pie.has_effect("rfc8033", "ecn") && !pie.has_effect("docsis", "ecn"));
}

#[test]
fn state_variables_are_those_of_the_law_that_is_built() {
    let vars = |kind: &str| -> Vec<_> { info(kind).vars.iter().map(|var| var.name).collect() };
    assert_eq!(vars("pie"), ["drop_prob", "delay", "burst_allowance", "accumulator"]);
    assert_eq!(vars("choke"), ["avg_queue", "matches"]);
}

#[test]
fn a_class_has_a_capital_for_every_word() {
    let names = ["pie", "fq_codel", "pi2", "_fq__pie_"].map(class_name);
    assert_eq!(names, ["Pie", "FqCodel", "Pi2", "FqPie"]);
}
