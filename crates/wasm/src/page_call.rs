//! The calls of the page.

use serde::Deserialize;

/// One call, identified by its key `call`.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum PageCall {
    /// Every AQM and congestion control with its parameters.
    Catalogue,
    /// Whether a text is a legal scenario, and its content.
    Check(ChangedScenario),
    /// A complete run at once, for its digest.
    Run(ChangedScenario),
    /// Opens a session, which gets a number.
    Open(ChangedScenario),
    /// Advances a session.
    Advance {
        /// Its number.
        session: usize,
        /// The simulated time to reach, in seconds.
        until_s: f64,
        /// The maximum number of events.
        events: u64,
    },
    /// Advances a session to the next packet that arrives at the watched queue or leaves it.
    StepPacket {
        /// Its number.
        session: usize,
    },
    /// Puts another AQM, in its text form, on the watched link.
    SetQueue {
        /// Its number.
        session: usize,
        /// The AQM.
        aqm: String,
    },
    /// The summary of a finished session, which is closed.
    Finish {
        /// Its number.
        session: usize,
    },
    /// Forgets a session.
    Close {
        /// Its number.
        session: usize,
    },
    /// Reads what `tc qdisc show` prints.
    Setup(PastedSetup),
}

/// Output of `tc qdisc show`, and what the user adds to it, in tc's units.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PastedSetup {
    pub(crate) text: String,
    /// The rate of the line.
    pub(crate) rate: Option<String>,
    /// The base round-trip time.
    pub(crate) rtt: Option<String>,
    /// The device, if the text has several.
    pub(crate) device: Option<String>,
}

/// A scenario with the page's changes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangedScenario {
    /// The scenario, as TOML.
    pub(crate) text: String,
    /// The seed that replaces the scenario's, as text, because a number of JavaScript has 53 bits.
    pub(crate) seed: Option<String>,
    /// The AQM of the watched link that replaces the scenario's.
    pub(crate) aqm: Option<String>,
    /// The watched link, instead of the slowest on the path of the first flows.
    pub(crate) link: Option<String>,
    /// The simulated time in seconds that replaces the scenario's if that is longer.
    pub(crate) longest_s: Option<f64>,
    /// Time between samples in seconds that replaces the scenario's.
    pub(crate) sample_s: Option<f64>,
    /// Texts of traces and recordings, by their names in the scenario.
    #[serde(default)]
    pub(crate) files: std::collections::BTreeMap<String, String>,
}
