//! Every AQM that a `queue` can name, with all its parameters: for the schema, Python and the
//! documentation.

use sojourn_aqm::custom::{self, CustomLaw};
use sojourn_aqm::params::{Behaviour, Dialect, ParamSpec, StepTable};
use sojourn_aqm::registry::{self, KernelRelease, Preset, Role};
use sojourn_aqm::{Discipline, Ecn, Env, Limit, Packet, QdiscSpec, Rate, Var};

/// An AQM: a law in one queue, a scheme, or a preset.
#[derive(Clone)]
pub struct AqmInfo {
    /// Its name: `codel`, `fq_codel`, `fq(codel)`.
    pub name: String,
    /// One line.
    pub doc: &'static str,
    /// The law inside: the name itself for a law or a scheme.
    pub law: &'static str,
    /// Whether the name stands for a discipline combined with a law.
    pub is_preset: bool,
    /// Whether the name stands for a law, which can be combined with flow queues.
    pub is_law: bool,
    /// Its dialects, the default first.
    pub dialects: Vec<Dialect>,
    /// The kernels whose names can be its dialect: `codel@linux-6.1`.
    pub kernels: Vec<&'static KernelRelease>,
    /// The parameters of the discipline.
    pub discipline_params: &'static [ParamSpec],
    /// The parameters of the law.
    pub law_params: &'static [ParamSpec],
    /// The state variables that can be sampled.
    pub vars: &'static [Var],
    /// How the dialects differ besides their parameters.
    pub behaviours: Vec<Behaviour>,
    /// The tables by which its controller scales its steps as its output grows.
    pub step_tables: &'static [StepTable],
    preset: Option<&'static Preset>,
    unused: fn(&str) -> &'static [&'static str],
    /// The AQM without dialect and settings.
    plain: QdiscSpec,
}

impl AqmInfo {
    /// Every AQM that is registered under a name: laws, schemes, presets.
    pub fn all() -> Vec<AqmInfo> {
        registry::names().map(|name| AqmInfo::of(&parsed(name))).collect()
    }

    /// The AQM that a spec describes, `fq(pie)` included; dialect and settings are ignored.
    pub fn of(spec: &QdiscSpec) -> AqmInfo {
        let plain = QdiscSpec { dialect: None, settings: Vec::new(), ..spec.clone() };
        if let Some(law) = &spec.custom {
            return AqmInfo::of_custom(plain.clone(), law);
        }
        let law = registry::entry(&spec.law).expect("a checked spec names a law or a scheme");
        let preset = spec.preset.and_then(registry::preset);
        let of_preset = preset.map_or(&[][..], |preset| preset.dialects);
        let of_discipline = registry::discipline_behaviours(spec.discipline);
        AqmInfo {
            name: spec.kind(),
            doc: preset.map_or(law.doc, |preset| preset.doc),
            law: law.name,
            is_preset: preset.is_some(),
            is_law: law.role == Role::Law && spec.discipline == Discipline::Fifo,
            dialects: [of_preset, law.dialects].concat(),
            kernels: registry::kernels_of(law.name).collect(),
            discipline_params: registry::discipline_params(spec.discipline),
            law_params: (law.params)(),
            behaviours: [(law.behaviours)(), of_discipline].concat(),
            vars: vars(&plain),
            step_tables: law.step_tables,
            preset,
            unused: law.unused,
            plain,
        }
    }

    fn of_custom(plain: QdiscSpec, law: &CustomLaw) -> AqmInfo {
        AqmInfo {
            name: plain.kind(),
            doc: law.doc(),
            law: law.name(),
            is_preset: false,
            is_law: plain.discipline == Discipline::Fifo,
            dialects: vec![Dialect { doc: law.source(), ..custom::DIALECT }],
            kernels: Vec::new(),
            discipline_params: registry::discipline_params(plain.discipline),
            law_params: law.specs(),
            vars: law.vars(),
            behaviours: registry::discipline_behaviours(plain.discipline).to_vec(),
            step_tables: &[],
            preset: None,
            unused: |_| &[],
            plain,
        }
    }

    /// Every name of a dialect with its meaning; names of kernels come last.
    pub fn dialect_words(&self) -> impl Iterator<Item = (&'static str, String)> {
        let own = self.dialects.iter().map(|dialect| (dialect.name, dialect.doc.to_owned()));
        let kernel =
            |it: &&'static KernelRelease| (it.word, format!("that of Linux {}", it.release));
        let is_declared = self.dialects.iter().any(|dialect| dialect.name == registry::NEWEST);
        let newest = self.kernels.last().filter(|_| !is_declared);
        let newest = newest.map(|it| (registry::NEWEST, format!("that of Linux {}", it.release)));
        own.chain(newest).chain(self.kernels.iter().map(kernel))
    }

    /// All parameters, those of the law first.
    pub fn params(&self) -> impl Iterator<Item = &'static ParamSpec> + use<> {
        self.law_params.iter().chain(self.discipline_params)
    }

    /// The default of a parameter in a dialect, as text.
    pub fn default_of(&self, dialect: &str, param: &str) -> String {
        let spec = QdiscSpec { dialect: Some(dialect.to_owned()), ..self.plain.clone() };
        let settings =
            registry::settings(&spec).expect("a registered name with its own dialect is legal");
        let found = settings.into_iter().find(|(name, _)| *name == param);
        found.expect("a declared parameter has a value").1
    }

    /// Whether a parameter has an effect in a dialect.
    pub fn has_effect(&self, dialect: &str, param: &str) -> bool {
        !(self.unused)(registry::declared(self.law, dialect)).contains(&param)
    }

    /// The source of the default of a parameter in a dialect.
    pub fn source_of(&self, dialect: &str, param: &ParamSpec) -> &'static str {
        let dialect = registry::declared(self.law, dialect);
        let of_preset = self.preset.into_iter().flat_map(|preset| preset.settings_of(dialect));
        let of_preset = of_preset.filter(|setting| setting.name == param.name).last();
        of_preset.map_or_else(|| param.source_of(dialect), |setting| setting.source)
    }
}

fn parsed(name: &str) -> QdiscSpec {
    QdiscSpec::new(name, None, Vec::new()).expect("a registered name is legal")
}

/// The state variables of a discipline. Only a built discipline can list them, because they may
/// belong to the law or to the discipline.
fn vars(spec: &QdiscSpec) -> &'static [Var] {
    let (limit, rate) = (Limit::Packets(1000), Some(Rate::from_bps(10_000_000)));
    let env = Env { limit, mtu_bytes: 1500, rate, salt: 0 };
    let qdisc = registry::build::<NoPacket>(spec, &env).expect("a registered name can be built");
    qdisc.vars()
}

/// A packet type without values, for disciplines that are built but never used.
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

/// The name of the class for an AQM in Python and in the schema: `fq_codel` becomes `FqCodel`.
pub fn class_name(kind: &str) -> String {
    let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    kind.split('_').filter(|word| !word.is_empty()).map(capital).collect()
}
