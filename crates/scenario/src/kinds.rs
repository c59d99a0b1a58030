//! Every AQM that a `queue` can name, with all its parameters: what schema, Python and pages show.

use sojourn_aqm::params::{Dialect, ParamSpec};
use sojourn_aqm::registry::{self, LawEntry, PRESETS};
use sojourn_aqm::{Ecn, Env, Limit, Packet, QdiscSpec, Rate, Var};

/// An AQM by name: a law in one queue, or a preset.
#[derive(Clone)]
pub struct Kind {
    /// Its name: `codel`, `fq_codel`.
    pub name: &'static str,
    /// One line.
    pub doc: &'static str,
    /// The law inside: the name itself for a law.
    pub law: &'static str,
    /// Whether the name stands for a discipline and a law together.
    pub is_preset: bool,
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

/// Every AQM, laws first.
pub fn all() -> Vec<Kind> {
    let laws = registry::laws();
    let by_name = |name: &str| laws.iter().find(|law| law.name == name).copied();
    let presets = PRESETS.iter().map(|preset| {
        let law = by_name(preset.law).expect("a preset names a registered law");
        Kind {
            is_preset: true,
            preset_settings: preset.settings,
            ..kind(preset.name, preset.doc, &law)
        }
    });
    laws.iter().map(|law| kind(law.name, law.doc, law)).chain(presets).collect()
}

fn kind(name: &'static str, doc: &'static str, law: &LawEntry) -> Kind {
    let spec = QdiscSpec::new(name, None, Vec::new()).expect("a registered name is legal");
    Kind {
        name,
        doc,
        law: law.name,
        is_preset: false,
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
