//! The description of a bottleneck, as in a scenario.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use sojourn_aqm::{Span, units};
use sojourn_endpoint::Stack;
use sojourn_scenario::{Format, Scenario};

use crate::scenario::{load, run_loaded};
use crate::{Report, SetupError, TestLink};

/// The name of the link in reports and messages.
const LINK: &str = "bottleneck";
/// The name of the downloads in reports.
const DOWNLOAD: &str = "download";

/// A link in one direction, described by texts with units: `10mbit`, `20ms`. Defaults are those of
/// a scenario: no delay, no loss, a queue that drops at its tail.
///
/// ```
/// use sojourn_testing::Bottleneck;
///
/// let home = Bottleneck::new("10mbit").delay("20ms").queue("fq_codel:target=5ms").loss(0.01);
/// assert!(home.link::<()>().is_ok());
/// let error = home.queue("fq_codle").link::<()>().err().unwrap();
/// assert!(error.to_string().contains("did you mean `fq_codel`?"), "{error}");
/// ```
#[derive(Clone, Debug)]
pub struct Bottleneck {
    link: Map<String, Value>,
    mtu: String,
    seed: u64,
    warmup: String,
    flows: u32,
    ecn: bool,
}

impl Bottleneck {
    /// A link of this rate.
    pub fn new(rate: &str) -> Bottleneck {
        let link = Map::from_iter([("rate".to_owned(), json!(rate))]);
        let (mtu, warmup) = ("1500B".to_owned(), "0s".to_owned());
        Bottleneck { link, mtu, seed: 1, warmup, flows: 1, ecn: false }
    }

    /// A link whose rate changes, given as times and rates: `[("0s", "10mbit"), ("2s", "1mbit")]`.
    /// The first time is `0s`; `0bit` is an outage.
    pub fn with_steps(steps: &[(&str, &str)]) -> Bottleneck {
        let bottleneck = Bottleneck::new("");
        bottleneck.key("rate", json!({ "kind": "schedule", "steps": steps }))
    }

    /// A link with the delivery opportunities of a recording in Mahimahi's format. The file is
    /// relative to the folder in which the test runs, that of its package.
    pub fn with_trace(file: &str) -> Bottleneck {
        Bottleneck::new("").key("rate", json!({ "kind": "trace", "file": file }))
    }

    /// The AQM: `pie`, `fq_codel:target=5ms`, `codel@linux`; `taildrop` by default.
    #[must_use]
    pub fn queue(self, aqm: &str) -> Bottleneck {
        self.key("queue", json!(aqm))
    }

    /// Propagation delay in this direction.
    #[must_use]
    pub fn delay(self, delay: &str) -> Bottleneck {
        self.key("delay", json!(delay))
    }

    /// The size of the queue: `100p`, `150kB`, `250ms`; the AQM's own by default.
    #[must_use]
    pub fn buffer(self, buffer: &str) -> Bottleneck {
        self.key("buffer", json!(buffer))
    }

    /// Each packet is lost behind the queue with this probability.
    #[must_use]
    pub fn loss(self, probability: f64) -> Bottleneck {
        self.key("loss", json!({ "kind": "bernoulli", "rate": probability }))
    }

    /// An extra delay of each packet, uniform between zero and `most`. Packets stay in order unless
    /// `reorder`.
    #[must_use]
    pub fn jitter(self, most: &str, reorder: bool) -> Bottleneck {
        self.key("jitter", json!({ "kind": "uniform", "max": most, "reorder": reorder }))
    }

    /// Bytes of framing that the link adds to every packet.
    #[must_use]
    pub fn framing(self, bytes: &str) -> Bottleneck {
        self.key("framing", json!(bytes))
    }

    /// The largest IP packet; `1500B` by default.
    #[must_use]
    pub fn mtu(self, bytes: &str) -> Bottleneck {
        Bottleneck { mtu: bytes.to_owned(), ..self }
    }

    /// The seed of everything random; 1 by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Bottleneck {
        Bottleneck { seed, ..self }
    }

    /// The time at the start that metrics exclude.
    #[must_use]
    pub fn warmup(self, warmup: &str) -> Bottleneck {
        Bottleneck { warmup: warmup.to_owned(), ..self }
    }

    /// The number of downloads that share the link; 1 by default.
    #[must_use]
    pub fn flows(self, flows: u32) -> Bottleneck {
        Bottleneck { flows, ..self }
    }

    /// Whether the hosts of downloads pass the ECN field between library and network.
    #[must_use]
    pub fn ecn(self, ecn: bool) -> Bottleneck {
        Bottleneck { ecn, ..self }
    }

    /// The link, for code that has its own loop.
    ///
    /// # Errors
    /// [`SetupError`] with place and remedy.
    pub fn link<T: Send + 'static>(&self) -> Result<TestLink<T>, SetupError> {
        let warmup = units::span(&self.warmup).map_err(|why| SetupError::new("warmup", why))?;
        let duration = warmup + Span::from_secs(1); // unused: the caller ends it
        TestLink::new(self.scenario(&format!("{}ns", duration.as_nanos()), None)?.resolved())
    }

    /// Bulk downloads over a transport library through this link in the simulator. The return path
    /// has the same delay and no queue.
    ///
    /// # Errors
    /// [`SetupError`] if a setting is not legal or the library breaks its contract.
    pub fn download(
        &self,
        library: impl Stack + 'static,
        duration: &str,
    ) -> Result<Report, SetupError> {
        let scenario = self.scenario(duration, Some(LINK))?;
        run_loaded(&scenario, [(LINK, Arc::new(library) as Arc<dyn Stack>)])
    }

    fn key(mut self, key: &str, value: Value) -> Bottleneck {
        self.link.insert(key.to_owned(), value);
        self
    }

    /// The scenario with this link and downloads over `transport`.
    fn scenario(&self, duration: &str, transport: Option<&str>) -> Result<Scenario, SetupError> {
        let delay = self.link.get("delay").and_then(Value::as_str).unwrap_or("0s");
        let one_way = units::span(delay);
        let one_way = one_way.map_err(|why| SetupError::new("links.bottleneck.delay", why))?;
        let rtt = Span::from_nanos(one_way.times(2).as_nanos().max(1));
        let mut flow = json!({
            "name": DOWNLOAD,
            "count": self.flows,
            "path": [LINK],
            "rtt": format!("{}ns", rtt.as_nanos()),
            "packet": self.mtu,
            "app": { "kind": "bulk" },
        });
        if let Some(transport) = transport {
            flow["transport"] = json!(transport);
            flow["ecn"] = json!(self.ecn);
        }
        let document = json!({
            "name": LINK,
            "seed": self.seed,
            "duration": duration,
            "warmup": self.warmup,
            "links": { LINK: self.link },
            "flows": [flow],
        });
        load(&document.to_string(), Format::Json)
    }
}
