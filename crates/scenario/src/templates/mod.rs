//! Links after published values. A template is one file here, and a line in [`TEMPLATES`]: a
//! function that returns the keys of a link and draws the varying values from a seed.

mod docsis;
mod dsl;
mod starlink;

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;
use sojourn_aqm::{Rate, Span, registry, units};

use crate::document::Document;
use crate::document::capacity::Capacity;
use crate::document::framing::LinkCells;
use crate::document::links::Link;
use crate::document::quantities::{RateText, SizeText};
use crate::document::wire::{Delay, Jitter};
use crate::error::ScenarioError;

/// A kind of link.
pub struct LinkTemplate {
    /// Its name.
    pub name: &'static str,
    /// What it imitates and leaves out.
    pub text: &'static str,
    /// Where its values are published.
    pub sources: &'static str,
    /// Whether the user gives the rate of the line; otherwise rates are drawn from a seed, for one
    /// of two directions.
    takes_rate: bool,
    generate: fn(&Template, Span) -> Generated,
}

/// Every kind, in the order of the documentation.
pub const TEMPLATES: [&LinkTemplate; 4] = [&starlink::KIND, &docsis::KIND, &dsl::VDSL, &dsl::ADSL];

/// A template as written: `starlink:direction=up,seed=2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Template {
    name: &'static str,
    is_up: bool,
    seed: u64,
    rate: Option<Rate>,
}

/// The keys of a link that a template sets.
struct Generated {
    rate: Capacity,
    delay: Option<Delay>,
    jitter: Option<Jitter>,
    framing: Option<SizeText>,
    cells: LinkCells,
}

/// Schedules cover this time, longer than any simulation.
const LONGEST: Span = Span::from_secs(100 * 86_400);

/// The names of these keys; `--set` of a template removes them.
const KEYS: [&str; 5] = ["rate", "delay", "jitter", "framing", "cells"];

impl Template {
    /// Reads `starlink` or `vdsl:rate=50mbit`.
    ///
    /// # Errors A sentence about the kind or a parameter.
    pub(crate) fn parse(text: &str) -> Result<Template, String> {
        let (name, settings) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let names = TEMPLATES.map(|kind| kind.name);
        let Some(kind) = TEMPLATES.iter().find(|kind| kind.name == name) else {
            return Err(format!("unknown template `{name}`{}", registry::hint(name, &names)));
        };
        let mut template = Template { name: kind.name, is_up: false, seed: 1, rate: None };
        for setting in settings.split(',').filter(|setting| !setting.trim().is_empty()) {
            template.set(kind, setting)?;
        }
        match (kind.takes_rate, template.rate) {
            (true, None) => Err(format!("`{name}` needs the line's rate: `{name}:rate=20mbit`")),
            _ => Ok(template),
        }
    }

    fn set(&mut self, kind: &LinkTemplate, setting: &str) -> Result<(), String> {
        let name = kind.name;
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let known = if kind.takes_rate { "`rate`" } else { "`direction` and `seed`" };
        match (key.trim(), value.trim(), kind.takes_rate) {
            ("rate", rate, true) => self.rate = Some(units::rate(rate)?),
            ("direction", "down", false) => self.is_up = false,
            ("direction", "up", false) => self.is_up = true,
            ("direction", other, false) => {
                return Err(format!("direction `{other}` is neither `down` nor `up`"));
            }
            ("seed", seed, false) => {
                let read = seed.parse();
                self.seed = read.map_err(|_| format!("seed `{seed}` is not a whole number"))?;
            }
            (other, ..) => return Err(format!("`{name}` takes {known}, not `{other}`")),
        }
        Ok(())
    }

    fn kind(&self) -> &'static LinkTemplate {
        let found = TEMPLATES.into_iter().find(|kind| kind.name == self.name);
        found.expect("it was parsed")
    }

    /// The rate of the line, for kinds that take one.
    fn line(&self) -> Rate {
        self.rate.expect("it was parsed")
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if let Some(rate) = self.rate {
            return write!(f, ":rate={rate}");
        }
        write!(f, ":direction={},seed={}", if self.is_up { "up" } else { "down" }, self.seed)
    }
}

/// The scenario with the keys that its templates set.
///
/// # Errors
/// [`ScenarioError`] if a link has such a key as well.
pub(crate) fn applied(document: &Document) -> Result<Cow<'_, Document>, ScenarioError> {
    if document.links.values().all(|link| link.template.is_none()) {
        return Ok(Cow::Borrowed(document));
    }
    let mut document = document.clone();
    for (name, link) in &mut document.links {
        if let Some(text) = &link.template {
            let place = format!("links.{name}");
            let template = Template::parse(text)
                .map_err(|message| ScenarioError::new(format!("{place}.template"), message))?;
            apply(&place, link, &template, document.duration.0)?;
        }
    }
    Ok(Cow::Owned(document))
}

fn apply(
    place: &str,
    link: &mut Link,
    template: &Template,
    duration: Span,
) -> Result<(), ScenarioError> {
    if duration > LONGEST {
        let message = "a template is generated for at most 100 days; write a shorter duration";
        return Err(ScenarioError::new(format!("{place}.template"), message));
    }
    let generated = (template.kind().generate)(template, duration);
    let Generated { rate, delay, jitter, framing, cells } = generated;
    let is_written = [
        link.rate.is_some(),
        delay.is_some() && link.delay != Delay::default(),
        jitter.is_some() && link.jitter.is_some(),
        framing.is_some() && link.framing.0 > 0,
        cells != LinkCells::None && link.cells != LinkCells::None,
    ];
    if let Some((key, _)) = KEYS.iter().zip(is_written).find(|(_, is_written)| *is_written) {
        let name = template.name;
        let message = format!("repeats what template `{name}` sets; remove one of the two");
        return Err(ScenarioError::new(format!("{place}.{key}"), message));
    }
    link.rate = Some(rate);
    link.delay = delay.unwrap_or_else(|| link.delay.clone());
    link.jitter = jitter.or_else(|| link.jitter.clone());
    link.framing = framing.unwrap_or(link.framing);
    link.cells = if cells == LinkCells::None { link.cells } else { cells };
    Ok(())
}

/// After an override of `links.NAME.template`, removes the keys that templates set.
pub(crate) fn replace_keys(root: &mut Value, path: &str) {
    let mut parts = path.split('.');
    let (Some("links"), Some(name), Some("template"), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return;
    };
    if let Some(Value::Object(link)) = root.get_mut("links").and_then(|links| links.get_mut(name)) {
        for key in KEYS {
            link.shift_remove(key);
        }
    }
}

/// A constant rate.
fn constant(rate: Rate) -> Capacity {
    Capacity::Constant(RateText(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_written_as_it_is_read() {
        for text in ["starlink:direction=up,seed=7", "vdsl:rate=50mbit", "docsis:rate=20mbit"] {
            assert_eq!(Template::parse(text).unwrap().to_string(), text);
        }
        let default = Template::parse(" starlink ").unwrap();
        assert_eq!(default.to_string(), "starlink:direction=down,seed=1");
    }

    #[test]
    fn a_wrong_template_is_refused_with_what_would_be_right() {
        for (text, words) in [
            ("starlnk", "did you mean `starlink`?"),
            ("vdsl", "`vdsl:rate=20mbit`"),
            ("vdsl:rate=5", "a rate needs"),
            ("vdsl:seed=5", "takes `rate`, not `seed`"),
            ("starlink:rate=5mbit", "takes `direction` and `seed`, not `rate`"),
            ("starlink:direction=left", "neither `down` nor `up`"),
            ("starlink:seed=-1", "not a whole number"),
        ] {
            let error = Template::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
