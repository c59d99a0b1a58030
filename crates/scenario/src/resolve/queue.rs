//! The AQM of a queue, and its limit.

use sojourn_aqm::{CustomLaws, Limit, QdiscSpec, SpecError, registry, units};

use super::{Checked, refuse};
use crate::document::algorithm::AlgorithmSpec;
use crate::error::{ScenarioError, join};

/// The queue of a link, with kind and parameters checked.
pub(crate) fn queue(place: &str, written: &AlgorithmSpec, laws: &CustomLaws) -> Checked<QdiscSpec> {
    let spec = match written {
        AlgorithmSpec::Text(text) if names_code(text) => return refuse(place, NO_CODE),
        AlgorithmSpec::Table(table) if names_code(&table.kind) => return refuse(place, NO_CODE),
        AlgorithmSpec::Text(text) => QdiscSpec::parse_with(text, laws),
        AlgorithmSpec::Table(table) => {
            let settings = table.settings_as_text();
            QdiscSpec::new_with(&table.kind, table.dialect.as_deref(), settings, laws)
        }
    };
    spec.map_err(|error| at(place, &error))
}

/// Opening somebody else's scenario must not run their program.
const NO_CODE: &str = "a scenario is data and names no code; give a custom law with --aqm, or as \
                       `aqms` in Python";

fn names_code(text: &str) -> bool {
    let kind = text.split(':').next().unwrap_or_default().trim().trim_end_matches(')');
    [".py", ".so", ".dylib"].iter().any(|ending| kind.ends_with(ending))
}

fn at(place: &str, error: &SpecError) -> ScenarioError {
    let place = if error.part.is_empty() { place.to_owned() } else { join(place, &error.part) };
    ScenarioError::new(place, error.message.clone())
}

/// The limit of a queue.
pub(super) fn limit(place: &str, queue: &QdiscSpec) -> Checked<Limit> {
    let settings = registry::settings(queue).map_err(|error| at(place, &error))?;
    let text = settings.iter().find(|(name, _)| *name == "limit").map(|(_, text)| text.as_str());
    let text = text.expect("every discipline has a limit");
    units::limit(text).map_err(|message| ScenarioError::new(place, message))
}
