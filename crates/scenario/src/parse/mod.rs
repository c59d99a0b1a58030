//! Converts text to the scenario as written: TOML or JSON, overrides, types.

mod from_json;
mod from_toml;
mod lines;
mod locations;
mod overrides;
mod serde_errors;

use serde_json::Value;

use crate::document::Document;
use crate::document::topology::Topology;
use crate::error::ScenarioError;
use crate::templates;
use crate::topology;

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

/// Applies overrides to a parsed text, and records the keys that they set in `locations`.
///
/// # Errors
/// [`ScenarioError`] with file, line and dotted path.
pub(crate) fn over(
    mut root: Value,
    sets: &[(String, String)],
    locations: &mut Locations<'_>,
) -> Result<Document, ScenarioError> {
    let is_in =
        |key: &str, table: &str| key.split(['.', '[']).next().is_some_and(|k| k.trim() == table);
    let has_topology =
        root.get("topology").is_some() || sets.iter().any(|(key, _)| is_in(key, "topology"));
    // Overrides may set keys of links that the topology generates, so these are applied later.
    let is_late = |key: &str| has_topology && key.contains('.') && is_in(key, "links");
    for (key, value) in sets.iter().filter(|(key, _)| !is_late(key)) {
        set(&mut root, key, value, locations)?;
    }
    match has_topology {
        true => expand(&mut root, locations)?,
        false => refuse_routes(&root, locations)?,
    }
    for (key, value) in sets.iter().filter(|(key, _)| is_late(key)) {
        set(&mut root, key, value, locations)?;
    }
    put_kinds_first(&mut root);
    serde_errors::deserialize(root, locations)
}

/// Applies one override.
fn set(
    root: &mut Value,
    key: &str,
    value: &str,
    locations: &mut Locations<'_>,
) -> Result<(), ScenarioError> {
    let path = overrides::apply(root, key, value)?;
    templates::replace_keys(root, &path);
    locations.set_overridden(path);
    Ok(())
}

/// Generates the links and paths of a scenario's topology.
fn expand(root: &mut Value, locations: &mut Locations<'_>) -> Result<(), ScenarioError> {
    #[derive(serde::Deserialize)]
    struct OnlyTopology {
        topology: Topology,
    }
    let mut written = serde_json::json!({ "topology": root["topology"] });
    put_kinds_first(&mut written);
    let OnlyTopology { topology } = serde_errors::deserialize(written, locations)?;
    let origins = topology::expand(root, &topology)
        .map_err(|(place, message)| ScenarioError::new(locations.locate(&place), message))?;
    locations.set_generated(origins);
    Ok(())
}

/// Refuses routes in a scenario that has no topology.
fn refuse_routes(root: &Value, locations: &Locations<'_>) -> Result<(), ScenarioError> {
    let flows = root["flows"].as_array().map_or(&[][..], Vec::as_slice);
    let Some(index) = flows.iter().position(|group| group.get("route").is_some()) else {
        return Ok(());
    };
    let message = "needs a [topology]; without one, name the links in `path`";
    Err(ScenarioError::new(locations.locate(&format!("flows[{index}].route")), message))
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
