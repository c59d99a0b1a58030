//! Typed Python dataclasses from the JSON Schema of a scenario.

pub mod layout;
mod types;

use serde_json::{Map, Value};

use layout::{attribute, paragraph, python_name};
use types::{alias, is_class, literal, python_type};

/// The text before the generated classes.
const HEAD: &str = include_str!("../templates/scenario.py");

/// The title of the root type.
const ROOT: &str = "Scenario";

/// The module `sojourn.scenario`.
pub fn module(schema: &Value) -> String {
    let mut writer = Writer { definitions: &schema["$defs"], ..Writer::default() };
    writer.visit(schema);
    writer.class(ROOT, "_Document", schema);
    let mut names = writer.names;
    names.sort();
    let names: String = names.iter().map(|name| format!("    \"{name}\",\n")).collect();
    let (before, after) = HEAD.split_once("\n\n\ndef ").expect("imports come before functions");
    let exports = format!("{before}\n\n__all__ = [\n{names}]\n\n\ndef {}", after.trim_end());
    exports + "\n" + &writer.text
}

/// Writes each definition once, after its dependencies.
struct Writer<'s> {
    definitions: &'s Value,
    names: Vec<String>,
    text: String,
}

impl Default for Writer<'_> {
    fn default() -> Self {
        Writer { definitions: &Value::Null, names: Vec::new(), text: String::new() }
    }
}

impl<'s> Writer<'s> {
    /// Writes the types that a schema refers to, and the tables with a title inside it.
    fn visit(&mut self, schema: &'s Value) {
        if let Value::Array(items) = schema {
            items.iter().for_each(|item| self.visit(item));
        }
        let Value::Object(table) = schema else { return };
        if let Some(Value::String(reference)) = table.get("$ref") {
            self.define(reference.rsplit('/').next().expect("a reference has a name"));
        }
        let parts = table.iter().filter(|(key, _)| *key != "$defs");
        parts.for_each(|(_, part)| self.visit(part));
        let title = table.get("title").and_then(Value::as_str).filter(|_| is_class(schema));
        match title {
            None | Some(ROOT) => {}
            Some(title) if self.names.iter().any(|written| written == title) => {}
            Some(title) => self.class(title, "_Part", schema),
        }
    }

    fn define(&mut self, name: &'s str) {
        let schema = &self.definitions[name];
        if self.names.iter().any(|written| written == name) || schema["type"] == "string" {
            return; // texts with units are `str`
        }
        self.visit(schema);
        match is_class(schema) {
            true if self.is_aqm(name) => self.class(name, "_Aqm", schema),
            true => self.class(name, "_Part", schema),
            false => {
                self.names.push(name.to_owned());
                self.text += &alias(name, schema, self.definitions);
            }
        }
    }

    fn is_aqm(&self, name: &str) -> bool {
        let branches = self.definitions["Queue"]["oneOf"].as_array();
        let reference = format!("#/$defs/{name}");
        branches.is_some_and(|branches| branches.iter().any(|b| b["$ref"] == reference.as_str()))
    }

    fn class(&mut self, name: &str, base: &str, schema: &Value) {
        let nothing = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&nothing);
        let fields = || properties.iter().filter(|(key, _)| *key != "kind");
        let is_required = |key: &str| {
            schema["required"].as_array().is_some_and(|keys| keys.iter().any(|k| k == key))
        };
        let mut body = String::new();
        if let Some(kind) = schema["properties"]["kind"]["const"].as_str() {
            body += &format!("    _kind: ClassVar[str | None] = \"{kind}\"\n\n");
        }
        let mut aliases = String::new();
        for (key, value) in fields() {
            let (annotation, alias) = self.annotation(name, key, value);
            aliases += &alias;
            body += &match is_required(key) {
                true => format!("    {}: {annotation}\n", python_name(key)),
                false => format!("    {}: {annotation} | None = None\n", python_name(key)),
            };
        }
        let docs: String = fields().map(|(key, value)| attribute(key, value)).collect();
        let summary = paragraph(schema["description"].as_str().unwrap_or(name));
        self.text += &aliases;
        self.text += &format!(
            "\n\n@dataclass(frozen=True, slots=True, kw_only=True)\nclass {name}({base}):\n    \
             \"\"\"{summary}\n\n    Attributes:\n{docs}    \"\"\"\n\n{body}"
        );
        self.names.push(name.to_owned());
    }

    /// The type of a field; a list of words too long for its line becomes a named type.
    fn annotation(&self, class: &str, key: &str, value: &Value) -> (String, String) {
        let annotation = python_type(value, self.definitions);
        let line = format!("    {}: {annotation} | None = None", python_name(key));
        match value["enum"].as_array() {
            Some(words) if line.len() > layout::WIDTH => {
                let name = format!("_{class}{}", sojourn_scenario::aqms::class_name(key));
                let text = format!("\n\n{name}: TypeAlias = {}\n", literal(words, true));
                (name, text)
            }
            _ => (annotation, String::new()),
        }
    }
}
