//! SFQ: flows are hashed to queues, which are served in rounds by bytes; if there is no room, the
//! longest queue loses a packet.
//!
//! Source: Linux 6.1 `sch_sfq.c` and the RED thresholds of tc; `sfq_red` has RED in every queue.
//!
//! Deviations from Linux:
//! - The hash changes when the first packet after `perturb` arrives or leaves, not by a timer:
//!   packets that get no queue are dropped, and several periods without a packet cause only one
//!   re-sort.
//! - A `limit` below `flows` reduces the number of queues only if it is not the default, since tc
//!   cannot distinguish the two; a `limit` in bytes keeps all queues, and the longest one loses
//!   packets.
//!
//! Deviations from SFQ as published (McKenney 1990, read through Linux): rounds count bytes, not
//! packets. SFQ of ns-2 has 16 buckets and 40 packets by default.

mod params;
mod rehash;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

pub use params::{SfqParams, SfqRedParams};

use crate::effective::Effective;
use crate::law::{Cause, Env, Stage, Var};
use crate::packet::{Backlog, Packet};
use crate::parts::linux_red::{Curve, RedState};
use crate::qdisc::{Departure, Qdisc, Scheme, Sink, mark};
use crate::qdiscs::queues::pool::{Chain, Pool};
use crate::qdiscs::queues::total::{Ceiling, Total};
use crate::rng::{Rng, splitmix};
use crate::time::{Span, Time};
use crate::units::Limit;

/// SFQ without RED, as registered.
pub struct Sfq;

/// SFQ with RED in every queue, as registered.
pub struct SfqRed;

const VARS: &[Var] = &[
    Var { name: "active_queues", unit: "1", doc: "Queues in which packets wait" },
    Var { name: "longest_queue", unit: "packets", doc: "Packets in the longest queue" },
];

impl Scheme for Sfq {
    type Params = SfqParams;
    const NAME: &'static str = "sfq";
    const DOC: &'static str = "Stochastic fairness queueing: rounds over hashed flows; the \
                               longest queue loses packets (Linux sch_sfq.c)";
    const VARS: &'static [Var] = VARS;

    fn build<P: Packet + Send + 'static>(p: &SfqParams, env: &Env) -> Box<dyn Qdisc<P>> {
        Box::new(Queues::<P>::new(p, None, env))
    }

    fn effective(p: &SfqParams, env: &Env) -> Vec<Effective> {
        Effective::of_mtu("quantum", p.quantum, env.mtu_bytes).into_iter().collect()
    }
}

impl Scheme for SfqRed {
    type Params = SfqRedParams;
    const NAME: &'static str = "sfq_red";
    const DOC: &'static str =
        "Stochastic fairness queueing with RED in every queue (Linux sch_sfq.c)";
    const VARS: &'static [Var] = VARS;

    fn build<P: Packet + Send + 'static>(p: &SfqRedParams, env: &Env) -> Box<dyn Qdisc<P>> {
        let curve = p.curve().expect("the parameters have been checked");
        let red = Red { curve, ecn: p.ecn, hard_drop: p.hard_drop };
        Box::new(Queues::<P>::new(&p.shape(), Some(red), env))
    }

    fn effective(p: &SfqRedParams, env: &Env) -> Vec<Effective> {
        let curve = p.curve().into_iter().flat_map(|curve| curve.effective(Limit::Bytes));
        Effective::of_mtu("quantum", p.quantum, env.mtu_bytes).into_iter().chain(curve).collect()
    }
}

/// RED's configuration, common to all queues.
#[derive(Clone, Copy, Debug)]
struct Red {
    curve: Curve,
    ecn: bool,
    hard_drop: bool,
}

/// The discipline.
#[derive(Debug)]
struct Queues<P> {
    /// The active queue of each hash slot.
    slots: Vec<Option<u32>>,
    queues: Vec<Active>,
    pool: Pool<P>,
    free: Vec<u32>,
    /// The queue served last; its successor in the ring is next. `None` while all are empty.
    tail: Option<u32>,
    total: Total,
    limit: Limit,
    depth: u32,
    quantum: i64,
    headdrop: bool,
    perturb: Option<Span>,
    next_perturb: Time,
    salt: u64,
    first_salt: u64,
    /// Number of salts drawn after the first.
    new_salts: u64,
    red: Option<Red>,
    /// Counts changes of length, so that ties go to the queue that changed last.
    changes: u64,
}

/// A queue that may be active.
#[derive(Debug)]
struct Active {
    packets: Chain,
    /// Bytes that the queue may still send in this round.
    allot: i64,
    slot: usize,
    /// The next queue of the ring.
    next: u32,
    changed: u64,
    red: RedState,
}

impl<P: Packet> Queues<P> {
    fn new(p: &SfqParams, red: Option<Red>, env: &Env) -> Self {
        let queue = |_| Active {
            packets: Chain::default(),
            allot: 0,
            slot: 0,
            next: 0,
            changed: 0,
            red: RedState::REST,
        };
        let quantum = p.quantum.0.map_or(u64::from(env.mtu_bytes), |bytes| bytes.0);
        assert!(quantum > 0, "a round without bytes would never end");
        Queues {
            slots: vec![None; p.divisor as usize],
            queues: (0..p.queues()).map(queue).collect(),
            pool: Pool::new(),
            // The last queue is taken first (sfq_init, sfq_link).
            free: (0..p.queues() as u32).collect(),
            tail: None,
            total: Total::default(),
            limit: p.limit,
            depth: p.depth as u32,
            quantum: quantum as i64,
            headdrop: p.headdrop,
            perturb: p.perturb.0,
            next_perturb: p.perturb.0.map_or(Time::NEVER, |span| Time::ZERO + span),
            salt: env.salt,
            first_salt: env.salt,
            new_salts: 0,
            red,
            changes: 0,
        }
    }

    fn slot_of(&self, flow: u64) -> usize {
        splitmix(flow ^ self.salt) as usize & (self.slots.len() - 1)
    }

    fn queue(&mut self, index: u32) -> &mut Active {
        &mut self.queues[index as usize]
    }

    /// Takes the head of a queue that holds packets.
    fn pop(&mut self, index: u32) -> Departure<P> {
        let chain = &mut self.queues[index as usize].packets;
        self.pool.pop(chain).expect("a listed queue holds packets")
    }

    fn touch(&mut self, index: u32) {
        self.changes += 1;
        self.queue(index).changed = self.changes;
    }

    /// Linux 6.1 sch_sfq.c, sfq_enqueue: finds a queue, asks RED, checks the depth, appends.
    fn admit(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let slot = self.slot_of(packet.flow());
        match self.slots[slot] {
            Some(index) => self.join(index, now, packet, rng, sink),
            None => match self.free.pop() {
                Some(index) => {
                    self.activate(index, slot);
                    self.queue(index).red = RedState::REST;
                    self.append(index, now, packet);
                }
                None => sink.dropped(packet, now, Stage::Enqueue, Cause::Overflow),
            },
        }
    }

    /// Handles an arrival at a non-empty queue.
    fn join(
        &mut self,
        index: u32,
        now: Time,
        mut packet: P,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) {
        if let Some(cause) = self.red_signals(index, now, &mut packet, rng, sink) {
            return self.refuse(index, now, packet, cause, sink);
        }
        if self.queue(index).packets.packets() >= self.depth {
            return self.refuse(index, now, packet, Cause::Overflow, sink);
        }
        self.append(index, now, packet);
    }

    /// The arrival is dropped or, with `headdrop`, takes the place of the head.
    fn refuse(&mut self, index: u32, now: Time, packet: P, cause: Cause, sink: &mut dyn Sink<P>) {
        if !self.headdrop {
            return sink.dropped(packet, now, Stage::Enqueue, cause);
        }
        let Departure { packet: head, enqueued } = self.pop(index);
        self.total.remove(head.bytes());
        sink.dropped(head, enqueued, Stage::Queued, cause);
        self.push(index, now, packet); // not `append`: the queue's length has not changed
    }

    /// RED's verdict on an arrival. Marks packets itself; returns a cause if a packet must be
    /// dropped.
    fn red_signals(
        &mut self,
        index: u32,
        now: Time,
        packet: &mut P,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Cause> {
        let Red { curve, ecn, hard_drop } = self.red?;
        let headdrop = self.headdrop;
        let queue = self.queue(index);
        let backlog = queue.packets.bytes();
        queue.red.sample(&curve, backlog); // sfq_enqueue: no correction for idle time
        let cause = if queue.red.is_below(&curve, curve.min_th) {
            queue.red.leave();
            return None;
        } else if queue.red.is_below(&curve, curve.max_th) {
            if !queue.red.hits(&curve, rng) {
                return None;
            }
            Cause::Random
        } else {
            queue.red.leave();
            Cause::Forced
        };
        let may_mark = ecn && (cause == Cause::Random || !hard_drop);
        let can_mark = |packet: &P| may_mark && packet.ecn().can_mark();
        let chain = queue.packets;
        match self.pool.head(&chain).filter(|head| headdrop && can_mark(&head.packet)) {
            Some(head) => mark(&mut head.packet, head.enqueued, Stage::Queued, cause, sink),
            None if can_mark(packet) => mark(packet, now, Stage::Enqueue, cause, sink),
            None => return Some(cause),
        }
        None
    }

    /// Activates a queue: it is served last in the round, with a fresh quantum.
    fn activate(&mut self, index: u32, slot: usize) {
        let next = match self.tail {
            Some(tail) => core::mem::replace(&mut self.queue(tail).next, index),
            None => index,
        };
        let quantum = self.quantum;
        let queue = self.queue(index);
        debug_assert!(queue.packets.is_empty(), "a free queue is empty");
        (queue.allot, queue.slot, queue.next) = (quantum, slot, next);
        self.slots[slot] = Some(index);
        self.tail = Some(index);
    }

    fn append(&mut self, index: u32, enqueued: Time, packet: P) {
        self.push(index, enqueued, packet);
        self.touch(index);
    }

    fn push(&mut self, index: u32, enqueued: Time, packet: P) {
        self.total.add(packet.bytes());
        self.pool.push(&mut self.queues[index as usize].packets, enqueued, packet);
    }

    /// Removes the queue behind the tail from the ring, because it is empty.
    fn retire_next(&mut self, index: u32) {
        let tail = self.tail.expect("the ring holds the queue");
        debug_assert_eq!(self.queue(tail).next, index, "only the next queue leaves");
        let Active { next, slot, .. } = self.queues[index as usize];
        self.slots[slot] = None;
        self.free.push(index);
        self.tail = if tail == index { None } else { Some(tail) };
        self.queue(tail).next = next;
    }

    /// The longest queue loses one packet (Linux 6.1 sch_sfq.c, sfq_drop).
    fn shed(&mut self, sink: &mut dyn Sink<P>) {
        let tail = self.tail.expect("what is over its limit holds packets");
        let length = |&index: &u32| {
            let queue = &self.queues[index as usize];
            (queue.packets.packets(), queue.changed)
        };
        let longest = self.ring().max_by_key(length).unwrap_or(tail);
        let is_single = self.queue(longest).packets.packets() == 1;
        let victim = if is_single { self.queue(tail).next } else { longest };
        let chain = &mut self.queues[victim as usize].packets;
        let taken = if self.headdrop { self.pool.pop(chain) } else { self.pool.pop_tail(chain) };
        let Departure { packet, enqueued } = taken.expect("a listed queue holds packets");
        self.total.remove(packet.bytes());
        self.touch(victim);
        if is_single {
            self.retire_next(victim);
        }
        sink.dropped(packet, enqueued, Stage::Queued, Cause::Overflow);
    }

    /// The active queues, the next one to be served first.
    fn ring(&self) -> impl Iterator<Item = u32> {
        let next = |index: u32| self.queues[index as usize].next;
        let first = self.tail.map(next);
        core::iter::successors(first, move |&index| (Some(index) != self.tail).then(|| next(index)))
    }
}

impl<P: Packet + Send> Qdisc<P> for Queues<P> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        self.perturb_if_due(now, sink);
        // A packet larger than the limit must not evict all others.
        if matches!(self.limit, Limit::Bytes(n) if u64::from(packet.bytes()) > n) {
            return sink.dropped(packet, now, Stage::Enqueue, Cause::Overflow);
        }
        self.admit(now, packet, rng, sink);
        while self.total.is_over(Ceiling::new(self.limit, u64::MAX)) {
            self.shed(sink);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        _rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.perturb_if_due(now, sink);
        let (mut index, quantum) = (self.queues[self.tail? as usize].next, self.quantum);
        while self.queue(index).allot <= 0 {
            self.queue(index).allot += quantum;
            self.tail = Some(index);
            index = self.queue(index).next;
        }
        let departure = self.pop(index);
        let bytes = departure.packet.bytes();
        self.total.remove(bytes);
        self.queue(index).allot -= i64::from(bytes);
        self.touch(index);
        if self.queue(index).packets.is_empty() {
            self.retire_next(index);
        }
        Some(departure)
    }

    fn backlog(&self) -> Backlog {
        self.total.backlog()
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        let lengths = || self.ring().map(|index| self.queues[index as usize].packets.packets());
        out[0] = lengths().count() as f64;
        out[1] = f64::from(lengths().max().unwrap_or(0));
    }
}

#[cfg(test)]
mod tests;
