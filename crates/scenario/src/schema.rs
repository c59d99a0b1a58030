//! The JSON Schema of a scenario: from the document's types, and for queues from the registry.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use sojourn_aqm::params::{self, ParamSpec};

use crate::document::Document;
use crate::kinds::{self, Kind};

/// The JSON Schema of a scenario, indented.
pub fn schema_json() -> String {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<Document>().to_value();
    tidy(&mut schema);
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}

/// Descriptions on one line; no `null`: what is not set is left out.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(table) => {
            if let Some(Value::String(text)) = table.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            if let Some(Value::Array(types)) = table.get_mut("type") {
                types.retain(|name| name != "null");
                if let [one] = types.as_slice() {
                    table["type"] = one.clone();
                }
            }
            without_null_branch(table);
            table.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// `anyOf: [X, null]`, what schemars writes for an optional value, becomes X.
fn without_null_branch(table: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = table.get("anyOf") else { return };
    let [Value::Object(value), null] = branches.as_slice() else { return };
    if null["type"] == "null" {
        let value = value.clone();
        table.shift_remove("anyOf");
        table.extend(value);
    }
}

/// The schema of a link's `queue`: a text, or one table for each AQM.
pub(crate) fn queue(generator: &mut SchemaGenerator) -> Schema {
    let text = json!({
        "type": "string",
        "description": "`kind[@dialect][:parameter=value,...]`, such as `pie@linux:target=5ms`",
    });
    let mut branches = vec![text];
    for kind in kinds::all() {
        let name = class_name(&kind.name);
        branches.push(json!({ "$ref": format!("#/$defs/{name}") }));
        generator.definitions_mut().insert(name, table(&kind));
    }
    branches.push(composed());
    let queue = json!({
        "description": "An AQM: a text such as `pie@linux:target=5ms`, or a table.",
        "oneOf": branches,
    });
    generator.definitions_mut().insert("Queue".to_owned(), queue);
    json_schema!({ "$ref": "#/$defs/Queue", "default": "taildrop" })
}

/// The schema of `cc`; which kinds there are, the engine knows.
pub(crate) fn congestion_control(generator: &mut SchemaGenerator) -> Schema {
    let cc = json!({
        "description": "A congestion control: a text such as `cubic:hystart=false`, or a table.",
        "oneOf": [
            { "type": "string" },
            {
                "type": "object",
                "properties": { "kind": { "type": "string" }, "dialect": { "type": "string" } },
                "required": ["kind"],
                "additionalProperties": { "type": ["string", "number", "boolean"] },
            },
        ],
    });
    generator.definitions_mut().insert("CongestionControl".to_owned(), cc);
    json_schema!({ "$ref": "#/$defs/CongestionControl" })
}

/// `fq_codel` becomes `FqCodel`.
pub fn class_name(kind: &str) -> String {
    let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    kind.split('_').filter(|word| !word.is_empty()).map(capital).collect()
}

fn table(kind: &Kind) -> Value {
    let mut properties = Map::new();
    properties.insert("kind".to_owned(), json!({ "type": "string", "const": kind.name }));
    let dialects: Vec<&str> = kind.dialects.iter().map(|dialect| dialect.name).collect();
    let described: Vec<String> =
        kind.dialects.iter().map(|d| format!("`{}`: {}", d.name, d.doc)).collect();
    properties.insert(
        "dialect".to_owned(),
        json!({
            "type": "string",
            "enum": dialects,
            "default": dialects[0],
            "description": format!("Which published way to build it. {}.", described.join("; ")),
        }),
    );
    for param in kind.params() {
        properties.insert(param.name.to_owned(), parameter(kind, param));
    }
    json!({
        "type": "object",
        "description": format!("{}.", kind.doc.trim_end_matches('.')),
        "properties": properties,
        "required": ["kind"],
        "additionalProperties": false,
    })
}

/// Any law under flow queues, `fq(pie)`: its parameters are those of both, checked when it is read.
fn composed() -> Value {
    json!({
        "type": "object",
        "description": "A law inside a discipline, such as `fq(pie)`, with the parameters of both",
        "properties": {
            "kind": { "type": "string", "pattern": r"^[a-z0-9_]+\([a-z0-9_]+\)$" },
            "dialect": { "type": "string" },
        },
        "required": ["kind"],
        "additionalProperties": { "type": ["string", "number", "boolean"] },
    })
}

fn parameter(kind: &Kind, param: &ParamSpec) -> Value {
    let mut schema = value_of(param);
    let mut description = param.doc.trim().to_owned();
    if param.rule != "any value" {
        description += &format!(" It {}.", param.rule);
    }
    let dialect = kind.dialects[0].name;
    let default = kind.default_of(dialect, param.name);
    description += &format!(" Source: {}.", kind.source_of(dialect, param));
    for other in &kind.dialects[1..] {
        let value = kind.default_of(other.name, param.name);
        if value != default {
            let source = kind.source_of(other.name, param);
            description += &format!(" In `{}`: `{value}` ({source}).", other.name);
        }
    }
    schema["description"] = json!(description);
    schema["default"] = default_value(param, default);
    schema
}

fn value_of(param: &ParamSpec) -> Value {
    let absent = param.absent.map(|word| format!("|{word}")).unwrap_or_default();
    let written = |unit: &str| {
        let number = r"[0-9]+(\.[0-9]*)? *";
        let pattern = format!("^({number}({unit}){absent})$");
        json!({ "type": "string", "pattern": pattern })
    };
    let plain = |value: Value| match param.absent {
        None => value,
        Some(word) => json!({ "anyOf": [value, { "type": "string", "const": word }] }),
    };
    match param.kind {
        params::Kind::Span => written("ns|us|ms|s"),
        params::Kind::Rate => written("bit|kbit|mbit|gbit"),
        params::Kind::Bytes => written("B|kB|MB|GB|KiB|MiB|GiB"),
        params::Kind::Limit => written("p|B|kB|MB|GB|KiB|MiB|GiB"),
        params::Kind::Hertz => json!({
            "type": "string",
            "pattern": format!(r"^([-+0-9.]+ *[hH][zZ]{absent})$"),
        }),
        params::Kind::Number => plain(json!({ "type": "number" })),
        params::Kind::Whole => plain(json!({ "type": "integer", "minimum": 0 })),
        params::Kind::Bool => plain(json!({ "type": "boolean" })),
        params::Kind::Word => {
            let words = param.words.iter().copied().chain(param.absent);
            json!({ "type": "string", "enum": words.collect::<Vec<_>>() })
        }
    }
}

/// The default as a value of the parameter's type.
fn default_value(param: &ParamSpec, text: String) -> Value {
    match param.kind {
        params::Kind::Number | params::Kind::Whole | params::Kind::Bool => {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
        _ => Value::String(text),
    }
}
