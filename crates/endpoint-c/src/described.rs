//! The contents of a library's table, checked and converted to the types of the Rust contract.

use std::ffi::c_int;

use sojourn_aqm::{Ecn, Span};
use sojourn_endpoint::{Carries, ConnectionEvent, Stats, StreamNumber};

use crate::abi::{ECN, RawStats, STREAMS, UNKNOWN, carries, event};

/// A library with its settings.
pub(crate) struct Described {
    /// Name, version, settings.
    pub(crate) in_full: String,
    pub(crate) unrepeatable: Option<&'static str>,
    pub(crate) carries: Carries,
    pub(crate) has_ecn: bool,
    pub(crate) has_streams: bool,
}

/// The texts of a table and of `describe`.
pub(crate) struct DescribedTexts {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) settings: Option<String>,
    pub(crate) unrepeatable: Option<String>,
}

impl Described {
    /// # Errors
    /// A sentence about a missing value, or one that the header does not define.
    pub(crate) fn new(
        texts: DescribedTexts,
        carries: u32,
        flags: u32,
    ) -> Result<Described, String> {
        let named = |found: Option<String>, name: &str| {
            let found = found.filter(|found| !found.is_empty());
            found.ok_or_else(|| format!("its table has no {name}; it identifies a run"))
        };
        let (name, version) = (named(texts.name, "name")?, named(texts.version, "version")?);
        let carries = match carries {
            carries::UDP_PAYLOAD => Carries::UdpPayload,
            carries::IP_PACKETS => Carries::IpPackets,
            other => return Err(format!("its datagrams carry {other}; see sojourn_endpoint.h")),
        };
        if flags & !(ECN | STREAMS) != 0 {
            return Err(format!("has flags {flags:#x}; see SOJOURN_ENDPOINT_ECN and _STREAMS"));
        }
        let set = texts.settings.filter(|set| !set.is_empty());
        let set = set.map_or(String::new(), |set| format!(": {set}"));
        Ok(Described {
            in_full: format!("{name} {version}{set}"),
            unrepeatable: texts.unrepeatable.map(|why| &*Box::leak(why.into_boxed_str())),
            carries,
            has_ecn: flags & ECN != 0,
            has_streams: flags & STREAMS != 0,
        })
    }
}

/// The ECN field (RFC 3168 §5).
///
/// # Errors
/// A sentence, if the code is not an ECN field.
pub(crate) fn ecn(code: u32) -> Result<Ecn, String> {
    let known = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].get(code as usize).copied();
    known.ok_or_else(|| format!("{code} is not an ECN field; see sojourn_endpoint.h"))
}

pub(crate) fn code(ecn: Ecn) -> u32 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

/// An event other than [`event::NONE`].
///
/// # Errors
/// A sentence, if the kind is not an event.
pub(crate) fn event_of(
    kind: c_int,
    stream: StreamNumber,
    reason: Option<String>,
) -> Result<ConnectionEvent, String> {
    Ok(match kind {
        event::CONNECTED => ConnectionEvent::Connected,
        event::READABLE => ConnectionEvent::Readable(stream),
        event::WRITABLE => ConnectionEvent::Writable(stream),
        event::CLOSED => {
            ConnectionEvent::Closed(reason.unwrap_or_else(|| "without a reason".into()))
        }
        other => return Err(format!("{other} is not an event; see sojourn_endpoint.h")),
    })
}

pub(crate) fn stats_of(raw: RawStats) -> Stats {
    let known = |value: u64| (value != UNKNOWN).then_some(value);
    Stats {
        cwnd_bytes: known(raw.cwnd_bytes),
        in_flight_bytes: known(raw.in_flight_bytes),
        smoothed_rtt: known(raw.smoothed_rtt_ns).map(Span::from_nanos),
        pacing_bps: known(raw.pacing_bps).filter(|&rate| rate > 0).map(|rate| rate as f64),
        quantum_bytes: known(raw.quantum_bytes),
        lost_bytes: known(raw.lost_bytes),
        estimate_bps: known(raw.estimate_bps).map(|rate| rate as f64),
    }
}

/// Why a datagram of this length was not read.
pub(crate) fn too_long(length: u64, capacity: u32) -> String {
    format!("a datagram of {length} bytes; the buffer has {capacity}")
}
