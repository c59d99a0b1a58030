//! The dumbbell of every bench: the shipped `dumbbell-cubic` with other numbers.

use sojourn_scenario::{Resolved, Scenario, Source};

const TEXT: &str = include_str!("../../python/sojourn/scenarios/dumbbell-cubic.toml");

/// The settings of a bench.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    /// The AQM in its text form.
    pub aqm: String,
    /// Bulk flows.
    pub flows: u32,
    /// Rate of the bottleneck.
    pub mbit: u64,
    /// Simulated seconds.
    pub seconds: u64,
    /// Whether every packet becomes a row.
    pub packets: bool,
    /// The seed.
    pub seed: u64,
}

impl Dumbbell {
    /// A short name: `pie, 5 flows, 10 Mbit/s`.
    pub fn name(&self) -> String {
        let plural = if self.flows == 1 { "" } else { "s" };
        format!("{}, {} flow{plural}, {} Mbit/s", self.aqm, self.flows, self.mbit)
    }

    /// The shipped scenario with a buffer of two bandwidth-delay products and these numbers.
    pub fn plan(&self) -> Resolved {
        self.plan_with(&[])
    }

    /// This scenario with further settings in the form of `--set`.
    pub fn plan_with(&self, more: &[(&str, &str)]) -> Resolved {
        let numbers = [
            ("links.bottleneck.buffer", "2bdp".to_owned()),
            ("links.bottleneck.rate", format!("{}mbit", self.mbit)),
            ("links.bottleneck.queue", self.aqm.clone()),
            ("flows.bulk.count", self.flows.to_string()),
            ("duration", format!("{}s", self.seconds)),
            ("warmup", "0s".to_owned()),
            ("record.packets", self.packets.to_string()),
            ("seed", self.seed.to_string()),
        ];
        let more = more.iter().map(|&(key, value)| (key, value.to_owned()));
        let sets = numbers.into_iter().chain(more).map(|(key, value)| (key.to_owned(), value));
        let sets: Vec<(String, String)> = sets.collect();
        let source = Source { sets: &sets, ..Source::default() };
        let no_traces = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Scenario::load(TEXT, &source, &no_traces);
        scenario.expect("the shipped scenario takes these").resolved().clone()
    }
}
