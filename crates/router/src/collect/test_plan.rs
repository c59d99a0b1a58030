//! The plan shared by the tests of this module.

use sojourn_scenario::{Scenario, Source};

use crate::plan::Plan;
use crate::planning;

/// Its scenario.
pub(super) const TEXT: &str = r#"
name = "sample"
duration = "2s"
warmup = "1s"
[links.bottleneck]
rate = "10mbit"
queue = "codel@linux"
[[flows]]
path = ["bottleneck"]
rtt = "20ms"
app = { kind = "bulk" }
"#;

/// One greedy flow under the kernel's CoDel; the first second is the warm-up.
pub(super) fn plan() -> Plan {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let scenario = Scenario::load(TEXT, &Source::default(), &none).unwrap();
    let kernel = planning::Kernel { hz: 1000, delays_in_router: false, release: None };
    planning::plan(scenario.resolved(), kernel).unwrap()
}
