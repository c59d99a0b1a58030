//! `Fq<P, L>`: flows hashed to queues, each under its own law `L`, served by deficit round robin
//! with priority for queues that have just become active.
//!
//! Source: RFC 8290 §4.1, §4.2 and §5.2, which defines it for CoDel; FQ-PIE and the others put
//! their law in CoDel's place.
//!
//! Deviations:
//! - A queue whose credits are used up exactly waits for the next round (`credits <= 0`), as in
//!   Linux and ns-3; the RFC's prose says "negative", which would give a full-quantum packet two
//!   turns.
//! - A new queue found empty moves to the old ones only if there are any, as in Linux; the RFC's
//!   prose and ns-3 move it always.
//! - Overload takes half of the fattest queue's bytes, as in Linux and ns-3; the RFC says packets.
//! - No `memory_limit` (Linux: 32 MiB): it counts kernel buffers, which hosts here do not have.
//!   Give `limit` in bytes instead.
//! - Linux FQ-PIE drops the arrival on overflow; here, as in ns-3's, the fattest queue pays.
//! - Hash collisions are not set-associative (an option of ns-3).

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::law::{Env, Law, Var};
use crate::packet::{Backlog, Packet};
use crate::params;
use crate::params::{Bytes, OrAuto};
use crate::qdisc::{Departure, Qdisc, Sink};
use crate::qdiscs::queue::LawQueue;
use crate::qdiscs::rota::{Rota, Turn};
use crate::rng::{Rng, splitmix};
use crate::time::{Rate, Time};
use crate::units::Limit;

params! {
    /// What flow queues take, beside the parameters of the law in each of them.
    pub struct FqParams {
        dialects: "rfc8290" = "RFC 8290 with the details of Linux sch_fq_codel.c";
        /// How much may wait in all queues together; beyond it the fattest queue loses packets.
        limit: Limit, POSITIVE, "RFC 8290 §5.2.3" => Limit::Packets(10_240);
        /// Number of queues to which flows are hashed.
        flows: u64, QUEUES, "RFC 8290 §5.2.5" => 1024;
        /// Bytes a queue may send per round; `auto` is the largest packet of the link.
        quantum: OrAuto<Bytes>, QUANTUM, "RFC 8290 §5.2.4; Linux: psched_mtu" => OrAuto(None);
        /// At most this many packets are dropped at once on overload.
        drop_batch: u64, POSITIVE, "Linux sch_fq_codel.c: drop_batch_size" => 64;
    }
}

/// The state variables of flow queues.
pub const VARS: &[Var] = &[
    Var { name: "active_queues", unit: "1", doc: "Queues in which packets wait" },
    Var { name: "new_queues", unit: "1", doc: "Queues listed as new, waiting or just emptied" },
    Var { name: "old_queues", unit: "1", doc: "Queues listed as old, waiting or just emptied" },
];

/// Flow queues, each under its own law.
#[derive(Debug)]
pub struct Fq<P, L> {
    queues: Vec<FlowQueue<P, L>>,
    rota: Rota,
    limit: Limit,
    quantum: i64,
    drop_batch: u64,
    salt: u64,
    packets: u32,
    bytes: u64,
    /// The earliest timer of the queues that hold packets. It may outlast them until it rings.
    alarm: Option<Time>,
}

#[derive(Debug)]
struct FlowQueue<P, L> {
    queue: LawQueue<P, L>,
    /// Bytes it may still send in this round.
    credits: i64,
}

impl<P: Packet, L: Law> Fq<P, L> {
    /// Empty queues, each under a law of its own made by `law`.
    pub fn new(params: &FqParams, env: &Env, mut law: impl FnMut() -> L) -> Self {
        let quantum = params.quantum.0.map_or(u64::from(env.mtu_bytes), |bytes| bytes.0);
        assert!(quantum > 0, "a round without bytes would never end");
        let queue = |_| FlowQueue { queue: LawQueue::new(law()), credits: 0 };
        Fq {
            queues: (0..params.flows).map(queue).collect(),
            rota: Rota::new(params.flows as usize),
            limit: params.limit,
            quantum: quantum as i64,
            drop_batch: params.drop_batch,
            salt: env.salt,
            packets: 0,
            bytes: 0,
            alarm: None,
        }
    }

    /// The number of the queue of a flow (RFC 8290 §4.1; multiply and shift, as in Linux).
    fn queue_of(&self, flow: u64) -> u32 {
        let hash = splitmix(flow ^ self.salt);
        ((u128::from(hash) * self.queues.len() as u128) >> 64) as u32
    }

    fn queue(&mut self, index: u32) -> &mut LawQueue<P, L> {
        &mut self.queues[index as usize].queue
    }

    /// A law is not ticked while its queue is empty, so that a thousand idle queues cost nothing;
    /// it catches up before its next hook.
    fn wake(&mut self, index: u32, now: Time) {
        let queue = self.queue(index);
        if queue.is_empty() && queue.law.next_timer().is_some_and(|due| due <= now) {
            queue.law.on_idle_timers(now);
        }
    }

    fn is_over_limit(&self) -> bool {
        match self.limit {
            Limit::Packets(n) => u64::from(self.packets) > n,
            Limit::Bytes(n) => self.bytes > n,
        }
    }

    /// The fattest queue loses half of its bytes from its head, at most `drop_batch` packets (Linux
    /// `fq_codel_drop`; RFC 8290 §4.1 says half of its packets).
    fn shed(&mut self, now: Time, sink: &mut dyn Sink<P>) {
        let fattest = self.fattest();
        let half = self.queue(fattest).bytes().div_ceil(2);
        let mut shed = 0;
        for _ in 0..self.drop_batch {
            let elsewhere = self.bytes - self.queue(fattest).bytes();
            let Some(bytes) = self.queue(fattest).evict(now, elsewhere, sink) else { break };
            self.packets -= 1;
            self.bytes -= u64::from(bytes);
            shed += u64::from(bytes);
            if shed >= half {
                break;
            }
        }
    }

    /// The queue with most bytes, the first of them on ties.
    fn fattest(&self) -> u32 {
        let fatness = |&index: &u32| (self.queues[index as usize].queue.bytes(), !index);
        self.rota.listed().max_by_key(fatness).expect("what is over its limit holds packets")
    }

    /// One step of the round: a packet from the queue at the head of the rota, or none if that
    /// queue had to step back.
    fn serve(
        &mut self,
        turn: Turn,
        index: u32,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        let quantum = self.quantum;
        let credits = &mut self.queues[index as usize].credits;
        if *credits <= 0 {
            *credits += quantum;
            self.rota.remove_head(turn);
            self.rota.append(Turn::Old, index);
            return None;
        }
        let departure = self.take(index, now, rng, sink);
        match &departure {
            Some(Departure { packet, .. }) => {
                self.queues[index as usize].credits -= i64::from(packet.bytes());
            }
            None => self.retire(turn, index),
        }
        departure
    }

    fn take(
        &mut self,
        index: u32,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.wake(index, now);
        let queue = &mut self.queues[index as usize].queue;
        let (packets, bytes) = (queue.packets(), queue.bytes());
        let departure = queue.take(now, self.bytes - bytes, rng, sink);
        self.packets -= packets - queue.packets();
        self.bytes -= bytes - queue.bytes();
        departure
    }

    /// A queue was found empty. A new one stays for one more round among the old, so that it cannot
    /// come back as new at once (RFC 8290 §4.2).
    fn retire(&mut self, turn: Turn, index: u32) {
        self.rota.remove_head(turn);
        if turn == Turn::New && !self.rota.is_empty(Turn::Old) {
            self.rota.append(Turn::Old, index);
        }
    }

    /// A packet was appended to a queue: count it and see that the queue is served.
    fn admit(&mut self, index: u32, bytes: u32) {
        let due = self.queue(index).law.next_timer();
        if self.packets == 0 {
            self.alarm = due;
        }
        debug_assert!(due >= self.alarm, "the laws of one discipline share one grid of timers");
        self.packets += 1;
        self.bytes += u64::from(bytes);
        if !self.rota.contains(index) {
            self.queues[index as usize].credits = self.quantum;
            self.rota.append(Turn::New, index);
        }
    }
}

impl<P: Packet + Send, L: Law> Qdisc<P> for Fq<P, L> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let bytes = packet.bytes();
        // A packet that would not fit even alone must not evict all others first.
        let hopeless = matches!(self.limit, Limit::Bytes(n) if u64::from(bytes) > n);
        let index = self.queue_of(packet.flow());
        self.wake(index, now);
        let elsewhere = self.bytes - self.queue(index).bytes();
        if self.queue(index).offer(now, packet, hopeless, elsewhere, rng, sink) {
            self.admit(index, bytes);
            while self.is_over_limit() {
                self.shed(now, sink);
            }
        } else if self.queue(index).is_empty() && !self.rota.contains(index) {
            // The link will not ask this queue, so its law must hear now that it is empty.
            self.queue(index).law.on_empty(now);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        loop {
            let (turn, index) = self.rota.head()?;
            let departure = self.serve(turn, index, now, rng, sink);
            if departure.is_some() {
                return departure;
            }
        }
    }

    fn next_timer(&self) -> Option<Time> {
        self.alarm
    }

    fn on_timer(&mut self, now: Time) {
        let mut alarm: Option<Time> = None;
        for index in self.rota.listed() {
            let queue = &mut self.queues[index as usize].queue;
            if queue.is_empty() {
                continue;
            }
            if queue.law.next_timer().is_some_and(|due| due <= now) {
                queue.on_timer(now, self.bytes - queue.bytes());
            }
            alarm = [alarm, queue.law.next_timer()].into_iter().flatten().min();
        }
        self.alarm = alarm;
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        for index in 0..self.queues.len() as u32 {
            self.wake(index, now);
            self.queue(index).law.on_rate(now, rate);
        }
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets, bytes: self.bytes, link_bytes: self.bytes }
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        let waits = |&index: &u32| !self.queues[index as usize].queue.is_empty();
        out[0] = self.rota.listed().filter(waits).count() as f64;
        out[1] = self.rota.walk(Turn::New).count() as f64;
        out[2] = self.rota.walk(Turn::Old).count() as f64;
    }
}

/// Makes an [`Fq`] from parameters; the registry calls it.
pub fn build<P: Packet + Send + 'static, L: Law>(
    params: &FqParams,
    law: &L::Params,
    env: &Env,
) -> Box<dyn Qdisc<P>> {
    let env = Env { limit: params.limit, ..*env };
    Box::new(Fq::<P, L>::new(params, &env, || L::new(law, &env)))
}

#[cfg(test)]
#[path = "fq_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fq_oracle_tests.rs"]
mod oracle;
