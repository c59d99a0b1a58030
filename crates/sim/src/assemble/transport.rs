//! The transport of a group of TCP flows: the rules of its profile and its congestion control.

use std::sync::Arc;

use sojourn_aqm::params::SpecText;
use sojourn_scenario::resolved::{Resolved, Tcp};

use super::ends::{Buffers, initial_window, window_rule};
use crate::SimError;
use crate::cc::{self, ConfiguredControl, CustomControls, Feedback};
use crate::tcp::profile::{self, AckRule, Profile};
use crate::tcp::receive_window::WindowRule;

/// The rules of a group's TCP, its receive window and its congestion control.
pub(crate) struct Transport {
    pub(crate) profile: Arc<Profile>,
    pub(crate) window: WindowRule,
    pub(crate) cc: Arc<ConfiguredControl>,
}

/// The transport of a group with all defaults filled in, for the manifest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransportSummary {
    /// The name of the group.
    pub flows: String,
    /// The congestion control with all its parameters.
    pub cc: String,
    /// Initial window in packets.
    pub initial_window: u32,
    /// The most packets covered by one acknowledgement.
    pub ack_every: u32,
    /// The rules of the profile, all fields.
    pub profile: String,
}

/// The transports of all groups of TCP flows. `custom` holds congestion controls supplied by the
/// caller, by the name of the group.
///
/// # Errors
/// [`SimError::Invalid`] for a profile or a congestion control that does not exist.
pub fn transports(
    plan: &Resolved,
    custom: &CustomControls,
) -> Result<Vec<TransportSummary>, SimError> {
    let buffers = Buffers::of(plan);
    let summary = |(index, name, tcp): (usize, &String, &Tcp)| {
        let Transport { profile, cc, .. } = transport((index, name), (tcp, buffers), custom)?;
        Ok(TransportSummary {
            flows: name.clone(),
            cc: cc.in_full.clone(),
            initial_window: initial_window(tcp, &profile),
            ack_every: profile.ack.every,
            profile: format!("{profile:?}"),
        })
    };
    plan.tcp_groups().map(|(index, group, tcp)| summary((index, &group.name, tcp))).collect()
}

/// The transport of a group, given its index and name and the maximum buffer size.
///
/// # Errors
/// [`SimError::Invalid`] for a profile or a congestion control that does not exist.
pub(crate) fn transport(
    (index, name): (usize, &str),
    (tcp, buffers): (&Tcp, Buffers),
    custom: &CustomControls,
) -> Result<Transport, SimError> {
    let invalid = |key: &str| {
        let at = format!("flows[{index}].{key}");
        move |why: String| SimError::invalid(&at, why)
    };
    let mut profile = profile::profile(&tcp.profile).map_err(invalid("tcp"))?;
    if let Some(every) = tcp.ack_every {
        profile.ack = AckRule { every, ..profile.ack };
    }
    if let Some(fallback) = tcp.ecn.and_then(|ecn| ecn.fallback) {
        profile.ecn_fallback = fallback;
    }
    profile.offload_bytes = tcp.offload_bytes;
    profile.super_packets = tcp.super_packets;
    profile.send_buffer = profile.ack.answers_push.then_some(buffers.to_send);
    let named = || cc::configure(tcp.cc.as_deref().unwrap_or(profile.cc)).map(Arc::new);
    let cc = match custom.get(name) {
        Some(cc) => Arc::clone(cc),
        None => named().map_err(invalid("cc"))?,
    };
    let by_runs = (cc.factory)().needs().feedback == Feedback::Runs;
    if by_runs && tcp.ecn.is_some_and(|ecn| ecn.accecn) {
        let text = &cc.in_full;
        let name = SpecText::parse(text).map_or_else(|_| text.clone(), |text| text.kind);
        let why =
            format!("{name} reads runs of classic echoes (RFC 8257 §3.2); leave `accecn` out");
        return Err(invalid("accecn")(why));
    }
    let window = window_rule(tcp, &profile, buffers.largest_bytes);
    Ok(Transport { profile: Arc::new(profile), window, cc })
}
