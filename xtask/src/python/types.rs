//! Types: from JSON Schema to Python.

use serde_json::Value;

use super::layout::WIDTH;

/// Whether a schema becomes a class: a table with named keys only.
pub fn is_class(schema: &Value) -> bool {
    schema["type"] == "object"
        && schema["properties"].is_object()
        && schema["additionalProperties"] == false
}

/// The annotation of a value.
pub fn python_type(schema: &Value, definitions: &Value) -> String {
    alternatives(schema, definitions).join(" | ")
}

/// The types that a value may have, each once.
fn alternatives(schema: &Value, definitions: &Value) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        let is_text = definitions[name]["type"] == "string";
        return vec![if is_text { "str" } else { name }.to_owned()];
    }
    if let Some(branches) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        return distinct(branches.iter().flat_map(|branch| alternatives(branch, definitions)));
    }
    if is_class(schema) {
        return vec![schema["title"].as_str().expect("an inline class has a title").to_owned()];
    }
    match &schema["type"] {
        Value::String(name) => vec![plain_type(name, schema, definitions)],
        Value::Array(names) => distinct(names.iter().map(|name| {
            plain_type(name.as_str().expect("a type has a name"), schema, definitions)
        })),
        _ => vec!["Any".to_owned()],
    }
}

fn plain_type(name: &str, schema: &Value, definitions: &Value) -> String {
    let of = |schema: &Value| python_type(schema, definitions);
    match name {
        "string" => match (schema["enum"].as_array(), &schema["const"]) {
            (Some(words), _) => literal(words, false),
            (None, Value::String(_)) => literal(std::slice::from_ref(&schema["const"]), false),
            _ => "str".to_owned(),
        },
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "array" => match schema["prefixItems"].as_array() {
            Some(items) => {
                format!("tuple[{}]", items.iter().map(of).collect::<Vec<_>>().join(", "))
            }
            None => format!("Sequence[{}]", of(&schema["items"])),
        },
        _ => format!("Mapping[str, {}]", of(&schema["additionalProperties"])),
    }
}

fn distinct(types: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in types {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

/// `Literal["a", "b"]`, one word per line if it would be too long.
pub fn literal(words: &[Value], one_per_line: bool) -> String {
    let words: Vec<String> = words.iter().map(Value::to_string).collect();
    match one_per_line {
        false => format!("Literal[{}]", words.join(", ")),
        true => {
            let lines: String = words.iter().map(|word| format!("    {word},\n")).collect();
            format!("Literal[\n{lines}]")
        }
    }
}

/// A named union of types.
pub fn alias(name: &str, schema: &Value, definitions: &Value) -> String {
    let types = alternatives(schema, definitions);
    let line = format!("{name}: TypeAlias = {}", types.join(" | "));
    let definition = match line.len() <= WIDTH {
        true => line,
        false => format!("{name}: TypeAlias = (\n    {}\n)", types.join("\n    | ")),
    };
    let about = schema["description"].as_str().unwrap_or_default();
    format!("\n\n# {about}\n{definition}\n")
}
