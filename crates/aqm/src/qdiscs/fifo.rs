//! `Fifo<L>`: one queue, first in, first out, under the law `L`.

use alloc::collections::VecDeque;

use crate::law::{Aqm, Cause, Env, Law, Stage, Var, Verdict};
use crate::packet::{Backlog, Head, Packet};
use crate::params;
use crate::qdisc::{Departure, Qdisc, Sink};
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
    law: L,
    limit: Limit,
    waiting: VecDeque<(Time, P)>,
    bytes: u64,
}

impl<P: Packet, L: Aqm> Fifo<P, L> {
    /// An empty queue.
    pub fn new(law: L, limit: Limit) -> Self {
        Fifo { law, limit, waiting: VecDeque::new(), bytes: 0 }
    }

    /// The law, for tests.
    pub fn law(&self) -> &L {
        &self.law
    }

    fn is_full_for(&self, bytes: u32) -> bool {
        match self.limit {
            Limit::Packets(n) => self.waiting.len() as u64 >= n,
            Limit::Bytes(n) => self.bytes + u64::from(bytes) > n,
        }
    }
}

impl<P: Packet + Send, L: Law> Qdisc<P> for Fifo<P, L> {
    fn enqueue(&mut self, now: Time, mut packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let full = self.is_full_for(packet.bytes());
        let head = Head { bytes: packet.bytes(), ecn: packet.ecn(), enqueued: now };
        let queue = self.backlog();
        if !(full && L::LIMIT_FIRST) {
            match self.law.on_enqueue(now, head, queue, rng) {
                Verdict::Pass => {}
                Verdict::Mark(_) if full => {} // dropped below: a mark would be lost with the packet
                Verdict::Mark(cause) => {
                    debug_assert!(head.ecn.can_mark(), "a law marks only what can be marked");
                    packet.set_ce();
                    sink.marked(&mut packet, Stage::Enqueue, cause);
                }
                Verdict::Drop(cause) => return sink.dropped(packet, now, Stage::Enqueue, cause),
            }
        }
        if full {
            self.law.on_overflow(now, queue);
            return sink.dropped(packet, now, Stage::Enqueue, Cause::Overflow);
        }
        self.bytes += u64::from(head.bytes);
        self.waiting.push_back((now, packet));
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        while let Some((enqueued, mut packet)) = self.waiting.pop_front() {
            self.bytes -= u64::from(packet.bytes());
            let head = Head { bytes: packet.bytes(), ecn: packet.ecn(), enqueued };
            match self.law.on_dequeue(now, head, self.backlog(), rng) {
                Verdict::Pass => {}
                Verdict::Mark(cause) => {
                    debug_assert!(head.ecn.can_mark(), "a law marks only what can be marked");
                    packet.set_ce();
                    sink.marked(&mut packet, Stage::Dequeue, cause);
                }
                Verdict::Drop(cause) => {
                    sink.dropped(packet, enqueued, Stage::Dequeue, cause);
                    continue;
                }
            }
            return Some(Departure { packet, enqueued });
        }
        self.law.on_empty(now);
        None
    }

    fn next_timer(&self) -> Option<Time> {
        self.law.next_timer()
    }

    fn on_timer(&mut self, now: Time) {
        let queue = self.backlog();
        self.law.on_timer(now, queue);
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        self.law.on_rate(now, rate);
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting.len() as u32, bytes: self.bytes, link_bytes: self.bytes }
    }

    fn vars(&self) -> &'static [Var] {
        L::VARS
    }

    fn observe(&self, out: &mut [f64]) {
        self.law.observe(out);
    }
}

/// Makes a [`Fifo`] from parameters; the registry calls it.
pub fn build<P: Packet + Send + 'static, L: Law>(
    params: &FifoParams,
    law: &L::Params,
    env: &Env,
) -> alloc::boxed::Box<dyn Qdisc<P>> {
    let env = Env { limit: params.limit, ..*env };
    alloc::boxed::Box::new(Fifo::<P, L>::new(L::new(law, &env), params.limit))
}
