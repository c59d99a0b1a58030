//! Schedulers of classes, as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::algorithm::AlgorithmSpec;
use super::algorithm_schema;
use super::framing::{LinkCells, is_zero, no_bytes};
use super::ip_fields::DscpKey;
#[cfg(not(target_arch = "wasm32"))]
use super::quantities::SpanText;
use super::quantities::{RateText, SizeText};
use super::tagged::tagged;

/// The scheduler of a link's classes, a table of kind `htb`, `hfsc`, `prio` or `ets`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Scheduler {
    /// Classes with rates and ceilings that lend each other what they leave unused (Linux
    /// `sch_htb.c`).
    #[schemars(title = "HtbScheduler")]
    Htb(HtbScheduler),
    /// Classes with service curves (Linux `sch_hfsc.c`). The web page does not have them.
    #[cfg(not(target_arch = "wasm32"))]
    #[schemars(title = "HfscScheduler")]
    Hfsc(HfscScheduler),
    /// Classes in strict priority (Linux `sch_prio.c`).
    #[schemars(title = "PrioScheduler")]
    Prio(PrioScheduler),
    /// Classes in strict priority, then classes that take turns (Linux `sch_ets.c`, and `sch_drr.c`
    /// if all take turns). The web page does not have them.
    #[cfg(not(target_arch = "wasm32"))]
    #[schemars(title = "EtsScheduler")]
    Ets(EtsScheduler),
}

/// Classes with rates and ceilings that lend each other what they leave unused (Linux `sch_htb.c`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HtbScheduler {
    /// The leaf of packets whose DSCP no class has. Without it they leave before all others and
    /// unshaped, as in Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Bytes that the classes count for a packet on top of what their queues count (`overhead` of
    /// tc's classes).
    #[serde(default = "no_bytes", skip_serializing_if = "is_zero")]
    pub overhead: SizeText,
    /// Least size of a packet with this overhead, as the classes count it.
    #[serde(default = "no_bytes", skip_serializing_if = "is_zero")]
    pub mpu: SizeText,
    /// Cells that the classes count: `atm` takes 53 bytes for every 48 (`linklayer atm`), `ptm` one
    /// more for every 64.
    #[serde(default, skip_serializing_if = "LinkCells::is_none")]
    pub cells: LinkCells,
    /// The classes. Those of equal rank take turns in this order.
    #[schemars(length(min = 1))]
    pub classes: Vec<HtbClass>,
}

/// A class of `htb`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HtbClass {
    /// Its name: a word of letters, digits, `_` and `-`.
    pub name: String,
    /// The class from which it borrows. A class that is nobody's parent is a leaf and has a queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What it may send in any case.
    pub rate: RateText,
    /// What it may send at most, if an ancestor has something to lend. The default is its `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceil: Option<RateText>,
    /// Depth of the bucket of its `rate`.
    #[serde(default = "burst", skip_serializing_if = "is_usual_burst")]
    pub burst: SizeText,
    /// Depth of the bucket of its `ceil`.
    #[serde(default = "burst", skip_serializing_if = "is_usual_burst")]
    pub cburst: SizeText,
    /// Bytes that a leaf may send per turn when it borrows. The default is a tenth of what its
    /// `rate` carries per second, from 1000B to 200kB (`r2q 10`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<SizeText>,
    /// Priority of a leaf, 0 to 7: those with a lower number send first, if they may send.
    #[serde(default, skip_serializing_if = "is_first")]
    #[schemars(range(max = 7))]
    pub prio: u8,
    /// DSCPs of its packets: numbers or names, such as `["ef", "cs6"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<DscpKey>,
    /// The queue of a leaf. The default is the link's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "algorithm_schema::class_queue")]
    pub queue: Option<AlgorithmSpec>,
}

/// Classes with service curves (Linux `sch_hfsc.c`). The web page does not have them.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HfscScheduler {
    /// The leaf of packets whose DSCP no class has.
    pub default: String,
    /// The classes. The line divides among those without a parent.
    #[schemars(length(min = 1))]
    pub classes: Vec<HfscClass>,
}

/// A class of `hfsc`, with `rt`, `ls` or both (tc's `sc` sets both).
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HfscClass {
    /// Its name: a word of letters, digits, `_` and `-`.
    pub name: String,
    /// The class of which it is a part. A class that is nobody's parent is a leaf and has a queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Real-time curve: the service that a leaf gets in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rt: Option<ServiceCurve>,
    /// Link-sharing curve: its share, relative to its siblings', of what real-time curves leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ls: Option<ServiceCurve>,
    /// Upper limit of what it gets by sharing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ul: Option<ServiceCurve>,
    /// DSCPs of its packets: numbers or names, such as `["ef", "cs6"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<DscpKey>,
    /// The queue of a leaf. The default is the link's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "algorithm_schema::class_queue")]
    pub queue: Option<AlgorithmSpec>,
}

/// A service curve: `m1` for a time `d`, then `m2`. `{ m2 = "5mbit" }` is a straight line.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceCurve {
    /// Rate of the first piece; zero without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m1: Option<RateText>,
    /// Length of the first piece, in whole microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub d: Option<SpanText>,
    /// Rate after it; zero without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m2: Option<RateText>,
}

/// Classes in strict priority (Linux `sch_prio.c`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrioScheduler {
    /// The class of packets whose DSCP no class has.
    pub default: String,
    /// The classes, the most urgent first.
    #[schemars(length(min = 1))]
    pub classes: Vec<PrioClass>,
}

/// A class of `prio`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrioClass {
    /// Its name: a word of letters, digits, `_` and `-`.
    pub name: String,
    /// DSCPs of its packets: numbers or names, such as `["ef", "cs6"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<DscpKey>,
    /// Its queue. The default is the link's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "algorithm_schema::class_queue")]
    pub queue: Option<AlgorithmSpec>,
}

/// Classes in strict priority, then classes that take turns (Linux `sch_ets.c`, and `sch_drr.c` if
/// all take turns). The web page does not have them.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EtsScheduler {
    /// The class of packets whose DSCP no class has.
    pub default: String,
    /// The classes: those in strict priority first, the most urgent before the others.
    #[schemars(length(min = 1))]
    pub classes: Vec<EtsClass>,
}

/// A class of `ets`.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EtsClass {
    /// Its name: a word of letters, digits, `_` and `-`.
    pub name: String,
    /// Bytes that it may send per turn (deficit round robin). Without it, the class has strict
    /// priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<SizeText>,
    /// DSCPs of its packets: numbers or names, such as `["ef", "cs6"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<DscpKey>,
    /// Its queue. The default is the link's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "algorithm_schema::class_queue")]
    pub queue: Option<AlgorithmSpec>,
}

tagged!(Scheduler, "a table of kind `htb`, `hfsc`, `prio` or `ets`", {
    "htb" => Htb(HtbScheduler),
    #[cfg(not(target_arch = "wasm32"))] "hfsc" => Hfsc(HfscScheduler),
    "prio" => Prio(PrioScheduler),
    #[cfg(not(target_arch = "wasm32"))] "ets" => Ets(EtsScheduler)
});

/// `burst` and `cburst` of tc (iproute2 6.1 tc/q_htb.c, with timers of a nanosecond).
const BURST_BYTES: u64 = 1600;

fn burst() -> SizeText {
    SizeText(BURST_BYTES)
}

fn is_usual_burst(size: &SizeText) -> bool {
    size.0 == BURST_BYTES
}

fn is_first(priority: &u8) -> bool {
    *priority == 0
}
