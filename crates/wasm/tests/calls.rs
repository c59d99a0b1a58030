//! The calls of a page, run natively: their answers, and the requests that they refuse.

use serde_json::{Value, json};
use sojourn_wasm::calls::Calls;

const TEXT: &str = r#"name = "page"
duration = "2s"
[links.uplink]
rate = "100mbit"
[links.bottleneck]
rate = "5mbit"
delay = "10ms"
buffer = "60kB"
[[flows]]
count = 2
path = ["uplink", "bottleneck"]
rtt = "40ms"
app = { kind = "bulk" }
"#;

fn call(calls: &mut Calls, request: &Value) -> Value {
    serde_json::from_str(&calls.answer(&request.to_string())).expect("answers are JSON")
}

fn open(calls: &mut Calls, aqm: &str) -> Value {
    call(calls, &json!({ "call": "open", "text": TEXT, "aqm": aqm }))["ok"].take()
}

#[test]
fn the_slowest_link_of_the_path_is_watched() {
    assert_eq!(open(&mut Calls::default(), "codel")["link"], "bottleneck");
}

#[test]
fn samples_have_a_value_for_each_variable_behind_their_time() {
    let mut calls = Calls::default();
    let opened = open(&mut calls, "pie");
    let vars = opened["vars"].as_array().expect("a list").len();
    let advance = json!({ "call": "advance", "session": 1, "until_s": 1.0, "events": 1_000_000 });
    let taken = call(&mut calls, &advance)["ok"].take();
    let samples = taken["samples"].as_array().expect("a list");
    assert!(samples.len() > 50);
    assert!(samples.iter().all(|row| row.as_array().expect("a row").len() == vars + 1));
    assert_eq!(taken["now_s"], 1.0);
    assert!(taken["waiting_count"].as_u64() > Some(0));
}

#[test]
fn a_drop_names_its_rule_and_the_state_before_it() {
    let mut calls = Calls::default();
    open(&mut calls, "codel:target=1ms");
    let advance = json!({ "call": "advance", "session": 1, "until_s": 2.0, "events": 1_000_000 });
    let taken = call(&mut calls, &advance)["ok"].take();
    let signals = taken["signals"].as_array().expect("a list");
    let drop = signals.iter().find(|one| one["stage"] == "dequeue").expect("CoDel drops");
    assert!(drop["rule"].as_str().expect("a text").contains("above the target"));
    let vars = taken["signal_vars"].as_array().expect("a list").len();
    assert_eq!(drop["state"].as_array().expect("a list").len(), vars);
}

#[test]
fn an_error_has_the_line_of_its_text_and_leaves_other_sessions_alone() {
    let mut calls = Calls::default();
    open(&mut calls, "codel");
    let text = TEXT.replace("5mbit", "fast");
    let error = call(&mut calls, &json!({ "call": "open", "text": text }))["error"].take();
    assert_eq!(error["line"], 6);
    let refused = call(&mut calls, &json!({ "call": "set_queue", "session": 1, "aqm": "codle" }));
    assert!(refused["error"]["message"].as_str().expect("a text").contains("codel"));
    let finish = call(&mut calls, &json!({ "call": "finish", "session": 1 }));
    assert!(finish["error"]["message"].as_str().expect("a text").contains("not ended"));
}

#[test]
fn more_flows_than_a_page_can_show_are_refused() {
    let text = TEXT.replace("count = 2", "count = 10000000");
    let answer = call(&mut Calls::default(), &json!({ "call": "check", "text": text }));
    let message = answer["error"]["message"].as_str().expect("a refusal");
    assert!(message.contains("10000"), "{message}");
}

#[test]
fn the_catalogue_has_a_default_with_its_source_for_every_parameter_and_dialect() {
    let catalogue = call(&mut Calls::default(), &json!({ "call": "catalogue" }))["ok"].take();
    for aqm in catalogue["aqms"].as_array().expect("a list") {
        for param in aqm["params"].as_array().expect("a list") {
            for dialect in aqm["dialects"].as_array().expect("a list") {
                let name = dialect["name"].as_str().expect("a name");
                let missing = format!("{} {} {name}", aqm["name"], param["name"]);
                assert!(param["defaults"][name].is_string(), "{missing}");
                assert!(param["sources"][name].is_string(), "{missing}");
            }
        }
    }
}
