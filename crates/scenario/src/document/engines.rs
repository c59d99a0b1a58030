//! Settings of individual engines, as written: `[engine.linux]`, `[engine.ns3]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of individual engines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Engines {
    /// The real Linux kernel.
    pub linux: LinuxEngine,
    /// The simulator ns-3.
    pub ns3: Ns3Engine,
}

impl Engines {
    /// Whether every setting has its default.
    pub fn is_default(&self) -> bool {
        *self == Engines::default()
    }
}

/// The real Linux kernel: `sojourn run FILE --engine linux`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxEngine {
    /// Where the bottleneck runs. `kernel` is the kernel's own queueing discipline. `sojourn` is
    /// any of our AQMs in a router in user space. `sojourn-module` is any of our AQMs in the
    /// kernel, as a module. All of them run under the kernel's TCP. Left out, it is `kernel`, and
    /// `sojourn` under programs (`sojourn exec`) unless a link has a scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<LinuxBottleneck>,
    /// Where the kernel runs: `guest` in virtual time, `uml` in a guest of Debian's package
    /// user-mode-linux in real time, `host` in network namespaces of this machine in real time,
    /// `auto` the first of these that works here.
    #[serde(rename = "where")]
    pub place: LinuxPlace,
    /// Timer interrupts per second of the guest kernel: 100, 250, 300 or 1000. This is the
    /// granularity of TCP's timers and of PIE's update. In real time the kernel's own value
    /// applies.
    #[schemars(extend("enum" = [100, 250, 300, 1000]))]
    pub hz: u32,
}

impl Default for LinuxEngine {
    fn default() -> LinuxEngine {
        LinuxEngine { bottleneck: None, place: LinuxPlace::Auto, hz: 1000 }
    }
}

impl LinuxEngine {
    /// Where the bottleneck runs, if programs do not run behind it.
    pub fn bottleneck(&self) -> LinuxBottleneck {
        self.bottleneck.unwrap_or(LinuxBottleneck::Kernel)
    }

    /// With that place written out.
    pub(crate) fn with_bottleneck(self) -> LinuxEngine {
        LinuxEngine { bottleneck: Some(self.bottleneck()), ..self }
    }
}

/// Where the bottleneck runs: `kernel`, `sojourn` or `sojourn-module`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinuxBottleneck {
    /// The kernel's own discipline.
    Kernel,
    /// One of our AQMs, in a router in user space.
    Sojourn,
    /// One of our AQMs in the kernel, in the module `sch_sojourn`.
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
    /// The first of the other places that works on this machine.
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
    /// The queue disc of the links: `sojourn` for any of our AQMs, `ns3` for ns-3's own disc of an
    /// AQM in the dialect `ns3`.
    pub bottleneck: Ns3Bottleneck,
    /// The TCP of the flows. `as-is`, the default, is ns-3's TCP. `mended` is the same without six
    /// errors of release 3.44: in proportional rate reduction, in repeated timeouts, in the slow
    /// start of CUBIC, in the round-trip time passed to controls, at the end of a recovery, and in
    /// Reno.
    #[serde(skip_serializing_if = "Ns3Tcp::is_default")]
    pub tcp: Ns3Tcp,
}

/// The queue disc of the links: `sojourn` or `ns3`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ns3Bottleneck {
    /// One of our AQMs.
    #[default]
    Sojourn,
    /// ns-3's own disc.
    Ns3,
}

/// The TCP of the flows: `as-is` or `mended`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ns3Tcp {
    /// ns-3's TCP.
    #[default]
    AsIs,
    /// ns-3's TCP without six errors (facts tcp-14, tcp-15, ns3-5, ns3-6, ns3-8 and ns3-9).
    Mended,
}

impl Ns3Tcp {
    /// Whether it has its default, which the resolved scenario leaves out.
    fn is_default(&self) -> bool {
        *self == Ns3Tcp::default()
    }
}
