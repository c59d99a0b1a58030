//! The manifest: what was run, by which version, and what came out.

use serde_json::{Value, json};

use crate::rows::Run;
use crate::tables::Table;

/// Raised when a reader of older files would misunderstand newer ones.
pub const FORMAT: u32 = 1;

/// The facts of a run that its rows do not hold.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The resolved scenario: every default filled in, every number with its unit.
    pub scenario: Value,
    /// What the TCP flows use, every default filled in.
    pub transports: Value,
    /// The scenario's name.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// `sim`, `linux` or `ns3`.
    pub engine: &'static str,
    /// The version of Sojourn.
    pub version: &'static str,
    /// Real time the run took, in seconds.
    pub wall_s: f64,
    /// Facts that only this engine has; null where there are none.
    pub facts: Value,
    /// Why the run is no valid experiment, one sentence each; none: it is one.
    pub invalid: Vec<String>,
}

impl Manifest {
    /// The manifest of a run.
    pub fn of(&self, run: &Run) -> Value {
        let rows: serde_json::Map<String, Value> = Table::ALL
            .into_iter()
            .map(|table| (table.name().to_owned(), json!(table.rows(run))))
            .collect();
        let mut manifest = json!({
            "format": FORMAT,
            "name": self.name,
            "seed": self.seed,
            "engine": self.engine,
            "versions": { "sojourn": self.version },
            "wall_s": self.wall_s,
            "digest": digest(run),
            "packets": run.packets_handled,
            "events": run.events,
            "rows": rows,
            "warnings": run.warnings,
            "invalid": self.invalid,
            "transports": self.transports,
            "scenario": self.scenario,
        });
        if !self.facts.is_null() {
            manifest[self.engine] = self.facts.clone();
        }
        manifest
    }
}

/// The fingerprint of a run as people read it: 16 hexadecimal digits.
pub fn digest(run: &Run) -> String {
    format!("{:016x}", run.digest)
}
