//! An AQM as people write it, the same everywhere: `kind[@dialect][:param=value,...]`, and
//! `fq(kind)` for any law under flow queues.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::registry::{self, PRESETS, Preset, Role};

/// How queues are arranged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discipline {
    /// One queue.
    Fifo,
    /// Flow queues served in rounds.
    Fq,
    /// The scheme that `law` names arranges its queues itself.
    Own,
}

/// A discipline with its law and the parameters that were set; names are checked, values are not
/// yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QdiscSpec {
    /// How queues are arranged.
    pub discipline: Discipline,
    /// The preset it was named by, if any: `fq_codel`.
    pub preset: Option<&'static str>,
    /// The name of the law or scheme.
    pub law: String,
    /// The dialect, where one was named.
    pub dialect: Option<String>,
    /// The parameters that were set, in their order.
    pub settings: Vec<(String, String)>,
}

/// What is wrong with a description of an AQM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    /// The part it is about: `kind`, `dialect`, a parameter's name, or nothing for the whole.
    pub part: String,
    /// A sentence: what, and what would be right.
    pub message: String,
}

impl SpecError {
    /// An error about a part.
    pub fn new(part: &str, message: String) -> SpecError {
        SpecError { part: part.to_owned(), message }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for SpecError {}

impl QdiscSpec {
    /// Reads `kind[@dialect][:param=value,...]` and checks kind, dialect and every value.
    ///
    /// # Errors
    /// [`SpecError`] with what would be right.
    pub fn parse(text: &str) -> Result<QdiscSpec, SpecError> {
        let (head, settings) = match text.split_once(':') {
            Some((head, settings)) => (head, parse_settings(settings)?),
            None => (text, Vec::new()),
        };
        let (kind, dialect) = split_dialect(head.trim());
        QdiscSpec::new(&kind, dialect.as_deref(), settings)
    }

    /// From parts, as a scenario file gives them. `kind` is `codel`, `fq_codel` or `fq(codel)`.
    ///
    /// # Errors
    /// [`SpecError`] with what would be right.
    pub fn new(
        kind: &str,
        dialect: Option<&str>,
        settings: Vec<(String, String)>,
    ) -> Result<QdiscSpec, SpecError> {
        let (discipline, preset, law) = read_kind(kind)?;
        let dialect = dialect.map(str::to_owned);
        let spec = QdiscSpec { discipline, preset, law, dialect, settings };
        registry::settings(&spec)?;
        Ok(spec)
    }

    /// The kind as it is written: `codel`, `fq_codel`, `fq(madpie)`.
    pub fn kind(&self) -> String {
        match (self.preset, self.discipline) {
            (Some(preset), _) => preset.to_owned(),
            (None, Discipline::Fifo | Discipline::Own) => self.law.clone(),
            (None, Discipline::Fq) => format!("fq({})", self.law),
        }
    }

    /// Sets a parameter the user left alone; returns false, changing nothing, if the user had set
    /// it.
    pub fn set_default(&mut self, name: &str, text: &str) -> bool {
        let free = self.settings.iter().all(|(set, _)| set != name);
        if free {
            self.settings.push((name.to_owned(), text.to_owned()));
        }
        free
    }

    pub(crate) fn preset_settings(&self, dialect: &str) -> impl Iterator<Item = (&str, &str)> {
        let preset = self.preset.and_then(|name| PRESETS.iter().find(|p| p.name == name));
        preset
            .into_iter()
            .flat_map(move |preset| preset.settings_of(dialect))
            .map(|setting| (setting.name, setting.value))
    }

    pub(crate) fn set_by_user(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

impl fmt::Display for QdiscSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind())?;
        if let Some(dialect) = &self.dialect {
            write!(f, "@{dialect}")?;
        }
        for (i, (name, text)) in self.settings.iter().enumerate() {
            write!(f, "{}{name}={text}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

/// `pie@linux` and `fq(pie@linux)` alike give the kind and the dialect.
fn split_dialect(head: &str) -> (String, Option<String>) {
    match head.split_once('@') {
        None => (head.to_owned(), None),
        Some((kind, rest)) => match rest.strip_suffix(')') {
            Some(dialect) if kind.contains('(') => (format!("{kind})"), Some(dialect.to_owned())),
            _ => (kind.to_owned(), Some(rest.to_owned())),
        },
    }
}

fn parse_settings(text: &str) -> Result<Vec<(String, String)>, SpecError> {
    let mut settings: Vec<(String, String)> = Vec::new();
    for item in text.split(',') {
        let (name, value) = item.split_once('=').ok_or_else(|| {
            SpecError::new("", format!("`{item}` is not `name=value`; separate them with commas"))
        })?;
        let (name, value) = (name.trim(), value.trim());
        if settings.iter().any(|(set, _)| set == name) {
            return Err(SpecError::new(name, format!("`{name}` is set twice")));
        }
        settings.push((name.to_owned(), value.to_owned()));
    }
    Ok(settings)
}

/// `sfq` is a scheme, `codel` a law in one queue, `fq(codel)` under flow queues, `fq_codel` a preset of the latter.
fn read_kind(kind: &str) -> Result<(Discipline, Option<&'static str>, String), SpecError> {
    if let Some(preset) = registry::preset(kind) {
        return Ok((Discipline::Fq, Some(preset.name), preset.law.to_owned()));
    }
    if kind.matches('(').count() != kind.matches(')').count() {
        let why = "brackets do not match; parameters follow them: `fq(pie):target=5ms`";
        return Err(SpecError::new("kind", format!("`{kind}`: {why}")));
    }
    let within = kind.strip_prefix("fq(").and_then(|rest| rest.strip_suffix(')'));
    let (discipline, name) =
        within.map_or((Discipline::Fifo, kind), |law| (Discipline::Fq, law.trim()));
    let found = registry::entry(name).map(|entry| (entry.role, entry.name));
    match (discipline, found, registry::preset(name)) {
        (_, Some((Role::Law, law)), _) => Ok((discipline, None, law.to_owned())),
        (Discipline::Fifo, Some((Role::Scheme, scheme)), _) => {
            Ok((Discipline::Own, None, scheme.to_owned()))
        }
        (_, Some((Role::Scheme, scheme)), _) => {
            let why = format!("`{scheme}` arranges its queues itself; write `{scheme}`");
            Err(SpecError::new("kind", why))
        }
        (_, None, Some(Preset { name, law, .. })) => {
            let why = format!("`{name}` has flow queues already; write `{name}` or `fq({law})`");
            Err(SpecError::new("kind", why))
        }
        (_, None, None) => Err(registry::unknown_law(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn refusal(text: &str) -> String {
        QdiscSpec::parse(text).unwrap_err().message
    }

    #[test]
    fn a_law_in_one_queue_under_flow_queues_and_a_preset_are_three_things() {
        let kinds = |text| {
            let spec = QdiscSpec::parse(text).unwrap();
            (spec.discipline, spec.preset, spec.law.clone(), spec.kind())
        };
        let codel = || "codel".to_owned();
        assert_eq!(kinds("codel"), (Discipline::Fifo, None, codel(), codel()));
        assert_eq!(kinds("fq(codel)"), (Discipline::Fq, None, codel(), "fq(codel)".to_owned()));
        let preset = (Discipline::Fq, Some("fq_codel"), codel(), "fq_codel".to_owned());
        assert_eq!(kinds("fq_codel"), preset);
    }

    #[test]
    fn the_dialect_may_stand_inside_or_behind_the_parentheses() {
        let inside = QdiscSpec::parse("fq(pie@rfc8033):target=5ms").unwrap();
        let behind = QdiscSpec::parse("fq(pie)@rfc8033:target=5ms").unwrap();
        assert_eq!(inside, behind);
        assert_eq!(inside.to_string(), "fq(pie)@rfc8033:target=5ms");
    }

    #[test]
    fn text_is_read_back_as_the_same_spec() {
        for text in ["pie", "fq(madpie)", "fq_codel:target=7ms,flows=32", "codel@rfc8289:ecn=true"]
        {
            let spec = QdiscSpec::parse(text).unwrap();
            assert_eq!(spec.to_string(), text);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_known_one() {
        assert!(refusal("coddel").contains("did you mean `codel`"));
        assert!(refusal("fq(madpi)").contains("did you mean `madpie`"));
        assert!(refusal("fq_codle").contains("did you mean `fq_codel`"));
        assert!(refusal("pie:targt=5ms").contains("did you mean `target`"));
        assert!(refusal("pie@rfc8O33").contains("did you mean `rfc8033`"));
    }

    #[test]
    fn brackets_that_do_not_match_are_refused_with_the_form_that_would() {
        for text in ["fq(pie", "fq(pie:target=5ms)", "pie)"] {
            assert!(refusal(text).contains("`fq(pie):target=5ms`"), "{}", refusal(text));
        }
    }

    #[test]
    fn flow_queues_under_flow_queues_are_refused() {
        assert!(refusal("fq(fq_codel)").contains("has flow queues already"));
        assert!(refusal("fq(sfq)").contains("arranges its queues itself"));
    }

    #[test]
    fn presets_bring_their_own_defaults_and_the_user_has_the_last_word() {
        let ecn = |text| {
            let settings = registry::settings(&QdiscSpec::parse(text).unwrap()).unwrap();
            settings.into_iter().find(|(name, _)| *name == "ecn").unwrap().1
        };
        assert_eq!(ecn("fq(codel)"), "false");
        assert_eq!(ecn("fq_codel"), "true");
        assert_eq!(ecn("fq_codel:ecn=false"), "false");
    }
}
