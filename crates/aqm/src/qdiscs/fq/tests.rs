use super::*;
use crate::law::{Cause, Law, Stage};
use crate::laws::codel::{CoDel, CoDelParams};
use crate::laws::taildrop::TailDrop;
use crate::params::Params;
use crate::testing::{Log, Numbered, assert_near, env, law};

fn params(settings: &[(&str, &str)]) -> FqParams {
    let mut params = FqParams::of_dialect("rfc8290").unwrap();
    for (name, text) in settings {
        params.set(name, text).unwrap();
    }
    params
}

pub(super) fn fq_of<L: Law>(settings: &[(&str, &str)]) -> Fq<Numbered, L> {
    Fq::new(&params(settings), &env(), || law::<L>(&[]))
}

fn fq(settings: &[(&str, &str)]) -> Fq<Numbered, TailDrop> {
    fq_of(settings)
}

fn linux(memory_limit: &str) -> Fq<Numbered, TailDrop> {
    let mut params = FqParams::of_dialect("linux").unwrap();
    params.set("memory_limit", memory_limit).unwrap();
    Fq::new(&params, &env(), || law::<TailDrop>(&[]))
}

pub(super) fn rng() -> Rng {
    Rng::stream(1, "unused", 0)
}

pub(super) fn offer<L: Law>(fq: &mut Fq<Numbered, L>, packet: Numbered, log: &mut Log) {
    fq.enqueue(Time::ZERO, packet, &mut rng(), log);
}

/// Offers `count` packets of a flow; their numbers are `flow * 1000` and up.
pub(super) fn fill<L: Law>(fq: &mut Fq<Numbered, L>, flow: u64, count: u64, bytes: u32) -> Log {
    let mut log = Log::default();
    for i in 0..count {
        offer(fq, Numbered::new(flow * 1000 + i, flow, bytes), &mut log);
    }
    log
}

/// The flows of the next packets.
fn take(fq: &mut Fq<Numbered, TailDrop>, count: usize) -> Vec<u64> {
    let mut next = || fq.dequeue(Time::ZERO, &mut rng(), &mut Log::default());
    (0..count).map_while(|_| next().map(|d| d.packet.flow)).collect()
}

fn observed<P: Packet + Send, L: Law>(fq: &Fq<P, L>) -> [f64; 3] {
    let mut out = [0.0; 3];
    fq.observe(&mut out);
    out
}

/// RFC 8290 §4.1: half of its packets are dropped from the head, each with cause overflow.
#[test]
fn the_fattest_queue_loses_half_of_its_packets_from_its_head() {
    let mut fq = fq(&[("limit", "120p")]);
    fill(&mut fq, 1, 20, 1514);
    assert!(fill(&mut fq, 2, 100, 1500).dropped.is_empty());
    let log = fill(&mut fq, 3, 1, 60);
    assert_eq!(log.dropped_ids(), (2000..2050).collect::<Vec<_>>());
    assert!(log.dropped.iter().all(|&(_, s, c)| (s, c) == (Stage::Queued, Cause::Overflow)));
    assert_eq!(fq.backlog().packets, 71);
}

/// RFC 8290 §4.1 and Linux 6.1 sch_fq_codel.c, drop_batch_size.
#[test]
fn at_most_a_batch_of_64_is_dropped_at_once() {
    let mut fq = fq(&[("limit", "200p")]);
    fill(&mut fq, 2, 200, 1500);
    assert_eq!(fill(&mut fq, 3, 1, 60).dropped_ids(), (2000..2064).collect::<Vec<_>>());
}

/// RFC 8290 §4.1 drops half of the packets, here rounded up; Linux `fq_codel_drop` drops half of
/// the bytes.
#[test]
fn half_is_of_packets_in_the_rfc_and_of_bytes_in_linux() {
    let lost = |shed: &str| {
        let mut fq = fq(&[("limit", "7p"), ("shed", shed)]);
        for (id, bytes) in [(1, 1000), (2, 100), (3, 100), (4, 100), (5, 100), (6, 100), (7, 100)] {
            offer(&mut fq, Numbered::new(id, 1, bytes), &mut Log::default());
        }
        fill(&mut fq, 3, 1, 60).dropped_ids()
    };
    assert_eq!(lost("packets"), [1, 2, 3, 4]);
    assert_eq!(lost("bytes"), [1]);
}

/// Linux 6.1 sch_fq_codel.c, fq_codel_drop: `maxbacklog >> 1`.
#[test]
fn half_of_an_odd_number_of_bytes_is_rounded_down() {
    let mut fq = fq(&[("limit", "2p"), ("shed", "bytes")]);
    for (id, bytes) in [(1, 1000), (2, 1001)] {
        offer(&mut fq, Numbered::new(id, 1, bytes), &mut Log::default());
    }
    assert_eq!(fill(&mut fq, 3, 1, 60).dropped_ids(), [1]);
}

/// Linux 6.1 sch_fq_pie.c, fq_pie_qdisc_enqueue, drops the arrival, whichever queue is fattest.
#[test]
fn with_overflow_arrival_the_arrival_is_dropped() {
    let mut fq = fq(&[("limit", "5p"), ("overflow", "arrival")]);
    fill(&mut fq, 1, 5, 1500);
    let log = fill(&mut fq, 2, 1, 60);
    assert_eq!(log.dropped, [(2000, Stage::Enqueue, Cause::Overflow)]);
    assert_eq!(fq.backlog().packets, 5);
}

/// Linux 6.1 sch_fq_codel.c, fq_codel_enqueue: exceeding the memory limit is an overload as well.
/// Linux 6.1 sch_fq_codel.c, fq_codel_enqueue: `mem_usage = skb->truesize` (fact qdisc-20). A guest
/// holds 5,453 datagrams of 100 B, or 1,820 of 1500 B, in the 4 MiB of OpenWrt.
#[test]
fn the_memory_of_dialect_linux_is_that_of_the_kernels_buffers() {
    for (bytes, most) in [(100, 5461), (162, 3276), (1500, 1820)] {
        let mut fq = linux("4194304B");
        assert!(fill(&mut fq, 1, most, bytes).dropped.is_empty(), "{bytes}");
        let dropped = fill(&mut fq, 2, 1, bytes).dropped;
        assert_eq!(dropped.len(), 64, "{bytes}: one batch");
        assert!(fill(&mut fq, 3, 64, bytes).dropped.len() == 64, "{bytes}: and full again");
    }
}

/// A packet that is sent or dropped no longer counts.
#[test]
fn the_memory_of_buffers_is_free_once_all_packets_have_left() {
    let mut fq = linux("1MB");
    for _ in 0..100 {
        fill(&mut fq, 1, 500, 1500);
        take(&mut fq, 500);
        assert_eq!(fq.flows.buffers().used(), 0);
    }
}

#[test]
fn memory_is_limited_in_addition_to_the_limit() {
    let mut fq = fq(&[("limit", "1000p"), ("memory_limit", "3kB"), ("shed", "bytes")]);
    assert_eq!(fill(&mut fq, 1, 4, 1000).dropped_ids(), [1000, 1001]);
    assert_eq!(fill(&mut fq, 2, 1, 4000).dropped, [(2000, Stage::Enqueue, Cause::Overflow)]);
}

/// RFC 8290 §4.1; Linux 6.1 sch_fq_codel.c and sch_fq_pie.c; ns-3 FqCoDelQueueDisc, FqPieQueueDisc.
#[test]
fn the_dialect_of_the_law_selects_the_flow_queues_of_that_name() {
    let value = |aqm: &str, name: &str| {
        let spec = crate::QdiscSpec::parse(aqm).unwrap();
        let settings = crate::registry::settings(&spec).unwrap();
        settings.into_iter().find(|(found, _)| *found == name).unwrap().1
    };
    let fq_codel = |dialect: &str| {
        let aqm = std::format!("fq_codel{dialect}");
        ["shed", "memory_limit", "overflow", "ecn"].map(|name| value(&aqm, name))
    };
    assert_eq!(fq_codel(""), ["packets", "off", "fattest", "true"]);
    assert_eq!(fq_codel("@rfc8290"), fq_codel(""));
    assert_eq!(fq_codel("@rfc8289"), fq_codel(""));
    assert_eq!(fq_codel("@linux"), ["bytes", "33554432B", "fattest", "true"]);
    assert_eq!(fq_codel("@ns3"), ["bytes", "off", "fattest", "true"]);
    let fq_pie = |dialect: &str| {
        let aqm = std::format!("fq_pie{dialect}");
        ["overflow", "memory_limit", "ecn"].map(|name| value(&aqm, name))
    };
    assert_eq!(fq_pie(""), ["arrival", "off", "false"]);
    assert_eq!(fq_pie("@linux"), ["arrival", "off", "false"]);
    assert_eq!(fq_pie("@ns3"), ["fattest", "off", "true"]);
}

/// Linux 6.1 sch_fq_pie.c, fq_pie_qdisc_enqueue, counts `overmemory` and lets the packet pass.
#[test]
fn the_memory_limit_of_linux_fq_pie_has_no_effect_and_is_refused() {
    let refusal = crate::QdiscSpec::parse("fq_pie@linux:memory_limit=1MB").unwrap_err().message;
    assert!(refusal.contains("memory_limit `1MB` has no effect in dialect linux"), "{refusal}");
    for text in ["fq_pie@linux:memory_limit=off", "fq_pie:memory_limit=1MB", "fq_codel@linux"] {
        assert!(crate::QdiscSpec::parse(text).is_ok(), "{text}");
    }
}

/// Linux 6.1 sch_fq_codel.c, fq_codel_drop: `flow->cvars.count += i`.
#[test]
fn an_overload_raises_the_count_of_linux_codel_and_of_no_other() {
    let count = |dialect: &str| {
        let params = CoDelParams::of_dialect(dialect).unwrap();
        let mut fq: Fq<Numbered, CoDel> =
            Fq::new(&self::params(&[("limit", "100p")]), &env(), || {
                <CoDel as Law>::new(&params, &env())
            });
        fill(&mut fq, 1, 101, 1500);
        let queue = fq.queue_of(1);
        crate::testing::var(fq.flows.law(queue), "count")
    };
    assert_eq!(count("linux"), 51.0);
    assert_eq!((count("rfc8289"), count("ns3")), (0.0, 0.0));
}

/// RFC 8290 §4.1 chooses the queue with "the largest current byte count".
#[test]
fn the_fattest_queue_is_that_with_most_bytes_not_packets() {
    let mut fq = fq(&[("limit", "15p")]);
    fill(&mut fq, 1, 10, 100);
    fill(&mut fq, 2, 5, 1001);
    assert_eq!(fill(&mut fq, 3, 1, 60).dropped_ids(), [2000, 2001, 2002]);
}

/// One batch may not be enough if the limit is in bytes.
#[test]
fn a_limit_in_bytes_holds_even_if_one_batch_does_not_make_room() {
    let mut fq = fq(&[("limit", "2000B"), ("drop_batch", "1")]);
    fill(&mut fq, 1, 20, 100);
    assert_eq!(fill(&mut fq, 1, 1, 500).dropped.len(), 5);
    assert_eq!(fq.backlog().bytes, 2000);
}

#[test]
fn a_packet_that_can_never_fit_is_refused_and_evicts_nothing() {
    let mut fq = fq(&[("limit", "2000B")]);
    fill(&mut fq, 1, 2, 1000);
    let log = fill(&mut fq, 2, 1, 2001);
    assert_eq!(log.dropped, [(2000, Stage::Enqueue, Cause::Overflow)]);
    assert_eq!(fq.backlog().bytes, 2000);
}

/// ns-3's own test suites set quanta below 256 bytes; Linux 6.1 sch_fq_codel.c, fq_codel_change,
/// raises them to that.
#[test]
fn only_linux_has_a_lower_bound_for_the_quantum() {
    for text in ["fq_codel@ns3:quantum=1B", "fq_codel:quantum=90B", "fq_cobalt@ns3:quantum=90B"] {
        assert!(crate::QdiscSpec::parse(text).is_ok(), "{text}");
    }
    let refusal = crate::QdiscSpec::parse("fq_codel@linux:quantum=255B").unwrap_err().message;
    assert!(refusal.contains("quantum `255B` must be at least 256B in dialect linux"), "{refusal}");
    let mut tiny = fq(&[("quantum", "1B")]);
    fill(&mut tiny, 1, 3, 1500);
    fill(&mut tiny, 2, 3, 1500);
    assert_eq!(take(&mut tiny, 6), [1, 2, 1, 2, 1, 2]);
}

/// RFC 8290 §4.2, where credits are used up at zero (fact qdisc-2).
#[test]
fn full_packets_take_turns_one_by_one() {
    let mut fq = fq(&[]);
    fill(&mut fq, 1, 10, 1514);
    fill(&mut fq, 2, 10, 1514);
    assert_eq!(take(&mut fq, 6), [1, 2, 1, 2, 1, 2]);
}

/// RFC 8290 §4.2: the credits are 1514, 1014, 514, 14 and -486.
#[test]
fn small_packets_share_a_quantum() {
    let mut fq = fq(&[]);
    fill(&mut fq, 1, 20, 500);
    fill(&mut fq, 2, 20, 1514);
    assert_eq!(take(&mut fq, 12), [1, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1]);
}

/// Fact qdisc-2.
#[test]
fn a_queue_with_no_credits_left_waits_for_the_next_round() {
    let mut fq = fq(&[("quantum", "1000B")]);
    fill(&mut fq, 1, 5, 1000);
    fill(&mut fq, 2, 5, 1000);
    assert_eq!(take(&mut fq, 4), [1, 2, 1, 2]);
}

/// RFC 8290 §4.2: new queues before old ones.
#[test]
fn a_sparse_flow_is_served_before_every_old_queue() {
    let mut fq = fq(&[]);
    for flow in 1..=4 {
        fill(&mut fq, flow, 30, 1514);
    }
    take(&mut fq, 4);
    for _ in 0..4 {
        fill(&mut fq, 9, 1, 60);
        // After its packet, the queue stays listed for one round; after that it may become new
        // again.
        assert_eq!(take(&mut fq, 6)[0], 9);
    }
}

/// The uniform hash of RFC 8290 §4.1: (1023/1024)^99 = 0.9078.
#[test]
fn a_flow_among_100_has_its_queue_alone_as_often_as_derived() {
    let is_alone = |salt| {
        let env = Env { salt, ..env() };
        let fq: Fq<Numbered, TailDrop> = Fq::new(&params(&[]), &env, || law(&[]));
        let own = fq.queue_of(0);
        (1..100).all(|flow| fq.queue_of(flow) != own)
    };
    let n = 4000;
    let alone = (0..n).filter(|&salt| is_alone(salt * 0x9e37_79b9)).count() as f64 / n as f64;
    assert_near(alone, 0.9078, 5.0 * (0.9078f64 * 0.0922 / n as f64).sqrt());
}

/// RFC 8290 §4.1: all queues are used, evenly.
#[test]
fn flows_spread_evenly_over_the_queues() {
    let fq = fq(&[("flows", "10")]);
    let mut counts = [0u32; 10];
    (0..10_000).for_each(|flow| counts[fq.queue_of(flow) as usize] += 1);
    assert!(counts.iter().all(|&n| (850..1150).contains(&n)), "{counts:?}");
}

/// RFC 8290 §4.2, as in Linux 6.1 sch_fq_codel.c, fq_codel_dequeue: it stays only if there are old
/// queues.
#[test]
fn a_new_queue_that_empties_stays_one_round_if_there_are_old_ones() {
    let mut fq = fq(&[]);
    fill(&mut fq, 1, 5, 1514);
    take(&mut fq, 1);
    fill(&mut fq, 2, 1, 60);
    assert_eq!(take(&mut fq, 2), [2, 1], "queue 1 stepped back, its credits used up");
    assert_eq!(observed(&fq), [1.0, 0.0, 2.0], "queue 2 is empty and still listed");
    fill(&mut fq, 2, 1, 60);
    assert_eq!(observed(&fq), [2.0, 0.0, 2.0], "it does not come back as new");
    take(&mut fq, 5);
    fill(&mut fq, 3, 1, 60);
    take(&mut fq, 1);
    assert_eq!(observed(&fq), [0.0, 1.0, 0.0], "not yet asked again");
    assert_eq!(take(&mut fq, 1), [0; 0]);
    assert_eq!(observed(&fq), [0.0, 0.0, 0.0], "no old queues, no other round");
}

fn of_dialect(dialect: &str, settings: &[(&str, &str)]) -> Fq<Numbered, TailDrop> {
    let mut params = FqParams::of_dialect(dialect).unwrap();
    settings.iter().for_each(|(name, text)| params.set(name, text).unwrap());
    Fq::new(&params, &env(), || law(&[]))
}

/// ns-3 3.44 `FqCoDelQueueDisc::DoDequeue`: flow 1 has been served and found empty when it sends
/// again; in ns-3 it is old by then, and a new flow precedes it.
#[test]
fn a_new_queue_found_empty_is_old_in_ns3_even_where_no_queue_is_old() {
    let order = |dialect| {
        let mut fq = of_dialect(dialect, &[("quantum", "1500B")]);
        fill(&mut fq, 1, 1, 1000);
        assert_eq!(take(&mut fq, 1), [1]);
        fill(&mut fq, 2, 1, 1000);
        assert_eq!(take(&mut fq, 1), [2]);
        fill(&mut fq, 1, 1, 1000);
        fill(&mut fq, 3, 1, 1000);
        take(&mut fq, 2)
    };
    assert_eq!((order("rfc8290"), order("linux")), (vec![1, 3], vec![1, 3]));
    assert_eq!(order("ns3"), [3, 1]);
}

/// ns-3 3.44 `FqCoDelQueueDisc::FqCoDelDrop` searches its classes in order of creation for one with
/// more bytes.
#[test]
fn of_equally_fat_queues_the_first_that_was_used_loses_packets_in_ns3() {
    for flows in [[1, 2], [2, 1]] {
        let mut fq = of_dialect("ns3", &[("limit", "20p")]);
        fill(&mut fq, flows[0], 10, 1000);
        fill(&mut fq, flows[1], 10, 1000);
        let log = fill(&mut fq, 3, 1, 100);
        assert_eq!(log.dropped_ids().first(), Some(&(flows[0] * 1000)), "{flows:?}");
    }
}

#[test]
fn an_empty_discipline_lists_no_queue() {
    let mut fq = fq(&[]);
    fill(&mut fq, 1, 1, 60);
    assert_eq!(observed(&fq), [1.0, 1.0, 0.0]);
    assert_eq!(take(&mut fq, 5), [1]);
    assert_eq!(observed(&fq), [0.0, 0.0, 0.0]);
}

/// RFC 8290 §4.2: a queue begins as new with a quantum, from which its sent bytes are subtracted.
#[test]
fn a_flow_queue_says_in_which_list_it_is_and_what_it_may_still_send() {
    let mut fq = fq(&[("quantum", "1500B")]);
    let index = fq.queue_of(1);
    let turn = |fq: &Fq<Numbered, TailDrop>| Qdisc::turn(fq, index).unwrap();
    assert_eq!(turn(&fq), Turn { list: TurnList::Inactive, credits: 0 });
    fill(&mut fq, 1, 3, 1000);
    assert_eq!(turn(&fq), Turn { list: TurnList::New, credits: 1500 });
    take(&mut fq, 2);
    assert_eq!(turn(&fq), Turn { list: TurnList::New, credits: -500 });
    take(&mut fq, 1);
    assert_eq!(turn(&fq), Turn { list: TurnList::Old, credits: 0 });
    take(&mut fq, 1);
    assert_eq!(turn(&fq).list, TurnList::Inactive);
    assert_eq!(Qdisc::turn(&fq, 1024), None, "there are 1024");
}

/// Fact qdisc-25: FreeBSD `fq_codel_enqueue` drops one packet of the queue with most packets.
#[test]
fn freebsd_drops_one_packet_of_the_queue_with_most_packets() {
    let mut params = FqParams::of_dialect("freebsd").unwrap();
    params.set("limit", "8p").unwrap();
    let mut fq = Fq::new(&params, &env(), || law::<TailDrop>(&[]));
    fill(&mut fq, 1, 3, 1500);
    let log = fill(&mut fq, 2, 6, 64);
    assert_eq!(log.dropped_ids(), [2000]);
}
