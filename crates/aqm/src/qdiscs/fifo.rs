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
        let backlog = self.backlog();
        self.queue.law.on_timer(now, backlog);
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
