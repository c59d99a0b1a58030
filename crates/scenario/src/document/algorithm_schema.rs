//! The JSON Schema of an AQM, built from the registry, and the schema of a congestion control.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use sojourn_aqm::params::{self, ParamSpec};

use crate::aqms::{self, AqmInfo};

/// The schema of a link's `queue`: a text, or one table for each AQM.
pub(super) fn queue(generator: &mut SchemaGenerator) -> Schema {
    let text = json!({
        "type": "string",
        "description": "`kind[@dialect][:parameter=value,...]`, such as `pie@linux:target=5ms`",
    });
    let mut branches = vec![text];
    for aqm in AqmInfo::all() {
        let name = aqms::class_name(&aqm.name);
        branches.push(json!({ "$ref": format!("#/$defs/{name}") }));
        generator.definitions_mut().insert(name, table(&aqm));
    }
    branches.push(composed());
    let queue = json!({
        "description": "An AQM: a text such as `pie@linux:target=5ms`, or a table.",
        "oneOf": branches,
    });
    generator.definitions_mut().insert("Queue".to_owned(), queue);
    json_schema!({ "$ref": "#/$defs/Queue", "default": "taildrop" })
}

/// The schema of a class's queue.
pub(super) fn class_queue(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "$ref": "#/$defs/Queue" })
}

/// The schema of `cc`. The engine checks the kind.
pub(super) fn congestion_control(generator: &mut SchemaGenerator) -> Schema {
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

fn table(aqm: &AqmInfo) -> Value {
    let mut properties = Map::new();
    properties.insert("kind".to_owned(), json!({ "type": "string", "const": aqm.name }));
    let dialects: Vec<&str> = aqm.dialect_words().map(|(name, _)| name).collect();
    let described: Vec<String> =
        aqm.dialect_words().map(|(name, doc)| format!("`{name}`: {doc}")).collect();
    properties.insert(
        "dialect".to_owned(),
        json!({
            "type": "string",
            "enum": dialects,
            "default": dialects[0],
            "description": format!("Which published way to build it. {}.", described.join("; ")),
        }),
    );
    for param in aqm.params() {
        properties.insert(param.name.to_owned(), parameter(aqm, param));
    }
    json!({
        "type": "object",
        "description": format!("{}.", aqm.doc.trim_end_matches('.')),
        "properties": properties,
        "required": ["kind"],
        "additionalProperties": false,
    })
}

/// Any law in flow queues, such as `fq(pie)`. The table takes the parameters of both, which are
/// checked when the scenario is resolved.
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

fn parameter(aqm: &AqmInfo, param: &ParamSpec) -> Value {
    let mut schema = value_of(param);
    let mut description = param.doc.trim().to_owned();
    if param.rule != "any value" {
        description += &format!(" It {}.", param.rule);
    }
    let dialect = aqm.dialects[0].name;
    let default = aqm.default_of(dialect, param.name);
    description += &format!(" Source: {}.", aqm.source_of(dialect, param));
    for other in &aqm.dialects[1..] {
        let value = aqm.default_of(other.name, param.name);
        if value != default {
            let source = aqm.source_of(other.name, param);
            description += &format!(" In `{}`: `{value}` ({source}).", other.name);
        }
    }
    schema["description"] = json!(description);
    schema["default"] = default_value(param, default);
    schema
}

fn value_of(param: &ParamSpec) -> Value {
    let absent = param.absent.map(|word| format!("|{word}")).unwrap_or_default();
    let with_unit = |sign: &str, unit: &str| {
        let number = r"[0-9]+(\.[0-9]*)? *";
        let pattern = format!("^({sign}{number}({unit}){absent})$");
        json!({ "type": "string", "pattern": pattern })
    };
    let plain = |value: Value| match param.absent {
        None => value,
        Some(word) => json!({ "anyOf": [value, { "type": "string", "const": word }] }),
    };
    match param.kind {
        params::ValueKind::Span => with_unit("", "ns|us|ms|s"),
        params::ValueKind::Rate => with_unit("", "bit|kbit|mbit|gbit"),
        params::ValueKind::Bytes => with_unit("", "B|kB|MB|GB|KiB|MiB|GiB"),
        params::ValueKind::SignedBytes => with_unit("-?", "B|kB|MB|GB|KiB|MiB|GiB"),
        params::ValueKind::Limit => with_unit("", "p|B|kB|MB|GB|KiB|MiB|GiB"),
        params::ValueKind::Hertz => json!({
            "type": "string",
            "pattern": format!(r"^([-+0-9.]+ *[hH][zZ]{absent})$"),
        }),
        params::ValueKind::Number => plain(json!({ "type": "number" })),
        params::ValueKind::Whole => plain(json!({ "type": "integer", "minimum": 0 })),
        params::ValueKind::Bool => plain(json!({ "type": "boolean" })),
        params::ValueKind::Word => {
            let words = param.words.iter().copied().chain(param.absent);
            json!({ "type": "string", "enum": words.collect::<Vec<_>>() })
        }
    }
}

/// The default as a value of the parameter's type.
fn default_value(param: &ParamSpec, text: String) -> Value {
    match param.kind {
        params::ValueKind::Number | params::ValueKind::Whole | params::ValueKind::Bool => {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
        _ => Value::String(text),
    }
}
