//! Congestion controls, one file each. To add one, add a file here and a line to the registry
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

use sojourn_aqm::params::{Dialect, ParamSpec, Params, SpecText, configure as configure_params};
use sojourn_aqm::{SpecError, Var};

/// A congestion control in the registry.
pub trait Control: CongestionControl + Sized + 'static {
    /// Its parameters.
    type Params: Params + Send + Sync;
    /// Its name.
    const NAME: &'static str;
    /// A one-line description.
    const DOC: &'static str;
    /// A new instance.
    fn new(params: &Self::Params) -> Self;
}

/// A registry entry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// A one-line description.
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

/// Creates instances of one congestion control.
pub type Factory = Box<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;

/// A congestion control with its parameters.
pub struct ConfiguredControl {
    /// Its text form with all parameters: `cubic:beta=0.7001953125,...`.
    pub in_full: String,
    /// Creates an instance for a connection.
    pub factory: Factory,
}

/// Congestion controls supplied by the caller, by the name of the flows that use them instead of
/// the scenario's.
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

        /// Parses `kind[@dialect][:param=value,...]`, the syntax that AQMs use too.
        ///
        /// # Errors
        /// A sentence with the error and the remedy.
        pub fn configure(text: &str) -> Result<ConfiguredControl, String> {
            let text = SpecText::parse(text)?;
            match text.kind.as_str() {
                $(<$control>::NAME => configured::<$control>(&text),)*
                kind => Err(unknown_control(kind)),
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

fn configured<C: Control>(text: &SpecText) -> Result<ConfiguredControl, String> {
    let settings = text.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let params: C::Params = configure_params(C::NAME, text.dialect.as_deref(), settings)?;
    let in_full = full_text::<C>(&params);
    Ok(ConfiguredControl { in_full, factory: Box::new(move || Box::new(C::new(&params))) })
}

fn unknown_control(kind: &str) -> String {
    SpecError::unknown_kind("congestion control", kind, controls().iter().map(|c| c.name)).message
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_control_names_the_nearest() {
        let error = configure("cubik").err().expect("`cubik` is unknown");
        assert!(error.contains("did you mean `cubic`"), "{error}");
        assert!(configure("cubic:hystart=maybe").is_err());
        assert!(configure("reno:beta=0.5").is_err());
        assert!(configure("reno:abe=true").is_ok());
        assert!(configure("cubic:hystart=false").is_ok());
    }

    /// Linux `TCP_CONG_NEEDS_ECN`.
    #[test]
    fn the_controls_that_request_ecn_by_themselves_are_those_that_need_it() {
        for control in controls() {
            let configured = configure(control.name).expect("it is registered");
            let needs = (configured.factory)().needs();
            let is_listed = sojourn_scenario::NEED_ECN.contains(&control.name);
            assert_eq!(needs.needs_ecn, is_listed, "{}", control.name);
        }
    }

    fn refusal(text: &str) -> String {
        configure(text).err().unwrap_or_else(|| panic!("`{text}` is not legal"))
    }

    #[test]
    fn a_malformed_description_is_refused_with_one_clear_sentence() {
        for (text, sentence) in [
            ("cubic:beta=0.5,beta=0.6", "`beta` is set twice"),
            ("cubic:", "`cubic:` has an empty parameter; write `cubic` or `cubic:name=value,...`"),
            (
                "cubic:,beta=0.5",
                "`cubic:,beta=0.5` has an empty parameter; write `cubic` or `cubic:name=value,...`",
            ),
            ("cubic@", "`cubic@` names no dialect after `@`; write `cubic` for the default"),
            (":beta=1", "`:beta=1` names no kind; write `kind` or `kind:name=value`"),
            ("cubic:beta", "`beta` is not `name=value`; separate them with commas"),
        ] {
            assert_eq!(refusal(text), sentence);
        }
    }

    #[test]
    fn an_unknown_dialect_or_parameter_of_a_control_names_the_nearest() {
        assert!(
            refusal("cubic@linx").contains("cubic has no dialect `linx`; did you mean `linux`")
        );
        assert!(
            refusal("cubic:bta=1").contains("cubic has no parameter `bta`; did you mean `beta`")
        );
        assert!(refusal("cubic:beta=x").contains("(beta: "), "the source of the parameter");
    }
}
