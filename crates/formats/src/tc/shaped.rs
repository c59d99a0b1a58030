//! The shaper and the queue to which a device's disciplines reduce.

use sojourn_aqm::{Framing, Packing};

use super::aqm::AqmOfTc;
use super::scheduler_toml::TcScheduler;
use super::tree::{TcOption, TcOverhead, TcQdisc, TcSetup, TcValue};
use crate::FormatError;

/// The Ethernet header, which the kernel's packet length includes but an IP packet does not.
pub(super) const ETHERNET_BYTES: i64 = 14;
/// The rate of a device whose rate is not known.
pub(super) const USUAL_BPS: u64 = 1_000_000_000;
/// Maximum depth of nested disciplines, more than any device has.
pub(super) const DEEPEST: usize = 16;

/// A shaper above the queue.
#[derive(Clone, PartialEq, Debug)]
pub struct TcShaper {
    /// Its kind, such as `htb`.
    pub kind: String,
    /// bit/s.
    pub bps: u64,
    /// Burst in bytes, if known.
    pub burst: Option<u64>,
    /// The line of the text.
    pub line: usize,
}

/// The line of a device.
#[derive(Clone, PartialEq, Debug)]
pub struct ShapedLine {
    /// The device; empty if the text names none.
    pub device: String,
    /// The shapers, from the device towards the queue.
    pub shapers: Vec<TcShaper>,
    /// The overhead per packet that queue and shaper count, if the text has it.
    pub overhead: Option<TcOverhead>,
    /// The overhead that only the shaper counts, from the options of tbf and htb.
    pub shaper_overhead: Option<TcOverhead>,
    /// The classes that share the line, if there are several.
    pub scheduler: Option<TcScheduler>,
    /// The discipline that holds the queue; with classes, that of the default class.
    pub queue: Option<TcQdisc>,
    /// The discipline as our AQM.
    pub aqm: Option<AqmOfTc>,
    /// Why the discipline has no counterpart, if so.
    pub refused: Option<FormatError>,
    /// netem, if there is one.
    pub netem: Option<TcQdisc>,
    /// Disciplines from the root to the queue.
    pub chain: Vec<String>,
    /// Parts that could not be represented.
    pub missing: Vec<String>,
    /// The device whose arrivals are redirected to this one.
    pub arrives_on: Option<String>,
}

impl ShapedLine {
    /// The rate of the slowest shaper.
    pub fn bps(&self) -> Option<u64> {
        let netem = self.netem.as_ref().and_then(|it| it.rate("rate"));
        self.shapers.iter().map(|it| it.bps).chain(netem).min()
    }

    /// The size that the shaper counts for an IP packet.
    pub(super) fn counted(&self) -> Framing {
        let header = self.header_bytes();
        match self.overhead.as_ref().or(self.shaper_overhead.as_ref()) {
            Some(given) => {
                let overhead = given.bytes.saturating_add(if given.from_ip { 0 } else { header });
                Framing { overhead, packing: given.packing() }
            }
            None => Framing { overhead: header, packing: Packing::NONE },
        }
    }

    /// Bytes that the kernel counts in addition to the IP packet.
    pub fn header_bytes(&self) -> i64 {
        // dummynet's pipes see packets above the Ethernet header too.
        const WITHOUT: [&str; 6] = ["ppp", "tun", "wg", "pppoe", "wwan", "pipe"];
        // The ifb of sqm-scripts or qosmate, which takes the arrivals of the device in its name.
        let of_ifb = ["ifb4", "ifb-"].iter().find_map(|it| self.device.strip_prefix(it));
        let device = self.arrives_on.as_deref().or(of_ifb).unwrap_or(&self.device);
        let is_without = WITHOUT.iter().any(|it| device.starts_with(it));
        if is_without { 0 } else { ETHERNET_BYTES }
    }
}

/// A phrase for an option without a counterpart.
pub(super) fn lacking(text: &str, line: usize) -> String {
    format!("`{text}` (line {line}) has no counterpart here")
}

/// Whether the text has what only `tc -d` prints of a device's shaper, and thus would have its size
/// table (iproute2 6.1 tc/q_htb.c, q_tbf.c).
pub(super) fn has_details(setup: &TcSetup, device: &str) -> bool {
    let of_qdisc =
        |it: &TcQdisc| it.option("ver").is_some() || it.kind == "tbf" && it.option("mpu").is_some();
    let is_level = |it: &TcOption| it.name == "level";
    setup.qdiscs.iter().any(|it| it.device == device && of_qdisc(it))
        || setup.classes.iter().any(|it| it.device == device && it.options.iter().any(is_level))
}

/// The queue of a class without a discipline (Linux 6.1 sch_htb.c, htb_change_class).
pub(super) fn pfifo(owner: &TcQdisc) -> TcQdisc {
    TcQdisc { kind: "pfifo".to_owned(), options: Vec::new(), stab: None, ..owner.clone() }
}

/// The overhead from a shaper's own options.
pub(super) fn of_shaper(options: &[TcOption], line: &mut ShapedLine) {
    let find = |name: &str| options.iter().rev().find(|it| it.name == name);
    let bytes = |name: &str| match find(name).map(|it| &it.value) {
        Some(TcValue::Bytes(bytes)) => Some(*bytes),
        _ => None,
    };
    let cells = match find("linklayer").map(|it| &it.value) {
        Some(TcValue::Text(text)) if text == "atm" || text == "adsl" => "atm",
        _ => "ethernet",
    };
    let mpu = bytes("mpu").unwrap_or(0).try_into().unwrap_or(0);
    if line.shaper_overhead.is_none() && (bytes("overhead").is_some() || cells == "atm" || mpu > 0)
    {
        let (bytes, cells) = (bytes("overhead").unwrap_or(0), cells.to_owned());
        line.shaper_overhead = Some(TcOverhead { bytes, mpu, cells, slot: 0, from_ip: false });
    }
}
