//! The schema agrees with the parser.

use serde_json::{Value, json};
use sojourn_aqm::QdiscSpec;
use sojourn_scenario::aqms::{AqmInfo, class_name};
use sojourn_scenario::{Format, Scenario, Source, schema_json};

fn schema() -> Value {
    serde_json::from_str(&schema_json()).unwrap()
}

fn load(scenario: &Value) -> Scenario {
    let source = Source { format: Format::Json, ..Source::default() };
    let no_trace = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Scenario::load(&scenario.to_string(), &source, &no_trace)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn demo() -> Value {
    json!({
        "name": "demo", "duration": "10s",
        "links": {"a": {"rate": "10mbit"}},
        "flows": [{"path": ["a"], "rtt": "100ms", "app": {"kind": "bulk"}}],
    })
}

/// Writes every default of a table of the schema into a table of a scenario.
fn with_defaults(written: &mut Value, properties: &Value) {
    for (key, property) in properties.as_object().unwrap() {
        if let Some(default) = property.get("default") {
            written[key] = default.clone();
        }
    }
}

#[test]
fn defaults_in_the_schema_are_those_of_the_parser() {
    let (schema, mut explicit) = (schema(), demo());
    with_defaults(&mut explicit, &schema["properties"]);
    with_defaults(&mut explicit["links"]["a"], &schema["$defs"]["Link"]["properties"]);
    with_defaults(&mut explicit["flows"][0], &schema["$defs"]["FlowGroup"]["properties"]);
    assert_eq!(explicit["flows"][0]["header"], "52B", "defaults were written");
    assert_eq!(load(&explicit).resolved_json(), load(&demo()).resolved_json());
}

#[test]
fn every_aqm_is_a_branch_of_queue_with_legal_defaults() {
    let schema = schema();
    let branches = schema["$defs"]["Queue"]["oneOf"].as_array().unwrap();
    for kind in AqmInfo::all() {
        let name = class_name(&kind.name);
        assert!(branches.contains(&json!({"$ref": format!("#/$defs/{name}")})), "{name}");
        let mut queue = json!({});
        with_defaults(&mut queue, &schema["$defs"][&name]["properties"]);
        queue["kind"] = json!(kind.name);
        let mut scenario = demo();
        scenario["links"]["a"]["queue"] = queue;
        let explicit = load(&scenario);
        scenario["links"]["a"]["queue"] = json!(kind.name);
        assert_eq!(explicit.resolved_json(), load(&scenario).resolved_json(), "{name}");
    }
}

#[test]
fn every_dialect_has_a_value_and_a_source_for_every_parameter() {
    for kind in AqmInfo::all() {
        for (dialect, param) in
            kind.dialects.iter().flat_map(|d| kind.params().map(move |param| (d.name, param)))
        {
            let setting = (param.name.to_owned(), kind.default_of(dialect, param.name));
            QdiscSpec::new(&kind.name, Some(dialect), vec![setting]).unwrap();
            assert!(!kind.source_of(dialect, param).is_empty());
        }
    }
}

#[test]
fn descriptions_are_on_one_line() {
    fn broken<'s>(schema: &'s Value, found: &mut Vec<&'s str>) {
        let description = schema["description"].as_str();
        found.extend(description.filter(|text| text.contains('\n')));
        let inner = schema.as_object().into_iter().flat_map(|table| table.values());
        for value in inner.chain(schema.as_array().into_iter().flatten()) {
            broken(value, found);
        }
    }
    let (schema, mut found) = (schema(), Vec::new());
    broken(&schema, &mut found);
    assert_eq!(found, [""; 0]);
}

#[test]
fn no_description_is_missing() {
    fn undescribed(schema: &Value, path: &str, found: &mut Vec<String>) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            if property["description"].is_null() && key != "kind" {
                found.push(format!("{path}.{key}"));
            }
        }
    }
    let (schema, mut found) = (schema(), Vec::new());
    undescribed(&schema, "", &mut found);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        if definition["additionalProperties"] == false {
            undescribed(definition, name, &mut found);
        }
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn the_time_between_samples_has_its_own_definition() {
    let schema = schema();
    assert_eq!(schema["$defs"]["Record"]["properties"]["sample"]["$ref"], "#/$defs/Sample");
    assert_eq!(schema["$defs"]["Sample"]["examples"], json!(["auto", "10ms"]));
}

#[test]
fn a_congestion_control_is_a_text_or_a_table_with_a_kind() {
    let schema = schema();
    let cc = &schema["$defs"]["FlowGroup"]["properties"]["cc"]["$ref"];
    assert_eq!(cc, "#/$defs/CongestionControl");
    let forms = schema["$defs"]["CongestionControl"]["oneOf"].as_array().unwrap();
    let types: Vec<_> = forms.iter().map(|form| &form["type"]).collect();
    assert_eq!(types, ["string", "object"]);
    assert_eq!(forms[1]["required"], json!(["kind"]));
}

/// Unset keys are left out, so no key may be `null`.
#[test]
fn nothing_in_the_schema_is_null() {
    fn has_null(schema: &Value) -> bool {
        let inner = schema.as_object().into_iter().flat_map(|table| table.values());
        let mut inner = inner.chain(schema.as_array().into_iter().flatten());
        schema["type"] == "null" || inner.any(has_null)
    }
    let schema = schema();
    assert!(!has_null(&schema));
    let buffer = &schema["$defs"]["Link"]["properties"]["buffer"];
    assert_eq!(buffer["$ref"], "#/$defs/Buffer", "{buffer}");
}

#[test]
fn the_value_of_a_parameter_has_the_type_that_its_kind_is_written_in() {
    let schema = schema();
    let of = |aqm: &str, param: &str| schema["$defs"][aqm]["properties"][param].clone();
    assert_eq!(of("Pie", "ecn")["type"], "boolean");
    assert_eq!(of("Pie", "ecn_mark_limit")["type"], "number");
    assert_eq!(of("Pie", "target")["pattern"], r"^([0-9]+(\.[0-9]*)? *(ns|us|ms|s))$");
    assert_eq!(of("Pie", "alpha")["pattern"], r"^([-+0-9.]+ *[hH][zZ])$");
    assert_eq!(of("Pie", "delay")["enum"], json!(["stamps", "rate"]));
    // `auto` is an alternative to the number.
    assert_eq!(of("Choke", "min_th")["anyOf"][0]["type"], "integer");
    assert_eq!(of("Choke", "min_th")["anyOf"][1]["const"], "auto");
}

#[test]
fn a_law_under_flow_queues_may_be_a_table_too() {
    let schema = schema();
    let branches = schema["$defs"]["Queue"]["oneOf"].as_array().unwrap();
    let composed = branches.last().unwrap();
    assert_eq!(composed["type"], "object", "{composed}");
    assert_eq!(composed["required"], json!(["kind"]), "{composed}");
}

#[test]
fn settings_of_engines_are_written_only_if_they_differ_from_the_defaults() {
    let written = |scenario: &Value| -> Value {
        serde_json::from_str(&load(scenario).document_json()).unwrap()
    };
    assert!(written(&demo()).get("engine").is_none());
    let mut other = demo();
    other["engine"] = json!({ "linux": { "hz": 250 } });
    assert_eq!(written(&other)["engine"]["linux"]["hz"], 250);
}
