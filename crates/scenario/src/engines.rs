//! What single engines must know beside the scenario: `[engine.linux]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What single engines must know beside the scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Engines {
    /// The real Linux kernel.
    pub linux: LinuxEngine,
}

impl Engines {
    /// Whether nothing was written.
    pub fn is_default(&self) -> bool {
        *self == Engines::default()
    }
}

/// The real Linux kernel: `sojourn run FILE --engine linux`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxEngine {
    /// Where the bottleneck runs: `kernel` is the kernel's own queueing discipline, `sojourn` any AQM
    /// of ours in a router in user space, under the kernel's TCP.
    pub bottleneck: LinuxBottleneck,
    /// Timer interrupts per second of the guest kernel: 100, 250, 300 or 1000. TCP's timers and PIE's
    /// update have this grain.
    #[schemars(extend("enum" = [100, 250, 300, 1000]))]
    pub hz: u32,
}

impl Default for LinuxEngine {
    fn default() -> LinuxEngine {
        LinuxEngine { bottleneck: LinuxBottleneck::Kernel, hz: 1000 }
    }
}

/// Where the bottleneck runs: `kernel` or `sojourn`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinuxBottleneck {
    /// The kernel's own discipline.
    Kernel,
    /// An AQM of ours in a router in user space.
    Sojourn,
}
