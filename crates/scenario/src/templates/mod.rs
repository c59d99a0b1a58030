//! Links with published values. A template is one file here, and a line in [`TEMPLATES`]: a
//! function that returns the keys of a link and draws the varying values from a seed.

mod docsis;
mod dsl;
#[cfg(not(target_arch = "wasm32"))]
mod lte;
#[cfg(not(target_arch = "wasm32"))]
mod nr;
#[cfg(not(target_arch = "wasm32"))]
mod pon;
mod starlink;

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;
use sojourn_aqm::{Rate, Span, registry, units};

use crate::document::Document;
use crate::document::capacity::Capacity;
use crate::document::framing::LinkCells;
use crate::document::links::Link;
use crate::document::quantities::{RateText, SizeText, SpanText};
use crate::document::wire::{BlocksJitter, Delay, Jitter};
use crate::error::ScenarioError;

/// A kind of link.
pub struct LinkTemplate {
    /// Its name.
    pub name: &'static str,
    /// What it imitates and leaves out.
    pub text: &'static str,
    /// Where its values are published.
    pub sources: &'static str,
    /// The names of its parameters.
    takes: &'static [&'static str],
    /// Whether the user must give the rate of the line.
    needs_rate: bool,
    generate: fn(&Template, Span) -> Result<Generated, String>,
}

/// Every kind, in the order of the documentation. The browser's page lacks some, to stay small.
pub const TEMPLATES: &[&LinkTemplate] = &[
    &starlink::KIND,
    #[cfg(not(target_arch = "wasm32"))]
    &lte::KIND,
    #[cfg(not(target_arch = "wasm32"))]
    &nr::KIND,
    &docsis::KIND,
    #[cfg(not(target_arch = "wasm32"))]
    &pon::GPON,
    #[cfg(not(target_arch = "wasm32"))]
    &pon::XGPON,
    &dsl::VDSL,
    &dsl::ADSL,
];

/// A template as written: `starlink:direction=up,seed=2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Template {
    name: &'static str,
    is_up: bool,
    seed: u64,
    rate: Option<Rate>,
    /// Optical network units that share a line.
    onus: Option<u64>,
    /// Time from one allocation of a shared line to the next.
    cycle: Option<Span>,
    /// Time from one opportunity to request a grant to the next.
    request: Option<Span>,
    /// Time from one handover to the next.
    handover: Option<Span>,
    /// Whether grants come without requests.
    is_proactive: bool,
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
    /// # Errors
    /// A sentence about the kind or a parameter.
    pub(crate) fn parse(text: &str) -> Result<Template, String> {
        let (name, settings) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let names: Vec<&str> = TEMPLATES.iter().map(|kind| kind.name).collect();
        let Some(kind) = TEMPLATES.iter().find(|kind| kind.name == name) else {
            return Err(format!("unknown template `{name}`{}", registry::hint(name, &names)));
        };
        let mut template = Template {
            name: kind.name,
            is_up: false,
            seed: 1,
            rate: None,
            onus: None,
            cycle: None,
            request: None,
            handover: None,
            is_proactive: false,
        };
        for setting in settings.split(',').filter(|setting| !setting.trim().is_empty()) {
            template.set(kind, setting)?;
        }
        match (kind.needs_rate, template.rate) {
            (true, None) => Err(format!("`{name}` needs the line's rate: `{name}:rate=20mbit`")),
            _ => Ok(template),
        }
    }

    fn set(&mut self, kind: &LinkTemplate, setting: &str) -> Result<(), String> {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let (key, value) = (key.trim(), value.trim());
        if !kind.takes.contains(&key) {
            return Err(format!("`{}` takes {}, not `{key}`", kind.name, listed(kind.takes)));
        }
        match key {
            "rate" => self.rate = Some(units::rate(value)?),
            "seed" => self.seed = whole(key, value)?,
            "onus" => self.onus = Some(whole(key, value)?),
            "cycle" => self.cycle = Some(units::span(value)?),
            "request" => self.request = Some(units::span(value)?),
            "handover" => self.handover = Some(units::span(value)?),
            "grants" => {
                self.is_proactive = match value {
                    "requested" => false,
                    "proactive" => true,
                    _ => {
                        let message = format!("grants `{value}` is neither `requested` nor");
                        return Err(message + " `proactive`");
                    }
                }
            }
            _ => {
                self.is_up = match value {
                    "down" => false,
                    "up" => true,
                    _ => return Err(format!("direction `{value}` is neither `down` nor `up`")),
                }
            }
        }
        Ok(())
    }

    /// The value of a parameter as written, if it has one.
    fn value(&self, key: &str) -> Option<String> {
        match key {
            "rate" => self.rate.map(|rate| rate.to_string()),
            "seed" => Some(self.seed.to_string()),
            "onus" => self.onus.map(|onus| onus.to_string()),
            "cycle" => self.cycle.map(|cycle| cycle.to_string()),
            "request" => self.request.map(|request| request.to_string()),
            "handover" => self.handover.map(|handover| handover.to_string()),
            "grants" => self.is_proactive.then(|| "proactive".to_owned()),
            _ => Some(if self.is_up { "up" } else { "down" }.to_owned()),
        }
    }

    fn kind(&self) -> &'static LinkTemplate {
        let found = TEMPLATES.iter().find(|kind| kind.name == self.name);
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
        let written = self.kind().takes.iter().filter_map(|key| Some((key, self.value(key)?)));
        for (place, (key, value)) in written.enumerate() {
            write!(f, "{}{key}={value}", if place == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl Generated {
    /// A rate alone.
    fn at(rate: Capacity) -> Generated {
        Generated { rate, delay: None, jitter: None, framing: None, cells: LinkCells::None }
    }

    /// With grants, given the shortest delay and the times at which blocks leave.
    fn granted(self, least: Span, blocks: BlocksJitter) -> Generated {
        let (delay, jitter) = (Delay::Constant(SpanText(least)), Jitter::Blocks(blocks));
        Generated { delay: Some(delay), jitter: Some(jitter), ..self }
    }
}

/// `a`, `b` and `c`.
fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "no parameter".to_owned(),
    }
}

fn whole(key: &str, value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("{key} `{value}` is not a whole number"))
}

/// The scenario with the keys that its templates set.
///
/// # Errors
/// [`ScenarioError`] if a link also sets one of these keys.
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
    let generated = (template.kind().generate)(template, duration)
        .map_err(|message| ScenarioError::new(format!("{place}.template"), message))?;
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
        for text in [
            "starlink:direction=up,seed=7",
            "vdsl:rate=50mbit",
            "docsis:rate=20mbit",
            "gpon",
            "gpon:onus=16,cycle=500us",
            "5g:direction=up,seed=2,rate=50mbit",
            "lte:direction=up,seed=1,rate=9mbit,request=5ms,handover=20s",
        ] {
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
            ("gpon:onus=many", "onus `many` is not a whole number"),
            ("lte:cycle=1ms", "`direction`, `seed`, `rate`, `request` and `handover`, not `cycle`"),
            ("starlink:direction=left", "neither `down` nor `up`"),
            ("starlink:seed=-1", "not a whole number"),
        ] {
            let error = Template::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
