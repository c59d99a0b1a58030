//! Warnings about legal scenarios that are probably mistakes: one table of checks for queues, one
//! for links, one for groups of flows.

mod flow;
mod link;
mod queue;

use self::queue::Queue;
use crate::resolved::{FlowGroup, Link, Resolved};

/// A check of the link or group with an index.
type Check<T> = fn(&Resolved, usize, &T) -> Option<String>;

/// Checks of a queue; each gives at most one sentence.
const OF_QUEUES: [fn(&Queue<'_>) -> Option<String>; 11] = [
    queue::threshold_beyond_buffer,
    queue::backlog_threshold_beyond_buffer,
    queue::buffer_below_packet,
    queue::threshold_below_packet,
    queue::forgotten_sojourn_threshold,
    queue::shaper_above_link,
    queue::slower_than_the_run,
    queue::marks_for_nobody,
    queue::interval_below_rtt,
    queue::device_beyond_bdp,
    queue::isolation_without_hosts,
];

/// Checks of a link without its queue.
const OF_LINKS: [Check<Link>; 3] =
    [link::unused, link::changes_after_the_end, link::jitter_beyond_rtt];

/// Checks of a group of flows.
const OF_FLOWS: [Check<FlowGroup>; 8] = [
    flow::starts_after_the_end,
    flow::stops_before_it_counts,
    flow::cut_replay,
    flow::transfers_after_the_end,
    flow::too_few_round_trips,
    flow::waits_for_marks,
    flow::faster_than_its_access,
    flow::unlike_its_codec,
];

/// One sentence for each warning, link by link, then flow by flow.
pub(super) fn all(resolved: &Resolved) -> Vec<String> {
    let links = resolved.links.iter().enumerate().flat_map(|(index, link)| {
        let queue = Queue::of(resolved, index);
        let of_link = OF_LINKS.iter().filter_map(move |check| check(resolved, index, link));
        of_link.chain(OF_QUEUES.iter().filter_map(move |check| check(&queue)))
    });
    let wlans = (0..resolved.wlans.len()).filter_map(|index| link::unused_wlan(resolved, index));
    let flows = resolved.flows.iter().enumerate().flat_map(|(index, flow)| {
        OF_FLOWS.iter().filter_map(move |check| check(resolved, index, flow))
    });
    links.chain(wlans).chain(flows).collect()
}

/// Whether flows of a group send data through a link.
fn sends_over(flow: &FlowGroup, link: usize) -> bool {
    flow.path.contains(&link)
}
