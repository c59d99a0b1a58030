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

/// Parses a scenario's text and applies the overrides.
///
/// # Errors
/// [`ScenarioError`] with file, line and dotted path.
pub(crate) fn document<'a>(
    text: &'a str,
    source: &Source<'a>,
) -> Result<(Document, Locations<'a>), ScenarioError> {
    let (mut root, mut locations) = match source.format {
        Format::Toml => from_toml::parse(text, source.origin)?,
        Format::Json => from_json::parse(text, source.origin)?,
    };
    for (key, value) in source.sets {
        locations.set_overridden(overrides::apply(&mut root, key, value)?);
    }
    put_kinds_first(&mut root);
    let document = serde_errors::deserialize(root, &locations)?;
    Ok((document, locations))
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
