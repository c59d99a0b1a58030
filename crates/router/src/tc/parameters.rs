//! How each parameter of each AQM is handled for the kernel: set and read back, or refused. ns-3's
//! discs are tested in the same way.
//!
//! The handling is determined by trial: a parameter is given values other than its default, and the
//! resulting translations are compared. So the table cannot contradict the code.

use sojourn_aqm::{QdiscSpec, registry};

use super::{TcContext, TcDiscipline, translate};

/// How a parameter is handled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Handling {
    /// Set, and compared with the value that the kernel reports afterwards.
    ReadBack,
    /// Set, but not compared.
    Set,
    /// Not set; a warning says so.
    Warned,
    /// A value other than the kernel's is refused with this sentence.
    Refused(String),
    /// Not set, without a message: a bug.
    Ignored,
}

/// A parameter and how it is handled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The AQM, in Linux's dialect if it has one.
    pub aqm: String,
    /// Its name.
    pub name: &'static str,
    /// How it is handled.
    pub handling: Handling,
}

/// The kernel for which the table holds.
const KERNEL: TcContext =
    TcContext { mtu_bytes: 1514, rate_bps: 10_000_000, hz: 1000, release: Some((6, 1)) };

/// Values of all kinds; those that a parameter does not accept are skipped. There are several of
/// each kind, because the kernel takes some in whole units, and some contradict other parameters.
pub const VALUES: [&str; 45] = [
    "90s", "3ms", "7ms", "30ms", "150us", "2s", "11s", "250ms", "3500B", "30kB", "77kB", "64B",
    "18B", "2MB", "30p", "77p", "400p", "30000p", "5mbit", "2mbit", "0.25hz", "0.5hz", "2hz", "1",
    "2", "3", "5", "8", "16", "55", "100", "512", "2048", "0.05", "0.25", "0.5", "0.75", "true",
    "false", "off", "auto", "0", "20", "40", "4",
];

/// Every parameter of every AQM that the kernel has, in the order of the registry.
pub fn of_kernel() -> Vec<Parameter> {
    kinds("linux", &|spec| translate(spec, &KERNEL)).flat_map(|aqm| of_aqm(&aqm)).collect()
}

/// The AQMs that an engine has, in the dialect with the engine's name if there is one.
pub(crate) fn kinds<T>(
    dialect: &str,
    translate: &impl Fn(&QdiscSpec) -> Result<T, String>,
) -> impl Iterator<Item = QdiscSpec> {
    let named = move |name: &str| {
        let named = QdiscSpec::parse(&format!("{name}@{dialect}")).ok();
        // `cake@linux` is another name of its only dialect.
        let declared = named.filter(|spec| registry::dialect_of(spec) == dialect);
        declared.unwrap_or_else(|| QdiscSpec::parse(name).expect("it is registered"))
    };
    registry::names().map(named).filter(|spec| translate(spec).is_ok())
}

fn of_aqm(aqm: &QdiscSpec) -> Vec<Parameter> {
    let plain = translate(aqm, &KERNEL).expect("the kernel has it");
    let compared = |other: &TcDiscipline| compared(&plain, other);
    trial(aqm, &|spec| translate(spec, &KERNEL), &compared)
}

/// Determines by trial how every parameter of an AQM is handled.
pub(crate) fn trial<T>(
    aqm: &QdiscSpec,
    translate: &impl Fn(&QdiscSpec) -> Result<T, String>,
    compared: &impl Fn(&T) -> Handling,
) -> Vec<Parameter> {
    let settings = registry::settings(aqm).expect("its defaults are legal");
    let parameter = |(name, default): (&'static str, String)| {
        let mut handling = None;
        for spec in others(aqm, name, &default) {
            let this = match spec.and_then(|spec| translate(&spec)) {
                Err(sentence) => Handling::Refused(sentence),
                Ok(other) => compared(&other),
            };
            handling = Some(handling.map_or(this.clone(), |before| worse(before, this)));
        }
        let handling = handling.expect("some value is legal, or all are refused");
        Parameter { aqm: aqm.to_string(), name, handling }
    };
    settings.into_iter().map(parameter).collect()
}

/// The AQM with other values of a parameter. If none is legal because the parameter has no effect
/// in the dialect, returns the parser's error.
fn others(aqm: &QdiscSpec, name: &str, default: &str) -> Vec<Result<QdiscSpec, String>> {
    let of_law = registry::entry(&aqm.law).map_or(&[][..], |entry| (entry.params)());
    let specs = of_law.iter().chain(registry::discipline_params(aqm.discipline));
    let words = specs.filter(|spec| spec.name == name).flat_map(|spec| spec.words.iter().copied());
    let values =
        VALUES.into_iter().chain(words).filter(|value| !is_the_same(&aqm.law, name, value));
    let parsed = values.map(|value| QdiscSpec::parse(&format!("{aqm}:{name}={value}")));
    let (legal, refused): (Vec<_>, Vec<_>) = parsed.partition(Result::is_ok);
    let is_other = |spec: &QdiscSpec| {
        let settings = registry::settings(spec).expect("it was parsed");
        settings.iter().any(|(known, text)| *known == name && text != default)
    };
    let legal: Vec<_> = legal.into_iter().flatten().filter(is_other).map(Ok).collect();
    if !legal.is_empty() {
        return legal;
    }
    refused.into_iter().last().map(|it| it.map_err(|error| error.message)).into_iter().collect()
}

/// Whether a value expresses what the kernel does anyway.
fn is_the_same(law: &str, name: &str, value: &str) -> bool {
    // The kernel's discipline is installed before the run begins; the link of `KERNEL` has the rate
    // that tc assumes.
    matches!((name, value), ("first_update" | "bandwidth", "auto") | ("kernel", "linux-6.1"))
        // Fact qdisc-23.
        || (law, name, value) == ("fq", "kernel", "linux-5.10")
}

fn compared(plain: &TcDiscipline, other: &TcDiscipline) -> Handling {
    let shown = |it: &TcDiscipline| (it.netlink.clone(), it.read_back.clone());
    if shown(plain) != shown(other) {
        Handling::ReadBack
    } else if plain.arguments != other.arguments {
        Handling::Set
    } else if plain.warnings != other.warnings {
        Handling::Warned
    } else {
        Handling::Ignored
    }
}

/// Combines two trials: if any value is ignored, so is the parameter; otherwise, if any value is
/// set, it can be set.
fn worse(one: Handling, other: Handling) -> Handling {
    let rank = |handling: &Handling| match handling {
        Handling::Ignored => 0,
        Handling::Set => 1,
        Handling::ReadBack => 2,
        Handling::Warned => 3,
        Handling::Refused(_) => 4,
    };
    if rank(&other) < rank(&one) { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_of_every_aqm_is_set_and_read_back_or_refused_in_one_sentence() {
        let all = of_kernel();
        assert!(all.len() > 100, "{}", all.len());
        for Parameter { aqm, name, handling } in &all {
            match handling {
                Handling::ReadBack | Handling::Warned => {}
                Handling::Refused(why) => {
                    assert!(why.contains(name), "{aqm}: {name}: {why}");
                    assert!(!why.contains(". "), "{aqm}: one sentence: {why}");
                }
                Handling::Set => panic!("{aqm}: {name} is set and not read back"),
                Handling::Ignored => panic!("{aqm}: {name} is silently ignored"),
            }
        }
        let warned = all.iter().filter(|it| it.handling == Handling::Warned).map(|it| it.name);
        let by_kernel = ["kernel", "inverse_roots", "kernel", "kernel"];
        assert_eq!(warned.collect::<Vec<_>>(), by_kernel, "facts aqm-132, linux-30, qdisc-23");
    }

    /// Regression (case 17): each of these ran with the kernel's value, without a message.
    #[test]
    fn what_was_silently_ignored_is_refused_or_set() {
        let of = |aqm: &str, name: &str| {
            let is_it = |it: &Parameter| it.aqm == aqm && it.name == name;
            of_kernel().into_iter().find(is_it).expect("a row").handling
        };
        for (aqm, name) in [
            ("codel@linux", "mtu_bytes"),
            ("pie@linux", "mtu_bytes"),
            ("pie@linux", "dq_threshold"),
            ("fq_pie@linux", "drop_batch"),
            ("ared@linux", "adapt_interval"),
        ] {
            assert!(matches!(of(aqm, name), Handling::Refused(_)), "{aqm}: {name}");
        }
        for name in ["target", "interval", "overhead", "mpu", "cells", "isolation"] {
            assert_eq!(of("cake", name), Handling::ReadBack, "{name}");
        }
    }
}
