//! The text form of an AQM, the same in all interfaces: `kind[@dialect][:param=value,...]`, with
//! `fq(kind)` for a law in flow queues.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::custom::CustomLaw;

/// The value that puts the first update one period after the start.
const AT_ONCE: &str = "auto";

/// How queues are arranged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discipline {
    /// One queue.
    Fifo,
    /// Flow queues served by deficit round robin.
    Fq,
    /// The scheme that `law` names arranges its queues itself.
    Own,
}

/// A discipline with its law and the parameters that were set, checked by [`QdiscSpec::parse`] or
/// [`QdiscSpec::new`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QdiscSpec {
    /// How queues are arranged.
    pub discipline: Discipline,
    /// The preset that the text named, if any: `fq_codel`.
    pub preset: Option<&'static str>,
    /// The name of the law or scheme.
    pub law: String,
    /// The law itself, if it is not in the registry.
    pub custom: Option<CustomLaw>,
    /// The dialect, if the text named one.
    pub dialect: Option<String>,
    /// The parameters that were set, in their order.
    pub settings: Vec<(String, String)>,
}

impl QdiscSpec {
    /// The kind as written: `codel`, `fq_codel`, `fq(madpie)`.
    pub fn kind(&self) -> String {
        match (self.preset, self.discipline) {
            (Some(preset), _) => preset.to_owned(),
            (None, Discipline::Fifo | Discipline::Own) => self.law.clone(),
            (None, Discipline::Fq) => format!("fq({})", self.law),
        }
    }

    /// Sets a parameter unless the user has set it; returns whether it was set.
    pub fn set_default(&mut self, name: &str, text: &str) -> bool {
        let free = self.settings.iter().all(|(set, _)| set != name);
        if free {
            self.settings.push((name.to_owned(), text.to_owned()));
        }
        free
    }

    /// The description for a queue that exists before time zero: a timer that starts late in a new
    /// queue (`first_update`, Linux 6.1 `sch_pie.c`, `pie_init`) is already running, unless the
    /// user set `first_update`.
    pub fn in_place(&self) -> QdiscSpec {
        let mut spec = self.clone();
        let known = if self.custom.is_some() { None } else { super::settings(self).ok() };
        let waits = |(name, value): &(&str, _)| *name == "first_update" && value != AT_ONCE;
        if known.is_some_and(|known| known.iter().any(waits)) {
            spec.set_default("first_update", AT_ONCE);
        }
        spec
    }

    /// The parameters that were set, as names and values.
    pub(super) fn set_by_user(&self) -> Vec<(&str, &str)> {
        self.settings.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
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
