//! Warnings about legal scenarios that are probably mistakes: one table of checks for queues, one
//! for links, one for groups of flows.

mod flow;
mod link;
mod queue;

use std::collections::BTreeMap;
use std::ptr;

use self::queue::Queue;
use crate::resolved::{FlowGroup, Link, Resolved};

/// A check of the group with an index.
type FlowCheck = fn(&Resolved, usize, &FlowGroup) -> Option<String>;
/// A check of a link and the flows over it.
type LinkCheck = fn(&Resolved, &Link, &Over<'_>) -> Option<String>;

/// The flows over a link.
#[derive(Clone, Default)]
struct Over<'a> {
    /// The groups that send data through it.
    senders: Vec<&'a FlowGroup>,
    /// Whether any group uses it, in either direction.
    is_used: bool,
}

/// The flows over every link, found in one pass, because a scenario may have thousands of both.
fn over_links(resolved: &Resolved) -> Vec<Over<'_>> {
    let mut over = vec![Over::default(); resolved.links.len()];
    for flow in &resolved.flows {
        flow.path.iter().for_each(|&link| over[link].senders.push(flow));
        flow.path.iter().chain(&flow.reverse).for_each(|&link| over[link].is_used = true);
    }
    over
}

/// Checks of a queue; each gives at most one sentence.
const OF_QUEUES: [fn(&Queue<'_>) -> Option<String>; 13] = [
    queue::threshold_beyond_buffer,
    queue::backlog_threshold_beyond_buffer,
    queue::buffer_below_packet,
    queue::threshold_below_packet,
    queue::forgotten_sojourn_threshold,
    queue::shaper_above_link,
    queue::slower_than_the_run,
    queue::faster_than_packets,
    queue::replaced_by_rtt,
    queue::marks_for_nobody,
    queue::interval_below_rtt,
    queue::device_beyond_bdp,
    queue::isolation_without_hosts,
];

/// Checks of a link without its queue.
const OF_LINKS: [LinkCheck; 4] =
    [link::unused, link::changes_after_the_end, link::jitter_beyond_rtt, link::rarely_happens];

/// Checks of a group of flows.
const OF_FLOWS: [FlowCheck; 8] = [
    flow::starts_after_the_end,
    flow::stops_before_it_counts,
    flow::cut_replay,
    flow::transfers_after_the_end,
    flow::too_few_round_trips,
    flow::waits_for_marks,
    flow::faster_than_its_access,
    flow::unlike_its_codec,
];

/// Maximum number of places that one warning names.
const MOST_PLACES: usize = 3;

/// One sentence for each warning, link by link, then flow by flow. A topology may have thousands of
/// links with the same warning, for which one sentence is written.
pub(super) fn all(resolved: &Resolved) -> Vec<String> {
    let over = over_links(resolved);
    let links = resolved.links.iter().zip(&over).flat_map(|(link, over)| {
        let queue = Queue::of(resolved, link, &over.senders);
        let of_link = OF_LINKS.iter().filter_map(move |check| check(resolved, link, over));
        // The queues of classes share the link, so the link's rate says little about each queue.
        let of_queues = if link.scheduler.is_some() { &[][..] } else { &OF_QUEUES };
        of_link.chain(of_queues.iter().filter_map(move |check| check(&queue)))
    });
    let wlans = (0..resolved.wlans.len()).filter_map(|index| link::unused_wlan(resolved, index));
    let flows = resolved.flows.iter().enumerate().flat_map(|(index, flow)| {
        OF_FLOWS.iter().filter_map(move |check| check(resolved, index, flow))
    });
    let warnings: Vec<String> = links.chain(wlans).chain(flows).collect();
    joined(&warnings)
}

/// Joins warnings that differ only in their place, if there are many:
/// `links.a, links.b, links.c and 97 more: no flow uses this link`.
fn joined(warnings: &[String]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for warning in warnings {
        let (place, message) = parts(warning);
        places.entry(message).or_default().push(place);
    }
    let sentence = |warning: &String| {
        let (place, message) = parts(warning);
        let all = &places[message];
        match all.len() {
            0..=MOST_PLACES => Some(warning.clone()),
            many if ptr::eq(all[0], place) => {
                let first = all[..MOST_PLACES].join(", ");
                Some(format!("{first} and {} more: {message}", many - MOST_PLACES))
            }
            _ => None,
        }
    };
    warnings.iter().filter_map(sentence).collect()
}

/// The place of a warning, and the rest.
fn parts(warning: &str) -> (&str, &str) {
    warning.split_once(": ").unwrap_or(("", warning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_warnings_that_differ_in_their_place_become_one_in_the_first_place() {
        let warned = |places: &[&str]| -> Vec<String> {
            let warnings: Vec<String> = places.iter().map(|it| format!("{it}: is idle")).collect();
            joined(&[vec!["a: first".to_owned()], warnings, vec!["z: last".to_owned()]].concat())
        };
        let three = ["a: first", "x: is idle", "y: is idle", "v: is idle", "z: last"];
        assert_eq!(warned(&["x", "y", "v"]), three);
        let five = ["a: first", "x, y, v and 2 more: is idle", "z: last"];
        assert_eq!(warned(&["x", "y", "v", "u", "x"]), five);
    }
}
