//! Segmentation offload: senders whose packets leave in bursts.

use proptest::prelude::*;
use sojourn_aqm::{Framing, Packing, Rate, Span, Time};
use sojourn_scenario::resolved::{App, Bucket, Capacity, Device, Loss, Resolved};

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

/// A transfer with super-packets over 10 Mbit/s and 0.2 ms, and a neighbour's pings.
fn upload(aqm: &str, bytes: Option<u64>) -> Resolved {
    let mut tcp = tcp("cubic");
    (tcp.offload_bytes, tcp.super_packets) = (Some(64_000), true);
    let mut flow = group("upload", 1, App::Bulk { tcp, bytes });
    (flow.access_delay, flow.egress_delay, flow.rtt) = (Span::ZERO, Span::ZERO, us(200));
    (flow.access_rate, flow.return_delay) = (mbit(1000), us(100));
    let mut pings = cbr("ping", 1, Rate::from_bps(32_000), 100);
    (pings.access_delay, pings.return_delay) = (Span::ZERO, us(100));
    let mut link = link("b", aqm, 1_000_000);
    link.delay = us(100);
    let mut plan = scenario(6, vec![link], vec![flow, pings]);
    plan.record.packets = true;
    plan
}

fn us(micros: u64) -> Span {
    Span::from_micros(micros)
}

/// The longest delay of a ping in the queue, in milliseconds, and the largest packet there.
fn ping_and_largest(aqm: &str) -> (f64, u32) {
    let rows = run(&upload(aqm, None)).packets;
    let waits = rows
        .iter()
        .filter(|row| row.flow == 1)
        .filter_map(|row| Some(row.left?.since(row.arrived)));
    let longest = waits.max().unwrap();
    (longest.as_nanos() as f64 / 1e6, rows.iter().map(|row| row.bytes).max().unwrap())
}

/// The largest burst over a path of 0.2 ms is 45 segments (Linux 6.1 `tcp_tso_autosize`); half of
/// the window allows 16 here, which take 19 ms.
#[test]
fn super_packets_delay_a_neighbour_until_a_discipline_splits_them() {
    let (longest, largest) = ping_and_largest("fq_codel");
    assert!(longest > 10.0 && largest >= 16_000, "{longest} ms behind {largest} B");
    let (longest, largest) = ping_and_largest("cake:split_gso=false");
    assert!(longest > 4.0 && largest > 6_000, "{longest} ms behind {largest} B");
    let (longest, largest) = ping_and_largest("cake");
    assert!(longest < 1.3 && largest == 1500, "{longest} ms behind {largest} B");
}

/// The line of a link, by number: constant, shaped with a small and a large burst.
fn capacity(shape: usize) -> Capacity {
    let (rate, overdraft, framing) = (mbit(10), shape == 3, Framing::NONE);
    match shape {
        0 => Capacity::Constant(rate),
        _ => {
            let burst_bytes = [0, 3_000, 100_000, 1_500][shape];
            Capacity::Bucket(Bucket { rate, burst_bytes, line: mbit(100), overdraft, framing })
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With any discipline and link, a transfer delivers every byte, no packet is lost uncounted
    /// (checked at the end of every run), and neither a capture nor services that are not deferred
    /// change the result.
    #[test]
    fn a_transfer_in_super_packets_delivers_every_byte(
        (aqm, shape) in (0usize..8, 0usize..4),
        (bytes, most) in (1u64..600_000, 3_000u32..65_536),
        (lossy, second) in (any::<bool>(), any::<bool>()),
        cells in any::<bool>(),
    ) {
        let aqm = ["fq_codel", "cake", "cake:split_gso=false,bandwidth=8mbit", "dualpi2",
            "pie:ecn=true", "taildrop", "sfq", "red"][aqm];
        let mut plan = upload(aqm, Some(bytes));
        plan.duration = Span::from_secs(20);
        let App::Bulk { tcp, .. } = &mut plan.flows[0].app else { unreachable!() };
        tcp.offload_bytes = Some(most);
        plan.links[0].capacity = capacity(shape);
        if shape == 1 {
            let limit = sojourn_aqm::Limit::Packets(2);
            plan.links[0].device = Some(Device { limit, overhead_bytes: 24 });
        }
        if cells {
            plan.links[0].packing = Packing { mpu: 64, cells: sojourn_aqm::Cells::Atm };
            plan.links[0].framing_bytes = 18;
        }
        if lossy {
            plan.links[0].loss = Some(Loss::Bernoulli(0.02));
        }
        if second {
            let behind = link("c", "fq_codel", 100_000);
            plan.links.push(behind);
            plan.flows[0].path = vec![0, 1];
        }
        let found = run(&plan);
        let delivered: Vec<u64> = found.transfers.iter().map(|row| row.bytes).collect();
        prop_assert_eq!(delivered, [bytes]);
        let custom = sojourn_sim::Custom::default();
        let captured = sojourn_sim::capture::run(&plan, &custom, &|_| true).unwrap().0;
        prop_assert_eq!(captured.digest, found.digest);
    }
}
