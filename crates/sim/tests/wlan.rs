//! Whole simulations of a wireless LAN of 802.11g, against arithmetic.

use sojourn_aqm::{Limit, Span};
use sojourn_record::Run;
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{
    App, Capacity, Device, FlowGroup, Link, Radio, RateControl, Resolved, Wlan,
};
use sojourn_scenario::wlan_timing::OfdmRate;

use crate::common::{bulk, cbr, group, link, mbit, metric, ms, run, scenario, tcp};

fn radio(megabits: u64) -> Radio {
    let rate = RateControl::Constant(OfdmRate::new(mbit(megabits)).unwrap());
    Radio { rate, error_rate: 0.0, snr: None }
}

fn cell() -> Wlan {
    Wlan {
        name: "cell".into(),
        radio: radio(54),
        attempts: 7,
        slot: Span::from_micros(9),
        difs: Span::from_micros(28),
        eifs: Span::from_micros(88),
    }
}

/// A transmitter with room for 1000 packets of 1500 B.
fn transmitter(name: &str, aqm: &str) -> Link {
    let alone = cell().lone_rate(&radio(54));
    let capacity = Capacity::Wireless { wlan: 0, radio: None, alone, airtime_fairness: false };
    Link { capacity, delay: Span::ZERO, ..link(name, aqm, 1_500_000) }
}

fn lan(seconds: u64, links: Vec<Link>, flows: Vec<FlowGroup>) -> Resolved {
    let mut plan = Resolved { wlans: vec![cell()], ..scenario(seconds, links, flows) };
    plan.warmup = Span::from_secs(2);
    plan
}

/// One flow down over link 0, with its acknowledgements up over `link`.
fn answered_over(link: usize, group: FlowGroup) -> FlowGroup {
    FlowGroup {
        path: vec![0],
        reverse: vec![link],
        return_delay: ms(1),
        return_egress_delay: ms(1),
        rtt: ms(4),
        ..group
    }
}

fn goodput_mbit(run: &Run, class: &str) -> f64 {
    metric(run, Scope::Class, class, "goodput") / 1e6
}

#[test]
fn a_lone_flow_of_datagrams_gets_what_one_cycle_carries() {
    // Fact scenario-4: 1472 B of payload in packets of 1500 B take 393.5 us, 29.93 Mbit/s.
    let plan = lan(60, vec![transmitter("ap", "taildrop")], vec![cbr("udp", 1, mbit(40), 1_500)]);
    let found = run(&plan);
    let payload = goodput_mbit(&found, "udp");
    assert!((payload / 29.93 - 1.0).abs() < 0.002, "{payload}");
    assert!(metric(&found, Scope::Queue, "ap", "drop_rate") > 0.2);
    assert_eq!(metric(&found, Scope::Queue, "ap", "given_up"), 0.0);
}

#[test]
fn a_tcp_download_shares_the_medium_with_its_own_acknowledgements() {
    // Without collisions and with a whole backoff each, two cycles of data and one of an ACK of 52
    // B per two segments give 23.92 Mbit/s; one of each, without delayed ACKs, gives 20.15 Mbit/s.
    // The two contend, so backoffs are shorter and some frames collide; the result is within 5 %.
    for (every, expected) in [(2, 23.92), (1, 20.15)] {
        let ack_every = tcp("reno");
        let transport = sojourn_scenario::resolved::Tcp { ack_every: Some(every), ..ack_every };
        let flow = answered_over(1, group("bulk", 1, App::Bulk { tcp: transport, bytes: None }));
        let links = vec![transmitter("ap", "taildrop"), transmitter("station", "taildrop")];
        let found = run(&lan(60, links, vec![flow]));
        let goodput = goodput_mbit(&found, "bulk");
        assert!((goodput / expected - 1.0).abs() < 0.05, "ACK every {every}: {goodput}");
    }
}

#[test]
fn saturated_stations_and_the_access_point_get_equal_shares() {
    let names = ["ap", "one", "two", "three"];
    let links = names.map(|name| transmitter(name, "taildrop")).to_vec();
    let on =
        |place: usize| FlowGroup { path: vec![place], ..cbr(names[place], 1, mbit(30), 1_500) };
    let found = run(&lan(60, links, (0..4).map(on).collect()));
    let goodputs = names.map(|name| goodput_mbit(&found, name));
    let sum: f64 = goodputs.iter().sum();
    // Four saturated stations carry 30.12 Mbit/s with a DIFS after collisions, less with an EIFS.
    assert!((28.5..30.1).contains(&sum), "{sum}");
    assert!(goodputs.iter().all(|got| (got / sum - 0.25).abs() < 0.005), "{goodputs:?}");
    let airtime: f64 =
        names.iter().map(|name| metric(&found, Scope::Queue, name, "utilisation")).sum();
    assert!((0.8..1.0).contains(&airtime), "{airtime}");
}

#[test]
fn a_driver_hides_its_packets_from_the_queue_above() {
    let delays = |packets: Option<u64>| {
        let limit = packets.map(Limit::Packets);
        let device = limit.map(|limit| Device { limit, overhead_bytes: 0 });
        let ap = Link { device, ..transmitter("ap", "codel:target=5ms") };
        let flows = vec![answered_over(1, bulk(4, "reno"))];
        let mut plan = lan(30, vec![ap, transmitter("station", "taildrop")], flows);
        plan.record.latency = true;
        let found = run(&plan);
        let queue = metric(&found, Scope::Queue, "ap", "delay_mean");
        (metric(&found, Scope::Class, "bulk", "rtt_mean") - queue, queue)
    };
    let (without_driver, _) = delays(None);
    let (with_driver, queue) = delays(Some(50));
    // 49 more frames are below the queue, each of one to two cycles of half a millisecond.
    let hidden = with_driver - without_driver;
    assert!((0.015..0.05).contains(&hidden), "{hidden}");
    assert!(queue < 0.010, "CoDel holds what it sees: {queue}");
}

#[test]
fn a_frame_is_given_up_after_its_attempts() {
    let mut plan =
        lan(20, vec![transmitter("ap", "taildrop")], vec![cbr("udp", 1, mbit(1), 1_500)]);
    (plan.wlans[0].radio.error_rate, plan.wlans[0].attempts) = (0.5, 3);
    let found = run(&plan);
    let of = |name: &str| metric(&found, Scope::Queue, "ap", name);
    // One in eight fails three times; for 1500 packets, four standard errors are 3.4 %.
    assert!((of("given_up") / of("sent") - 0.125).abs() < 0.034, "{}", of("given_up"));
    assert!((of("frame_failure_rate") - 0.5).abs() < 0.04, "{}", of("frame_failure_rate"));
    let lost = metric(&found, Scope::Class, "udp", "loss_rate");
    assert!((lost - of("given_up") / of("sent")).abs() < 0.01, "{lost}");
}

#[test]
fn a_wireless_link_cannot_be_replayed_alone() {
    let plan = lan(1 + 2, vec![transmitter("ap", "codel")], vec![cbr("udp", 1, mbit(1), 1_500)]);
    let custom = sojourn_sim::Custom::default();
    let error = sojourn_sim::diff::diff([&plan, &plan], &custom, 0, &|_| true).unwrap_err();
    assert!(error.to_string().contains("links.ap: when a wireless link sends"), "{error}");
}

/// The access point sends to a fast and to a slow station from one queue: every packet has the rate
/// of the station whose link its flow uses in the other direction.
#[test]
fn the_access_point_sends_to_each_station_at_its_rate() {
    let plan = |slow: u64| {
        let alone = cell().lone_rate(&radio(slow));
        let (radio, airtime_fairness) = (Some(radio(slow)), false);
        let capacity = Capacity::Wireless { wlan: 0, radio, alone, airtime_fairness };
        let far = Link { capacity, ..transmitter("far", "taildrop") };
        let links = vec![transmitter("ap", "taildrop"), transmitter("near", "taildrop"), far];
        let down = |name: &str, station: usize| FlowGroup {
            reverse: vec![station],
            ..answered_over(station, cbr(name, 1, mbit(2), 1_500))
        };
        lan(30, links, vec![down("to-near", 1), down("to-far", 2)])
    };
    let found = run(&plan(6));
    let of = |name: &str| metric(&found, Scope::Queue, "ap", name);
    // Equal numbers of packets at 54 and 6 Mbit/s give 2 Mbit/s each: 298 and 2138 us of airtime
    // per 6 ms.
    assert!((of("frame_rate") / 30e6 - 1.0).abs() < 0.01, "{}", of("frame_rate"));
    assert!((of("utilisation") / (2.436 / 6.0) - 1.0).abs() < 0.01, "{}", of("utilisation"));
    let near = run(&plan(54));
    assert_eq!(metric(&near, Scope::Queue, "ap", "frame_rate"), 54e6);
}

/// With noise that spoils fast frames, Minstrel finds rates that succeed, and carries more than 54
/// Mbit/s does; without noise it is nearly as fast as 54 Mbit/s.
#[test]
fn minstrel_finds_the_rate_that_noise_allows() {
    let goodput = |rate: RateControl, decibels: Option<f64>| {
        let snr = decibels.map(|decibels| 10f64.powf(decibels / 10.0));
        let flow = vec![cbr("udp", 1, mbit(40), 1_500)];
        let mut plan = lan(30, vec![transmitter("ap", "taildrop")], flow);
        plan.wlans[0].radio = Radio { rate, error_rate: 0.0, snr };
        let found = run(&plan);
        (goodput_mbit(&found, "udp"), metric(&found, Scope::Queue, "ap", "frame_rate") / 1e6)
    };
    let fixed = radio(54).rate;
    let (quiet, _) = goodput(RateControl::Minstrel, None);
    assert!(quiet > 0.93 * goodput(fixed, None).0, "{quiet}");
    let (noisy, rate) = goodput(RateControl::Minstrel, Some(18.0));
    assert!((30.0..48.0).contains(&rate), "{rate}");
    assert!(noisy > 15.0 && goodput(fixed, Some(18.0)).0 < noisy / 2.0, "{noisy}");
}

/// Downloads to a near station at 54 Mbit/s and to a far one at 6, under FQ-CoDel.
fn near_and_far(airtime_fairness: bool, flows: Vec<FlowGroup>) -> Run {
    let wireless = |radio: Option<Radio>, airtime_fairness| {
        let alone = cell().lone_rate(&radio.unwrap_or(cell().radio));
        Capacity::Wireless { wlan: 0, radio, alone, airtime_fairness }
    };
    let ap = Link { capacity: wireless(None, airtime_fairness), ..transmitter("ap", "fq_codel") };
    let far = Link { capacity: wireless(Some(radio(6)), false), ..transmitter("far", "taildrop") };
    run(&lan(40, vec![ap, transmitter("near", "taildrop"), far], flows))
}

/// Datagrams of 1472 B, 30 Mbit/s for each station.
fn datagrams_to_both() -> Vec<FlowGroup> {
    let down =
        |name, station| FlowGroup { reverse: vec![station], ..cbr(name, 1, mbit(30), 1_500) };
    vec![down("to-near", 1), down("to-far", 2)]
}

/// The share of time used by frames to a station and their acknowledgements, by hand: 298 us at 54
/// Mbit/s, 2138 us at 6 Mbit/s.
fn airtime(goodput_mbit: f64, payload_bytes: f64, frame_us: f64) -> f64 {
    goodput_mbit / (8.0 * payload_bytes) * frame_us
}

fn jain(shares: [f64; 2]) -> f64 {
    (shares[0] + shares[1]).powi(2) / (2.0 * (shares[0].powi(2) + shares[1].powi(2)))
}

/// By hand: a cycle is the frame's airtime, a DIFS of 28 us and a mean backoff of 67.5 us, because
/// only the access point sends: 393.5 and 2233.5 us. Served in turn by packet, each station has one
/// packet per 2627 us, 4.483 Mbit/s of 1472 B: the anomaly (Heusse et al. 2003). Served in turn by
/// airtime, the near station has 2138/298 packets for each of the far one's, 5056.7 us in all.
#[test]
fn with_airtime_fairness_a_slow_station_takes_half_the_time_and_not_seven_eighths() {
    let rates = |is_fair| {
        let found = near_and_far(is_fair, datagrams_to_both());
        ["to-near", "to-far"].map(|name| goodput_mbit(&found, name))
    };
    let shares =
        |[near, far]: [f64; 2]| [airtime(near, 1472.0, 298.0), airtime(far, 1472.0, 2138.0)];
    let payload_bits = 1472.0 * 8.0;
    let within_1_percent = |found: [f64; 2], expected: [f64; 2]| {
        let close = |i: usize| (found[i] / expected[i] - 1.0).abs() < 0.01;
        assert!(close(0) && close(1), "{found:?} {expected:?}");
    };
    let by_packet = rates(false);
    within_1_percent(by_packet, [payload_bits / 2627.0; 2]);
    let by_airtime = rates(true);
    let packets = 2138.0 / 298.0;
    let round = 2233.5 + packets * 393.5;
    within_1_percent(by_airtime, [packets * payload_bits / round, payload_bits / round]);
    assert!(jain(shares(by_airtime)) > 0.9999, "{:?}", shares(by_airtime));
    let anomaly = jain([298.0, 2138.0]);
    assert!((jain(shares(by_packet)) - anomaly).abs() < 0.001, "{:?}", shares(by_packet));
    let sum = |rates: [f64; 2]| rates[0] + rates[1];
    // The sum is 19.04 instead of 8.97 Mbit/s.
    assert!((sum(by_airtime) / sum(by_packet) - 2.123).abs() < 0.03, "{by_airtime:?}");
}

/// The far station also sends 1 Mbit/s, which takes 18 % of the time; its downloads get that much
/// less airtime.
#[test]
fn what_a_station_sends_counts_for_its_share_of_airtime() {
    let up = FlowGroup { path: vec![2], reverse: vec![0], ..cbr("up", 1, mbit(1), 1_500) };
    let flows = [datagrams_to_both(), vec![up]].concat();
    let found = near_and_far(true, flows);
    let [near, far, up] = ["to-near", "to-far", "up"].map(|name| goodput_mbit(&found, name));
    let far_up = airtime(up, 1472.0, 2138.0);
    let both = [airtime(near, 1472.0, 298.0), airtime(far, 1472.0, 2138.0) + far_up];
    // 1000/12 packets per second take 2138 us each.
    assert!((far_up - 0.178).abs() < 0.002, "{far_up}");
    assert!((both[0] / both[1] - 1.0).abs() < 0.02, "{both:?}");
}

/// The acknowledgements that a station sends also count as its airtime.
#[test]
fn tcp_downloads_of_a_near_and_a_far_station_have_equal_airtime() {
    let down = |name: &str, station| {
        let tcp = App::Bulk { tcp: tcp("cubic"), bytes: None };
        answered_over(station, group(name, 1, tcp))
    };
    let shares = |is_fair| {
        let found = near_and_far(is_fair, vec![down("to-near", 1), down("to-far", 2)]);
        [("near", 298.0), ("far", 2138.0)].map(|(name, frame_us)| {
            let acks = metric(&found, Scope::Queue, name, "utilisation");
            airtime(goodput_mbit(&found, &format!("to-{name}")), 1448.0, frame_us) + acks
        })
    };
    assert!(jain(shares(true)) > 0.999, "{:?}", shares(true));
    assert!(jain(shares(false)) < 0.7, "{:?}", shares(false));
}
