//! The text form of a name with dialect and parameters, for AQMs and congestion controls.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::SpecError;

/// `kind[@dialect][:name=value,...]`, split into parts; nothing is looked up yet.
///
/// ```
/// use sojourn_aqm::params::SpecText;
///
/// let text = SpecText::parse("cubic@linux:beta=0.5").expect("well formed");
/// assert_eq!((text.kind.as_str(), text.dialect.as_deref()), ("cubic", Some("linux")));
/// assert!(SpecText::parse("cubic:beta=0.5,beta=0.6").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecText {
    /// The name: `cubic`, `fq(pie)`. Never empty.
    pub kind: String,
    /// The dialect, if the text names one; never empty.
    pub dialect: Option<String>,
    /// Names and values in the order of the text; no name occurs twice.
    pub settings: Vec<(String, String)>,
}

impl SpecText {
    /// Splits a text into parts. The dialect may stand inside the parentheses: `fq(pie@linux)` is
    /// `fq(pie)` in the dialect `linux`.
    ///
    /// # Errors
    /// [`SpecError`] with the correct form, if the kind or the dialect is empty, or if a setting is
    /// empty, lacks its `=` or its name, or occurs twice.
    pub fn parse(text: &str) -> Result<SpecText, SpecError> {
        let (head, settings) = match text.split_once(':') {
            Some((head, settings)) => (head.trim(), Some(settings)),
            None => (text.trim(), None),
        };
        let (kind, dialect) = split_dialect(head);
        if kind.is_empty() {
            let why = format!("`{text}` names no kind; write `kind` or `kind:name=value`");
            return Err(SpecError::new("kind", why));
        }
        if dialect.as_deref() == Some("") {
            let why =
                format!("`{head}` names no dialect after `@`; write `{kind}` for the default");
            return Err(SpecError::new("dialect", why));
        }
        let settings = match settings {
            Some(settings) => parse_settings(head, settings)?,
            None => Vec::new(),
        };
        Ok(SpecText { kind, dialect, settings })
    }
}

/// Splits `pie@linux` or `fq(pie@linux)` into kind and dialect.
fn split_dialect(head: &str) -> (String, Option<String>) {
    let Some((kind, rest)) = head.split_once('@') else {
        return (head.to_owned(), None);
    };
    let (kind, rest) = (kind.trim(), rest.trim());
    match rest.strip_suffix(')') {
        Some(dialect) if kind.contains('(') => {
            (format!("{kind})"), Some(dialect.trim().to_owned()))
        }
        _ => (kind.to_owned(), Some(rest.to_owned())),
    }
}

fn parse_settings(head: &str, text: &str) -> Result<Vec<(String, String)>, SpecError> {
    let mut settings: Vec<(String, String)> = Vec::new();
    for item in text.split(',') {
        if item.trim().is_empty() {
            let why = format!(
                "`{head}:{text}` has an empty parameter; write `{head}` or \
                               `{head}:name=value,...`"
            );
            return Err(SpecError::new("", why));
        }
        let (name, value) = match item.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => (name.trim(), value.trim()),
            _ => {
                let why = format!("`{item}` is not `name=value`; separate them with commas");
                return Err(SpecError::new("", why));
            }
        };
        if settings.iter().any(|(set, _)| set == name) {
            return Err(SpecError::new(name, format!("`{name}` is set twice")));
        }
        settings.push((name.to_owned(), value.to_owned()));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> SpecText {
        SpecText::parse(text).expect("well formed")
    }

    fn refusal(text: &str) -> SpecError {
        SpecText::parse(text).expect_err(text)
    }

    fn text(kind: &str, dialect: Option<&str>, settings: &[(&str, &str)]) -> SpecText {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        SpecText {
            kind: kind.to_owned(),
            dialect: dialect.map(str::to_owned),
            settings: settings.iter().map(owned).collect(),
        }
    }

    #[test]
    fn kind_dialect_and_settings_are_split_without_their_spaces() {
        assert_eq!(parsed("cubic"), text("cubic", None, &[]));
        assert_eq!(parsed(" cubic @ linux "), text("cubic", Some("linux"), &[]));
        let two = [("target", "5ms"), ("ecn", "true")];
        assert_eq!(parsed("pie@linux: target = 5ms , ecn=true"), text("pie", Some("linux"), &two));
    }

    #[test]
    fn only_the_first_equals_sign_of_a_setting_separates() {
        assert_eq!(parsed("x:a=b=c"), text("x", None, &[("a", "b=c")]));
        assert_eq!(parsed("x:a="), text("x", None, &[("a", "")]));
    }

    #[test]
    fn a_dialect_inside_the_parentheses_is_that_of_the_whole() {
        assert_eq!(parsed("fq(pie@linux)"), text("fq(pie)", Some("linux"), &[]));
        assert_eq!(parsed("fq( pie@ linux )"), text("fq( pie)", Some("linux"), &[]));
        assert_eq!(parsed("fq(pie)@linux"), text("fq(pie)", Some("linux"), &[]));
        assert_eq!(parsed("pie@linux)"), text("pie", Some("linux)"), &[]));
    }

    #[test]
    fn a_parameter_that_is_set_twice_is_refused_by_its_name() {
        let error = refusal("cubic:beta=0.5, beta =0.6");
        assert_eq!((error.part.as_str(), error.message.as_str()), ("beta", "`beta` is set twice"));
    }

    #[test]
    fn empty_parts_are_refused_with_the_form_that_would_be_right() {
        for (text, part, words) in [
            ("", "kind", "`` names no kind; write `kind` or `kind:name=value`"),
            (":beta=1", "kind", "`:beta=1` names no kind"),
            ("@linux", "kind", "`@linux` names no kind"),
            ("cubic@", "dialect", "`cubic@` names no dialect after `@`; write `cubic`"),
            ("fq(pie@)", "dialect", "`fq(pie@)` names no dialect after `@`; write `fq(pie)`"),
            ("cubic:", "", "`cubic:` has an empty parameter; write `cubic` or `cubic:name=value"),
            ("cubic: ", "", "empty parameter"),
            ("cubic:,beta=0.5", "", "`cubic:,beta=0.5` has an empty parameter"),
            ("cubic:beta=0.5,", "", "empty parameter"),
            ("cubic:beta", "", "`beta` is not `name=value`"),
            ("cubic:=0.5", "", "`=0.5` is not `name=value`"),
        ] {
            let error = refusal(text);
            assert_eq!(error.part, part, "{text}");
            assert!(error.message.contains(words), "{text}: {}", error.message);
        }
    }
}
