//! How long packets take without queues, by groups of flows.

use sojourn_aqm::{Rate, Span};
use sojourn_scenario::resolved::{FlowGroup, Link, Resolved};

/// An access line, which groups of the same rate, delay and packets share: what their flows send at
/// one time then comes to the queue in the order in which they sent it (fact linux-37).
pub(super) struct AccessLine {
    /// The first of its groups, at whose interface it begins.
    pub(super) first: usize,
    /// The access rates of all its flows together, bit/s.
    pub(super) bps: u64,
}

impl AccessLine {
    /// That of a group.
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

/// The delay of a packet to the receiver without its time in the queue, on the link, and its
/// serialisation on the access line: all propagation, and of a full packet the rest of the
/// serialisation at the flow's own access rate.
pub(super) fn forward_delay(group: &FlowGroup, link: &Link, line_bps: u64) -> Span {
    let bytes = u64::from(group.app.packet_bytes());
    let shared = Rate::from_bps(line_bps).time_for(bytes);
    let access = group.access_rate.time_for(bytes).saturating_sub(shared);
    group.access_delay + access + link.delay + group.egress_delay
}

/// Rounded to whole microseconds, as tc takes them.
pub(super) fn micros(delay: Span) -> u64 {
    (delay.as_nanos() + 500) / 1000
}

/// All propagation to the senders; the queue of a reverse link comes before it.
pub(super) fn return_delay(group: &FlowGroup, scenario: &Resolved) -> Span {
    let links = group.reverse.iter().map(|&link| scenario.links[link].delay);
    links.fold(group.return_delay + group.return_egress_delay, |sum, delay| sum + delay)
}

/// The access rate of a group's flows together.
pub(super) fn access_bps(group: &FlowGroup) -> u64 {
    group.access_rate.as_bps().saturating_mul(u64::from(group.count))
}
