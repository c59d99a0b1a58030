//! Every AQM that a `queue` can name, with all its parameters: what schema, Python and pages show.

use sojourn_aqm::params::{Dialect, ParamSpec};
use sojourn_aqm::registry::{self, Entry, PRESETS, Role};
use sojourn_aqm::{Ecn, Env, Limit, Packet, QdiscSpec, Rate, Var};

/// An AQM by name: a law in one queue, a scheme, or a preset.
#[derive(Clone)]
pub struct Kind {
    /// Its name: `codel`, `fq_codel`.
    pub name: &'static str,
    /// One line.
    pub doc: &'static str,
    /// The law inside: the name itself for a law or a scheme.
    pub law: &'static str,
    /// Whether the name stands for a discipline and a law together.
    pub is_preset: bool,
    /// Whether the name stands for a law, which may be put under flow queues.
    pub is_law: bool,
    /// Its dialects, the default first.
    pub dialects: &'static [Dialect],
    /// The parameters of the discipline.
    pub discipline_params: &'static [ParamSpec],
    /// The parameters of the law.
    pub law_params: &'static [ParamSpec],
    /// The state variables that can be sampled.
    pub vars: &'static [Var],
    /// What the preset sets: (name, value, source).
    pub preset_settings: &'static [(&'static str, &'static str, &'static str)],
}

/// Every AQM: laws, schemes, presets.
pub fn all() -> Vec<Kind> {
    let entries = registry::entries();
    let by_name = |name: &str| entries.iter().find(|entry| entry.name == name).copied();
    let presets = PRESETS.iter().map(|preset| {
        let law = by_name(preset.law).expect("a preset names a registered law");
        Kind {
            is_preset: true,
            is_law: false,
            preset_settings: preset.settings,
            ..kind(preset.name, preset.doc, &law)
        }
    });
    entries.iter().map(|entry| kind(entry.name, entry.doc, entry)).chain(presets).collect()
}

fn kind(name: &'static str, doc: &'static str, law: &Entry) -> Kind {
    let spec = QdiscSpec::new(name, None, Vec::new()).expect("a registered name is legal");
    Kind {
        name,
        doc,
        law: law.name,
        is_preset: false,
        is_law: law.role == Role::Law,
        dialects: law.dialects,
        discipline_params: registry::discipline_params(spec.discipline),
        law_params: (law.params)(),
        vars: vars(&spec),
        preset_settings: &[],
    }
}

/// The state variables of a discipline; only the finished thing knows whose it shows.
fn vars(spec: &QdiscSpec) -> &'static [Var] {
    let (limit, rate) = (Limit::Packets(1000), Some(Rate::from_bps(10_000_000)));
    let env = Env { limit, mtu_bytes: 1500, rate, salt: 0 };
    let qdisc = registry::build::<NoPacket>(spec, &env).expect("a registered name can be built");
    qdisc.vars()
}

/// Stands for a packet where none is sent.
enum NoPacket {}

impl Packet for NoPacket {
    fn bytes(&self) -> u32 {
        match *self {}
    }
    fn ecn(&self) -> Ecn {
        match *self {}
    }
    fn set_ce(&mut self) {
        match *self {}
    }
    fn flow(&self) -> u64 {
        match *self {}
    }
}

impl Kind {
    /// All parameters, those of the law first.
    pub fn params(&self) -> impl Iterator<Item = &'static ParamSpec> + use<> {
        self.law_params.iter().chain(self.discipline_params)
    }

    /// The default of a parameter in a dialect, as text.
    pub fn default_of(&self, dialect: &str, param: &str) -> String {
        let spec = QdiscSpec::new(self.name, Some(dialect), Vec::new());
        let settings = spec.and_then(|spec| registry::settings(&spec));
        let settings = settings.expect("a registered name with its own dialect is legal");
        let found = settings.into_iter().find(|(name, _)| *name == param);
        found.expect("a declared parameter has a value").1
    }

    /// Where the default of a parameter in a dialect comes from.
    pub fn source_of(&self, dialect: &str, param: &ParamSpec) -> &'static str {
        let preset = self.preset_settings.iter().find(|(name, ..)| *name == param.name);
        let own = param.sources.iter().find(|(of, _)| *of == dialect);
        preset.map_or_else(|| own.unwrap_or(&param.sources[0]).1, |(_, _, source)| source)
    }
}
