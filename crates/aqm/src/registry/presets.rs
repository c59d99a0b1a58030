//! Disciplines and laws that are often used together.

use crate::params::Dialect;

/// A name for a common pair of discipline and law, with the pair's defaults.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name: `fq_codel`.
    pub name: &'static str,
    /// One line.
    pub doc: &'static str,
    /// The law under flow queues.
    pub law: &'static str,
    /// Dialects that the pair has but the law does not, the default first. In them, the law uses
    /// its default dialect.
    pub dialects: &'static [Dialect],
    /// Defaults of the pair; later ones override earlier ones.
    pub settings: &'static [Setting],
}

/// A default that belongs to a discipline and a law together.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The dialect in which it holds; `None`: all.
    pub dialect: Option<&'static str>,
    /// The parameter.
    pub name: &'static str,
    /// Its value.
    pub value: &'static str,
    /// The source of the value.
    pub source: &'static str,
    /// Whether the pair allows no other value.
    pub is_fixed: bool,
}

const fn set(name: &'static str, value: &'static str, source: &'static str) -> Setting {
    Setting { dialect: None, name, value, source, is_fixed: false }
}

const fn set_in(dialect: &'static str, setting: Setting) -> Setting {
    Setting { dialect: Some(dialect), ..setting }
}

const fn fixed_in(dialect: &'static str, setting: Setting) -> Setting {
    Setting { is_fixed: true, ..set_in(dialect, setting) }
}

impl Preset {
    /// The settings of a dialect.
    pub fn settings_of(&self, dialect: &str) -> impl Iterator<Item = &'static Setting> {
        let holds = move |setting: &&Setting| setting.dialect.is_none_or(|name| name == dialect);
        self.settings.iter().filter(holds)
    }
}

/// The pairs that have names.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "fq_codel",
        doc: "Flow queues, each under CoDel, with ECN (RFC 8290)",
        law: "codel",
        dialects: &[Dialect { name: "rfc8290", doc: "RFC 8290 around the CoDel of RFC 8289" }],
        settings: &[set("ecn", "true", "Linux sch_fq_codel.c; RFC 8290 §5.2.6")],
    },
    Preset {
        name: "fq_pie",
        doc: "Flow queues, each under PIE (Linux sch_fq_pie.c; RFC 8033 §6)",
        law: "pie",
        dialects: &[],
        settings: &[
            set("overflow", "arrival", "Linux sch_fq_pie.c"),
            fixed_in(
                "linux",
                set("memory_limit", "off", "Linux sch_fq_pie.c: counted, not enforced"),
            ),
            set_in("ns3", set("overflow", "fattest", "ns-3 FqPieQueueDisc")),
            set_in("ns3", set("ecn", "true", "ns-3 FqPieQueueDisc: UseEcn")),
            set_in("freebsd", set("overflow", "fattest", "FreeBSD fq_pie_enqueue")),
            set_in("freebsd", set("delay", "stamps", "FreeBSD fq_pie_sysctl")),
            set_in("freebsd", set("ecn", "true", "FreeBSD ipfw, process_extra_parms")),
        ],
    },
    Preset {
        name: "fq_cobalt",
        doc: "Flow queues, each under COBALT (ns-3 FqCobaltQueueDisc; inside Linux CAKE)",
        law: "cobalt",
        dialects: &[],
        settings: &[set_in("ns3", set("ecn", "true", "ns-3 FqCobaltQueueDisc: UseEcn"))],
    },
];
