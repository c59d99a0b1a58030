//! Kernels by name: `codel@linux-6.1` behaves as the CoDel of that kernel, `codel@linux` as that of
//! the newest kernel below.
//!
//! Source: `net/sched/sch_*.c` and the headers of their laws in `include/net`, compared from one
//! release to the next as Debian packages them. [`CHANGES`] lists the differences in decisions. An
//! AQM without a row there behaves the same in all these kernels, so all its names mean the same
//! code. The oldest is 5.10, because Debian packages no older one.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::spec::QdiscSpec;
use crate::params::SpecError;

/// A kernel whose code was compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelRelease {
    /// The dialect that names it: `linux-6.1`.
    pub word: &'static str,
    /// The series, as numbers that can be compared.
    pub series: (u32, u32),
    /// The release of that series that was read, `6.1.192`. Earlier releases may lack its fixes.
    pub release: &'static str,
}

const fn kernel(word: &'static str, series: (u32, u32), release: &'static str) -> KernelRelease {
    KernelRelease { word, series, release }
}

/// The kernels by age, the newest last.
pub const KERNELS: [KernelRelease; 4] = [
    kernel("linux-5.10", (5, 10), "5.10.262"),
    kernel("linux-6.1", (6, 1), "6.1.192"),
    kernel("linux-6.12", (6, 12), "6.12.117"),
    kernel("linux-7.2", (7, 2), "7.2.13"),
];

/// The dialect of the newest kernel.
pub const NEWEST: &str = "linux";

/// An AQM that some kernels have.
struct OfKernel {
    law: &'static str,
    /// The dialect that has the kernel's rules.
    dialect: &'static str,
    /// The first series that has it.
    since: (u32, u32),
}

const fn of_kernel(law: &'static str) -> OfKernel {
    OfKernel { law, dialect: NEWEST, since: (5, 10) }
}

/// The laws and schemes of the kernel.
const LAWS: [OfKernel; 11] = [
    of_kernel("codel"),
    of_kernel("pie"),
    of_kernel("red"),
    of_kernel("ared"),
    of_kernel("choke"),
    of_kernel("sfq"),
    of_kernel("sfq_red"),
    of_kernel("sfb"),
    of_kernel("fq"),
    OfKernel { dialect: "besteffort", ..of_kernel("cake") },
    OfKernel { since: (6, 17), ..of_kernel("dualpi2") },
];

/// A parameter that chooses between the code of two kernels.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The law or scheme.
    pub law: &'static str,
    /// The first series with that value.
    pub since: (u32, u32),
    /// The parameter.
    pub name: &'static str,
    /// Its value.
    pub value: &'static str,
    /// What the value changes, as the object of "has".
    pub what: &'static str,
}

/// The differences in decisions, by law, then by age. Facts aqm-132 to aqm-134, linux-30, qdisc-23.
pub const CHANGES: [Change; 8] = [
    codel((0, 0), "linux-5.10"),
    codel((6, 1), "linux-6.1"),
    codel((7, 2), "linux-7.2"),
    roots((0, 0), "linux-6.1"),
    roots((6, 12), "linux-6.12"),
    fq((0, 0), "linux-5.10"),
    fq((6, 12), "linux-6.12"),
    fq((7, 2), "linux-7.2"),
];

const fn codel(since: (u32, u32), value: &'static str) -> Change {
    Change { law: "codel", since, name: "kernel", value, what: "the CoDel" }
}

const fn fq(since: (u32, u32), value: &'static str) -> Change {
    Change { law: "fq", since, name: "kernel", value, what: "the fq" }
}

const fn roots(since: (u32, u32), value: &'static str) -> Change {
    Change { law: "cake", since, name: "inverse_roots", value, what: "the inverse roots" }
}

fn law_of_kernel(law: &str) -> Option<&'static OfKernel> {
    LAWS.iter().find(|known| known.law == law)
}

/// The kernels that have a law or scheme, by age; empty if no kernel has it.
pub fn kernels_of(law: &str) -> impl Iterator<Item = &'static KernelRelease> {
    let known = law_of_kernel(law);
    KERNELS.iter().filter(move |kernel| known.is_some_and(|law| kernel.series >= law.since))
}

/// The changes that a series has, compared with older code.
pub fn changes_at(law: &str, series: (u32, u32)) -> impl Iterator<Item = &'static Change> {
    let holds = move |change: &Change| change.law == law && change.since <= series;
    let is_replaced = move |change: &Change| {
        let newer = |it: &Change| it.since > change.since && it.name == change.name;
        CHANGES.iter().any(|it| holds(it) && newer(it))
    };
    CHANGES.iter().filter(move |change| holds(change) && !is_replaced(change))
}

/// The kernel whose code an AQM follows; `None` if it follows another source, or if one of its
/// parameters chooses the code.
///
/// ```
/// use sojourn_aqm::{QdiscSpec, registry};
///
/// let kernel = |text| registry::kernel_of(&QdiscSpec::parse(text).expect("legal"));
/// assert_eq!(kernel("codel@linux-6.1").expect("named").release, "6.1.192");
/// assert_eq!(kernel("codel@linux").expect("the newest").release, "7.2.13");
/// assert_eq!(kernel("codel@rfc8289"), None);
/// ```
pub fn kernel_of(spec: &QdiscSpec) -> Option<&'static KernelRelease> {
    let chosen = |change: &Change| spec.settings.iter().any(|(name, _)| name == change.name);
    if CHANGES.iter().any(|change| change.law == spec.law && chosen(change)) {
        return None;
    }
    let word = spec.dialect.as_deref().unwrap_or_else(|| super::dialect_of(spec));
    named(&spec.law, word)
}

/// The same AQM with the code of a series, if it requests only the newest kernel's code.
pub fn of_series(spec: &QdiscSpec, series: (u32, u32)) -> QdiscSpec {
    let known = kernels_of(&spec.law).filter(|kernel| kernel.series <= series).last();
    let asks = spec.dialect.as_deref() == Some(NEWEST);
    match known.filter(|_| asks && changes_at(&spec.law, series).next().is_some()) {
        Some(kernel) => QdiscSpec { dialect: Some(kernel.word.into()), ..spec.clone() },
        None => spec.clone(),
    }
}

/// The changes by which the kernel of a series differs from the code that an AQM requests. Plain
/// `@linux` asks for the code of the kernel in use (facts aqm-132 and linux-30).
pub fn unlike(spec: &QdiscSpec, series: (u32, u32)) -> Vec<&'static Change> {
    if !super::follows_linux(spec) {
        return Vec::new();
    }
    let asked = super::settings(spec).unwrap_or_default();
    let differs = |built_in: &&Change| {
        let is_set = spec.settings.iter().any(|(name, _)| name == built_in.name);
        let takes_any = spec.dialect.as_deref() == Some(NEWEST) && !is_set;
        let is_asked =
            |(name, value): &(&str, String)| *name == built_in.name && *value == built_in.value;
        !takes_any && !asked.iter().any(is_asked)
    };
    changes_at(&spec.law, series).filter(differs).collect()
}

/// The kernel that a dialect of a law names.
fn named(law: &str, word: &str) -> Option<&'static KernelRelease> {
    if word == NEWEST {
        return kernels_of(law).last();
    }
    kernels_of(law).find(|kernel| kernel.word == word)
}

/// The declared dialect that a word stands for: `linux` for `linux-6.1`.
pub fn declared<'a>(law: &str, word: &'a str) -> &'a str {
    match (law_of_kernel(law), named(law, word)) {
        (Some(known), Some(_)) => known.dialect,
        _ => word,
    }
}

/// The parameters that a kernel's name sets.
pub(super) fn settings_of(spec: &QdiscSpec) -> impl Iterator<Item = &'static Change> {
    let kernel = spec.dialect.as_deref().and_then(|word| named(&spec.law, word));
    kernel.into_iter().flat_map(|kernel| changes_at(&spec.law, kernel.series))
}

/// Refuses a kernel that is unknown, or lacks the AQM.
pub(super) fn check(spec: &QdiscSpec) -> Result<(), SpecError> {
    let Some(word) = spec.dialect.as_deref() else { return Ok(()) };
    let is_kernels = word.starts_with("linux-");
    if !is_kernels || named(&spec.law, word).is_some() {
        return Ok(());
    }
    let kind = spec.kind();
    let words: Vec<&str> = kernels_of(&spec.law).map(|kernel| kernel.word).collect();
    let why = if words.is_empty() {
        format!("no kernel has {kind}; leave `@{word}` out")
    } else if KERNELS.iter().any(|kernel| kernel.word == word) {
        let (major, minor) = law_of_kernel(&spec.law).map_or((0, 0), |known| known.since);
        format!("{kind} came with Linux {major}.{minor}; {}", known(&kind, &words))
    } else {
        format!("the kernel of `{word}` is not known; {}", known(&kind, &words))
    };
    Err(SpecError::new("dialect", why))
}

fn known(kind: &str, words: &[&str]) -> String {
    format!("{kind} has {}, and `linux` for the newest", words.join(", "))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::super::settings;
    use super::*;

    fn setting(text: &str, name: &str) -> String {
        let settings = settings(&QdiscSpec::parse(text).unwrap()).unwrap();
        settings.into_iter().find(|(known, _)| *known == name).unwrap().1
    }

    #[test]
    fn a_kernels_name_chooses_its_code_and_linux_is_the_newest() {
        for (text, kernel) in [
            ("codel@linux-5.10", "linux-5.10"),
            ("codel@linux-6.1", "linux-6.1"),
            ("fq_codel@linux-6.12", "linux-6.1"),
            ("fq(codel)@linux-7.2", "linux-7.2"),
            ("fq_codel@linux", "linux-7.2"),
            ("codel@linux:kernel=linux-6.1", "linux-6.1"),
        ] {
            assert_eq!(setting(text, "kernel"), kernel, "{text}");
        }
        for (text, roots) in [
            ("cake", "linux-6.1"),
            ("cake@linux-6.1", "linux-6.1"),
            ("cake@linux-6.12", "linux-6.12"),
            ("cake@linux", "linux-6.12"),
        ] {
            assert_eq!(setting(text, "inverse_roots"), roots, "{text}");
        }
    }

    /// Fact linux-42.
    #[test]
    fn names_of_kernels_that_decide_alike_are_aliases() {
        let settings = |text: &str| settings(&QdiscSpec::parse(text).unwrap()).unwrap();
        for law in ["pie", "fq_pie", "red", "ared", "choke", "sfq", "sfq_red", "sfb"] {
            for kernel in &KERNELS {
                let text = format!("{law}@{}", kernel.word);
                assert_eq!(settings(&text), settings(&format!("{law}@linux")), "{text}");
            }
        }
    }

    #[test]
    fn every_name_is_read_back_and_every_value_of_the_table_is_legal() {
        for law in LAWS.iter().map(|known| known.law) {
            for kernel in kernels_of(law) {
                let text = format!("{law}@{}", kernel.word);
                assert_eq!(QdiscSpec::parse(&text).unwrap().to_string(), text);
            }
        }
    }

    #[test]
    fn an_unknown_kernel_is_refused_with_those_that_are_known() {
        let refused = |text: &str| QdiscSpec::parse(text).unwrap_err().message;
        assert_eq!(
            refused("fq_codel@linux-5.4"),
            "the kernel of `linux-5.4` is not known; fq_codel has linux-5.10, linux-6.1, \
             linux-6.12, linux-7.2, and `linux` for the newest"
        );
        assert_eq!(
            refused("dualpi2@linux-6.1"),
            "dualpi2 came with Linux 6.17; dualpi2 has linux-7.2, and `linux` for the newest"
        );
        assert!(refused("madpie@linux-6.1").contains("no kernel has madpie"));
    }

    #[test]
    fn an_aqm_that_asks_for_the_newest_kernel_follows_a_series_where_that_decides_otherwise() {
        let followed =
            |text: &str, series| of_series(&QdiscSpec::parse(text).unwrap(), series).to_string();
        assert_eq!(followed("codel@linux:ecn=true", (6, 1)), "codel@linux-6.1:ecn=true");
        assert_eq!(followed("fq_codel@linux", (6, 6)), "fq_codel@linux-6.1");
        for as_written in ["codel@linux-7.2", "codel", "pie@linux", "cake"] {
            assert_eq!(followed(as_written, (6, 1)), as_written);
        }
    }
}
