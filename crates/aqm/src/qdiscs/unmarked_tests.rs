//! The backlogs and sojourn times that a law sees when CE-marked packets are excluded.

use alloc::format;
use alloc::vec::Vec;

use super::*;
use crate::law::Cause;
use crate::qdisc::Qdisc;
use crate::qdiscs::fifo::{Fifo, FifoOverflow};
use crate::registry;
use crate::testing::{Log, Numbered, env, ms, rng};
use crate::units::Limit;
use crate::{QdiscSpec, Rng};

/// A law that exports its last inputs, and marks heads of 999 bytes.
#[derive(Default)]
struct Recorder {
    asks_first: bool,
    packets: u32,
    bytes: u64,
    waited_ms: u64,
}

impl Recorder {
    fn see(&mut self, queue: Backlog, waited: Span) {
        debug_assert_eq!(queue.bytes, queue.link_bytes, "one queue");
        (self.packets, self.bytes) = (queue.packets, queue.bytes);
        self.waited_ms = waited.as_nanos() / 1_000_000;
    }
}

impl Aqm for Recorder {
    fn is_limit_first(&self) -> bool {
        !self.asks_first
    }
    fn on_enqueue(&mut self, _: Time, _: Head, queue: Backlog, _: &mut Rng) -> Verdict {
        self.see(queue, Span::default());
        Verdict::Pass
    }
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, _: &mut Rng) -> Verdict {
        self.see(queue, head.sojourn(now));
        if head.bytes == 999 { Verdict::Mark(Cause::Target) } else { Verdict::Pass }
    }
    fn on_head(&mut self, enqueued: Option<Time>) {
        self.waited_ms = enqueued.map_or(u64::MAX, |time| time.as_nanos() / 1_000_000);
    }
    fn observe(&self, out: &mut [f64]) {
        out.copy_from_slice(&[f64::from(self.packets), self.bytes as f64, self.waited_ms as f64]);
    }
}

impl Observable for Recorder {
    fn vars(&self) -> &'static [Var] {
        &[Var { name: "seen", unit: "1", doc: "packets, bytes, ms" }; 3]
    }
}

/// A queue of numbered packets under the recorder.
struct Bench(Fifo<Numbered, Unmarked>);

impl Bench {
    fn new(limit: u64, asks_first: bool) -> Bench {
        let law = Unmarked::new(Box::new(Recorder { asks_first, ..Recorder::default() }));
        Bench(Fifo::new(law, Limit::Packets(limit)))
    }

    fn put(&mut self, at_ms: u64, bytes: u32, ecn: Ecn) -> [f64; 3] {
        let packet = Numbered { ecn, ..Numbered::new(0, 0, bytes) };
        self.0.enqueue(ms(at_ms), packet, &mut rng(), &mut Log::default());
        self.seen()
    }

    fn take(&mut self, at_ms: u64) -> [f64; 3] {
        self.0.dequeue(ms(at_ms), &mut rng(), &mut Log::default()).expect("a packet");
        self.seen()
    }

    fn seen(&self) -> [f64; 3] {
        let mut seen = [f64::NAN; 3];
        self.0.observe(&mut seen);
        seen
    }
}

#[test]
fn backlogs_leave_out_marked_packets() {
    let mut bench = Bench::new(9, false);
    bench.put(0, 1000, Ecn::Ect0);
    bench.put(0, 500, Ecn::Ce);
    assert_eq!(bench.put(0, 200, Ecn::NotEct)[..2], [1.0, 1000.0]);
    assert_eq!(bench.take(1)[..2], [1.0, 200.0]);
    assert_eq!(bench.take(2)[..2], [1.0, 200.0], "the marked one left");
    assert_eq!(bench.take(3)[..2], [0.0, 0.0]);
}

/// The link takes 1 ms for the first packet and 2 ms for the marked one; a packet arrives in the
/// middle of the latter.
#[test]
fn sojourn_times_leave_out_what_the_link_spent_on_marked_packets() {
    let mut bench = Bench::new(9, false);
    for ecn in [Ecn::Ect0, Ecn::Ce, Ecn::Ect0] {
        bench.put(0, 1000, ecn);
    }
    assert_eq!(bench.take(0)[2], 0.0);
    assert_eq!(bench.take(1)[2], 1.0, "nothing marked was sent before it");
    bench.put(2, 1000, Ecn::Ect0);
    assert_eq!(bench.take(3)[2], 1.0, "3 ms, 2 of them for the marked one");
    assert_eq!(bench.take(4)[2], 1.0, "2 ms, 1 of them for the rest of the marked one");
}

#[test]
fn a_packet_marked_at_the_head_counts_as_marked_while_it_is_sent() {
    let mut bench = Bench::new(9, false);
    bench.put(0, 999, Ecn::Ect0);
    bench.put(0, 1000, Ecn::Ect0);
    bench.take(5);
    assert_eq!(bench.take(7)[2], 5.0);
}

#[test]
fn an_idle_link_spends_no_time_on_marked_packets() {
    let mut bench = Bench::new(9, false);
    bench.put(0, 1000, Ecn::Ce);
    bench.take(0);
    bench.put(50, 1000, Ecn::Ect0);
    bench.put(50, 1000, Ecn::Ect0);
    assert_eq!(bench.take(50)[2], 0.0);
    assert_eq!(bench.take(51)[2], 1.0);
}

#[test]
fn a_marked_arrival_without_room_is_not_counted() {
    let mut bench = Bench::new(1, true);
    bench.put(0, 1000, Ecn::Ect0);
    assert_eq!(bench.put(0, 700, Ecn::Ce)[..2], [1.0, 1000.0]);
    assert_eq!(bench.put(0, 700, Ecn::Ect0)[..2], [1.0, 1000.0]);
    assert_eq!(bench.take(1)[..2], [0.0, 0.0]);
}

#[test]
fn an_evicted_marked_packet_is_no_longer_left_out() {
    let mut bench = Bench::new(1, false);
    bench.0 = bench.0.on_overflow(FifoOverflow::Head);
    bench.put(0, 1000, Ecn::Ce);
    bench.put(0, 1000, Ecn::Ect0);
    assert_eq!(bench.put(0, 400, Ecn::Ect0)[..2], [1.0, 1000.0]);
}

#[test]
fn at_a_timer_the_head_arrived_later_by_the_time_of_marked_packets() {
    let mut bench = Bench::new(9, false);
    bench.put(0, 1000, Ecn::Ce);
    bench.put(1, 1000, Ecn::Ect0);
    bench.take(10);
    bench.0.on_timer(ms(14));
    assert_eq!(bench.seen()[2], 5.0, "arrived at 1 ms, and 4 ms were for the marked one");
    bench.take(15);
    bench.0.on_timer(ms(16));
    assert_eq!(bench.seen()[2], u64::MAX as f64, "an empty queue has no head");
}

/// The numbers of the packets dropped and marked under a random load.
fn signals(aqm: &str, ecn: Ecn) -> (Vec<u64>, usize) {
    let spec = QdiscSpec::parse(aqm).expect("a legal text");
    let mut queue = registry::build::<Numbered>(&spec, &env()).expect("it is built");
    let (mut log, mut rng, mut load) =
        (Log::default(), Rng::stream(1, "law", 0), Rng::stream(1, "load", 0));
    for id in 0..20_000 {
        let now = Time::from_nanos(id * 600_000);
        while let Some(due) = queue.next_timer().filter(|&due| due <= now) {
            queue.on_timer(due);
        }
        if load.uniform() < 0.55 {
            queue.enqueue(now, Numbered { ecn, ..Numbered::new(id, 0, 1000) }, &mut rng, &mut log);
        }
        if load.uniform() < 0.5 {
            queue.dequeue(now, &mut rng, &mut log);
        }
    }
    (log.dropped_ids(), log.marked.len())
}

#[test]
fn without_ecn_every_law_decides_as_before() {
    for law in registry::laws().iter().filter(|law| law.name != "taildrop") {
        let [plain, left_out] = ["", ",exclude_ce=true"]
            .map(|more| signals(&format!("{}:limit=100p{more}", law.name), Ecn::NotEct));
        assert_eq!(plain, left_out, "{}", law.name);
        assert!(!plain.0.is_empty(), "{} was not tried", law.name);
    }
}

#[test]
fn with_ecn_a_law_decides_otherwise() {
    for aqm in ["pie", "ared", "red"] {
        let [plain, left_out] = ["", ",exclude_ce=true"]
            .map(|more| signals(&format!("{aqm}:limit=1000p,ecn=true{more}"), Ecn::Ect0));
        assert!(plain.1 > 0 && left_out.1 > 0, "{aqm} marks");
        assert_ne!(plain, left_out, "{aqm}");
    }
}

#[test]
fn where_nothing_is_measured_the_parameter_is_refused() {
    let message = |aqm: &str| {
        let spec = QdiscSpec::parse(aqm);
        spec.and_then(|spec| registry::build_law(&spec, &env()).map(|_| ())).unwrap_err().message
    };
    assert!(message("taildrop:exclude_ce=true").contains("has no effect in dialect packets"));
    assert!(message("taildrop@bytes:exclude_ce=true").contains("has no effect in dialect bytes"));
    assert!(message("fq_codel:exclude_ce=true").contains("has no parameter `exclude_ce`"));
    assert!(message("codel:exclude_ce=true").contains("has no effect on a law alone"));
}
