//! CAKE: a shaper, tins by DSCP, flow queues in sets of eight ways, fairness between hosts, and
//! COBALT in every queue.
//!
//! Source: Linux 6.1 `sch_cake.c`.
//!
//! Not modelled: NAT, since packets carry their true hosts.
//!
//! Deviations from Linux: if a packet larger than the limit arrives, only that packet is dropped.
//! Ingress mode charges the overhead of a dropped super-packet once.
//!
//! As in Linux, COBALT's inverse root is initially 0 (`linux_exact`), and the ninth flow of a set
//! takes over the hash of the queue that it shares: its previous flow may then get another queue,
//! and the flow's packets may be reordered.

mod ack_filter;
mod autorate;
mod decaying;
mod diffserv;
mod heap;
mod hosts;
mod params;
mod queue_state;
mod round;
mod serving;
mod shaper;
mod tins;
mod ways;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

pub use ack_filter::AckFilter;
pub use params::{CakeParams, Diffserv, Isolation};

use crate::effective::Effective;
use crate::framing::{Framing, Packing};
use crate::law::{Cause, Env, Stage, Var};
use crate::laws::cobalt::Cobalt;
use crate::packet::{Backlog, Packet};
use crate::qdisc::{Departure, Qdisc, Scheme, Sink};
use crate::qdiscs::queues::flow_queues::FlowQueues;
use crate::rng::{Rng, splitmix};
use crate::time::Time;
use crate::units::Limit;
use autorate::Autorate;
use heap::OverflowHeap;
use hosts::HostPair;
use queue_state::{Phase, QueueState};
use round::Turn;
use shaper::Shaper;
use tins::{List, Tin};
use ways::Place;

/// CAKE, as registered.
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
        "Shaper, tins, flow queues with fairness between hosts, COBALT in each (Linux sch_cake.c)";
    const VARS: &'static [Var] = VARS;

    fn build<P: Packet + Send + 'static>(params: &CakeParams, env: &Env) -> Box<dyn Qdisc<P>> {
        Box::new(CakeQueues::<P>::new(params, env))
    }

    fn effective(params: &CakeParams, env: &Env) -> Vec<Effective> {
        params.effective(env)
    }
}

/// The discipline.
#[derive(Debug)]
struct CakeQueues<P> {
    /// The queues of all tins, tin by tin.
    flows: FlowQueues<P, Cobalt>,
    states: Vec<QueueState>,
    tins: Vec<Tin>,
    /// The tin of each DSCP.
    tin_of: [u8; 64],
    wash: bool,
    splits: bool,
    ingress: bool,
    ack_filter: AckFilter,
    autorate: Option<Autorate>,
    /// Whether arrivals have consequences: `ack_filter` or `autorate`.
    follows_arrivals: bool,
    /// Whether a queue's law is adapted before it judges: `ingress` or `autorate`.
    adapts_laws: bool,
    mtu_bytes: u32,
    /// The tin that was served last.
    current: usize,
    heap: OverflowHeap,
    isolation: Isolation,
    shaper: Shaper,
    framing: Framing,
    limit: Limit,
    /// Salts for the hashes of flows, sources and destinations.
    salts: [u64; 3],
    held: Option<Time>,
}

impl<P: Packet> CakeQueues<P> {
    fn new(params: &CakeParams, env: &Env) -> Self {
        let places = params.flows as usize;
        let shares = params.diffserv.shares(params.bandwidth.0);
        let law_env = Env { rate: None, ..*env };
        let tin = |(tin, share)| Tin::new(params, share, (tin * places) as u32, env.mtu_bytes);
        let tins: Vec<Tin> = shares.iter().enumerate().map(tin).collect();
        let law = |place: usize| {
            let tin = place / places;
            let cobalt = params.cobalt(shares[tin].threshold, env.mtu_bytes);
            let mut law = Cobalt::with(cobalt, &law_env);
            law.set_least_sojourn(tins[tin].frame_time, 0);
            law
        };
        let rest = QueueState { phase: Phase::Idle, credits: 0, hosts: HostPair::default() };
        let (limit, memory_limit) = params.limits();
        CakeQueues {
            flows: FlowQueues::numbered(places * shares.len(), Some(memory_limit), law),
            states: vec![rest; places * shares.len()],
            tins,
            tin_of: params.diffserv.table(),
            wash: params.wash,
            splits: params.split_gso,
            ingress: params.ingress,
            ack_filter: params.ack_filter,
            autorate: params.autorate_ingress.then(|| Autorate::new(params)),
            follows_arrivals: params.ack_filter != AckFilter::Off || params.autorate_ingress,
            adapts_laws: params.ingress || params.autorate_ingress,
            mtu_bytes: env.mtu_bytes,
            current: 0,
            heap: OverflowHeap::new(places, shares.len()),
            isolation: params.isolation,
            shaper: Shaper::new(params.bandwidth.0),
            framing: Framing {
                overhead: params.overhead.0,
                packing: Packing { mpu: params.mpu.0, cells: params.cells },
            },
            limit,
            salts: [0, 1, 2].map(|side| splitmix(env.salt ^ side)),
            held: None,
        }
    }

    /// The tin of a queue.
    fn tin_of_queue(&self, index: u32) -> usize {
        index as usize / (self.states.len() / self.tins.len())
    }

    /// The queue of a packet in a tin. A queue that was idle or belonged to another flow is then
    /// also assigned to the packet's hosts (Linux 6.1 sch_cake.c, cake_hash).
    fn place(&mut self, tin: usize, packet: &P) -> u32 {
        let [flow_salt, source_salt, destination_salt] = self.salts;
        let tin = &mut self.tins[tin];
        let first = tin.first as usize;
        let is_free = |place: usize| self.states[first + place].phase == Phase::Idle;
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
        let Place { index, is_taken_over } = tin.flow_ways.place(hash, is_free);
        let index = first + index;
        let phase = self.states[index].phase;
        if phase == Phase::Idle || is_taken_over {
            tin.shares.count_bulk(self.states[index].hosts, -i32::from(phase == Phase::Bulk));
            let source = tin.shares.sources.place(source());
            let hosts = HostPair::new(source, tin.shares.destinations.place(destination()));
            self.states[index].hosts = hosts;
            if phase != Phase::Idle {
                tin.old.set_hosts(index as u32, hosts);
            }
            tin.shares.count_bulk(hosts, i32::from(phase == Phase::Bulk));
        }
        index as u32
    }

    fn share(&self, tin: usize, index: u32, rng: &mut Rng) -> i64 {
        self.tins[tin].shares.of(self.states[index as usize].hosts).rounded(rng)
    }

    fn set_phase(&mut self, tin: usize, index: u32, phase: Phase) {
        let queue = &mut self.states[index as usize];
        let was = core::mem::replace(&mut queue.phase, phase);
        let more = i32::from(phase == Phase::Bulk) - i32::from(was == Phase::Bulk);
        let tin = &mut self.tins[tin];
        tin.bulk = tin.bulk.checked_add_signed(more).expect("a bulk queue has been counted");
        tin.shares.count_bulk(queue.hosts, more);
    }

    /// A packet was appended to a queue.
    fn activate(&mut self, tin: usize, index: u32, rng: &mut Rng) {
        let phase = self.states[index as usize].phase;
        match phase {
            Phase::Idle | Phase::Decaying => {
                if phase == Phase::Decaying {
                    self.tins[tin].remove_decaying(index);
                }
                self.set_phase(tin, index, Phase::Sparse);
                self.states[index as usize].credits = self.share(tin, index, rng);
                self.tins[tin].new.push_back(index);
            }
            Phase::SparseWait => self.set_phase(tin, index, Phase::Bulk),
            Phase::Sparse | Phase::Bulk => {}
        }
    }

    /// The credits of the head of a list; credits of decaying queues are ignored.
    fn credits(&mut self, tin: usize, list: List, index: u32) -> Option<&mut i64> {
        match list {
            List::New => Some(&mut self.states[index as usize].credits),
            List::Old => self.tins[tin].old.head_mut().map(|turn| &mut turn.credits),
            List::Decaying => None,
        }
    }

    /// Moves the head of the new queues, which has used up its credits, to the end of the old ones
    /// with a new share.
    fn step_back(&mut self, tin: usize, index: u32, rng: &mut Rng) {
        if self.states[index as usize].phase == Phase::Sparse {
            let is_empty = self.flows.is_empty(index);
            self.set_phase(tin, index, if is_empty { Phase::SparseWait } else { Phase::Bulk });
        }
        let QueueState { credits, hosts, .. } = self.states[index as usize];
        let credits = credits + self.share(tin, index, rng);
        self.tins[tin].new.pop_front();
        self.tins[tin].old.push(Turn { queue: index, hosts, credits });
    }
}

impl<P: Packet + Send> Qdisc<P> for CakeQueues<P> {
    fn enqueue(&mut self, now: Time, mut packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        if packet.segments() > 1 && self.splits {
            return self.enqueue_segments(now, packet, rng, sink);
        }
        let buffers = self.flows.buffers();
        // A packet that would not fit even into an empty queue must not evict all others first.
        if !buffers.has_ever_room_for(buffers.of(&packet)) {
            return sink.dropped(packet, now, Stage::Enqueue, Cause::Overflow);
        }
        let tin = usize::from(self.tin_of[usize::from(packet.dscp() & 63)]);
        if self.wash {
            packet.clear_dscp();
        }
        if self.tins[tin].packets == 0 {
            self.tins[tin].clock.wake(now);
            if self.flows.total().packets == 0 {
                self.shaper.wake(now);
            }
        }
        let index = self.place(tin, &packet);
        let stays = self.flows.offer(index, now, packet, false, rng, sink);
        debug_assert!(stays, "COBALT does not judge arrivals");
        self.tins[tin].packets += 1;
        if self.follows_arrivals {
            self.follow_arrival(now, tin, index, sink);
        }
        self.heap.grew(index, |index| self.flows.bytes(index));
        self.activate(tin, index, rng);
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
        self.held = None;
        let mut is_first = true;
        while self.flows.total().packets > 0 {
            // Checked again after each empty queue, because drops in ingress mode use up the rate.
            self.held = self.shaper.held_until(now);
            if self.held.is_some() {
                return None;
            }
            let is_shaped = self.shaper.is_limited();
            let tin = tins::select(&mut self.tins, self.current, is_shaped, now)
                .expect("a tin that holds packets is active");
            self.current = tin;
            let departure = self.serve(now, tin, &mut is_first, rng, sink);
            if departure.is_some() {
                return departure;
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
        let is_bulk = |&index: &u32| self.states[index as usize].phase == Phase::Bulk;
        out[..3].fill(0.0);
        for tin in &self.tins {
            let bulk = tin.active().filter(is_bulk).count() as f64;
            out[1] += bulk;
            out[0] += tin.active().count() as f64 - bulk;
            out[2] += f64::from(tin.decaying.length());
        }
    }
}

#[cfg(test)]
mod tests;
