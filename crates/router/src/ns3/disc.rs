//! A link's queue as a queue disc of ns-3 with its attributes.

use sojourn_aqm::{QdiscSpec, registry};
use sojourn_scenario::ScenarioError;
use sojourn_scenario::resolved::{Link, Ns3Bottleneck};

use crate::planning::refusal::{Planned, refuse};
use crate::tc::parameters::{Handling, Parameter, kinds, trial};

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
/// Returns an error if ns-3 has no such disc, or the disc lacks one of its parameters.
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
                ("Rate", format!("{}bps", link.capacity.initial_rate().as_bps())),
            ],
        }),
        Ns3Bottleneck::Ns3 => {
            theirs(&link.queue).map_err(|message| ScenarioError::new(place, message))
        }
    }
}

/// Our parameter, and the corresponding attribute of ns-3's disc.
type Row = (&'static str, &'static str);

const TAILDROP: [Row; 1] = [("limit", "MaxSize")];
const CODEL: [Row; 7] = [
    ("target", "Target"),
    ("interval", "Interval"),
    ("mtu_bytes", "MinBytes"),
    ("ecn", "UseEcn"),
    ("ce_threshold", "CeThreshold"),
    ("l4s", "UseL4s"),
    ("limit", "MaxSize"),
];
const FQ_CODEL: [Row; 8] = [
    ("target", "Target"),
    ("interval", "Interval"),
    ("ecn", "UseEcn"),
    ("ce_threshold", "CeThreshold"),
    ("l4s", "UseL4s"),
    ("limit", "MaxSize"),
    ("flows", "Flows"),
    ("drop_batch", "DropBatchSize"),
];
const COBALT: [Row; 9] = [
    ("target", "Target"),
    ("interval", "Interval"),
    ("p_inc", "Increment"),
    ("p_dec", "Decrement"),
    ("blue_threshold", "BlueThreshold"),
    ("ecn", "UseEcn"),
    ("ce_threshold", "CeThreshold"),
    ("l4s", "UseL4s"),
    ("limit", "MaxSize"),
];
const PIE: [Row; 15] = [
    ("target", "QueueDelayReference"),
    ("tupdate", "Tupdate"),
    ("alpha", "A"),
    ("beta", "B"),
    ("max_burst", "MaxBurstAllowance"),
    ("mtu_bytes", "MeanPktSize"),
    ("ecn", "UseEcn"),
    ("ecn_mark_limit", "MarkEcnThreshold"),
    ("derandomise", "UseDerandomization"),
    ("cap_step", "UseCapDropAdjustment"),
    ("dq_threshold", "DequeueThreshold"),
    ("active_threshold", "ActiveThreshold"),
    ("ce_threshold", "CeThreshold"),
    ("l4s", "UseL4s"),
    ("limit", "MaxSize"),
];

/// ns-3's disc with the same algorithm.
fn theirs(spec: &QdiscSpec) -> Result<Disc, String> {
    let kind = spec.kind();
    let (type_name, rows): (_, &[Row]) = match kind.as_str() {
        "taildrop" => ("ns3::FifoQueueDisc", &TAILDROP),
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
            "ns-3's {kind} has its own dialect; write `{kind}@ns3`, or run any with \
             engine.ns3.bottleneck = \"sojourn\""
        ));
    }
    let settings = registry::settings(spec).map_err(|error| error.message)?;
    // Parameters for which the disc has no attribute must have the disc's values.
    let own = if kind == "taildrop" { kind.clone() } else { format!("{kind}@ns3") };
    let as_named = QdiscSpec::parse(&own).and_then(|spec| registry::settings(&spec));
    let built_in = as_named.map_err(|error| error.message)?;
    let mut attributes = Vec::new();
    for (name, value) in &settings {
        match rows.iter().find(|(parameter, _)| parameter == name) {
            Some((_, attribute)) => attributes.extend(value_of(attribute, value)),
            None if built_in.contains(&(*name, value.clone())) => {}
            None => return Err(format!("ns-3's {kind} has no `{name} = {value}`")),
        }
    }
    Ok(Disc { type_name, attributes })
}

/// The value of an attribute: ns-3 accepts `ms` and `kB`, but not `hz`, and bytes only for queues.
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

/// How each parameter of ns-3's discs is handled. A parameter that is set becomes an attribute;
/// ns-3 rejects invalid values, and the manifest contains the value read back.
pub fn parameters() -> Vec<Parameter> {
    let of_aqm = |aqm: QdiscSpec| {
        let plain = theirs(&aqm).expect("ns-3 has it");
        let compared = |other: &Disc| {
            if *other == plain { Handling::Ignored } else { Handling::ReadBack }
        };
        trial(&aqm, &theirs, &compared)
    };
    kinds("ns3", &theirs).flat_map(of_aqm).collect()
}

#[cfg(test)]
mod parameter_tests {
    use sojourn_scenario::aqms::AqmInfo;

    use super::*;

    /// Regression: `taildrop@head_drop` ran as a queue that drops arrivals.
    #[test]
    fn every_dialect_is_ns3s_own_or_refused() {
        for aqm in AqmInfo::all() {
            for dialect in &aqm.dialects {
                let text = format!("{}@{}", aqm.name, dialect.name);
                match theirs(&QdiscSpec::parse(&text).expect("a legal name")) {
                    Ok(_) if aqm.name == "taildrop" => assert_ne!(dialect.name, "head_drop"),
                    Ok(_) => assert_eq!(dialect.name, "ns3", "{text}"),
                    Err(why) => assert!(why.contains("ns-3's"), "{text}: {why}"),
                }
            }
        }
    }

    #[test]
    fn every_parameter_of_every_disc_is_set_or_refused_in_one_sentence() {
        let all = parameters();
        assert!(all.len() > 50, "{}", all.len());
        for Parameter { aqm, name, handling } in all {
            match handling {
                Handling::ReadBack => {}
                Handling::Refused(why) => assert!(why.contains(name), "{aqm}: {name}: {why}"),
                other => panic!("{aqm}: {name}: {other:?}"),
            }
        }
    }
}
