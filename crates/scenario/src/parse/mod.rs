//! Converts text to the scenario as written: TOML or JSON, overrides, types.

mod from_json;
mod from_toml;
mod lines;
mod locations;
mod overrides;
mod serde_errors;

use serde_json::Value;

use crate::document::Document;
use crate::error::ScenarioError;
use crate::templates;

pub use self::lines::line_of;
pub(crate) use self::locations::Locations;

/// The notation of a scenario's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// TOML.
    #[default]
    Toml,
    /// JSON of the same shape.
    Json,
}

/// The context of a scenario's text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'a> {
    /// The notation.
    pub format: Format,
    /// Name of the file, for error messages; empty if the text has no file.
    pub origin: &'a str,
    /// Dotted keys and TOML values that override the text, applied in order.
    pub sets: &'a [(String, String)],
}

/// Parses a scenario's text; [`over`] makes the scenario of it.
///
/// # Errors
/// [`ScenarioError`] with file and line.
pub(crate) fn tree<'a>(
    text: &'a str,
    format: Format,
    origin: &'a str,
) -> Result<(Value, Locations<'a>), ScenarioError> {
    match format {
        Format::Toml => from_toml::parse(text, origin),
        Format::Json => from_json::parse(text, origin),
    }
}

/// Applies overrides to a parsed text, and records in `locations` what they have set.
///
/// # Errors
/// [`ScenarioError`] with file, line and dotted path.
pub(crate) fn over(
    mut root: Value,
    sets: &[(String, String)],
    locations: &mut Locations<'_>,
) -> Result<Document, ScenarioError> {
    for (key, value) in sets {
        let path = overrides::apply(&mut root, key, value)?;
        templates::replace_keys(&mut root, &path);
        locations.set_overridden(path);
    }
    put_kinds_first(&mut root);
    serde_errors::deserialize(root, locations)
}

/// Moves the `kind` of every table to the front, where the visitors of tagged enums look for it.
fn put_kinds_first(value: &mut Value) {
    match value {
        Value::Object(table) => {
            if let Some(kind) = table.shift_remove("kind") {
                table.shift_insert(0, "kind".to_owned(), kind);
            }
            table.values_mut().for_each(put_kinds_first);
        }
        Value::Array(items) => items.iter_mut().for_each(put_kinds_first),
        _ => {}
    }
}
