use alloc::vec::Vec;

use super::*;
use crate::packet::{Ecn, priority_of_dscp};
use crate::params::Params as _;
use crate::testing::{env, ms, params_of, rng};
use crate::time::Rate;

/// A packet with the properties that fq reads.
#[derive(Clone, Copy, Debug)]
struct Paced {
    id: u64,
    flow: u64,
    bytes: u32,
    ecn: Ecn,
    dscp: u8,
    departure: Option<Time>,
    rate: Option<Rate>,
}

impl Packet for Paced {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
    fn dscp(&self) -> u8 {
        self.dscp
    }
    fn socket(&self) -> Option<u64> {
        Some(self.flow)
    }
    fn departure(&self) -> Option<Time> {
        self.departure
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
}

/// Dropped and marked packets.
#[derive(Default)]
struct Log {
    dropped: Vec<(u64, Cause)>,
    marked: Vec<u64>,
}

impl Sink<Paced> for Log {
    fn dropped(&mut self, packet: Paced, _: Time, _: Stage, cause: Cause) {
        self.dropped.push((packet.id, cause));
    }
    fn marked(&mut self, packet: &mut Paced, _: Time, _: Stage, _: Cause) {
        self.marked.push(packet.id);
    }
}

fn packet(id: u64, flow: u64) -> Paced {
    Paced { id, flow, bytes: 1000, ecn: Ecn::Ect0, dscp: 0, departure: None, rate: None }
}

fn fq(settings: &[(&str, &str)]) -> Queues<Paced> {
    Queues::new(&params_of::<FairQueueParams>("linux", settings), &env())
}

fn offer(queues: &mut Queues<Paced>, now: Time, packets: &[Paced]) -> Log {
    let mut log = Log::default();
    for packet in packets {
        queues.enqueue(now, *packet, &mut rng(), &mut log);
    }
    log
}

fn take(queues: &mut Queues<Paced>, now: Time, count: usize) -> Vec<u64> {
    let mut next = || queues.dequeue(now, &mut rng(), &mut Log::default());
    (0..count).map_while(|_| next().map(|departure| departure.packet.id)).collect()
}

/// Fills the queue of packets that bypass the flows.
fn fill_passing(queues: &mut Queues<Paced>) {
    let first: Vec<Paced> = (0..8).map(|id| packet(1000 + id, 99)).collect();
    offer(queues, Time::ZERO, &first);
}

/// Linux 7.2 sch_fq.c: fq_fastpath_check passes 8 packets of an idle queue; fq_dequeue gives a new
/// flow 15,140 bytes.
#[test]
fn flows_take_turns_behind_the_packets_that_found_the_queue_idle() {
    let mut queues = fq(&[("initial_quantum", "2000B"), ("quantum", "1000B")]);
    fill_passing(&mut queues);
    let of = |flow: u64| (0..4).map(move |id| packet(10 * flow + id, flow));
    let all: Vec<Paced> = of(1).chain(of(2)).collect();
    offer(&mut queues, Time::ZERO, &all);
    assert_eq!(take(&mut queues, Time::ZERO, 8), (1000..1008).collect::<Vec<_>>());
    assert_eq!(take(&mut queues, Time::ZERO, 9), [10, 11, 20, 21, 12, 22, 13, 23]);
    assert!(queues.is_empty());
}

/// Linux 7.2 sch_fq.c, fq_dequeue: a rate above the low-rate threshold is enforced per quantum.
#[test]
fn a_flow_is_paced_to_the_lower_of_maxrate_and_its_own_rate() {
    let mut queues = fq(&[("maxrate", "8mbit"), ("initial_quantum", "1B"), ("quantum", "1000B")]);
    let slow = |id| Paced { rate: Some(Rate::from_bps(4_000_000)), ..packet(id, 1) };
    offer(&mut queues, Time::ZERO, &[slow(0), slow(1), slow(2)]);
    offer(&mut queues, Time::ZERO, &[packet(10, 2), packet(11, 2)]);
    assert_eq!(take(&mut queues, Time::ZERO, 9), [0, 10]);
    assert_eq!(queues.held_until(), Some(ms(1) + Span::from_micros(10)), "timer_slack");
    assert_eq!(take(&mut queues, ms(1), 9), [11]);
    assert_eq!(take(&mut queues, ms(2), 9), [1]);
    assert_eq!(queues.held_until(), Some(ms(4) + Span::from_micros(10)));
}

/// Linux 7.2 sch_fq.c, fq_dequeue: `len -= min(len/2, now - f->time_next_packet)`.
#[test]
fn a_late_timer_is_made_up_for_by_half_of_the_next_wait_at_most() {
    let mut queues = fq(&[("maxrate", "8mbit"), ("initial_quantum", "1B"), ("quantum", "1000B")]);
    offer(&mut queues, Time::ZERO, &[packet(0, 1), packet(1, 1), packet(2, 1), packet(3, 1)]);
    assert_eq!(take(&mut queues, Time::ZERO, 9), [0]);
    let late = ms(1) + Span::from_micros(200);
    assert_eq!(take(&mut queues, late, 9), [1]);
    assert_eq!(queues.throttled.earliest, Some(ms(2)));
    assert_eq!(take(&mut queues, ms(9), 9), [2]);
    assert_eq!(queues.throttled.earliest, Some(ms(9) + Span::from_micros(500)));
}

/// Linux 7.2 sch_fq.c, fq_enqueue.
#[test]
fn departure_times_hold_packets_and_those_beyond_the_horizon_are_dropped_or_capped() {
    let at = |id, millis| Paced { departure: Some(ms(millis)), ..packet(id, 1) };
    let mut queues = fq(&[("horizon", "50ms")]);
    let log = offer(&mut queues, Time::ZERO, &[at(0, 5), at(1, 51), at(2, 3)]);
    assert_eq!(log.dropped, [(1, Cause::Horizon)]);
    assert_eq!(take(&mut queues, ms(2), 9), []);
    assert_eq!(take(&mut queues, ms(3), 9), [2], "the earlier one comes first");
    assert_eq!(take(&mut queues, ms(5), 9), [0]);
    let mut capped = fq(&[("horizon", "50ms"), ("horizon_drop", "false")]);
    assert!(offer(&mut capped, Time::ZERO, &[at(1, 70)]).dropped.is_empty());
    assert_eq!(take(&mut capped, ms(49), 9), []);
    assert_eq!(take(&mut capped, ms(50), 9), [1]);
}

/// Linux 7.2 sch_fq.c, fq_flow_adjust_timer; in earlier kernels a flow slept until its first
/// packet's time.
#[test]
fn an_earlier_departure_wakes_a_throttled_flow_since_linux_7_2() {
    let at = |id, millis| Paced { departure: Some(ms(millis)), ..packet(id, 1) };
    for (kernel, expected) in [("linux-7.2", &[2][..]), ("linux-6.12", &[][..])] {
        let mut queues = fq(&[("kernel", kernel)]);
        offer(&mut queues, Time::ZERO, &[at(0, 5)]);
        assert_eq!(take(&mut queues, ms(1), 9), []);
        offer(&mut queues, ms(1), &[at(2, 3)]);
        assert_eq!(take(&mut queues, ms(3), 9), expected, "{kernel}");
    }
}

/// Linux 7.2 sch_fq.c, fq_enqueue, has a limit for each band and one for each flow.
#[test]
fn a_full_flow_and_a_full_band_drop_arrivals() {
    let mut queues = fq(&[("limit", "5p"), ("flow_limit", "3")]);
    fill_passing(&mut queues);
    let of = |flow: u64| (0..4).map(move |id| packet(10 * flow + id, flow));
    let all: Vec<Paced> = of(1).chain(of(2)).collect();
    let log = offer(&mut queues, Time::ZERO, &all);
    let full = Cause::Overflow;
    assert_eq!(log.dropped, [(13, Cause::FlowLimit), (22, full), (23, full)]);
    let urgent = Paced { dscp: 0x04, ..packet(30, 3) };
    assert!(offer(&mut queues, Time::ZERO, &[urgent]).dropped.is_empty(), "its band has room");
    let mut older = fq(&[("limit", "5p"), ("kernel", "linux-5.10")]);
    let log = offer(&mut older, Time::ZERO, &[packet(0, 1); 4]);
    assert!(log.dropped.is_empty());
    let log = offer(&mut older, Time::ZERO, &[urgent; 2]);
    assert_eq!(log.dropped, [(30, full)], "all packets have one limit");
}

/// Linux 7.2 sch_fq.c, fq_dequeue: 9 << 16, 3 << 16 and 1 << 16 bytes in turn.
#[test]
fn bands_share_by_their_weights() {
    let mut queues = fq(&[("flow_limit", "10000")]);
    fill_passing(&mut queues);
    for (flow, dscp) in [(1, 0x04), (2, 0x00), (3, 0x02)] {
        let own = |id| Paced { dscp, ..packet(id, flow) };
        let all: Vec<Paced> = (0..3000).map(|id| own(10_000 * flow + id)).collect();
        assert!(offer(&mut queues, Time::ZERO, &all).dropped.is_empty());
    }
    take(&mut queues, Time::ZERO, 8);
    let left = take(&mut queues, Time::ZERO, 2600);
    let of = |flow: u64| left.iter().filter(|&&id| id / 10_000 == flow).count() as f64;
    assert!((of(1) / of(2) - 3.0).abs() < 0.2, "{} {}", of(1), of(2));
    assert!((of(2) / of(3) - 3.0).abs() < 0.3, "{} {}", of(2), of(3));
}

/// Linux 6.1 sch_fq.c, fq_classify.
#[test]
fn priority_7_passes_the_flows_before_there_were_bands() {
    #[derive(Clone, Copy, Debug)]
    struct Control(u64);
    impl Packet for Control {
        fn bytes(&self) -> u32 {
            100
        }
        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }
        fn set_ce(&mut self) {}
        fn flow(&self) -> u64 {
            self.0
        }
        fn priority(&self) -> u8 {
            if self.0 == 1 { CONTROL } else { 0 }
        }
    }
    struct Nothing;
    impl Sink<Control> for Nothing {
        fn dropped(&mut self, _: Control, _: Time, _: Stage, _: Cause) {}
        fn marked(&mut self, _: &mut Control, _: Time, _: Stage, _: Cause) {}
    }
    let params = params_of::<FairQueueParams>("linux", &[("kernel", "linux-5.10")]);
    let mut queues = Queues::new(&params, &env());
    for flow in [0, 0, 1] {
        queues.enqueue(Time::ZERO, Control(flow), &mut rng(), &mut Nothing);
    }
    let mut next = || queues.dequeue(Time::ZERO, &mut rng(), &mut Nothing).unwrap().packet.0;
    assert_eq!([next(), next(), next()], [1, 0, 0]);
}

/// Linux 7.2 sch_fq.c, fq_dequeue: `now - time_next_packet` above the threshold.
#[test]
fn packets_that_leave_late_are_marked() {
    let mut queues = fq(&[("ce_threshold", "2ms"), ("initial_quantum", "9kB")]);
    fill_passing(&mut queues);
    offer(&mut queues, Time::ZERO, &[packet(0, 1), packet(1, 1)]);
    take(&mut queues, Time::ZERO, 8);
    let mut log = Log::default();
    queues.dequeue(ms(2), &mut rng(), &mut log);
    assert_eq!(log.marked, []);
    queues.dequeue(ms(2) + Span::from_nanos(1), &mut rng(), &mut log);
    assert_eq!(log.marked, [1]);
}

/// Linux 7.2 sch_fq.c, fq_gc.
#[test]
fn a_flow_is_forgotten_3_s_after_it_was_found_empty() {
    let bucket = |key: u64| key.wrapping_mul(0x61c8_8646_80b5_83eb) >> 63;
    let in_one: Vec<u64> = (1..).step_by(2).filter(|&key| bucket(key) == 0).take(2).collect();
    let flows_at = |jiffies, only_if_crowded| {
        let forgetting = Forgetting { most: usize::MAX, only_if_crowded, hz: 250 };
        let mut table = FlowTable::new(2, forgetting);
        table.find_or_add(in_one[0], 0, 5000);
        table.find_or_add(in_one[1], jiffies, 5000);
        table.count
    };
    // The flow was found empty in jiffy 1, because jiffy numbers stored there are odd.
    assert_eq!([751, 752].map(|jiffies| flows_at(jiffies, false)), [2, 1]);
    assert_eq!(flows_at(752, true), 2, "before Linux 6.12 only a crowded table forgets");
}

/// A tree from which some flows were forgotten still finds the others.
#[test]
fn flows_that_share_a_bucket_are_told_apart() {
    let forgetting = Forgetting { most: usize::MAX, only_if_crowded: false, hz: 250 };
    let mut table = FlowTable::new(2, forgetting);
    let keys = [50, 20, 80, 10, 30, 70, 90, 25, 35, 75];
    let mut place = |key: u64, jiffies| {
        let index = table.find_or_add(key, jiffies, 0);
        assert_eq!(table.trees.key(index), key);
        (table.count, table.flows.len())
    };
    for key in keys {
        place(key, 0);
    }
    for round in 1..9 {
        for key in keys.into_iter().skip(round) {
            let (count, _) = place(key, 900 * round as u64);
            assert!(count <= keys.len());
        }
    }
    assert_eq!(place(50, 9000).1, keys.len(), "places are used again");
}

/// Linux 6.1 route.c, ip_tos2prio.
#[test]
fn the_priority_of_a_forwarded_packet_follows_from_its_dscp() {
    // The DSCPs are best effort, CS1, AF11, AF41, EF and CS6.
    assert_eq!([0, 8, 10, 34, 46, 48].map(priority_of_dscp), [0, 0, 2, 2, 4, 0]);
}

/// Linux 7.2 sch_fq.c, fq_change and fq_load_weights.
#[test]
fn values_that_linux_refuses_are_refused() {
    let check = |name: &str, text: &str| {
        let mut params = FairQueueParams::of_dialect("linux").unwrap();
        params.set(name, text).unwrap();
        params.check()
    };
    assert!(check("buckets", "1000").unwrap_err().contains("power of two"));
    assert!(check("buckets", "1").is_err() && check("buckets", "262144").is_ok());
    assert!(check("orphan_mask", "4294967296").is_err());
    assert!(check("initial_quantum", "2147483648B").is_err());
    assert!(check("maxrate", "34.4gbit").unwrap_err().contains("34.36gbit"));
    assert!(check("weight2", "16383B").unwrap_err().contains("16384B"));
    assert!(check("priomap", "1222120011111113").unwrap_err().contains("each 0, 1 or 2"));
    assert!(check("priomap", "2").is_ok(), "the first fifteen have band 0");
}

#[test]
fn bands_of_a_kernel_without_bands_are_refused() {
    let mut params = FairQueueParams::of_dialect("linux").unwrap();
    params.set("kernel", "linux-5.10").unwrap();
    assert!(params.check().is_ok());
    params.set("weight0", "20kB").unwrap();
    assert!(params.check().unwrap_err().contains("before Linux 6.12"));
}
