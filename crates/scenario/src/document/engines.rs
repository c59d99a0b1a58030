//! Settings of single engines, as written: `[engine.linux]`, `[engine.ns3]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of single engines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Engines {
    /// The real Linux kernel.
    pub linux: LinuxEngine,
    /// The simulator ns-3.
    pub ns3: Ns3Engine,
}

impl Engines {
    /// Whether every setting is the default.
    pub fn is_default(&self) -> bool {
        *self == Engines::default()
    }
}

/// The real Linux kernel: `sojourn run FILE --engine linux`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxEngine {
    /// Where the bottleneck runs: `kernel` is the kernel's own queueing discipline, `sojourn` any
    /// of our AQMs in a router in user space, `sojourn-module` any of them in the kernel, as a
    /// module; all under the kernel's TCP.
    pub bottleneck: LinuxBottleneck,
    /// Where the kernel runs: `guest` in virtual time, `uml` in a guest of Debian's package
    /// user-mode-linux in real time, `host` in network name spaces of this machine in real time,
    /// `auto` the first of these that works here.
    #[serde(rename = "where")]
    pub place: LinuxPlace,
    /// Timer interrupts per second of the guest kernel: 100, 250, 300 or 1000. TCP's timers and
    /// PIE's update have this granularity. In real time the kernel has its own.
    #[schemars(extend("enum" = [100, 250, 300, 1000]))]
    pub hz: u32,
}

impl Default for LinuxEngine {
    fn default() -> LinuxEngine {
        LinuxEngine { bottleneck: LinuxBottleneck::Kernel, place: LinuxPlace::Auto, hz: 1000 }
    }
}

/// Where the bottleneck runs: `kernel`, `sojourn` or `sojourn-module`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinuxBottleneck {
    /// The kernel's own discipline.
    Kernel,
    /// One of our AQMs in a router in user space.
    Sojourn,
    /// One of our AQMs in the kernel, by the module `sch_sojourn`.
    SojournModule,
}

impl LinuxBottleneck {
    /// As written.
    pub const fn word(self) -> &'static str {
        match self {
            LinuxBottleneck::Kernel => "kernel",
            LinuxBottleneck::Sojourn => "sojourn",
            LinuxBottleneck::SojournModule => "sojourn-module",
        }
    }
}

/// Where the kernel runs: `auto`, `guest`, `uml` or `host`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinuxPlace {
    /// The first of the others that works on this machine.
    Auto,
    /// Our guest kernel, in virtual time.
    Guest,
    /// Debian's guest kernel (user-mode-linux), in real time.
    Uml,
    /// This machine's kernel, in real time.
    Host,
}

impl LinuxPlace {
    /// As written.
    pub const fn word(self) -> &'static str {
        match self {
            LinuxPlace::Auto => "auto",
            LinuxPlace::Guest => "guest",
            LinuxPlace::Uml => "uml",
            LinuxPlace::Host => "host",
        }
    }
}

/// The simulator ns-3: `sojourn run FILE --engine ns3`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ns3Engine {
    /// The queue disc at the links: `sojourn` any of our AQMs, `ns3` ns-3's own disc for an AQM in
    /// the dialect `ns3`.
    pub bottleneck: Ns3Bottleneck,
    /// The TCP of the flows: `as-is` (the default) ns-3's, `mended` ns-3's without six errors of
    /// release 3.44, in proportional rate reduction, in repeated timeouts, in the slow start of
    /// CUBIC, in the round trip that controls are told, at the end of a recovery, and in Reno.
    #[serde(skip_serializing_if = "Ns3Tcp::is_default")]
    pub tcp: Ns3Tcp,
}

/// The queue disc at the links: `sojourn` or `ns3`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ns3Bottleneck {
    /// One of our AQMs.
    #[default]
    Sojourn,
    /// ns-3's own.
    Ns3,
}

/// The TCP of the flows: `as-is` or `mended`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ns3Tcp {
    /// ns-3's.
    #[default]
    AsIs,
    /// ns-3's without six errors (facts tcp-14, tcp-15, ns3-5, ns3-6, ns3-8 and ns3-9).
    Mended,
}

impl Ns3Tcp {
    /// Whether it is the default, which the resolved scenario leaves out.
    fn is_default(&self) -> bool {
        *self == Ns3Tcp::default()
    }
}
