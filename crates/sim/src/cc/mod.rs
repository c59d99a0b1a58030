//! Congestion controls, one file each. A new one is one file here and one line in the registry
//! below.

mod aggregation;
pub mod bbr;
pub mod bbr3;
mod contract;
pub mod cubic;
pub mod dctcp;
mod hystart;
mod hystart_plus;
mod path_model;
mod policer;
pub mod prague;
pub mod reno;
#[cfg(test)]
mod testing;
mod window;

pub use contract::{
    Ack, CongestionControl, Feedback, Needs, Progress, RateSample, RecoveryStage, Start,
    WindowControl,
};
pub use window::{OldGrowth, Window};

use std::collections::BTreeMap;
use std::sync::Arc;

use sojourn_aqm::Var;
use sojourn_aqm::nearest::nearest;
use sojourn_aqm::params::{Dialect, ParamError, ParamSpec, Params};

/// A congestion control in the registry.
pub trait Control: CongestionControl + Sized + 'static {
    /// Its parameters.
    type Params: Params + Send + Sync;
    /// Its name.
    const NAME: &'static str;
    /// One line.
    const DOC: &'static str;
    /// A new instance.
    fn new(params: &Self::Params) -> Self;
}

/// A registry entry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub doc: &'static str,
    /// Its dialects, the default first.
    pub dialects: &'static [Dialect],
    /// Its parameters.
    pub params: fn() -> &'static [ParamSpec],
    /// The default of a parameter in a dialect, as text.
    pub default_of: fn(dialect: &str, param: &str) -> Option<String>,
    /// The state variables that can be sampled.
    pub vars: &'static [Var],
}

/// Makes congestion controls of one kind.
pub type Factory = Box<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;

/// A congestion control with its parameters.
pub struct ConfiguredControl {
    /// Its text form with all parameters: `cubic:beta=0.7001953125,...`.
    pub in_full: String,
    /// Makes one for a connection.
    pub factory: Factory,
}

/// Congestion controls of a caller, by the name of the flows that use them instead of those of the
/// scenario.
pub type CustomControls = BTreeMap<String, Arc<ConfiguredControl>>;

macro_rules! registry {
    ($($control:ty;)*) => {
        /// Every congestion control, in the order in which lists show them.
        pub fn controls() -> Vec<Entry> {
            vec![$(Entry {
                name: <$control>::NAME,
                doc: <$control>::DOC,
                dialects: <$control as Control>::Params::DIALECTS,
                params: <$control as Control>::Params::specs,
                default_of: |dialect, param| {
                    <$control as Control>::Params::of_dialect(dialect)?.get(param)
                },
                vars: vars::<$control>(),
            }),*]
        }

        /// Reads `kind[@dialect][:param=value,...]`, the same form as that of an AQM.
        ///
        /// # Errors
        /// A sentence that says what would be right.
        pub fn configure(text: &str) -> Result<ConfiguredControl, String> {
            let (kind, dialect, settings) = parse(text)?;
            match kind {
                $(<$control>::NAME => configured::<$control>(dialect, &settings),)*
                _ => Err(unknown("congestion control", kind, controls().iter().map(|c| c.name))),
            }
        }
    };
}

registry! {
    bbr::Bbr;
    bbr3::Bbr3;
    cubic::Cubic;
    dctcp::Dctcp;
    prague::Prague;
    reno::Reno;
}

/// Kind, dialect and settings of a congestion control in its text form.
type Parsed<'a> = (&'a str, Option<&'a str>, Vec<(&'a str, &'a str)>);

fn parse(text: &str) -> Result<Parsed<'_>, String> {
    let (head, rest) = text.split_once(':').unwrap_or((text, ""));
    let (kind, dialect) = match head.split_once('@') {
        Some((kind, dialect)) => (kind.trim(), Some(dialect.trim())),
        None => (head.trim(), None),
    };
    let item = |item| {
        let (name, value) = str::split_once(item, '=')
            .ok_or_else(|| format!("`{item}` is not `name=value`; separate them with commas"))?;
        Ok((name.trim(), value.trim()))
    };
    let items = rest.split(',').filter(|item| !item.is_empty());
    Ok((kind, dialect, items.map(item).collect::<Result<_, String>>()?))
}

fn configured<C: Control>(
    dialect: Option<&str>,
    settings: &[(&str, &str)],
) -> Result<ConfiguredControl, String> {
    let params = params_of::<C>(dialect, settings)?;
    let in_full = full_text::<C>(&params);
    Ok(ConfiguredControl { in_full, factory: Box::new(move || Box::new(C::new(&params))) })
}

fn vars<C: Control>() -> &'static [Var] {
    let first = C::Params::DIALECTS[0].name;
    C::new(&C::Params::of_dialect(first).expect("the first dialect is declared")).vars()
}

fn full_text<C: Control>(params: &C::Params) -> String {
    let value = |name| params.get(name).expect("a declared parameter has a value");
    let settings =
        C::Params::specs().iter().map(|spec| format!("{}={}", spec.name, value(spec.name)));
    let settings = settings.collect::<Vec<_>>().join(",");
    if settings.is_empty() { C::NAME.to_owned() } else { format!("{}:{settings}", C::NAME) }
}

fn params_of<C: Control>(
    dialect: Option<&str>,
    settings: &[(&str, &str)],
) -> Result<C::Params, String> {
    let dialect = dialect.unwrap_or(C::Params::DIALECTS[0].name);
    let mut params = C::Params::of_dialect(dialect).ok_or_else(|| {
        unknown("dialect", dialect, C::Params::DIALECTS.iter().map(|dialect| dialect.name))
    })?;
    for (name, text) in settings {
        params.set(name, text).map_err(|error| match error {
            ParamError::Invalid(why) => format!("{}.{name}: {why}", C::NAME),
            ParamError::Unknown => {
                unknown("parameter", name, C::Params::specs().iter().map(|spec| spec.name))
            }
        })?;
    }
    params.check()?;
    Ok(params)
}

fn unknown(what: &str, typed: &str, known: impl Iterator<Item = &'static str>) -> String {
    let known: Vec<&str> = known.collect();
    let list = known.join(", ");
    match nearest(typed, known) {
        Some(near) => format!("there is no {what} `{typed}`; did you mean `{near}`? Known: {list}"),
        None => format!("there is no {what} `{typed}`; known: {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_control_names_the_nearest() {
        let error = configure("cubik").err().expect("there is no such control");
        assert!(error.contains("did you mean `cubic`"), "{error}");
        assert!(configure("cubic:hystart=maybe").is_err());
        assert!(configure("reno:beta=0.5").is_err());
        assert!(configure("reno:abe=true").is_ok());
        assert!(configure("cubic:hystart=false").is_ok());
    }
}
