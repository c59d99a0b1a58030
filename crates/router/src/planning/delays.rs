//! Delays of packets without queueing, by group of flows.

use sojourn_aqm::{Rate, Span};
use sojourn_scenario::resolved::{FlowGroup, Link, Resolved};

/// An access line, shared by groups with the same rate, delay and packet size, so that packets that
/// their flows send at the same time reach the queue in sending order (fact linux-37).
pub(super) struct AccessLine {
    /// The first of its groups, at whose interface the line starts.
    pub(super) first: usize,
    /// The sum of the access rates of all its flows, bit/s.
    pub(super) bps: u64,
}

impl AccessLine {
    /// The access line of a group.
    pub(super) fn of(index: usize, groups: &[FlowGroup]) -> AccessLine {
        let of = |group: &FlowGroup| {
            let delay = group.access_delay + group.egress_delay;
            (group.access_rate.as_bps(), delay, group.app.packet_bytes())
        };
        let same = |group: &&FlowGroup| of(group) == of(&groups[index]);
        let first = groups.iter().position(|group| same(&group)).unwrap_or(index);
        let bps = groups.iter().filter(same).map(access_bps);
        AccessLine { first, bps: bps.fold(0, u64::saturating_add) }
    }
}

/// The delay of a packet to the receiver without queueing, without its time on the link, and
/// without serialisation on the access line: all propagation, plus the rest of a full packet's
/// serialisation at the flow's access rate.
pub(super) fn forward_delay(group: &FlowGroup, link: &Link, line_bps: u64) -> Span {
    let bytes = u64::from(group.app.packet_bytes());
    let shared = Rate::from_bps(line_bps).time_for(bytes);
    let access = group.access_rate.time_for(bytes).saturating_sub(shared);
    group.access_delay + access + link.delay + group.egress_delay
}

/// A delay rounded to whole microseconds, tc's unit.
pub(super) fn micros(delay: Span) -> u64 {
    (delay.as_nanos() + 500) / 1000
}

/// All propagation towards the senders; the queue of a reverse link precedes it.
pub(super) fn return_delay(group: &FlowGroup, scenario: &Resolved) -> Span {
    let links = group.reverse.iter().map(|&link| scenario.links[link].delay);
    links.fold(group.return_delay + group.return_egress_delay, |sum, delay| sum + delay)
}

/// The sum of the access rates of a group's flows.
pub(super) fn access_bps(group: &FlowGroup) -> u64 {
    group.access_rate.as_bps().saturating_mul(u64::from(group.count))
}
