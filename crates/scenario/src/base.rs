//! Makes many scenarios from one text: the points of a study differ only in a few overrides.

use serde_json::Value;

use crate::error::ScenarioError;
use crate::parse::{self, Format, Locations};
use crate::resolve::ReadFile;
use crate::scenario::{EngineCheck, Scenario};

/// A scenario's text, parsed once, from which scenarios with different overrides are made.
#[derive(Clone, Debug)]
pub struct ScenarioBase {
    root: Value,
    origin: String,
    /// The text in which errors look up lines; empty if its lines are unknown.
    text: String,
}

impl ScenarioBase {
    /// Parses a text. `origin` is the name of its file for error messages, or empty.
    ///
    /// # Errors
    /// [`ScenarioError`] with file and line.
    pub fn parse(text: &str, format: Format, origin: &str) -> Result<ScenarioBase, ScenarioError> {
        let (root, locations) = parse::tree(text, format, origin)?;
        let text = locations.text().to_owned();
        Ok(ScenarioBase { root, origin: origin.to_owned(), text })
    }

    /// The scenario that [`Scenario::load_for`] makes of the text with these overrides.
    ///
    /// # Errors
    /// [`ScenarioError`] with file, line, dotted path and remedy.
    pub fn with(
        &self,
        sets: &[(String, String)],
        read: &ReadFile<'_>,
        check: &EngineCheck<'_>,
    ) -> Result<Scenario, ScenarioError> {
        let mut locations = Locations::new(&self.origin, &self.text);
        let document = parse::over(self.root.clone(), sets, &mut locations)?;
        Scenario::of(document, &locations, read, check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Source;

    const TOML: &str = "name = \"demo\"\nduration = \"10s\"\n[links.a]\nrate = \"10mbit\"\n\
        buffer = \"100p\"\n[[flows]]\nname = \"x\"\npath = [\"a\"]\nrtt = \"100ms\"\n\
        app = { kind = \"bulk\" }\n";

    #[test]
    fn a_scenario_or_an_error_is_the_same_as_of_the_text_read_again() {
        let json = r#"{"name": "demo", "duration": "10s", "flows": [], "links": {}}"#;
        let cases = [
            (TOML, Format::Toml, "links.a.rate", "5mbit"),
            (TOML, Format::Toml, "flows.x.count", "3"),
            (TOML, Format::Toml, "flows.x.cuont", "3"),
            (TOML, Format::Toml, "links.b.rate", "5mbit"),
            (TOML, Format::Toml, "seed", "7"),
            // The error concerns a line of the text, not the override.
            (TOML, Format::Toml, "links.a.delay", "200ms"),
            (TOML, Format::Toml, "warmup", "10s"),
            (json, Format::Json, "seed", "7"),
        ];
        let no_traces = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let check = |_: &crate::Resolved| Ok(());
        for (text, format, key, value) in cases {
            let sets = [(key.to_owned(), value.to_owned())];
            let source = Source { format, origin: "demo", sets: &sets };
            let base = ScenarioBase::parse(text, format, "demo").unwrap();
            let found = base.with(&sets, &no_traces, &check);
            assert_eq!(found, Scenario::load(text, &source, &no_traces), "{key}={value}");
        }
    }

    #[test]
    fn a_text_that_is_not_toml_is_refused_with_its_line() {
        let error = ScenarioBase::parse("name = 1\nx x\n", Format::Toml, "demo").unwrap_err();
        assert!(error.to_string().starts_with("demo:2: not TOML"), "{error}");
    }
}
