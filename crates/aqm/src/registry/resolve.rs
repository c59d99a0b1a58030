//! From a text to a checked [`QdiscSpec`]: the discipline and law that a kind means.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::spec::{Discipline, QdiscSpec};
use super::{Preset, Role, entry, names, preset};
use crate::custom::{CustomLaw, CustomLaws};
use crate::params::{SpecError, SpecText};

impl QdiscSpec {
    /// Reads `kind[@dialect][:param=value,...]` and checks kind, dialect and every value.
    ///
    /// # Errors
    /// [`SpecError`] with the remedy.
    pub fn parse(text: &str) -> Result<QdiscSpec, SpecError> {
        QdiscSpec::parse_with(text, CustomLaws::NONE)
    }

    /// Like [`QdiscSpec::parse`]; the text may also name one of these custom laws.
    ///
    /// # Errors
    /// [`SpecError`] with the remedy.
    pub fn parse_with(text: &str, laws: &CustomLaws) -> Result<QdiscSpec, SpecError> {
        let SpecText { kind, dialect, settings } = SpecText::parse(text)?;
        QdiscSpec::new_with(&kind, dialect.as_deref(), settings, laws)
    }

    /// Builds a description from its parts, as in a scenario file. `kind` is `codel`, `fq_codel` or
    /// `fq(codel)`.
    ///
    /// # Errors
    /// [`SpecError`] with the remedy.
    pub fn new(
        kind: &str,
        dialect: Option<&str>,
        set_by_user: Vec<(String, String)>,
    ) -> Result<QdiscSpec, SpecError> {
        QdiscSpec::new_with(kind, dialect, set_by_user, CustomLaws::NONE)
    }

    /// Like [`QdiscSpec::new`]; `kind` may also name one of these laws: `MyLaw` or `fq(MyLaw)`.
    ///
    /// # Errors
    /// [`SpecError`] with the remedy.
    pub fn new_with(
        kind: &str,
        dialect: Option<&str>,
        set_by_user: Vec<(String, String)>,
        laws: &CustomLaws,
    ) -> Result<QdiscSpec, SpecError> {
        let (within, name) = around(kind);
        let custom = laws.get(name).cloned();
        let (discipline, preset, law) = match &custom {
            Some(law) => (within, None, law.name().to_owned()),
            None => read_kind(kind, laws)?,
        };
        let dialect = dialect.map(str::to_owned);
        let settings = set_by_user;
        let spec = QdiscSpec { discipline, preset, law, custom, dialect, settings };
        super::settings(&spec)?;
        Ok(spec)
    }
}

/// `sfq` is a scheme, `codel` a law in one queue, `fq(codel)` a law in flow queues, `fq_codel` a
/// preset of `fq(codel)`.
fn read_kind(
    kind: &str,
    laws: &CustomLaws,
) -> Result<(Discipline, Option<&'static str>, String), SpecError> {
    if let Some(preset) = preset(kind) {
        return Ok((Discipline::Fq, Some(preset.name), preset.law.to_owned()));
    }
    if kind.matches('(').count() != kind.matches(')').count() {
        let why = "brackets do not match; parameters follow them: `fq(pie):target=5ms`";
        return Err(SpecError::new("kind", format!("`{kind}`: {why}")));
    }
    let (discipline, name) = around(kind);
    let found = entry(name).map(|entry| (entry.role, entry.name));
    match (discipline, found, preset(name)) {
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
        (_, None, None) if name == "cake_mq" => {
            let why = "`cake_mq` (Linux 7.0) shares a rate among the transmit queues of an \
                       interface, and a link here has one; write `cake:bandwidth=RATE`";
            Err(SpecError::new("kind", why.to_owned()))
        }
        (_, None, None) => {
            let known = names().chain(laws.iter().map(CustomLaw::name));
            Err(SpecError::unknown_kind("AQM", name, known))
        }
    }
}

/// The name of a law, and its wrapper.
fn around(kind: &str) -> (Discipline, &str) {
    let within = kind.strip_prefix("fq(").and_then(|rest| rest.strip_suffix(')'));
    within.map_or((Discipline::Fifo, kind), |law| (Discipline::Fq, law.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::settings;
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

    /// Fact linux-33.
    #[test]
    fn cake_of_several_transmit_queues_is_refused_with_cake_of_one() {
        assert!(refusal("cake_mq:bandwidth=10mbit").contains("write `cake:bandwidth=RATE`"));
    }

    #[test]
    fn a_malformed_description_is_refused_with_one_clear_sentence() {
        for (text, sentence) in [
            ("pie:target=5ms,target=6ms", "`target` is set twice"),
            ("pie:", "`pie:` has an empty parameter; write `pie` or `pie:name=value,...`"),
            (
                "pie:,target=5ms",
                "`pie:,target=5ms` has an empty parameter; write `pie` or `pie:name=value,...`",
            ),
            ("pie@", "`pie@` names no dialect after `@`; write `pie` for the default"),
            (":target=1ms", "`:target=1ms` names no kind; write `kind` or `kind:name=value`"),
        ] {
            assert_eq!(refusal(text), sentence);
        }
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
            let settings = settings(&QdiscSpec::parse(text).unwrap()).unwrap();
            settings.into_iter().find(|(name, _)| *name == "ecn").unwrap().1
        };
        assert_eq!(ecn("fq(codel)"), "false");
        assert_eq!(ecn("fq_codel"), "true");
        assert_eq!(ecn("fq_codel:ecn=false"), "false");
    }
}
