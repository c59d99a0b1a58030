//! Expectations: the resolved form, and errors with their lines.

use sojourn_scenario::{Format, Scenario, Source, line_of};

const HEAD: &str = r#"name = "demo"
duration = "10s"
[links.bottleneck]
rate = "10mbit"
[[flows]]
path = ["bottleneck"]
rtt = "100ms"
app = { kind = "bulk" }
[[expect]]
metric = "delay_p95"
"#;

fn load(expectation: &str) -> Result<Scenario, String> {
    let text = format!("{HEAD}{expectation}\n");
    let source = Source { format: Format::Toml, origin: "demo.toml", sets: &[] };
    let no_file = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Scenario::load(&text, &source, &no_file).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(expectation: &str, message: &str) {
    let found = load(expectation).unwrap_err();
    assert_eq!(found, message);
}

#[test]
fn an_expectation_survives_another_aqm_and_is_written_again() {
    let scenario = load("of = \"bottleneck\"\nwithin = [\"1ms\", 0.5]").unwrap_err();
    assert!(scenario.contains("a plain number"), "{scenario}");
    let text = "below = \"20ms\"\nfor = [\"pie\", { engine = \"linux\", set = { seed = 3 } }]";
    let scenario = load(text).unwrap().with_queue("bottleneck", "codel").unwrap();
    let written = scenario.document_json();
    assert!(written.contains(r#""for":["pie",{"engine":"linux","set":{"seed":3}}]"#), "{written}");
    assert!(written.contains(r#""confidence":0.95,"max_seeds":40"#), "{written}");
}

#[test]
fn the_line_of_an_expectation_and_of_its_keys_is_known() {
    let text = format!("{HEAD}below = \"20ms\"\n\n[[expect]]\nmetric = \"x\"\n");
    assert_eq!(line_of(&text, "expect[0]"), Some(9));
    assert_eq!(line_of(&text, "expect[0].below"), Some(11));
    assert_eq!(line_of(&text, "expect[1]"), Some(13));
    assert_eq!(line_of(&text, "expect[2]"), None);
    assert_eq!(line_of("{}", "expect[0]"), None);
}

#[test]
fn an_expectation_without_metric_or_bound_is_refused() {
    refused("", "demo.toml:9: expect[0]: has no bound; write below, above, within, or equivalent");
    let text = HEAD.replace("metric = \"delay_p95\"", "below = \"20ms\"");
    let source = Source { format: Format::Toml, origin: "demo.toml", sets: &[] };
    let no_file = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let error = Scenario::load(&text, &source, &no_file).unwrap_err().to_string();
    let expected = "demo.toml:9: expect[0].metric: this key is missing; write for example \
                    metric = \"delay_p95\"";
    assert_eq!(error, expected);
}

#[test]
fn bounds_that_leave_no_value_are_refused() {
    refused(
        "below = \"5ms\"\nabove = \"5ms\"",
        "demo.toml:11: expect[0].below: no value is above 5ms and below 5ms; the lower bound must \
         be the smaller one",
    );
    refused(
        "within = [\"20ms\", \"10ms\"]",
        "demo.toml:11: expect[0].within: no value is above 20ms and below 10ms; the lower bound \
         must be the smaller one",
    );
    refused(
        "below = \"5ms\"\nabove = \"1mbit\"",
        "demo.toml:12: expect[0].above: is a rate, but below is a time; write both in one unit",
    );
    refused(
        "below = \"5ms\"\nwithin = [\"1ms\", \"2ms\"]",
        "demo.toml:12: expect[0].within: cannot be combined with below or above; write within \
         alone, or the other two",
    );
    refused(
        "below = \"5%\"\nequivalent = \"5%\"\nagainst = \"pie\"",
        "demo.toml:12: expect[0].equivalent: cannot be combined with another bound; write it \
         alone, or two expectations",
    );
}

#[test]
fn a_reference_is_an_aqm_or_the_baseline_and_bounds_are_parts_of_it() {
    assert!(load("below = \"90%\"\nagainst = \"baseline\"").is_ok());
    assert!(load("equivalent = \"1ms\"\nagainst = \"pie:target=5ms\"").is_ok());
    refused(
        "equivalent = \"5%\"",
        "demo.toml:11: expect[0].equivalent: needs a reference; add against = \"pie\" or against = \
         \"baseline\"",
    );
    refused(
        "below = \"20ms\"\nagainst = \"pie\"",
        "demo.toml:11: expect[0].below: 20ms is a time; with `against`, write a percentage of the \
         reference's value, such as 90%",
    );
    refused(
        "below = \"0%\"\nagainst = \"pie\"",
        "demo.toml:11: expect[0].below: 0% of a reference is meaningless; write more than 0",
    );
    let unknown = load("below = \"90%\"\nagainst = \"pye\"").unwrap_err();
    assert!(unknown.starts_with("demo.toml:12: expect[0].against"), "{unknown}");
    assert!(unknown.contains("did you mean `pie`"), "{unknown}");
}

#[test]
fn cases_and_seeds_are_checked() {
    let refused = |text: &str| load(&format!("below = \"20ms\"\n{text}")).unwrap_err();
    let listed_twice = refused("for = [\"pie\", \"pie\"]");
    assert!(listed_twice.contains("demo.toml:12: expect[0].for[1]: is listed twice"));
    assert!(refused("for = [{}]").contains("expect[0].for[0]: changes nothing"));
    assert!(refused("for = [{ set = { expect = 1 } }]").contains("cannot be changed by a case"));
    assert!(refused("for = [\"pye\"]").contains("did you mean `pie`"));
    assert!(refused("for = [{ aqms = \"pie\" }]").contains("did you mean `aqm`"));
    assert!(refused("confidence = 1.0").contains("from 0.5 to below 1"));
    assert!(refused("max_seeds = 0").contains("at least 1"));
}
