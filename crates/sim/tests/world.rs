//! Whole simulations, compared with results worked out by hand.

use std::sync::Arc;

use sojourn_aqm::{Ecn, Span, Time};
use sojourn_record::rows::{Fate, Scope};
use sojourn_scenario::resolved::{App, Capacity, Codec, InService, Schedule, Sizes, Trace};
use sojourn_sim::SimError;

use crate::common::*;

#[test]
fn the_same_scenario_and_seed_give_the_same_events() {
    let plan = scenario(20, vec![link("b", "taildrop", 125_000)], vec![bulk(5, "cubic")]);
    let (first, second) = (run(&plan), run(&plan));
    assert_eq!(first.digest, second.digest);
    assert_eq!(first.states, second.states);
    let mut other = plan;
    other.seed = 2;
    other.flows[0].start = (Span::ZERO, ms(1000));
    assert_ne!(run(&other).digest, first.digest);
}

#[test]
fn what_is_recorded_does_not_change_what_happens() {
    let mut plan = scenario(20, vec![link("b", "taildrop", 125_000)], vec![bulk(5, "cubic")]);
    let digest = run(&plan).digest;
    plan.record.packets = true;
    plan.record.flows = true;
    plan.record.sample = ms(7);
    assert_eq!(run(&plan).digest, digest);
}

#[test]
fn a_lone_packet_takes_the_propagation_and_the_serialisation_of_every_hop() {
    // MADPIE's dumbbell: 100 Mbit/s and 1 ms, 10 Mbit/s and 48 ms, 100 Mbit/s and 1 ms. The last
    // hop and the reverse path are wires here: 1040 bytes at 100 and 10 Mbit/s.
    let mut tcp = tcp("reno");
    (tcp.payload_bytes, tcp.header_bytes, tcp.initial_window) = (1000, 40, Some(1));
    let flow = group("one", 1, App::Bulk { tcp, bytes: Some(1000) });
    let mut plan = scenario(2, vec![link("b", "taildrop", 125_000)], vec![flow]);
    plan.record.packets = true;
    let run = run(&plan);
    // SYN: 48 bytes. One round trip later its SYN-ACK is acknowledged by 40 bytes, followed by the
    // data.
    let syn_rtt = 100_000_000 + 3_840 + 38_400;
    let arrived = syn_rtt + 3_200 + 83_200 + 1_000_000;
    assert_eq!(run.packets[2].arrived, Time::from_nanos(arrived));
    let transfer = run.transfers[0];
    let completion = syn_rtt + 3_200 + 83_200 + 832_000 + 50_000_000;
    assert_eq!(transfer.completion, Span::from_nanos(completion));
}

#[test]
fn goodput_of_saturated_flows_is_payload_over_packet() {
    let plan = scenario(60, vec![link("b", "taildrop", 250_000)], vec![bulk(5, "cubic")]);
    let mut plan = plan;
    plan.warmup = Span::from_secs(5);
    let run = run(&plan);
    let utilisation = metric(&run, Scope::Queue, "b", "utilisation");
    let goodput = metric(&run, Scope::Class, "bulk", "goodput");
    assert!(utilisation > 0.999, "{utilisation}");
    let ceiling = 1e7 * 1448.0 / 1500.0;
    assert!((goodput / ceiling - 1.0).abs() < 0.005, "{goodput} of {ceiling}");
}

#[test]
fn overload_of_datagrams_loses_what_exceeds_the_rate() {
    let flows = vec![cbr("udp", 2, mbit(6), 1000)];
    let run = run(&scenario(60, vec![link("b", "taildrop", 200_000)], flows));
    let loss = metric(&run, Scope::Queue, "b", "drop_rate_overflow");
    assert!((loss - 1.0 / 6.0).abs() < 0.003, "{loss}");
}

#[test]
fn voip_packets_are_sent_every_20_046_ms() {
    let mut plan = scenario(
        10,
        vec![link("b", "taildrop", 200_000)],
        vec![cbr("voip", 1, sojourn_aqm::Rate::from_bps(87_000), 218)],
    );
    plan.record.packets = true;
    let packets = run(&plan).packets;
    let gap = packets[100].arrived.since(packets[0].arrived).as_nanos() / 100;
    assert_eq!(gap, 20_045_977); // 218 x 8 / 87,000 s
}

#[test]
fn a_call_over_an_empty_link_sounds_as_its_delay_says() {
    let flows = vec![calls("voip", sojourn_aqm::Rate::from_bps(87_000), 218, Codec::G711)];
    // Long, so that the start and the end of the run have little influence.
    let run = run(&scenario(200, vec![link("b", "taildrop", 200_000)], flows));
    // 50 ms of propagation and 20 ms to fill a packet: 93.2 - 0.024 x 70.
    let rating = metric(&run, Scope::Class, "voip", "voice_r");
    assert!((rating - 91.5).abs() < 0.1, "{rating}");
    assert!(metric(&run, Scope::Class, "voip", "voice_mos") > 4.3);
}

#[test]
fn constant_traffic_that_is_not_called_voice_is_not_rated_nor_are_calls_of_two_codecs() {
    let rate = sojourn_aqm::Rate::from_bps(72_000);
    let game = cbr("game", 1, rate, 218);
    let mut mixed = [Codec::G711, Codec::G729].map(|codec| calls("mixed", rate, 218, codec));
    mixed[1].name = "mixed-2".into();
    let flows = [vec![game], mixed.to_vec()].concat();
    let run = run(&scenario(5, vec![link("b", "taildrop", 200_000)], flows));
    assert!(run.summary.iter().any(|row| row.name == "game" && row.metric == "loss_rate"));
    assert!(!run.summary.iter().any(|row| row.metric.starts_with("voice")));
}

#[test]
fn one_opportunity_a_millisecond_is_12_mbit() {
    let trace = Trace {
        file: "one".into(),
        sha256: String::new(),
        opportunities_ms: vec![1],
        opportunity_bytes: 1500,
    };
    let mut bottleneck = link("b", "taildrop", 250_000);
    bottleneck.capacity = Capacity::Trace(Arc::new(trace));
    let mut plan = scenario(30, vec![bottleneck], vec![bulk(2, "cubic")]);
    plan.warmup = Span::from_secs(5);
    let run = run(&plan);
    let throughput = metric(&run, Scope::Queue, "b", "throughput");
    let utilisation = metric(&run, Scope::Queue, "b", "utilisation");
    assert!((throughput / 12e6 - utilisation).abs() < 1e-3, "{throughput} {utilisation}");
    assert!(utilisation > 0.99, "{utilisation}");
}

#[test]
fn the_rest_of_the_packet_in_service_is_sent_at_the_new_rate_or_at_the_old_one_if_asked() {
    // It starts 80 ns late, because of its access link, so 3000.8 bits are left at 0.5 ms.
    assert_eq!(service_times(InService::NewRate), [3_500_720, 8_000_000]);
    // It takes 0.8 ms at 10 Mbit/s although the rate falls at 0.5 ms.
    assert_eq!(service_times(InService::OldRate), [800_000, 8_000_000]);
}

/// How long two packets of 1000 B take on a link that falls from 10 to 1 Mbit/s at 0.5 ms.
fn service_times(in_service: InService) -> [u64; 2] {
    let mut bottleneck = link("b", "taildrop", 1_000_000);
    let half = Time::from_nanos(500_000);
    let schedule = Schedule::of_rates([(Time::ZERO, mbit(10)), (half, mbit(1))]);
    bottleneck.capacity = Capacity::Schedule(schedule.with_in_service(in_service));
    let mut plan = scenario(1, vec![bottleneck], vec![cbr("udp", 1, mbit(100), 1000)]);
    plan.flows[0].access_rate = mbit(100_000);
    plan.flows[0].access_delay = Span::ZERO;
    plan.flows[0].stop = Some(ms(1));
    plan.record.packets = true;
    let left: Vec<u64> =
        run(&plan).packets.iter().take(3).map(|p| p.left.unwrap().as_nanos()).collect();
    [left[1] - left[0], left[2] - left[1]]
}

#[test]
fn acknowledgements_share_the_queue_of_the_way_back() {
    let mut down = bulk(2, "cubic");
    (down.name, down.class, down.path, down.reverse) =
        ("down".into(), "down".into(), vec![0], vec![1]);
    (down.return_delay, down.return_egress_delay) = (ms(1), ms(1));
    let mut up = down.clone();
    (up.name, up.class, up.path, up.reverse) = ("up".into(), "up".into(), vec![1], vec![0]);
    let links = vec![link("down", "taildrop", 125_000), link("up", "taildrop", 125_000)];
    let run = run(&scenario(30, links, vec![down, up]));
    for (queue, class) in [("down", "up"), ("up", "down")] {
        // Data of one direction and acknowledgements of the other are in each queue.
        let sent = metric(&run, Scope::Queue, queue, "sent");
        let data = metric(&run, Scope::Class, queue, "goodput") * 30.0 / 8.0 / 1448.0;
        assert!(sent > data * 1.2, "{queue}: {sent} packets, {data} of data");
        assert!(metric(&run, Scope::Class, class, "goodput") > 3e6);
    }
}

#[test]
fn every_packet_has_a_row_and_a_fate() {
    let mut plan = scenario(10, vec![link("b", "taildrop", 60_000)], vec![bulk(5, "reno")]);
    plan.record.packets = true;
    let run = run(&plan);
    let with = |wanted: fn(&Fate) -> bool| {
        run.packets.iter().filter(|row| wanted(&row.fate)).count() as f64
    };
    assert_eq!(run.packets.len() as u64, run.packets_handled);
    let sent = with(|fate| matches!(fate, Fate::Sent));
    let waiting = with(|fate| matches!(fate, Fate::Waiting));
    assert_eq!(sent, metric(&run, Scope::Queue, "b", "sent"));
    assert_eq!(waiting, metric(&run, Scope::Queue, "b", "waiting"));
    assert!(with(|fate| matches!(fate, Fate::Dropped(..))) > 0.0);
}

#[test]
fn short_files_complete_and_think() {
    let app =
        App::Files { tcp: tcp("cubic"), sizes: Sizes::List(vec![15_000, 102_000]), think: ms(500) };
    let mut plan = scenario(60, vec![link("b", "taildrop", 125_000)], vec![group("web", 3, app)]);
    plan.warmup = Span::from_secs(1);
    let run = run(&plan);
    assert!(run.transfers.len() > 100);
    // 15 kB take the SYN and two rounds of ten packets; 102 kB take four rounds.
    let fastest = |bytes| {
        let of_size = run.transfers.iter().filter(|t| t.bytes == bytes);
        of_size.map(|t| t.completion.as_secs()).fold(f64::INFINITY, f64::min)
    };
    assert!((0.25..0.27).contains(&fastest(15_000)), "{}", fastest(15_000));
    assert!((0.45..0.55).contains(&fastest(102_000)), "{}", fastest(102_000));
}

#[test]
fn on_off_sources_send_their_share() {
    let datagrams = sojourn_scenario::resolved::Datagrams {
        packet_bytes: 500,
        rate: mbit(1),
        ecn: Ecn::NotEct,
    };
    let app = App::OnOff { datagrams, on: ms(500), off: ms(500) };
    let run =
        run(&scenario(2_000, vec![link("b", "taildrop", 125_000)], vec![group("onoff", 1, app)]));
    let goodput = metric(&run, Scope::Class, "onoff", "goodput");
    // About 2000 periods have a sigma of 2 %.
    assert!((goodput / (0.5e6 * 0.944) - 1.0).abs() < 0.08, "{goodput}");
}

#[test]
fn another_group_does_not_change_what_the_first_draws() {
    let start_of_bulk = |with_other: bool| {
        let mut flows = vec![bulk(3, "cubic")];
        flows[0].start = (Span::ZERO, ms(1000));
        if with_other {
            flows.insert(0, cbr("udp", 2, mbit(1), 500));
        }
        let mut plan = scenario(3, vec![link("b", "taildrop", 125_000)], flows);
        plan.record.packets = true;
        let offset = if with_other { 2 } else { 0 };
        let run = run(&plan);
        let first = |flow: u32| run.packets.iter().find(|row| row.flow == flow).unwrap().arrived;
        [0, 1, 2].map(|flow| first(flow + offset))
    };
    assert_eq!(start_of_bulk(false), start_of_bulk(true));
}

#[test]
fn an_unknown_congestion_control_is_refused_with_its_place() {
    let plan = scenario(1, vec![link("b", "taildrop", 125_000)], vec![bulk(1, "cubik")]);
    let Err(SimError::Invalid { place, message }) = sojourn_sim::run(&plan, &|_| true) else {
        panic!("`cubik` was accepted");
    };
    assert_eq!(place, "flows[0].cc");
    assert!(message.contains("did you mean `cubic`"), "{message}");
}

#[test]
fn an_unknown_profile_is_refused_with_its_place() {
    let mut flow = bulk(1, "cubic");
    let App::Bulk { tcp, .. } = &mut flow.app else { unreachable!("bulk flows are bulk") };
    tcp.profile = "linus".into();
    let plan = scenario(1, vec![link("b", "taildrop", 125_000)], vec![flow]);
    let Err(SimError::Invalid { place, message }) = sojourn_sim::run(&plan, &|_| true) else {
        panic!("`linus` was accepted");
    };
    assert_eq!(place, "flows[0].tcp");
    assert!(message.contains("did you mean `linux`"), "{message}");
}

#[test]
fn more_flows_leave_less_time_and_a_longer_scenario_is_refused() {
    let check = |flows| {
        let links = vec![link("b", "taildrop", 125_000)];
        sojourn_sim::check(&scenario(20_000, links, vec![bulk(flows, "cubic")]))
    };
    assert_eq!(check(10), Ok(()));
    let Err(SimError::Invalid { place, message }) = check(1_000_000) else {
        panic!("44 bits do not hold 20,000 s");
    };
    assert_eq!((place.as_str(), message.contains("at most 4 h")), ("duration", true), "{message}");
    let Err(SimError::Invalid { message, .. }) = check(1 << 31) else {
        panic!("32 bits hold four seconds");
    };
    assert!(message.contains("at most 4294ms"), "{message}");
}

#[test]
fn every_profile_fills_a_link_of_ten_flows() {
    for profile in sojourn_sim::tcp::profile::PROFILES {
        let mut flow = bulk(10, "reno");
        let App::Bulk { tcp, .. } = &mut flow.app else { unreachable!("bulk flows are bulk") };
        tcp.profile = profile.name.into();
        let mut plan = scenario(120, vec![link("b", "taildrop", 125_000)], vec![flow]);
        plan.warmup = Span::from_secs(20);
        let utilisation = metric(&run(&plan), Scope::Queue, "b", "utilisation");
        assert!(utilisation > 0.9, "{}: {utilisation}", profile.name);
    }
}

#[test]
fn a_run_can_be_cancelled() {
    let plan = scenario(60, vec![link("b", "taildrop", 125_000)], vec![bulk(5, "cubic")]);
    let until = Time::from_nanos(5_000_000_000);
    assert_eq!(sojourn_sim::run(&plan, &|now| now < until).err(), Some(SimError::Cancelled));
}

#[test]
fn a_simulation_is_cancelled_while_its_links_are_built() {
    let links = (0..50).map(|i| link(&format!("l{i}"), "fq(pie):flows=65536", 15_000)).collect();
    let plan = scenario(1, links, vec![bulk(1, "cubic")]);
    let looks = std::cell::Cell::new(0);
    let keep_going = |_: Time| {
        looks.set(looks.get() + 1);
        looks.get() < 3
    };
    assert_eq!(sojourn_sim::run(&plan, &keep_going).err(), Some(SimError::Cancelled));
    assert_eq!(looks.get(), 3);
}

#[test]
fn a_run_can_be_cancelled_while_its_flows_are_built() {
    let plan = scenario(60, vec![link("b", "taildrop", 125_000)], vec![bulk(1_000_000, "cubic")]);
    let asked = std::cell::Cell::new(0);
    let keep_going = |now| {
        assert_eq!(now, Time::ZERO, "nothing has happened yet");
        asked.set(asked.get() + 1);
        asked.get() < 3
    };
    assert_eq!(sojourn_sim::run(&plan, &keep_going).err(), Some(SimError::Cancelled));
    assert_eq!(asked.get(), 3);
}

#[test]
fn whether_to_go_on_is_asked_once_for_4096_flows_that_are_built_and_once_at_the_end() {
    let mut flows = cbr("late", 2 * 4096 + 1, mbit(1), 1_000);
    flows.start = (Span::from_secs(2), Span::from_secs(2)); // after the end: nothing happens
    let plan = scenario(1, vec![link("b", "taildrop", 125_000)], vec![flows]);
    let end = Time::ZERO + plan.duration;
    let asked = std::cell::RefCell::new(Vec::new());
    let keep_going = |now| {
        asked.borrow_mut().push(now);
        now < end
    };
    assert_eq!(sojourn_sim::run(&plan, &keep_going).err(), Some(SimError::Cancelled));
    assert_eq!(*asked.borrow(), [Time::ZERO, Time::ZERO, Time::ZERO, end]);
}

#[test]
fn no_aqm_starves_a_link_with_ten_flows() {
    for aqm in sojourn_aqm::registry::names() {
        for limit in ["250kB", "1000p"] {
            let bottleneck = link("b", &format!("{aqm}:limit={limit}"), 0);
            let mut plan = scenario(200, vec![bottleneck], vec![bulk(10, "reno")]);
            plan.warmup = Span::from_secs(20);
            let utilisation = metric(&run(&plan), Scope::Queue, "b", "utilisation");
            assert!(utilisation > 0.75, "{aqm} with {limit}: {utilisation}");
        }
    }
}

/// A discipline that shapes holds packets back although the link is idle.
#[test]
fn a_shaping_discipline_below_the_rate_of_the_link_sets_the_rate() {
    let bottleneck = link("b", "cake:bandwidth=5mbit", 125_000);
    let flood = cbr("flood", 3, sojourn_aqm::Rate::from_bps(3_000_000), 1000);
    let plan = scenario(60, vec![bottleneck], vec![flood]);
    let rate = metric(&run(&plan), Scope::Queue, "b", "utilisation");
    assert!((rate - 0.5).abs() < 0.01, "{rate}");
}

#[test]
fn outages_do_not_stop_a_flow_for_good() {
    // Varying rates and outages of up to two seconds, as on recorded cellular links, cause
    // timeouts, late originals and lost retransmissions. Data must continue to flow after each of
    // them. Round trips of up to 2.3 s lead to timeouts of 7 s; if the retransmission is also lost,
    // a flow correctly waits for 21 s.
    for seed in 0..60 {
        let mut rng = sojourn_aqm::Rng::stream(seed, "outages", 0);
        let (mut opportunities_ms, mut at) = (Vec::new(), 1);
        while at < 20_000 {
            let outage = if rng.below(40) == 0 { rng.below(2_000) as u32 } else { 0 };
            at += outage + rng.below(12) as u32;
            opportunities_ms.extend(std::iter::repeat_n(at, 1 + rng.below(3) as usize));
        }
        let trace = Trace {
            file: "made up".into(),
            sha256: String::new(),
            opportunities_ms,
            opportunity_bytes: 1500,
        };
        let aqm = ["codel", "taildrop", "pie", "fq_codel"][seed as usize % 4];
        let mut bottleneck = link("b", aqm, 300_000);
        bottleneck.capacity = Capacity::Trace(Arc::new(trace));
        let mut plan = scenario(120, vec![bottleneck], vec![bulk(2, "cubic")]);
        plan.record.flows = true;
        plan.record.sample = Span::from_secs(30);
        let run = run(&plan);
        let mut before = [0; 2];
        for sample in &run.flow_samples {
            let flow = sample.flow as usize;
            let delivered = sample.delivered_bytes - before[flow];
            assert!(
                delivered > 0,
                "seed {seed}, {aqm}: flow {flow} makes no progress at {:?}",
                sample.t
            );
            before[flow] = sample.delivered_bytes;
        }
    }
}

/// Fact tcp-21.
#[test]
fn flows_that_live_on_timeouts_share_whatever_their_number() {
    let mut flows = bulk(200, "reno");
    (flows.access_delay, flows.egress_delay, flows.return_delay) = (ms(1), ms(1), ms(2));
    flows.start = (Span::ZERO, Span::from_secs(2));
    let mut bottleneck = link("b", "taildrop", 4_500);
    bottleneck.delay = Span::ZERO;
    let mut plan = scenario(10, vec![bottleneck], vec![flows]);
    plan.record.packets = true;
    let (mut first, mut all) = (0, 0);
    for seed in 1..=24 {
        plan.seed = seed;
        let run = run(&plan);
        let sent = run.packets.iter().filter(|row| row.fate == Fate::Sent && row.bytes == 1_500);
        let flows: Vec<u32> = sent.map(|row| row.flow).collect();
        first += flows.iter().filter(|&&flow| flow < 100).count();
        all += flows.len();
    }
    let share = first as f64 / all as f64;
    assert!((0.45..0.55).contains(&share), "the first half of the flows has {share}");
}
