//! Cases that cost more than a plain dumbbell, so that no limit depends on a single shape of
//! scenario: `cliffs.toml` lists them.

use std::collections::BTreeMap;

use serde::Deserialize;
use sojourn_scenario::{Resolved, Scenario, Source};

use super::measured::Measured;

const LIST: &str = include_str!("cliffs.toml");
const BASE: &str = include_str!("dumbbell-queued.toml");

/// The cases, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    case: Vec<Cliff>,
}

/// One case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cliff {
    name: String,
    about: String,
    /// Changed keys of the base.
    #[serde(default)]
    set: BTreeMap<String, String>,
    /// Text added to the base.
    #[serde(default)]
    more: String,
    #[serde(default = "usual")]
    between_ms: (u64, u64),
}

fn usual() -> (u64, u64) {
    (1_000, 2_000)
}

/// All cases.
pub fn cases() -> Vec<Cliff> {
    toml::from_str::<List>(LIST).expect("the list is valid").case
}

impl Measured for Cliff {
    fn name(&self) -> &str {
        &self.name
    }

    fn describe(&self) -> String {
        self.about.clone()
    }

    fn between_ms(&self) -> (u64, u64) {
        self.between_ms
    }

    fn plan(&self, milliseconds: u64) -> Resolved {
        let set = self.set.iter().map(|(key, value)| (key.clone(), value.clone()));
        let duration = ("duration".to_owned(), format!("{milliseconds}ms"));
        let sets: Vec<_> = set.chain([duration]).collect();
        let source = Source { sets: &sets, ..Source::default() };
        let no_traces = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let text = [BASE, &self.more].concat();
        let scenario = Scenario::load(&text, &source, &no_traces);
        scenario.unwrap_or_else(|why| panic!("{}: {why}", self.name)).resolved().clone()
    }
}
