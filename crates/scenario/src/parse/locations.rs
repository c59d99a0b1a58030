//! Locates keys in a scenario's text.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::Lines;

/// The text in which errors look up the lines of keys, the keys that overrides have set, and what
/// a topology has generated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locations<'a> {
    origin: &'a str,
    text: &'a str,
    overridden: BTreeSet<String>,
    /// The path of each generated table's origin, by the path of the table.
    generated: BTreeMap<String, String>,
}

impl<'a> Locations<'a> {
    /// `origin` is the file's name or empty; `text` is its TOML, or empty if lines are unknown.
    pub(crate) fn new(origin: &'a str, text: &'a str) -> Locations<'a> {
        Locations { origin, text, ..Locations::default() }
    }

    /// The text of [`Locations::new`].
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Records that an override has set a dotted path.
    pub(super) fn set_overridden(&mut self, path: String) {
        self.overridden.insert(path);
    }

    /// Records the origins of generated tables.
    pub(super) fn set_generated(&mut self, generated: BTreeMap<String, String>) {
        self.generated = generated;
    }

    /// Adds file and line to a dotted path: `demo.toml:12: links.bottleneck.rate`. A path that is
    /// not in the text gets the line of the nearest enclosing table or list; a path in a generated
    /// table gets the place of the table's origin.
    pub(crate) fn locate(&self, path: &str) -> String {
        for part in ancestors(path) {
            if self.overridden.contains(part) {
                break;
            }
            if let Some(written) = self.generated.get(part) {
                return self.locate_written(&format!("{written}{}", &path[part.len()..]));
            }
        }
        self.locate_written(path)
    }

    fn locate_written(&self, path: &str) -> String {
        let lines = Lines::of(self.text);
        for part in ancestors(path) {
            if self.overridden.contains(part) {
                return format!("--set {path}");
            }
            if let Some(line) = lines.line(part) {
                return format!("{}: {path}", self.line(line));
            }
        }
        match (self.origin, path) {
            ("", path) => path.to_owned(),
            (origin, "") => origin.to_owned(),
            (origin, path) => format!("{origin}: {path}"),
        }
    }

    /// A line of the file in the form that error messages use.
    pub(super) fn line(&self, line: usize) -> String {
        match self.origin {
            "" => format!("line {line}"),
            origin => format!("{origin}:{line}"),
        }
    }
}

/// The path itself, then everything that contains it: `a.b[0]`, `a.b`, `a`.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices(['.', '[']).map(|(end, _)| end).collect::<Vec<_>>();
    std::iter::once(path).chain(ends.into_iter().rev().map(|end| &path[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locations(origin: &str) -> Locations<'_> {
        let mut locations = Locations::new(origin, "\n\n[links.a]\nrate = \"1mbit\"\n");
        locations.set_overridden("links.a.delay".to_owned());
        locations
    }

    #[test]
    fn a_path_has_its_own_line_or_that_of_the_nearest_table_around_it() {
        let demo = locations("demo.toml");
        assert_eq!(demo.locate("links.a.rate"), "demo.toml:4: links.a.rate");
        assert_eq!(
            demo.locate("links.a.rate.steps[1][0]"),
            "demo.toml:4: links.a.rate.steps[1][0]"
        );
        assert_eq!(demo.locate("links.a.buffer"), "demo.toml:3: links.a.buffer");
        assert_eq!(demo.locate("flows"), "demo.toml: flows");
        assert_eq!(demo.locate(""), "demo.toml");
    }

    #[test]
    fn an_overridden_path_is_named_as_on_the_command_line() {
        assert_eq!(locations("demo.toml").locate("links.a.delay"), "--set links.a.delay");
        assert_eq!(locations("demo.toml").locate("links.a.delay.x"), "--set links.a.delay.x");
    }

    #[test]
    fn a_text_without_a_file_has_lines_only() {
        assert_eq!(locations("").locate("links.a.rate"), "line 4: links.a.rate");
        assert_eq!(locations("").locate("flows"), "flows");
    }
}
