//! `Fq<P, L>`: flows hashed to queues, each under its own law `L`, served by deficit round robin
//! with priority for queues that have just become active.
//!
//! Source: RFC 8290 §4.1, §4.2 and §5.2, which defines it for CoDel; FQ-PIE and the others replace
//! CoDel by another law.
//!
//! Deviations:
//! - A queue with exactly 0 credits waits for the next round (`credits <= 0`), as in Linux and
//!   ns-3; the RFC's prose says "negative", which would let a flow of full-quantum packets send two
//!   at once (fact qdisc-2).
//! - A new queue found empty moves to the old queues only if there are any, as in Linux; the RFC's
//!   prose and ns-3 always move it, so it waits there, with its remaining credits, until no new
//!   queue is left. Dialect `ns3` does so too.
//! - `memory_limit` counts bytes of packets, in dialect `linux` the memory of the kernel's buffers
//!   (fact qdisc-20); on hosts that do not know a packet's contents, each packet counts as a
//!   datagram.
//! - Hash collisions are not set-associative (an option of ns-3 that the discs in `ns3/` have).
//!
//! The dialects `linux`, `ns3` and `freebsd` of a law also select the flow queues of that name:
//! `fq(codel@linux)`.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::effective::Effective;
use crate::law::{Aqm, Env, Observable, Var};
use crate::packet::{Backlog, Packet};
use crate::params::{Bytes, OrAuto, OrOff};
use crate::qdisc::{Departure, Qdisc, Sink, Turn, TurnList};
use crate::qdiscs::queues::drr_lists::{DrrList, DrrLists};
use crate::qdiscs::queues::flow_queues::FlowQueues;
use crate::qdiscs::queues::total::{Ceiling, Total};
use crate::rng::{Rng, splitmix};
use crate::time::{Rate, Time};
use crate::units::Limit;
use crate::{params, words};

params! {
    /// Parameters of flow queues, in addition to those of the law in each of them.
    pub struct FqParams {
        dialects:
            "rfc8290" = "RFC 8290",
            "linux" = "Linux sch_fq_codel.c",
            "ns3" = "ns-3 FqCoDelQueueDisc",
            "freebsd" = "FreeBSD dn_sched_fq_codel.c, dn_sched_fq_pie.c";
        /// Limit on the backlog of all queues together; `overflow` says what is dropped beyond it.
        limit: Limit, POSITIVE, "RFC 8290 §5.2.3" => Limit::Packets(10_240);
        /// Number of queues to which flows are hashed.
        flows: u64, QUEUES, "RFC 8290 §5.2.5" => 1024;
        /// Bytes a queue may send per round, in dialect `linux` at least 256; `auto` is the largest
        /// packet of the link.
        quantum: OrAuto<Bytes>, ANY_QUANTUM, "RFC 8290 §5.2.4; Linux: psched_mtu" => OrAuto(None),
            "freebsd": "FreeBSD fq_codel_sysctl" => OrAuto(Some(Bytes(1514)));
        /// What is dropped on overload: packets at the head of the fattest queue, or the arrival.
        overflow: FqOverflow, ANY, "RFC 8290 §4.1" => FqOverflow::Fattest;
        /// What the fattest queue loses half of.
        shed: Shed, ANY, "RFC 8290 §4.1: packets" => Shed::Packets,
            "linux" | "ns3": "Linux fq_codel_drop, ns-3 FqCoDelDrop: bytes" => Shed::Bytes;
        /// At most this many packets are dropped at once on overload.
        drop_batch: u64, POSITIVE, "RFC 8290 §4.1: 64; Linux sch_fq_codel.c: drop_batch_size" => 64,
            "freebsd": "FreeBSD fq_codel_enqueue" => 1;
        /// Bytes that may wait in all queues together, whatever `limit` says: of packets, in
        /// dialect `linux` of the kernel's buffers (`truesize`, 2304 B for a datagram of 1500 B).
        memory_limit: OrOff<Bytes>, POSITIVE, "RFC 8290 has none" => OrOff(None),
            "linux": "Linux sch_fq_codel.c: 32 MiB" => OrOff(Some(Bytes(32 << 20)));
    } behaviour {
        "credits are used up": "at 0 or below", "Linux sch_fq_codel.c; RFC 8290 §4.2 says negative",
            "freebsd": "below 0", "FreeBSD fq_codel_dequeue";
        "a new queue found empty": "becomes old if there are old ones, else inactive",
            "Linux sch_fq_codel.c, fq_codel_dequeue; RFC 8290 §4.2 says old",
            "ns3": "becomes old", "ns-3 FqCoDelQueueDisc, DoDequeue",
            "freebsd": "becomes old", "FreeBSD fq_codel_dequeue";
        "the fattest queue": "has most bytes", "RFC 8290 §4.1",
            "freebsd": "has most packets", "FreeBSD fq_codel_enqueue";
        "of equally fat queues": "the one with the lowest number loses packets",
            "Linux sch_fq_codel.c, fq_codel_drop",
            "ns3": "the one that was used first loses packets", "ns-3 FqCoDelQueueDisc";
    }
    check: |params| match params.quantum.0 {
        Some(Bytes(bytes)) if bytes < 256 && params.dialect == "linux" => Err(alloc::format!(
            "quantum `{bytes}B` must be at least 256B in dialect linux (Linux sch_fq_codel.c)"
        )),
        _ => Ok(()),
    };
    unused: |dialect| match dialect {
        // It drops one packet at a time.
        "freebsd" => &["shed", "drop_batch"],
        _ => &[],
    };
}

words! {
    /// What is dropped on overload.
    pub enum FqOverflow {
        /// Packets of the queue with most bytes.
        Fattest = "fattest",
        /// The packet that arrives.
        Arrival = "arrival",
    }
}

words! {
    /// The quantity of which half is dropped.
    pub enum Shed {
        /// The packets.
        Packets = "packets",
        /// The bytes.
        Bytes = "bytes",
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
    flows: FlowQueues<P, L>,
    lists: DrrLists,
    ceiling: Ceiling,
    /// Limit on the packets' bytes; the queues know the limit on buffer memory.
    memory_limit: u64,
    overflow: FqOverflow,
    shed: Shed,
    /// Whether a new queue found empty becomes old even if no other queue is old.
    always_retires: bool,
    /// The order in which queues were first used, counted from 1; only dialect `ns3` uses it.
    ranks: Vec<u32>,
    quantum: i64,
    /// FreeBSD's flow queues may send with 0 credits, drop from the queue with most packets, and
    /// tell a law when its queue is listed.
    is_freebsd: bool,
    drop_batch: u64,
    salt: u64,
    /// The earliest timer of the queues that hold packets. It may stay set after these queues have
    /// emptied.
    alarm: Option<Time>,
}

impl FqParams {
    /// The parameter values that flow queues use.
    pub(crate) fn effective(&self, env: &Env) -> Option<Effective> {
        Effective::of_mtu("quantum", self.quantum, env.mtu_bytes)
    }
}

impl<P: Packet, L: Aqm> Fq<P, L> {
    /// Empty queues, each under its own law, made by `law`.
    pub fn new(params: &FqParams, env: &Env, law: impl FnMut() -> L) -> Self {
        let quantum = params.quantum.0.map_or(u64::from(env.mtu_bytes), |bytes| bytes.0);
        assert!(quantum > 0, "a round without bytes would never end");
        let count = params.flows as usize;
        let limit = params.memory_limit.0.map(|bytes| bytes.0);
        let (of_buffers, of_packets) = match params.dialect {
            "linux" => (limit, None),
            _ => (None, limit),
        };
        let memory_limit = of_packets.unwrap_or(u64::MAX);
        Fq {
            flows: FlowQueues::new(count, of_buffers, law),
            lists: DrrLists::new(count),
            ceiling: Ceiling::new(params.limit, memory_limit),
            memory_limit,
            overflow: params.overflow,
            shed: params.shed,
            always_retires: matches!(params.dialect, "ns3" | "freebsd"),
            ranks: vec![0; if params.dialect == "ns3" { count } else { 0 }],
            quantum: quantum as i64,
            is_freebsd: params.dialect == "freebsd",
            drop_batch: params.drop_batch,
            salt: env.salt,
            alarm: None,
        }
    }

    /// The number of the queue of a flow (RFC 8290 §4.1; multiply and shift, as in Linux).
    fn queue_of(&self, flow: u64) -> u32 {
        let hash = splitmix(flow ^ self.salt);
        ((u128::from(hash) * self.flows.count() as u128) >> 64) as u32
    }

    /// A law's timers do not run while its queue is empty, so idle queues cost nothing; it catches
    /// up before its next hook.
    fn wake(&mut self, index: u32, now: Time) {
        let due = self.flows.law(index).next_timer().is_some_and(|due| due.is_due(now));
        if due && self.flows.is_empty(index) {
            self.flows.law_mut(index).on_idle_timers(now);
        }
    }

    /// ns-3 creates the class of a queue with the queue's first packet.
    fn note_use(&mut self, index: u32) {
        if self.ranks.get(index as usize) == Some(&0) {
            self.ranks[index as usize] = 1 + self.ranks.iter().copied().max().unwrap_or(0);
        }
    }

    /// Whether a packet that finds no room is dropped. If the fattest queue makes room, a packet is
    /// refused only if it would not fit into an empty discipline: it must not evict all others
    /// first.
    fn refuses(&self, packet: &P) -> bool {
        let buffers = self.flows.buffers();
        let would_fit = Total::default().has_room_for(packet.bytes(), self.ceiling)
            && buffers.has_ever_room_for(buffers.of(packet));
        self.overflow == FqOverflow::Arrival || !would_fit
    }

    #[inline]
    fn is_full_for(&self, packet: &P) -> bool {
        let buffers = self.flows.buffers();
        !self.flows.total().has_room_for(packet.bytes(), self.ceiling)
            || !buffers.has_room_for(buffers.of(packet))
    }

    #[cold]
    fn make_room(&mut self, now: Time, sink: &mut dyn Sink<P>) {
        while self.flows.total().is_over(self.ceiling) || self.flows.buffers().is_over() {
            self.shed(now, sink);
        }
    }

    /// The fattest queue loses half of its packets (RFC 8290 §4.1) or of its bytes (Linux
    /// `fq_codel_drop`) from its head, at most `drop_batch` packets.
    fn shed(&mut self, now: Time, sink: &mut dyn Sink<P>) {
        let listed = self.lists.listed();
        let fattest = match self.ranks.is_empty() {
            true if self.is_freebsd => listed.max_by_key(|&i| (self.flows.packets(i), !i)),
            true => self.flows.fattest(listed),
            // ns-3 FqCoDelQueueDisc::FqCoDelDrop: among equally fat queues, the one whose class is
            // oldest.
            false => listed.max_by_key(|&i| (self.flows.bytes(i), !self.ranks[i as usize])),
        };
        let fattest = fattest.expect("what is over its limit holds packets");
        let half = self.flows.bytes(fattest) / 2;
        let most = match self.shed {
            Shed::Packets => {
                u64::from(self.flows.packets(fattest).div_ceil(2)).min(self.drop_batch)
            }
            Shed::Bytes => self.drop_batch,
        };
        let mut shed = 0;
        for _ in 0..most {
            let Some(bytes) = self.flows.evict(fattest, now, sink) else { break };
            shed += u64::from(bytes);
            if self.shed == Shed::Bytes && shed >= half {
                break;
            }
        }
    }

    /// A queue was found empty. If it was new, it moves to the old list for one round, so that it
    /// cannot immediately become new again (RFC 8290 §4.2). Out of line: rare.
    #[inline(never)]
    fn retire(&mut self, now: Time, list: DrrList, index: u32) {
        self.lists.remove_head(list);
        if list == DrrList::New && (self.always_retires || self.lists.length(DrrList::Old) > 0) {
            self.lists.append(DrrList::Old, index);
        } else if self.is_freebsd {
            self.flows.law_mut(index).on_listing(now, false);
        }
    }

    /// A packet was appended to a queue. Lists the queue if it was unlisted.
    fn admit(&mut self, now: Time, index: u32) {
        let due = self.flows.law(index).next_timer();
        if self.flows.total().packets == 1 {
            self.alarm = due;
        }
        debug_assert!(due >= self.alarm, "the laws of one discipline share one grid of timers");
        if !self.lists.contains(index) {
            *self.lists.credits_mut(index) = self.quantum + i64::from(self.is_freebsd);
            self.lists.append(DrrList::New, index);
            if self.is_freebsd {
                self.flows.law_mut(index).on_listing(now, true);
            }
        }
    }
}

impl<P: Packet + Send, L: Observable> Qdisc<P> for Fq<P, L> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let is_full = self.is_full_for(&packet);
        let is_refused = is_full && self.refuses(&packet);
        let index = self.queue_of(packet.sender_hash());
        self.note_use(index);
        self.wake(index, now);
        if self.flows.offer(index, now, packet, is_refused, rng, sink) {
            self.admit(now, index);
            if is_full {
                self.make_room(now, sink);
            }
        } else if self.flows.is_empty(index) && !self.lists.contains(index) {
            // An unlisted queue is never dequeued, so its law must learn now that it is empty.
            self.flows.law_mut(index).on_empty(now);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        loop {
            let (list, index) = self.lists.next_to_send(self.quantum)?;
            self.wake(index, now);
            match self.flows.judge(index, now, rng, sink) {
                Some(bytes) => {
                    *self.lists.credits_mut(index) -= i64::from(bytes);
                    return self.flows.pop(index, bytes);
                }
                None => self.retire(now, list, index),
            }
        }
    }

    fn next_timer(&self) -> Option<Time> {
        self.alarm
    }

    fn on_timer(&mut self, now: Time) {
        let mut alarm: Option<Time> = None;
        for index in self.lists.listed() {
            if self.flows.is_empty(index) {
                continue;
            }
            if self.flows.law(index).next_timer().is_some_and(|due| due.is_due(now)) {
                self.flows.on_timer(index, now);
            }
            alarm = [alarm, self.flows.law(index).next_timer()].into_iter().flatten().min();
        }
        self.alarm = alarm;
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        for index in 0..self.flows.count() as u32 {
            self.wake(index, now);
            self.flows.law_mut(index).on_rate(now, rate);
        }
    }

    fn on_limit(&mut self, limit: Limit) -> bool {
        self.ceiling = Ceiling::new(limit, self.memory_limit);
        true
    }

    fn flow_queue(&self, packet: &P) -> Option<u32> {
        Some(self.queue_of(packet.sender_hash()))
    }

    fn turn(&self, queue: u32) -> Option<Turn> {
        let credits = self.lists.credits(queue)?;
        let list = match self.lists.list_of(queue) {
            None => TurnList::Inactive,
            Some(DrrList::New) => TurnList::New,
            Some(DrrList::Old) => TurnList::Old,
        };
        Some(Turn { list, credits: credits - i64::from(self.is_freebsd) })
    }

    fn backlog(&self) -> Backlog {
        self.flows.total().backlog()
    }

    fn is_empty(&self) -> bool {
        self.flows.total().packets == 0
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        let waits = |&index: &u32| !self.flows.is_empty(index);
        out[0] = self.lists.listed().filter(waits).count() as f64;
        out[1] = f64::from(self.lists.length(DrrList::New));
        out[2] = f64::from(self.lists.length(DrrList::Old));
    }
}

/// Makes an [`Fq`] from parameters, with laws that `make` returns for its environment; the registry
/// calls it.
pub fn build<P: Packet + Send + 'static, L: Observable + 'static>(
    params: &FqParams,
    env: &Env,
    make: &mut dyn FnMut(&Env) -> L,
) -> Box<dyn Qdisc<P>> {
    let env = Env { limit: params.limit, ..*env };
    Box::new(Fq::<P, L>::new(params, &env, || make(&env)))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod law_tests;

#[cfg(test)]
mod oracle_tests;
