//! The essentials of CAKE: a shaper, flow queues in sets of eight ways, fairness between hosts, and
//! COBALT in every queue.
//!
//! Source: Linux 6.1 `sch_cake.c`.
//!
//! Not here: tins (`diffserv3/4/8`), the ACK filter, ingress mode, NAT and the wash option.
//!
//! Deviation from Linux: if a packet larger than the limit arrives, only that packet is dropped.
//!
//! As in Linux, COBALT's inverse root is 0 at first (`linux_exact`), and the ninth flow of a set
//! takes over the hash of the queue that it shares: its previous flow may then get another queue,
//! and its packets may be reordered.

mod decaying;
mod heap;
mod hosts;
mod params;
mod round;
mod shaper;
mod sizes;
mod ways;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

pub use params::{CakeParams, Cells, Isolation};

use crate::law::{Cause, Env, Stage, Var};
use crate::laws::cobalt::Cobalt;
use crate::packet::{Backlog, Packet};
use crate::qdisc::{Departure, Qdisc, Scheme, Sink};
use crate::qdiscs::queues::flow_queues::FlowQueues;
use crate::qdiscs::queues::total::Ceiling;
use crate::rng::{Rng, splitmix};
use crate::time::Time;
use crate::units::Limit;
use decaying::Decaying;
use heap::OverflowHeap;
use hosts::{HostPair, Hosts, Shares};
use round::{Round, Turn};
use shaper::{Framing, Shaper};
use sizes::NotesSizes;
use ways::{Place, Ways};

/// CAKE, as the registry knows it.
pub struct Cake;

const VARS: &[Var] = &[
    Var {
        name: "sparse_flows",
        unit: "1",
        doc: "Queues that have not used up their first quantum",
    },
    Var { name: "bulk_flows", unit: "1", doc: "Queues that have" },
    Var { name: "decaying_flows", unit: "1", doc: "Empty queues whose COBALT is not at rest yet" },
];

impl Scheme for Cake {
    type Params = CakeParams;
    const NAME: &'static str = "cake";
    const DOC: &'static str =
        "Shaper, flow queues with fairness between hosts, COBALT in each (Linux sch_cake.c)";
    const VARS: &'static [Var] = VARS;

    fn build<P: Packet + Send + 'static>(params: &CakeParams, env: &Env) -> Box<dyn Qdisc<P>> {
        Box::new(CakeQueues::<P>::new(params, env))
    }
}

/// The discipline.
#[derive(Debug)]
struct CakeQueues<P> {
    flows: FlowQueues<P, Cobalt>,
    states: Vec<QueueState>,
    /// Queues that became active since they were last served.
    new: VecDeque<u32>,
    /// The other active queues.
    old: Round,
    /// Empty queues whose COBALT is not at rest yet.
    decaying: Decaying,
    heap: OverflowHeap,
    flow_ways: Ways,
    isolation: Isolation,
    shares: Shares,
    shaper: Shaper,
    limit: Limit,
    /// For the hashes of flows, sources and destinations.
    salts: [u64; 3],
    held: Option<Time>,
    /// Scratch buffer: packets that COBALT drops in one call.
    dropped_sizes: Vec<u32>,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug)]
struct QueueState {
    phase: Phase,
    /// While it is new; later those of its turn count.
    credits: i64,
    hosts: HostPair,
}

/// The list from which a queue is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum List {
    New,
    Old,
    Decaying,
}

/// ```text
///   Idle -- packet --> Sparse -- credits used up --> Bulk (or SparseWait if empty just then)
///    ^                  |                             |        SparseWait -- packet --> Bulk
///    |                  +------- found empty ---------+
///    +-- at rest <-- Decaying <-- not at rest --------+        Decaying -- packet --> Sparse
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Idle,
    Sparse,
    SparseWait,
    Bulk,
    Decaying,
}

impl<P: Packet> CakeQueues<P> {
    fn new(params: &CakeParams, env: &Env) -> Self {
        let places = params.flows as usize;
        let (cobalt, env) = (params.cobalt(env.mtu_bytes), Env { rate: None, ..*env });
        let frame_time = params.frame_time(env.mtu_bytes);
        let law = || {
            let mut law = Cobalt::with(cobalt.clone(), &env);
            law.set_frame_time(frame_time);
            law
        };
        let rest = QueueState { phase: Phase::Idle, credits: 0, hosts: HostPair::default() };
        let is = |one| params.isolation == one || params.isolation == Isolation::Triple;
        let framing =
            Framing { overhead: params.overhead.0, mpu: params.mpu.0, cells: params.cells };
        let (limit, memory_limit) = params.limits();
        CakeQueues {
            flows: FlowQueues::new(places, Some(memory_limit), law),
            states: vec![rest; places],
            new: VecDeque::with_capacity(places),
            old: Round::new(places),
            decaying: Decaying::new(places),
            heap: OverflowHeap::new(places),
            flow_ways: Ways::new(places),
            isolation: params.isolation,
            shares: Shares::new(
                params.quantum(),
                Hosts::new(places, is(Isolation::Src)),
                Hosts::new(places, is(Isolation::Dst)),
            ),
            shaper: Shaper::new(params.bandwidth.0, framing),
            limit,
            salts: [0, 1, 2].map(|side| splitmix(env.salt ^ side)),
            held: None,
            dropped_sizes: Vec::new(),
        }
    }

    /// The queue of a packet. A queue that was idle or another flow's is also assigned to the
    /// packet's hosts (Linux 6.1 sch_cake.c, cake_hash).
    fn place(&mut self, packet: &P) -> u32 {
        let [flow_salt, source_salt, destination_salt] = self.salts;
        let is_free = |place: usize| self.states[place].phase == Phase::Idle;
        let source = || splitmix(packet.src_host() ^ source_salt);
        let destination = || splitmix(packet.dst_host() ^ destination_salt);
        let flow = match self.isolation {
            Isolation::Flowblind => 0,
            Isolation::SrcHost => source(),
            Isolation::DstHost => destination(),
            Isolation::Hosts => source() ^ destination(),
            Isolation::Flows | Isolation::Src | Isolation::Dst | Isolation::Triple => {
                packet.sender_hash()
            }
        };
        let hash = splitmix(flow ^ flow_salt);
        let Place { index, is_taken_over } = self.flow_ways.place(hash, is_free);
        let phase = self.states[index].phase;
        if phase == Phase::Idle || is_taken_over {
            self.shares.count_bulk(self.states[index].hosts, -i32::from(phase == Phase::Bulk));
            let source = self.shares.sources.place(source());
            let hosts = HostPair::new(source, self.shares.destinations.place(destination()));
            self.states[index].hosts = hosts;
            if phase != Phase::Idle {
                self.old.set_hosts(index as u32, hosts);
            }
            self.shares.count_bulk(hosts, i32::from(phase == Phase::Bulk));
        }
        index as u32
    }

    fn share(&self, index: u32, rng: &mut Rng) -> i64 {
        self.shares.of(self.states[index as usize].hosts).rounded(rng)
    }

    fn set_phase(&mut self, index: u32, phase: Phase) {
        let queue = &mut self.states[index as usize];
        let was = core::mem::replace(&mut queue.phase, phase);
        let more = i32::from(phase == Phase::Bulk) - i32::from(was == Phase::Bulk);
        self.shares.count_bulk(queue.hosts, more);
    }

    /// A packet was appended to a queue.
    fn activate(&mut self, index: u32, rng: &mut Rng) {
        let phase = self.states[index as usize].phase;
        match phase {
            Phase::Idle | Phase::Decaying => {
                if phase == Phase::Decaying {
                    self.decaying.remove(index);
                }
                self.set_phase(index, Phase::Sparse);
                self.states[index as usize].credits = self.share(index, rng);
                self.new.push_back(index);
            }
            Phase::SparseWait => self.set_phase(index, Phase::Bulk),
            Phase::Sparse | Phase::Bulk => {}
        }
    }

    /// The queue to serve: at first in a call a decaying one, then new before old.
    fn next(&self, is_first: bool) -> Option<(List, u32)> {
        let order = match is_first {
            true => [List::Decaying, List::New, List::Old],
            false => [List::New, List::Old, List::Decaying],
        };
        order.into_iter().find_map(|list| Some((list, self.head(list)?)))
    }

    fn head(&self, list: List) -> Option<u32> {
        match list {
            List::New => self.new.front().copied(),
            List::Old => self.old.head().map(|turn| turn.queue),
            List::Decaying => self.decaying.head(),
        }
    }

    /// The credits of the head of a list; those of decaying queues do not count.
    fn credits(&mut self, list: List, index: u32) -> Option<&mut i64> {
        match list {
            List::New => Some(&mut self.states[index as usize].credits),
            List::Old => self.old.head_mut().map(|turn| &mut turn.credits),
            List::Decaying => None,
        }
    }

    /// The head of the new queues has used up its credits: to the end of the old ones with a new
    /// share.
    fn step_back(&mut self, index: u32, rng: &mut Rng) {
        if self.states[index as usize].phase == Phase::Sparse {
            let is_empty = self.flows.is_empty(index);
            self.set_phase(index, if is_empty { Phase::SparseWait } else { Phase::Bulk });
        }
        self.new.pop_front();
        let QueueState { credits, hosts, .. } = self.states[index as usize];
        let credits = credits + self.share(index, rng);
        self.old.push(Turn { queue: index, hosts, credits });
    }

    /// Asks COBALT about the heads of a queue until one passes. The heap moves a queue for each
    /// packet that it loses (Linux 6.1 sch_cake.c, cake_dequeue_one).
    fn judge(
        &mut self,
        now: Time,
        index: u32,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<u32> {
        let mut left = self.flows.bytes(index);
        let mut sizes = core::mem::take(&mut self.dropped_sizes);
        let mut sink = NotesSizes { sink, sizes: &mut sizes };
        let judged = self.flows.judge(index, now, rng, &mut sink);
        let passes = judged.map(|judged| judged.bytes());
        for bytes in sizes.drain(..) {
            left -= u64::from(bytes);
            let bytes_of = |queue| if queue == index { left } else { self.flows.bytes(queue) };
            self.heap.shrank(index, bytes_of);
        }
        self.dropped_sizes = sizes;
        passes
    }

    /// The head of a list was found empty.
    fn retire(&mut self, now: Time, list: List, index: u32) {
        match list {
            List::New => _ = self.new.pop_front(),
            List::Old => self.old.pop(),
            List::Decaying => self.decaying.remove(index),
        }
        let is_at_rest = self.flows.law(index).is_at_rest(now);
        self.set_phase(index, if is_at_rest { Phase::Idle } else { Phase::Decaying });
        if !is_at_rest {
            self.decaying.push(index);
        }
    }

    fn is_over_limit(&self) -> bool {
        let is_over = self.flows.total().is_over(Ceiling::new(self.limit, u64::MAX));
        is_over || self.flows.buffers().is_over()
    }

    /// The queue on top of the heap loses its head.
    fn shed(&mut self, now: Time, sink: &mut dyn Sink<P>) {
        let fattest = self.heap.fattest(|index| self.flows.bytes(index));
        self.flows.evict(fattest, now, sink).expect("the fattest queue holds packets");
        self.heap.shed(|index| self.flows.bytes(index));
    }
}

impl<P: Packet + Send> Qdisc<P> for CakeQueues<P> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let buffers = self.flows.buffers();
        // A packet that would not fit alone must not evict all others first.
        if !buffers.has_ever_room_for(buffers.of(&packet)) {
            return sink.dropped(packet, now, Stage::Enqueue, Cause::Overflow);
        }
        if self.flows.total().packets == 0 {
            self.shaper.wake(now);
        }
        let index = self.place(&packet);
        let stays = self.flows.offer(index, now, packet, false, rng, sink);
        debug_assert!(stays, "COBALT does not judge arrivals");
        self.heap.grew(index, |index| self.flows.bytes(index));
        self.activate(index, rng);
        while self.is_over_limit() {
            self.shed(now, sink);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.held = self.shaper.held_until(now).filter(|_| self.flows.total().packets > 0);
        if self.held.is_some() {
            return None;
        }
        let mut is_first = true;
        while self.flows.total().packets > 0 {
            let (list, index) = self.next(is_first).expect("a queue that holds packets is listed");
            is_first = false;
            let credits = self.credits(list, index);
            if credits.is_some_and(|credits| *credits <= 0) {
                match list {
                    List::Old => self.old.turn(|hosts| self.shares.of(hosts), rng),
                    _ => self.step_back(index, rng),
                }
            } else if let Some(bytes) = self.judge(now, index, rng, sink) {
                if let Some(credits) = self.credits(list, index) {
                    *credits -= i64::from(bytes);
                }
                self.shaper.charge(bytes);
                let departure = self.flows.pop(index, bytes);
                self.heap.shrank(index, |index| self.flows.bytes(index));
                self.heap.count_departure();
                return departure;
            } else {
                self.retire(now, list, index);
            }
        }
        None
    }

    fn held_until(&self) -> Option<Time> {
        self.held
    }

    fn backlog(&self) -> Backlog {
        self.flows.total().backlog()
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        let listed = self.new.iter().copied().chain(self.old.queues());
        let is_bulk = |&index: &u32| self.states[index as usize].phase == Phase::Bulk;
        out[1] = listed.filter(is_bulk).count() as f64;
        out[0] = (self.new.len() + self.old.length()) as f64 - out[1];
        out[2] = f64::from(self.decaying.length());
    }
}

#[cfg(test)]
mod tests;
