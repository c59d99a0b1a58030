//! Paths against hand-made arithmetic: access links, token buckets, devices, jitter, loss, reverse
//! paths and several links in a row.

use sojourn_aqm::{Cells, Framing, Limit, Packing, Rate, Span};
use sojourn_record::Run;
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{App, Bucket, Capacity, Device, Extra, FlowGroup, Jitter, Loss};

use crate::common::*;

fn micros(us: u64) -> Span {
    Span::from_micros(us)
}

fn nanos(ns: u64) -> Span {
    Span::from_nanos(ns)
}

/// One transfer of one packet, opened without another packet as in ns-2; payload and header in
/// bytes.
fn lone_packet(payload_bytes: u32, header_bytes: u32) -> FlowGroup {
    let profile = "madpie".to_owned();
    let tcp =
        sojourn_scenario::resolved::Tcp { profile, payload_bytes, header_bytes, ..tcp("reno") };
    group("lone", 1, App::Bulk { tcp, bytes: Some(u64::from(payload_bytes)) })
}

/// From the SYN to the arrival of the last byte: a round trip of headers and one way of the data.
fn completion(run: &Run) -> Span {
    let [transfer] = run.transfers[..] else { panic!("{:?}", run.transfers) };
    transfer.completion
}

/// A dumbbell with a link of 10 Mbit/s in each direction.
fn dumbbell(mut flow: FlowGroup, delay: Span) -> Run {
    let links = ["down", "up"].map(|name| {
        let mut link = link(name, "taildrop", 125_000);
        link.delay = delay;
        link
    });
    flow.reverse = vec![1];
    run(&scenario(2, links.to_vec(), vec![flow]))
}

#[test]
fn ceilings_of_goodput_follow_from_payload_and_framing() {
    // Payload, IP packet, framing, cells, bytes on the wire; payload over wire at 10 Mbit/s.
    for (payload, packet, framing, cells, bytes, ceiling) in [
        (1448, 1500, 38, Cells::None, 1538, 9.415),
        (1460, 1500, 38, Cells::None, 1538, 9.493),
        (1460, 1500, 0, Cells::None, 1500, 9.733),
        (1448, 1500, 14, Cells::None, 1514, 9.564),
        (1460, 1500, 14, Cells::None, 1514, 9.643),
        (1000, 1040, 0, Cells::None, 1040, 9.615),
        // 33 cells of 53 bytes.
        (1448, 1500, 40, Cells::Atm, 1749, 8.279),
        // 1522 bytes, and one for each 64 begun.
        (1448, 1500, 22, Cells::Ptm, 1546, 9.366),
    ] {
        let header_bytes = packet - payload;
        let segments = sojourn_scenario::resolved::Tcp {
            payload_bytes: payload,
            header_bytes,
            ..tcp("cubic")
        };
        let mut bottleneck = link("b", "taildrop", 250_000);
        bottleneck.framing_bytes = framing;
        bottleneck.packing = Packing { mpu: 0, cells };
        let flows = vec![group("bulk", 3, App::Bulk { tcp: segments, bytes: None })];
        let mut plan = scenario(60, vec![bottleneck], flows);
        plan.warmup = Span::from_secs(10);
        let goodput = metric(&run(&plan), Scope::Class, "bulk", "goodput") / 1e6;
        let exact = 10.0 * f64::from(payload) / f64::from(bytes);
        assert!((exact - ceiling).abs() < 6e-4, "{exact} for {ceiling}");
        // The queue never runs empty. Goodput counts in-order data, which at either end of the 50 s
        // may lag by the buffer's 250 kB for each round trip that a hole lasts.
        assert!((goodput - ceiling).abs() < 0.1, "{goodput} for {ceiling}");
    }
}

#[test]
fn a_lone_packet_on_the_dumbbell_of_madpie_takes_101_037_ms() {
    let mut flow = lone_packet(1_000, 40);
    flow.access_rate = mbit(100);
    (flow.sender_downlink, flow.receiver_rate) = (Some(mbit(100)), Some(mbit(100)));
    (flow.return_delay, flow.return_egress_delay) = (ms(1), ms(1));
    // One way takes 50 ms and three transmissions: 0.9984 ms for 1040 B, 38.4 us for 40 B.
    let data = ms(50) + nanos(998_400);
    let header = ms(50) + nanos(38_400);
    assert_eq!(data + header, nanos(101_036_800));
    assert_eq!(completion(&dumbbell(flow, ms(48))), header + header + data);
}

#[test]
fn a_lone_packet_on_a_one_sided_dumbbell_takes_11_456_ms() {
    let mut flow = lone_packet(1_460, 47);
    flow.access_rate = mbit(1_000);
    flow.sender_downlink = Some(mbit(1_000));
    (flow.access_delay, flow.egress_delay) = (micros(100), Span::ZERO);
    (flow.return_delay, flow.return_egress_delay) = (Span::ZERO, micros(100));
    // One way takes 5.1 ms, plus transmission at 1 Gbit/s and 10 Mbit/s: 12.056 us and 1205.6 us
    // for 1507 B, 0.376 and 37.6 us for 47 B.
    let (data, header) = (nanos(6_317_656), nanos(5_137_976));
    assert_eq!(data + header, nanos(11_455_632));
    assert_eq!(completion(&dumbbell(flow, ms(5))), header + header + data);
}

#[test]
fn two_groups_of_one_bottleneck_have_their_own_round_trips() {
    // MADPIE's third scenario: 201 ms on the sender's side of one group.
    let mut near = lone_packet(1_000, 40);
    near.return_delay = ms(50);
    let mut far = near.clone();
    (far.name, far.class) = ("far".into(), "far".into());
    (far.access_delay, far.return_delay) = (ms(201), ms(250));
    let run = run(&scenario(2, vec![link("b", "taildrop", 625_000)], vec![near, far]));
    // SYN and data both cross the access link and the bottleneck; the reverse path takes no time.
    let transmissions = nanos(35_200 + 915_200);
    let times: Vec<Span> = run.transfers.iter().map(|t| t.completion).collect();
    assert_eq!(times, [ms(150) + transmissions, ms(750) + transmissions]);
}

/// Times in microseconds at which `count` datagrams of `bytes` reach their receiver over link 0,
/// all sent at once, seen at a link without delay behind it.
fn arrivals(mut first: sojourn_scenario::resolved::Link, count: u32, bytes: u32) -> Vec<u64> {
    let mut seen = link("seen", "taildrop", 125_000);
    first.delay = Span::ZERO;
    (seen.delay, seen.capacity) = (Span::ZERO, Capacity::Constant(mbit(1_000_000)));
    let mut flow = cbr("d", count, Rate::from_bps(1_000), bytes);
    flow.path = vec![0, 1];
    flow.access_delay = Span::ZERO;
    flow.access_rate = mbit(1_000_000);
    let mut plan = scenario(1, vec![first, seen], vec![flow]);
    plan.record.packets = true;
    let rows = run(&plan).packets;
    rows.iter().filter(|row| row.queue == 1).map(|row| row.arrived.as_nanos() / 1_000).collect()
}

#[test]
fn a_full_bucket_lets_five_packets_leave_at_line_rate() {
    let mut shaped = link("b", "taildrop", 125_000);
    shaped.capacity = Capacity::Bucket(Bucket {
        rate: mbit(10),
        burst_bytes: 5_000,
        line: mbit(1_000_000), // 8 ns for 1000 B
        overdraft: false,
        framing: Framing::NONE,
    });
    // Five arrive at once, then one per 0.8 ms.
    assert_eq!(arrivals(shaped, 8, 1_000), [0, 0, 0, 0, 0, 800, 1_600, 2_400]);
}

#[test]
fn a_device_of_1514_bytes_holds_two_frames() {
    let mut below = link("b", "taildrop", 125_000);
    below.framing_bytes = 14;
    below.device = Some(Device { limit: Limit::Bytes(1_514), overhead_bytes: 24 });
    let mut flow = cbr("d", 4, Rate::from_bps(1_000), 1_500);
    (flow.access_delay, flow.access_rate) = (Span::ZERO, mbit(1_000_000));
    let mut plan = scenario(1, vec![below], vec![flow]);
    plan.record.packets = true;
    let run = run(&plan);
    let left: Vec<u64> =
        run.packets.iter().map(|row| row.left.expect("it left").as_nanos() / 100).collect();
    // Two leave the queue at once, the third when the first has been sent: 1538 B take 1.2304 ms.
    let sent = run.packets.iter().map(|row| row.arrived.as_nanos() / 100).max().unwrap();
    assert!(sent < 2, "all came at once");
    assert_eq!(left, [left[0], left[0], left[0] + 12_304, left[0] + 24_608]);
    // Two frames below the queue hide a delay of 2.46 ms.
    let owd = metric(&run, Scope::Class, "d", "owd_max") * 1e3;
    let wire = 48.0 + 1.0;
    assert!((owd - wire - 4.0 * 1.2304).abs() < 0.001, "{owd}");
}

#[test]
fn a_shaper_at_the_rate_of_the_line_leaves_the_device_as_the_bottleneck() {
    // HTB counts 1514 B per frame (Linux 6.1 `htb_charge_class`) and the line 1538 B (IEEE 802.3):
    // the line is slower, and packets that the AQM cannot see fill the device.
    let mut below = link("b", "taildrop:limit=1000p", 0);
    below.framing_bytes = 14;
    below.mtu_bytes = 1_514;
    below.capacity = Capacity::Bucket(Bucket {
        rate: mbit(10),
        burst_bytes: 2_850,
        line: mbit(10),
        overdraft: true,
        framing: Framing::NONE,
    });
    below.device = Some(Device { limit: Limit::Bytes(4 * 1_514), overhead_bytes: 24 });
    let mut plan = scenario(20, vec![below], vec![cbr("d", 1, mbit(12), 1_500)]);
    plan.warmup = Span::from_secs(2);
    let run = run(&plan);
    let goodput = metric(&run, Scope::Class, "d", "goodput");
    assert!((goodput / 1e6 - 10.0 * 1_472.0 / 1_538.0).abs() < 0.02, "{goodput}");
}

#[test]
fn jitter_keeps_order_unless_it_may_reorder() {
    let received = |reorder| {
        let mut noisy = link("b", "taildrop", 125_000);
        noisy.jitter = Some(Jitter { extra: Extra::Uniform(ms(10)), reorder });
        let mut seen = link("seen", "taildrop", 125_000);
        (seen.delay, seen.capacity) = (Span::ZERO, Capacity::Constant(mbit(1_000)));
        let mut flow = cbr("d", 1, mbit(5), 1_000);
        flow.path = vec![0, 1];
        let mut plan = scenario(10, vec![noisy, seen], vec![flow]);
        plan.record.packets = true;
        let run = run(&plan);
        let at_second = run.packets.iter().filter(|row| row.queue == 1);
        let numbers: Vec<u32> = at_second.map(|row| row.seq).collect();
        let owd_mean = metric(&run, Scope::Class, "d", "owd_mean");
        (numbers.windows(2).filter(|pair| pair[1] < pair[0]).count(), owd_mean)
    };
    let (overtaken, mean) = received(true);
    // Gaps are 1.6 ms and the jitter is up to 10 ms, so most packets overtake or are overtaken.
    assert!(overtaken > 2_000, "{overtaken}");
    // 50 ms, 0.8 + 0.08 + 0.008 ms of transmissions, and 5 ms; the bound is four standard errors of
    // 2.9 ms in 6200 packets.
    assert!((mean - 0.055_888).abs() < 0.000_16, "{mean}");
    assert_eq!(received(false).0, 0);
}

#[test]
fn random_loss_loses_its_share_and_is_reported() {
    let mut lossy = link("b", "taildrop", 125_000);
    lossy.loss = Some(Loss::Bernoulli(0.1));
    let mut plan = scenario(100, vec![lossy], vec![cbr("d", 1, mbit(2), 1_000)]);
    plan.warmup = Span::from_secs(10);
    let run = run(&plan);
    // For 22 500 packets, four standard errors are 0.008.
    let reported = metric(&run, Scope::Queue, "b", "wire_loss_rate");
    assert!((reported - 0.1).abs() < 0.008, "{reported}");
    assert_eq!(metric(&run, Scope::Queue, "b", "drop_rate"), 0.0);
    let seen = metric(&run, Scope::Class, "d", "loss_rate");
    assert!((seen - reported).abs() < 0.002, "{seen} {reported}");
}

#[test]
fn acknowledgements_queue_and_drop_under_the_aqm_of_the_reverse_path() {
    // An uplink of 1 Mbit/s cannot carry one ACK of 52 B per two packets at 100 Mbit/s (1.73
    // Mbit/s): the ACKs queue, and their own AQM drops some of them.
    let mut down = link("down", "taildrop", 1_250_000);
    down.capacity = Capacity::Constant(mbit(100));
    let mut up = link("up", "codel", 125_000);
    (up.capacity, up.delay) = (Capacity::Constant(mbit(1)), ms(48));
    let mut flow = bulk(1, "cubic");
    flow.access_rate = mbit(1_000);
    flow.reverse = vec![1];
    (flow.return_delay, flow.return_egress_delay) = (ms(1), ms(1));
    let run = run(&scenario(60, vec![down, up], vec![flow]));
    assert!(metric(&run, Scope::Queue, "up", "utilisation") > 0.9);
    assert!(metric(&run, Scope::Queue, "up", "drop_rate_deterministic") > 0.0);
    assert!(metric(&run, Scope::Queue, "up", "delay_p50") > 0.001);
    assert!(metric(&run, Scope::Class, "bulk", "goodput") > 40e6);
}

#[test]
fn a_parking_lot_delays_the_long_flow_at_every_link() {
    let links = ["first", "second"].map(|name| {
        let mut link = link(name, "taildrop", 50_000);
        link.delay = ms(10);
        link
    });
    let mut long = cbr("long", 1, mbit(6), 1_000);
    long.path = vec![0, 1];
    let cross = |name: &str, path: usize, rate: Rate| {
        let mut flow = cbr(name, 1, rate, 1_000);
        flow.path = vec![path];
        flow
    };
    let flows = vec![long, cross("one", 0, mbit(1)), cross("two", 1, mbit(3))];
    let run = run(&scenario(20, links.to_vec(), flows));
    let rate = |class| metric(&run, Scope::Class, class, "goodput") / 1e6;
    // 6 + 1 and 6 + 3 Mbit/s fit into 10: nothing is lost, and each link carries its two flows.
    for (class, mbit) in [("long", 6.0), ("one", 1.0), ("two", 3.0)] {
        assert!((rate(class) - 0.972 * mbit).abs() < 0.05, "{class}: {}", rate(class));
    }
    let used = |queue| metric(&run, Scope::Queue, queue, "utilisation");
    assert!((used("first") - 0.7).abs() < 0.01 && (used("second") - 0.9).abs() < 0.01);
    // One way takes 1 + 10 + 10 + 1 ms, plus 1000 B at 100, 10 and 10 Mbit/s, with at most one
    // packet ahead at each link.
    let least = 0.022 + 0.000_08 + 2.0 * 0.000_8;
    let p50 = metric(&run, Scope::Class, "long", "owd_p50");
    assert!((least..least + 2.0 * 0.000_8).contains(&p50), "{p50}");
}

/// Every link's discipline has a separate alarm.
#[test]
fn the_controller_of_a_second_link_is_updated() {
    let wide = Limit::Bytes(250_000);
    let mut first = link("first", "pie", 250_000);
    (first.capacity, first.limit) = (Capacity::Constant(Rate::from_bps(100_000_000)), wide);
    let second = link("second", "pie", 250_000);
    let flow = FlowGroup { path: vec![0, 1], ..bulk(5, "reno") };
    let found = run(&scenario(20, vec![first, second], vec![flow]));
    assert!(metric(&found, Scope::Queue, "second", "drop_rate_random") > 0.0);
}
