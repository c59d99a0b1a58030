//! `Fifo<P, L>`: one queue, first in, first out, under the law `L`.

use alloc::boxed::Box;

use crate::law::{Aqm, Env, Law, Var};
use crate::packet::{Backlog, Packet};
use crate::params;
use crate::qdisc::{Departure, Qdisc, Sink};
use crate::qdiscs::queue::LawQueue;
use crate::rng::Rng;
use crate::time::{Rate, Time};
use crate::units::Limit;

params! {
    /// What every discipline with one queue takes, beside the parameters of its law.
    pub struct FifoParams {
        dialects: "fifo" = "one queue";
        /// How much may wait: packets (accept while fewer wait) or bytes (accept while they fit).
        limit: Limit, POSITIVE, "Linux pfifo: txqueuelen of Ethernet" => Limit::Packets(1000);
    }
}

/// One queue under one law.
#[derive(Debug)]
pub struct Fifo<P, L> {
    queue: LawQueue<P, L>,
    limit: Limit,
}

impl<P: Packet, L: Aqm> Fifo<P, L> {
    /// An empty queue.
    pub fn new(law: L, limit: Limit) -> Self {
        Fifo { queue: LawQueue::new(law), limit }
    }

    /// The law, for tests.
    pub fn law(&self) -> &L {
        &self.queue.law
    }

    fn is_full_for(&self, bytes: u32) -> bool {
        match self.limit {
            Limit::Packets(n) => u64::from(self.queue.packets()) >= n,
            Limit::Bytes(n) => self.queue.bytes() + u64::from(bytes) > n,
        }
    }
}

impl<P: Packet + Send, L: Law> Qdisc<P> for Fifo<P, L> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let full = self.is_full_for(packet.bytes());
        self.queue.offer(now, packet, full, 0, rng, sink);
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.queue.take(now, 0, rng, sink)
    }

    fn next_timer(&self) -> Option<Time> {
        self.queue.law.next_timer()
    }

    fn on_timer(&mut self, now: Time) {
        self.queue.on_timer(now, 0);
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        self.queue.law.on_rate(now, rate);
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog(0)
    }

    fn vars(&self) -> &'static [Var] {
        L::VARS
    }

    fn observe(&self, out: &mut [f64]) {
        self.queue.law.observe(out);
    }
}

/// Makes a [`Fifo`] from parameters; the registry calls it.
pub fn build<P: Packet + Send + 'static, L: Law>(
    params: &FifoParams,
    law: &L::Params,
    env: &Env,
) -> Box<dyn Qdisc<P>> {
    let env = Env { limit: params.limit, ..*env };
    Box::new(Fifo::<P, L>::new(L::new(law, &env), params.limit))
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

    /// Fact 4.1.
    #[test]
    fn a_hundred_of_a_hundred_and_fifty_find_room_and_the_last_ones_do_not() {
        let log = offer(&mut fifo(Limit::Packets(100)), &[1000; 150]);
        assert_eq!(log.dropped_ids(), (101..=150).collect::<Vec<_>>());
        let overflow =
            |&(_, s, c): &(u64, Stage, Cause)| (s, c) == (Stage::Enqueue, Cause::Overflow);
        assert!(log.dropped.iter().all(overflow));
    }

    /// Fact 4.2.
    #[test]
    fn a_limit_in_bytes_is_met_exactly() {
        let mut fifo = fifo(Limit::Bytes(3000));
        assert_eq!(offer(&mut fifo, &[1500, 1500, 1]).dropped_ids(), [3]);
        assert_eq!(take(&mut fifo), Some(1));
        assert_eq!(offer(&mut fifo, &[1500]).dropped_ids(), [0; 0]);
    }

    /// Fact 4.4.
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

    proptest! {
        /// Fact 4.3.
        #[test]
        fn order_is_kept_for_any_arrivals(
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
}
