//! `Fifo<P, L>`: one queue, first in, first out, under the law `L`.

use alloc::boxed::Box;

use crate::law::{Aqm, Env, Observable, Stage, Var, Verdict};
use crate::packet::{Backlog, Packet};
use crate::qdisc::{Departure, Qdisc, Sink};
use crate::qdiscs::queues::law_queue::LawQueue;
use crate::qdiscs::queues::packet_fifo::{PacketFifo, PacketQueue};
use crate::qdiscs::unmarked::Unmarked;
use crate::rng::Rng;
use crate::time::{Rate, Time};
use crate::units::Limit;
use crate::{params, words};

params! {
    /// Parameters of every discipline with one queue, in addition to those of its law.
    pub struct FifoParams {
        dialects:
            "fifo" = "one queue",
            "packets" = "Linux pfifo",
            "bytes" = "Linux bfifo",
            "head_drop" = "Linux pfifo_head_drop",
            "freebsd" = "a queue of FreeBSD's dummynet";
        /// Limit on the backlog: packets (accept while fewer are queued) or bytes (accept while
        /// they fit).
        limit: Limit, POSITIVE, "Linux pfifo: txqueuelen of Ethernet" => Limit::Packets(1000),
            "bytes": "Linux bfifo: txqueuelen of Ethernet, times 1514 B" => Limit::Bytes(1_514_000),
            "freebsd": "FreeBSD ip_dn_io.c: 50 slots" => Limit::Packets(50);
        /// What to drop when full: the arrival, or packets at the head.
        overflow: FifoOverflow, ANY, "Linux sch_fifo.c: pfifo and bfifo" => FifoOverflow::Arrival,
            "head_drop": "Linux sch_fifo.c: pfifo_head_drop" => FifoOverflow::Head;
        /// Whether the law measures backlog and sojourn times without CE-marked packets, as though
        /// they had been dropped.
        exclude_ce: bool, ANY,
            "Linux counts them; Khademi, Ros and Welzl 2013 §7 advise against it" => false;
    }
    // Tail drop does not measure anything.
    unused: |dialect| match dialect {
        "fifo" | "freebsd" => &[],
        _ => &["exclude_ce"],
    };
}

words! {
    /// What to drop when full.
    pub enum FifoOverflow {
        /// The packet that arrives.
        Arrival = "arrival",
        /// The oldest packets, until the arrival fits.
        Head = "head",
    }
}

/// One queue under one law.
#[derive(Debug)]
pub struct Fifo<P, L> {
    law: L,
    fifo: PacketFifo<P>,
    limit: Limit,
    overflow: FifoOverflow,
}

impl<P: Packet, L: Aqm> Fifo<P, L> {
    /// An empty queue; arrivals are dropped when full.
    pub fn new(law: L, limit: Limit) -> Self {
        Fifo { law, fifo: PacketFifo::default(), limit, overflow: FifoOverflow::Arrival }
    }

    /// The same discipline with this choice of what to drop when full.
    pub fn on_overflow(self, overflow: FifoOverflow) -> Self {
        Fifo { overflow, ..self }
    }

    /// The law, for tests.
    pub fn law(&self) -> &L {
        &self.law
    }

    fn queue(&mut self) -> LawQueue<'_, L, &mut PacketFifo<P>> {
        LawQueue { law: &mut self.law, waiting: &mut self.fifo, elsewhere: 0 }
    }

    /// Whether to refuse an arrival when full. Otherwise, packets are dropped from the head until
    /// the arrival fits; an arrival that would not fit into an empty queue evicts nothing.
    fn refuses(&self, bytes: u32) -> bool {
        let never_fits = matches!(self.limit, Limit::Bytes(n) if u64::from(bytes) > n);
        self.overflow == FifoOverflow::Arrival || never_fits
    }

    #[cold]
    fn make_room(&mut self, now: Time, sink: &mut dyn Sink<P>) {
        while self.is_over_limit() {
            self.queue().evict(now, sink);
        }
    }

    fn is_over_limit(&self) -> bool {
        match self.limit {
            Limit::Packets(n) => u64::from(self.fifo.packets()) > n,
            Limit::Bytes(n) => self.fifo.bytes() > n,
        }
    }

    fn is_full_for(&self, bytes: u32) -> bool {
        match self.limit {
            Limit::Packets(n) => u64::from(self.fifo.packets()) >= n,
            Limit::Bytes(n) => self.fifo.bytes() + u64::from(bytes) > n,
        }
    }
}

impl<P: Packet + Send, L: Observable> Qdisc<P> for Fifo<P, L> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let is_full = self.is_full_for(packet.bytes());
        let is_refused = is_full && self.refuses(packet.bytes());
        match self.queue().judge_arrival(now, &packet, is_refused, rng, sink) {
            Verdict::Pass => self.fifo.push(now, packet),
            Verdict::Mark(cause) => self.queue().push_marked(now, packet, cause, sink),
            Verdict::Drop(cause) => return sink.dropped(packet, now, Stage::Enqueue, cause),
        }
        if is_full {
            self.make_room(now, sink);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        let bytes = self.queue().judge(now, rng, sink)?;
        self.fifo.pop_judged(bytes)
    }

    fn next_timer(&self) -> Option<Time> {
        self.law.next_timer()
    }

    fn on_timer(&mut self, now: Time) {
        self.queue().on_timer(now);
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        self.law.on_rate(now, rate);
    }

    fn on_limit(&mut self, limit: Limit) -> bool {
        self.limit = limit;
        true
    }

    fn peek(&self) -> Option<u32> {
        self.fifo.first_bytes().filter(|_| self.law.is_inert())
    }

    fn backlog(&self) -> Backlog {
        let bytes = self.fifo.bytes();
        Backlog { packets: self.fifo.packets(), bytes, link_bytes: bytes }
    }

    fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    fn notices_empty(&self) -> bool {
        !self.law.is_inert()
    }

    fn lets_through(&self, bytes: u32) -> bool {
        self.fifo.is_empty() && self.law.is_inert() && !self.is_full_for(bytes)
    }

    fn vars(&self) -> &'static [Var] {
        self.law.vars()
    }

    fn observe(&self, out: &mut [f64]) {
        self.law.observe(out);
    }
}

/// Makes a [`Fifo`] from parameters, with the law that `make` returns for its environment; the
/// registry calls it.
pub fn build<P: Packet + Send + 'static, L: Observable + 'static>(
    params: &FifoParams,
    env: &Env,
    make: &mut dyn FnMut(&Env) -> L,
) -> Box<dyn Qdisc<P>> {
    let (limit, overflow) = (params.limit, params.overflow);
    let law = make(&Env { limit, ..*env });
    if params.exclude_ce {
        let law = Unmarked::new(Box::new(law));
        return Box::new(Fifo::<P, Unmarked>::new(law, limit).on_overflow(overflow));
    }
    Box::new(Fifo::<P, L>::new(law, limit).on_overflow(overflow))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::law::{Cause, Stage};
    use crate::laws::taildrop::TailDrop;
    use crate::rng::Rng;
    use crate::testing::{Log, Numbered};
    use crate::time::Span;

    fn fifo(limit: Limit) -> Fifo<Numbered, TailDrop> {
        Fifo::new(TailDrop, limit)
    }

    fn offer(fifo: &mut Fifo<Numbered, TailDrop>, sizes: &[u32]) -> Log {
        let (mut log, mut rng) = (Log::default(), Rng::stream(1, "unused", 0));
        for (id, &bytes) in (1..).zip(sizes) {
            fifo.enqueue(Time::ZERO, Numbered::new(id, 0, bytes), &mut rng, &mut log);
        }
        log
    }

    fn take(fifo: &mut Fifo<Numbered, TailDrop>) -> Option<u64> {
        let mut rng = Rng::stream(1, "unused", 0);
        let departure = fifo.dequeue(Time::ZERO, &mut rng, &mut Log::default())?;
        Some(departure.packet.id)
    }

    /// Linux 6.1 sch_fifo.c, pfifo_enqueue: an arrival is accepted while the queue is below the
    /// limit.
    #[test]
    fn a_limit_of_100_packets_accepts_the_first_100_of_150() {
        let log = offer(&mut fifo(Limit::Packets(100)), &[1000; 150]);
        assert_eq!(log.dropped_ids(), (101..=150).collect::<Vec<_>>());
        let overflow =
            |&(_, s, c): &(u64, Stage, Cause)| (s, c) == (Stage::Enqueue, Cause::Overflow);
        assert!(log.dropped.iter().all(overflow));
    }

    /// Linux 6.1 sch_fifo.c, bfifo_enqueue: an arrival is accepted if it fits.
    #[test]
    fn a_limit_in_bytes_is_met_exactly() {
        let mut fifo = fifo(Limit::Bytes(3000));
        assert_eq!(offer(&mut fifo, &[1500, 1500, 1]).dropped_ids(), [3]);
        assert_eq!(take(&mut fifo), Some(1));
        assert_eq!(offer(&mut fifo, &[1500]).dropped_ids(), [0; 0]);
    }

    /// 99 packets of 1000 B take 79.2 ms at 10 Mb/s.
    #[test]
    fn the_hundredth_packet_waits_for_99_transmissions() {
        let rate = Rate::from_bps(10_000_000);
        let (mut fifo, mut now) = (fifo(Limit::Packets(100)), Time::ZERO);
        offer(&mut fifo, &[1000; 100]);
        while take(&mut fifo) != Some(100) {
            now += rate.time_for(1000);
        }
        assert_eq!(now.since(Time::ZERO), Span::from_micros(79_200));
    }

    /// Linux 6.1 sch_fifo.c, pfifo_tail_enqueue, also with a limit in bytes.
    #[test]
    fn with_head_drop_the_oldest_packets_make_room() {
        let mut fifo = self::fifo(Limit::Packets(3)).on_overflow(FifoOverflow::Head);
        assert_eq!(offer(&mut fifo, &[1000; 5]).dropped_ids(), [1, 2]);
        let left: Vec<_> = core::iter::from_fn(|| take(&mut fifo)).collect();
        assert_eq!(left, [3, 4, 5]);
        let mut fifo = self::fifo(Limit::Bytes(3000)).on_overflow(FifoOverflow::Head);
        let log = offer(&mut fifo, &[1000, 1000, 1000, 1500, 3001]);
        let head = (Stage::Queued, Cause::Overflow);
        let arrival = (Stage::Enqueue, Cause::Overflow);
        let why: Vec<_> = log.dropped.iter().map(|&(id, s, c)| (id, (s, c))).collect();
        assert_eq!(why, [(1, head), (2, head), (5, arrival)]);
    }

    /// Linux 6.1 sch_fifo.c: pfifo, bfifo and pfifo_head_drop on Ethernet.
    #[test]
    fn each_dialect_of_tail_drop_has_its_own_limit_and_overflow_rule() {
        let of = |aqm: &str| {
            let spec = crate::QdiscSpec::parse(aqm).unwrap();
            crate::registry::settings(&spec)
                .unwrap()
                .into_iter()
                .map(|(_, v)| v)
                .collect::<Vec<_>>()
        };
        assert_eq!(of("taildrop"), ["1000p", "arrival", "false"]);
        assert_eq!(of("taildrop@bytes"), ["1514kB", "arrival", "false"]);
        assert_eq!(of("taildrop@head_drop"), ["1000p", "head", "false"]);
    }

    proptest! {
        #[test]
        fn packets_leave_in_the_order_of_their_arrival(
            batches in prop::collection::vec((0usize..20, 0usize..20), 1..50),
        ) {
            let mut fifo = fifo(Limit::Packets(30));
            let (mut log, mut rng) = (Log::default(), Rng::stream(1, "unused", 0));
            let (mut id, mut expected, mut left) = (0, Vec::new(), Vec::new());
            for (arrivals, departures) in batches {
                for _ in 0..arrivals {
                    if fifo.backlog().packets < 30 {
                        expected.push(id);
                    }
                    fifo.enqueue(Time::ZERO, Numbered::new(id, 0, 1000), &mut rng, &mut log);
                    id += 1;
                }
                left.extend((0..departures).map_while(|_| take(&mut fifo)));
            }
            left.extend(core::iter::from_fn(|| take(&mut fifo)));
            prop_assert_eq!(left, expected);
        }
    }

    /// A host may skip calls only if the law takes no part.
    #[test]
    fn every_law_but_tail_drop_takes_part_when_nothing_waits() {
        for aqm in ["taildrop", "codel", "pie", "red", "blue", "cobalt"] {
            let spec = crate::QdiscSpec::parse(aqm).expect("a legal text");
            let queue = crate::registry::build::<Numbered>(&spec, &crate::testing::env()).unwrap();
            let takes_part = (queue.notices_empty(), !queue.lets_through(1000));
            assert_eq!(takes_part, (aqm != "taildrop", aqm != "taildrop"), "{aqm}");
        }
    }

    #[test]
    fn a_packet_that_would_not_fit_into_an_empty_queue_is_not_let_through() {
        let fits = |limit| [1000, 1001].map(|bytes| fifo(limit).lets_through(bytes));
        assert_eq!(fits(Limit::Bytes(1000)), [true, false]);
        assert_eq!(fits(Limit::Packets(1)), [true, true]);
    }

    /// Linux 6.1 sch_red.c with tc's thresholds: the upper threshold is a quarter of the
    /// discipline's limit, not of the link's.
    #[test]
    fn a_law_takes_its_automatic_thresholds_from_the_limit_of_its_discipline() {
        let spec = crate::QdiscSpec::parse("red@linux:limit=100p").expect("a legal text");
        let env = Env { limit: Limit::Packets(1000), ..crate::testing::env() };
        let mut red = crate::registry::build::<Numbered>(&spec, &env).expect("it is known");
        let (mut rng, mut log) = (Rng::stream(1, "test", 0), Log::default());
        for id in 0..5_000 {
            red.enqueue(Time::ZERO, Numbered::new(id, 0, 1514), &mut rng, &mut log);
        }
        assert!(log.dropped.iter().any(|&(.., cause)| cause == Cause::Forced));
    }
}
