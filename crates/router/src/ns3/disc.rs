//! The queue of a link as a queue disc of ns-3 with its attributes.

use sojourn_aqm::{QdiscSpec, registry};
use sojourn_scenario::ScenarioError;
use sojourn_scenario::resolved::{Link, Ns3Bottleneck};

use super::rates;
use crate::planning::refusal::{Planned, refuse};

/// A queue disc.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Disc {
    /// Its type.
    pub(super) type_name: &'static str,
    /// Names and values of its attributes.
    pub(super) attributes: Vec<(&'static str, String)>,
}

/// The queue disc of a link.
///
/// # Errors
/// ns-3 has none, or lacks one of its parameters.
pub(super) fn disc(link: &Link, bottleneck: Ns3Bottleneck) -> Planned<Disc> {
    let place = format!("links.{}.queue", link.name);
    match bottleneck {
        Ns3Bottleneck::Sojourn if link.queue.custom.is_some() => {
            refuse(place, "a law from a file does not run in ns-3; use engine sim")
        }
        Ns3Bottleneck::Sojourn => Ok(Disc {
            type_name: "ns3::SojournQueueDisc",
            attributes: vec![
                ("Aqm", link.queue.to_string()),
                ("Mtu", link.queue_mtu_bytes().to_string()),
                ("Rate", format!("{}bps", rates(&link.capacity)[0].1)),
            ],
        }),
        Ns3Bottleneck::Ns3 => {
            theirs(&link.queue).map_err(|message| ScenarioError::new(place, message))
        }
    }
}

/// A parameter of ours, and the attribute of ns-3's disc or the value that is built in there.
type Row = (&'static str, Attribute);

enum Attribute {
    /// The attribute of that name.
    Named(&'static str),
    /// No attribute: the value must be this.
    BuiltIn(&'static str),
    /// None either, and nothing depends on it here.
    Unused,
}
use Attribute::{BuiltIn, Named, Unused};

const CODEL: [Row; 9] = [
    ("target", Named("Target")),
    ("interval", Named("Interval")),
    ("mtu_bytes", Named("MinBytes")),
    ("ecn", Named("UseEcn")),
    ("ce_threshold", Named("CeThreshold")),
    ("l4s", Named("UseL4s")),
    ("count", BuiltIn("off")),
    ("limit", Named("MaxSize")),
    ("overflow", BuiltIn("arrival")),
];
const FQ_CODEL: [Row; 14] = [
    ("target", Named("Target")),
    ("interval", Named("Interval")),
    ("mtu_bytes", BuiltIn("1500B")),
    ("ecn", Named("UseEcn")),
    ("ce_threshold", Named("CeThreshold")),
    ("l4s", Named("UseL4s")),
    ("count", BuiltIn("off")),
    ("limit", Named("MaxSize")),
    ("flows", Named("Flows")),
    ("quantum", BuiltIn("auto")),
    ("overflow", BuiltIn("fattest")),
    ("shed", BuiltIn("bytes")),
    ("drop_batch", Named("DropBatchSize")),
    ("memory_limit", BuiltIn("off")),
];
const COBALT: [Row; 10] = [
    ("target", Named("Target")),
    ("interval", Named("Interval")),
    ("p_inc", Named("Increment")),
    ("p_dec", Named("Decrement")),
    ("blue_threshold", Named("BlueThreshold")),
    ("ecn", Named("UseEcn")),
    ("ce_threshold", Named("CeThreshold")),
    ("l4s", Named("UseL4s")),
    ("limit", Named("MaxSize")),
    ("overflow", BuiltIn("arrival")),
];
const PIE: [Row; 21] = [
    ("target", Named("QueueDelayReference")),
    ("tupdate", Named("Tupdate")),
    ("alpha", Named("A")),
    ("beta", Named("B")),
    ("max_burst", Named("MaxBurstAllowance")),
    ("mtu_bytes", Named("MeanPktSize")),
    ("ecn", Named("UseEcn")),
    ("ecn_mark_limit", Named("MarkEcnThreshold")),
    ("derandomise", Named("UseDerandomization")),
    ("cap_step", Named("UseCapDropAdjustment")),
    ("idle_decay", BuiltIn("0.98")),
    ("delay", BuiltIn("stamps")),
    ("dq_threshold", Named("DequeueThreshold")),
    ("rate_weight", Unused),
    ("tune", BuiltIn("rfc8033")),
    ("byte_mode", BuiltIn("false")),
    ("active_threshold", Named("ActiveThreshold")),
    ("ce_threshold", Named("CeThreshold")),
    ("l4s", Named("UseL4s")),
    ("limit", Named("MaxSize")),
    ("overflow", BuiltIn("arrival")),
];

/// ns-3's own disc.
fn theirs(spec: &QdiscSpec) -> Result<Disc, String> {
    let kind = spec.kind();
    let (type_name, rows): (_, &[Row]) = match kind.as_str() {
        "taildrop" => {
            ("ns3::FifoQueueDisc", &[("limit", Named("MaxSize")), ("overflow", BuiltIn("arrival"))])
        }
        "codel" => ("ns3::CoDelQueueDisc", &CODEL),
        "fq_codel" => ("ns3::FqCoDelQueueDisc", &FQ_CODEL),
        "cobalt" => ("ns3::CobaltQueueDisc", &COBALT),
        "pie" => ("ns3::PieQueueDisc", &PIE),
        _ => {
            return Err(format!(
                "engine ns3 has ns-3's own taildrop, codel, fq_codel, cobalt, pie, no `{kind}`; \
                 with engine.ns3.bottleneck = \"sojourn\" any AQM runs"
            ));
        }
    };
    if kind != "taildrop" && spec.dialect.as_deref() != Some("ns3") {
        return Err(format!(
            "ns-3's {kind} has a dialect of its own; write `{kind}@ns3`, or run any with \
             engine.ns3.bottleneck = \"sojourn\""
        ));
    }
    let settings = registry::settings(spec).map_err(|error| error.message)?;
    let mut attributes = Vec::new();
    for (name, value) in &settings {
        let row = rows.iter().find(|(parameter, _)| parameter == name);
        match row {
            Some((_, Named(attribute))) => attributes.extend(value_of(attribute, value)),
            Some((_, BuiltIn(built_in))) if value == built_in => {}
            Some((_, Unused)) => {}
            _ => return Err(format!("ns-3's {kind} has no `{name} = {value}`")),
        }
    }
    Ok(Disc { type_name, attributes })
}

/// The value of an attribute: ns-3 knows `ms` and `kB`, not `hz`, and bytes only as those of queues.
fn value_of(attribute: &'static str, value: &str) -> Option<(&'static str, String)> {
    if matches!(value, "off" | "auto") {
        return None;
    }
    let value = match attribute {
        "MaxSize" => value,
        _ => value.trim_end_matches("hz"),
    };
    let bytes = matches!(attribute, "MinBytes" | "MeanPktSize" | "DequeueThreshold");
    let value = match (bytes, value.strip_suffix("kB"), value.strip_suffix('B')) {
        (true, Some(thousands), _) => format!("{thousands}000"),
        (true, None, Some(bytes)) => bytes.to_owned(),
        _ => value.to_owned(),
    };
    Some((attribute, value))
}
