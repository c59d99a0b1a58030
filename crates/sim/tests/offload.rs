//! Segmentation offload: senders whose packets leave in bursts.

use sojourn_aqm::Time;
use sojourn_scenario::resolved::{App, Capacity};

use crate::common::*;

/// Lengths of the bursts in which packets of one flow arrive at a link of `mbits` Mbit/s after 2 s.
/// Packets closer together than twice their time on the access link form one burst.
fn bursts(cc: &str, mbits: u64, offload_bytes: Option<u32>) -> Vec<usize> {
    bursts_over(50, cc, mbits, offload_bytes)
}

/// `bursts` with a return delay of `back` milliseconds.
fn bursts_over(back: u64, cc: &str, mbits: u64, offload_bytes: Option<u32>) -> Vec<usize> {
    let mut tcp = tcp(cc);
    tcp.offload_bytes = offload_bytes;
    let mut flow = group("flow", 1, App::Bulk { tcp, bytes: None });
    flow.access_rate = mbit(10 * mbits);
    flow.return_delay = ms(back);
    let mut plan = scenario(4, vec![link("b", "fq_codel", 5_000_000)], vec![flow]);
    plan.links[0].capacity = Capacity::Constant(mbit(mbits));
    plan.record.packets = true;
    let close = mbit(10 * mbits).time_for(3_000);
    let arrivals = run(&plan).packets.into_iter().map(|row| row.arrived);
    let late: Vec<Time> = arrivals.filter(|&at| at > Time::ZERO + ms(2_000)).collect();
    late.chunk_by(|one, other| other.since(*one) <= close).map(<[Time]>::len).collect()
}

fn median(mut lengths: Vec<usize>) -> usize {
    lengths.sort_unstable();
    lengths[lengths.len() / 2]
}

/// Linux 6.1 `tcp_tso_segs`: the packets of 2^-10 s at the pacing rate, at least two.
#[test]
fn bbr_sends_one_by_one_without_offload_and_pairs_or_more_with_it() {
    assert_eq!(median(bursts("bbr", 10, None)), 1);
    assert_eq!(median(bursts("bbr", 10, Some(64_000))), 2);
    // 50 Mbit/s carry 4.07 packets of 1500 B in 2^-10 s.
    let fast = median(bursts("bbr", 50, Some(64_000)));
    assert!((3..=4).contains(&fast), "{fast}");
    assert_eq!(median(bursts("bbr", 50, None)), 1);
}

#[test]
fn a_burst_is_no_larger_than_the_offload_allows() {
    let largest = |bytes| bursts("bbr", 100, Some(bytes)).into_iter().max().unwrap();
    assert!(largest(4_500) <= 3, "three packets of 1448 B fit");
    assert!(largest(64_000) > 3);
}

/// Linux 6.1 `tcp_tso_should_defer`: an unpaced sender combines the segments released by
/// acknowledgements within a millisecond.
#[test]
fn an_unpaced_sender_uses_its_window_in_bursts_too() {
    // At 50 Mbit/s two segments are acknowledged every 0.48 ms.
    assert_eq!(median(bursts("cubic", 50, None)), 2);
    let joined = median(bursts("cubic", 50, Some(64_000)));
    assert!((3..=4).contains(&joined), "{joined}");
    // At 10 Mbit/s the acknowledgements arrive every 2.4 ms, too late to wait for. The ends of
    // buffers leave as single segments: 23 % of the bursts in the guest, 17 to 28 % depending on
    // the round trip (fact tcp-44).
    let slow = [20, 30, 40, 50, 60, 70, 80, 90]
        .map(|back| bursts_over(back, "cubic", 10, Some(64_000)))
        .concat();
    let singles = slow.iter().filter(|&&length| length == 1).count() as f64 / slow.len() as f64;
    assert!((0.19..0.27).contains(&singles), "{singles}");
    assert_eq!(median(slow), 2);
}
