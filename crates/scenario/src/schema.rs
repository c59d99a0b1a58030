//! The JSON Schema of a scenario, derived from the types of the document.

use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use crate::document::Document;

/// The JSON Schema of a scenario, indented.
pub fn schema_json() -> String {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<Document>().to_value();
    tidy(&mut schema);
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}

/// Puts descriptions on one line and removes `null`: a setting is unset by leaving it out.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(table) => {
            without_null_branch(table);
            if let Some(Value::String(text)) = table.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            if let Some(Value::Array(types)) = table.get_mut("type") {
                types.retain(|name| name != "null");
                if let [one] = types.as_slice() {
                    table["type"] = one.clone();
                }
            }
            table.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// Reduces `anyOf: [X, null]`, which schemars writes for an optional value, to X.
fn without_null_branch(table: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = table.get("anyOf") else { return };
    let [Value::Object(value), null] = branches.as_slice() else { return };
    if null["type"] == "null" {
        let value = value.clone();
        table.shift_remove("anyOf");
        table.extend(value);
    }
}
