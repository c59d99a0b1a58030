//! The manifest: what was run, by which version, and the checksums of the results.

use serde_json::{Value, json};

use crate::rows::Run;
use crate::tables::Table;

/// Incremented when a reader of older files would misunderstand newer ones.
pub const FORMAT: u32 = 1;

/// The facts of a run that are not in its rows.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The resolved scenario: every default filled in, every number with its unit.
    pub scenario: Value,
    /// The values that each link's queue derives from its parameters.
    pub effective: Value,
    /// The transports of the TCP flows, with every default filled in.
    pub transports: Value,
    /// The scenario's name.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// `sim`, `linux` or `ns3`.
    pub engine: &'static str,
    /// The version of Sojourn.
    pub version: &'static str,
    /// Wall time of the run, in seconds.
    pub wall_s: f64,
    /// Facts specific to this engine; null without such facts.
    pub facts: Value,
    /// Reasons why the run is not a valid experiment, one sentence each; empty if it is valid.
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
            "effective": self.effective,
            "transports": self.transports,
            "scenario": self.scenario,
        });
        if !self.facts.is_null() {
            manifest[self.engine] = self.facts.clone();
        }
        manifest
    }
}

/// The fingerprint of a run in readable form: 16 hexadecimal digits.
pub fn digest(run: &Run) -> String {
    format!("{:016x}", run.digest)
}
