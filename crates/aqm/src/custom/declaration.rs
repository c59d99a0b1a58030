//! The checked declaration of a custom law: the statements that `params!` and `Law` make for
//! built-in laws.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{DIALECT, Value};
use crate::law::Var;
use crate::params::rules::{ANY, FRACTION, NOT_NEGATIVE, POSITIVE, PROBABILITY, Rule};
use crate::params::{ParamSpec, Params, SpecError, ValueKind};
use crate::qdiscs::{fifo, fq};

/// A law's declaration.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    /// Its name in text forms and tables: a letter, then letters, digits and underscores.
    pub name: String,
    /// A one-line description.
    pub doc: String,
    /// Identifier of its code in manifests.
    pub source: String,
    /// Source location, for messages: `mine.py:12`.
    pub place: String,
    /// The file with its code, for other processes that run it; `None` without a file.
    pub file: Option<String>,
    /// Its parameters.
    pub params: Vec<ParamDeclaration>,
    /// Its state variables.
    pub vars: Vec<VarDeclaration>,
}

/// A parameter of a law.
#[derive(Clone, Debug)]
pub struct ParamDeclaration {
    /// Its name.
    pub name: String,
    /// Its meaning, one line.
    pub doc: String,
    /// The kind of value, with its unit.
    pub kind: ValueKind,
    /// `off` or `auto`, if one of them is a legal value.
    pub absent: Option<String>,
    /// The legal words, if the kind is [`ValueKind::Word`].
    pub words: Vec<String>,
    /// `any`, `positive`, `not negative`, `probability` or `fraction`; any other text is displayed,
    /// and [`super::Maker::check`] enforces it.
    pub rule: String,
    /// The default as text.
    pub default: String,
    /// Where the default comes from.
    pub source: String,
}

/// A state variable of a law.
#[derive(Clone, Debug)]
pub struct VarDeclaration {
    /// Its name.
    pub name: String,
    /// Its unit: `1` for pure numbers.
    pub unit: String,
    /// One line.
    pub doc: String,
}

/// A declaration that was checked.
pub(super) struct About {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) source: &'static str,
    pub(super) place: &'static str,
    pub(super) file: Option<&'static str>,
    pub(super) specs: &'static [ParamSpec],
    pub(super) rules: Vec<Rule>,
    pub(super) defaults: Vec<Value>,
    pub(super) vars: &'static [Var],
}

impl Declaration {
    /// Checks the declaration and leaks it (`'static`).
    pub(super) fn checked(self) -> Result<&'static About, SpecError> {
        check_name("law", &self.name)?;
        if self.doc.trim().is_empty() {
            let why = format!("law `{}` does not say in one line what it does", self.name);
            return Err(SpecError::new("doc", why));
        }
        check_param_names(&self)?;
        let (mut specs, mut rules, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
        for param in self.params {
            let (spec, rule, default) = param.checked(&self.name)?;
            specs.push(spec);
            rules.push(rule);
            defaults.push(default);
        }
        let vars: Result<Vec<Var>, _> =
            self.vars.into_iter().map(|var| var.checked(&self.name)).collect();
        Ok(Box::leak(Box::new(About {
            name: kept(self.name),
            doc: kept(self.doc),
            source: kept(self.source),
            place: kept(self.place),
            file: self.file.map(kept),
            specs: Box::leak(specs.into_boxed_slice()),
            rules,
            defaults,
            vars: Box::leak(vars?.into_boxed_slice()),
        })))
    }
}

impl ParamDeclaration {
    fn checked(self, law: &str) -> Result<(ParamSpec, Rule, Value), SpecError> {
        let name = self.name.clone();
        let refuse = |why: String| SpecError::new(&name, format!("{law}.{name}: {why}"));
        if self.doc.trim().is_empty() || self.source.trim().is_empty() {
            let why = "a parameter says what it means (`doc`) and where its default comes from \
                       (`source`)";
            return Err(refuse(why.to_owned()));
        }
        if !matches!(self.absent.as_deref(), None | Some("off" | "auto")) {
            return Err(refuse("the word for no value is `off` or `auto`".to_owned()));
        }
        if (self.kind == ValueKind::Word) == self.words.is_empty() {
            return Err(refuse("words are listed for the kind `word`, and only for it".to_owned()));
        }
        let rule = rule(&self.rule);
        let words: Vec<&'static str> = self.words.into_iter().map(kept).collect();
        let spec = ParamSpec {
            name: kept(self.name),
            doc: kept(self.doc),
            kind: self.kind,
            absent: self.absent.map(kept),
            words: Box::leak(words.into_boxed_slice()),
            rule: rule.text,
            sources: Box::leak(Box::new([(DIALECT.name, kept(self.source))])),
        };
        let in_default = |why: String| refuse(format!("its default: {why}"));
        let default = Value::parse(&spec, &self.default).map_err(in_default)?;
        if default.magnitude().is_some_and(|x| !(rule.holds)(x)) {
            return Err(in_default(format!("`{}` {}", self.default, rule.text)));
        }
        Ok((spec, rule, default))
    }
}

impl VarDeclaration {
    fn checked(self, law: &str) -> Result<Var, SpecError> {
        check_name("state variable", &self.name)?;
        if self.unit.trim().is_empty() || self.doc.trim().is_empty() {
            let why = format!(
                "{law}.{}: a state variable has a unit (`1` for a pure number) and a meaning",
                self.name
            );
            return Err(SpecError::new(&self.name, why));
        }
        Ok(Var { name: kept(self.name), unit: kept(self.unit), doc: kept(self.doc) })
    }
}

/// The rule of that name, or an always-true rule with the given text.
fn rule(text: &str) -> Rule {
    let known = [
        ("any", ANY),
        ("positive", POSITIVE),
        ("not negative", NOT_NEGATIVE),
        ("probability", PROBABILITY),
        ("fraction", FRACTION),
    ];
    let found = known.into_iter().find(|(name, rule)| *name == text || rule.text == text);
    found.map_or_else(|| Rule { text: kept(text.to_owned()), holds: |_| true }, |(_, rule)| rule)
}

fn check_param_names(law: &Declaration) -> Result<(), SpecError> {
    let of_discipline = fifo::FifoParams::specs().iter().chain(fq::FqParams::specs());
    let taken: Vec<&str> = of_discipline.map(|spec| spec.name).collect();
    // A variable may have the name of a parameter, such as CoDel's `count`.
    let params: Vec<&String> = law.params.iter().map(|param| &param.name).collect();
    let vars: Vec<&String> = law.vars.iter().map(|var| &var.name).collect();
    for names in [params, vars] {
        for (index, &name) in names.iter().enumerate() {
            check_name("parameter", name)?;
            if names[..index].contains(&name) {
                let why = format!("law `{}` declares `{name}` twice", law.name);
                return Err(SpecError::new(name, why));
            }
        }
    }
    match law.params.iter().find(|param| taken.contains(&param.name.as_str())) {
        None => Ok(()),
        Some(param) => {
            let why = format!(
                "{}.{}: the discipline around the law has a parameter of that name; choose another",
                law.name, param.name
            );
            Err(SpecError::new(&param.name, why))
        }
    }
}

fn check_name(what: &str, name: &str) -> Result<(), SpecError> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_inside) {
        return Ok(());
    }
    let why = format!(
        "`{name}` cannot be the name of a {what}; write a letter, then letters, digits and `_`"
    );
    Err(SpecError::new("kind", why))
}

/// Leaks the text: a declaration lives as long as a built-in law.
fn kept(text: String) -> &'static str {
    Box::leak(text.trim().to_owned().into_boxed_str())
}
