//! HTB: a tree of classes; each has a guaranteed rate, and a ceiling up to which it may borrow the
//! unused rate of its ancestors.
//!
//! Source: Linux 6.1 `sch_htb.c`. A packet may be sent with too few tokens; the class is then in
//! debt and waits until the debt is paid. A leaf that has used its rate borrows from the nearest
//! ancestor that has not; leaves that borrow at the same level take turns by quantum, the most
//! urgent priority first.
//!
//! Deviations: a packet's class depends on its DSCP only; the kernel's bound on the time spent on
//! events is not needed. Hysteresis and offload, which are off by default, are missing.

mod feed;
mod state;
mod tokens;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::CODE_POINTS;
use super::leaf::{Leaf, total};
use crate::framing::Framing;
use crate::law::{Cause, Stage, Var};
use crate::packet::{Backlog, Packet};
use crate::qdisc::{Departure, Qdisc, Sink};
use crate::rng::Rng;
use crate::time::{Rate, Time};
use state::Classes;

/// The maximum number of classes in a tree here.
pub const MOST_CLASSES: usize = 128;
/// The maximum depth from a leaf to its root (Linux 6.1 sch_htb.c, TC_HTB_MAXDEPTH).
pub const MOST_DEPTH: usize = 8;
/// The number of priorities (Linux 6.1 sch_htb.c, TC_HTB_NUMPRIO).
pub const PRIORITIES: usize = 8;

/// Maximum number of packets without a class (Linux 6.1 sch_htb.c, htb_init: txqueuelen of
/// Ethernet).
const DIRECT_PACKETS: usize = 1000;

/// A class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HtbNode {
    /// The class from which it borrows, by index.
    pub parent: Option<usize>,
    /// Its guaranteed rate.
    pub rate: Rate,
    /// Its maximum rate, if it can borrow.
    pub ceil: Rate,
    /// Depth of the bucket of its rate.
    pub burst_bytes: u64,
    /// Depth of the bucket of its ceiling.
    pub cburst_bytes: u64,
    /// Bytes that a leaf may send per turn.
    pub quantum_bytes: u64,
    /// The priority of a leaf; 0 is the most urgent.
    pub priority: u8,
}

/// A tree of classes.
#[derive(Clone, PartialEq, Debug)]
pub struct Htb {
    /// The classes in the order of their numbers. Classes without children are leaves.
    pub classes: Vec<HtbNode>,
    /// The leaf of each DSCP, by index; packets of a DSCP without a leaf are sent unshaped.
    pub class_of: [Option<u8>; CODE_POINTS],
    /// The framing that rates and ceilings count.
    pub framing: Framing,
}

impl Htb {
    /// Whether the class has no children.
    pub fn is_leaf(&self, class: usize) -> bool {
        self.classes.iter().all(|other| other.parent != Some(class))
    }

    /// The discipline with the queues of its leaves, in their order.
    ///
    /// # Panics
    /// If the number of queues differs from that of the leaves, or a class is out of bounds.
    pub fn build<P: Packet + Send + 'static>(
        &self,
        queues: Vec<Box<dyn Qdisc<P>>>,
    ) -> Box<dyn Qdisc<P>> {
        let leaves = super::leaves(self.classes.len(), |class| self.is_leaf(class), queues, Leaf);
        Box::new(Tree {
            classes: Classes::new(self),
            leaves,
            class_of: self.class_of,
            direct: VecDeque::new(),
            direct_bytes: 0,
            held: None,
        })
    }
}

struct Tree<P> {
    classes: Classes,
    /// Indexed by class; `None` for a class with children.
    leaves: Vec<Option<Leaf<P>>>,
    class_of: [Option<u8>; CODE_POINTS],
    /// Packets without a class, which leave before all others and unshaped.
    direct: VecDeque<Departure<P>>,
    direct_bytes: u64,
    /// When a class can send again, if the last dequeue returned nothing.
    held: Option<Time>,
}

impl<P: Packet> Tree<P> {
    fn leaf(&mut self, class: u8) -> &mut Leaf<P> {
        self.leaves[usize::from(class)].as_mut().expect("only leaves have packets")
    }

    fn enqueue_direct(&mut self, now: Time, packet: P, sink: &mut dyn Sink<P>) {
        if self.direct.len() >= DIRECT_PACKETS {
            return sink.dropped(packet, now, Stage::Enqueue, Cause::Overflow);
        }
        self.direct_bytes += u64::from(packet.bytes());
        self.direct.push_back(Departure { packet, enqueued: now });
    }

    /// Takes a packet of the leaf whose turn it is at a level and priority (htb_dequeue_tree).
    fn dequeue_turn(
        &mut self,
        now: Time,
        turns: (usize, usize),
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        let mut start = self.classes.turn(turns)?;
        let mut class = start;
        loop {
            while self.leaf(class).0.is_empty() {
                // Its AQM has dropped its last packets.
                self.classes.deactivate(class);
                let next = self.classes.turn(turns)?;
                if class == start {
                    start = next;
                }
                class = next;
            }
            if let Some(departure) = self.leaf(class).dequeue(now, rng, sink) {
                let is_empty = self.leaf(class).0.is_empty();
                self.classes.sent(now, class, turns, departure.packet.bytes(), is_empty);
                return Some(departure);
            }
            self.classes.pass(class, turns);
            class = self.classes.turn(turns)?;
            if class == start {
                return None;
            }
        }
    }

    fn leaves(&self) -> impl Iterator<Item = &Leaf<P>> {
        self.leaves.iter().flatten()
    }
}

impl<P: Packet + Send> Qdisc<P> for Tree<P> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let Some(class) = self.class_of[usize::from(packet.dscp())] else {
            return self.enqueue_direct(now, packet, sink);
        };
        self.leaf(class).enqueue(now, packet, rng, sink);
        if !self.leaf(class).0.is_empty() {
            self.classes.activate(class);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.held = None;
        if let Some(departure) = self.direct.pop_front() {
            self.direct_bytes -= u64::from(departure.packet.bytes());
            return Some(departure);
        }
        if self.is_empty() {
            return None;
        }
        for level in 0..MOST_DEPTH {
            self.classes.run_events(now, level);
            for priority in self.classes.priorities(level) {
                let departure = self.dequeue_turn(now, (level, priority), rng, sink);
                if departure.is_some() {
                    return departure;
                }
            }
        }
        if !self.is_empty() {
            let own = self.leaves().filter_map(|leaf| leaf.0.held_until());
            self.held = self.classes.next_event().into_iter().chain(own).min();
            debug_assert!(self.held.is_some_and(|until| until > now), "a class can send again");
        }
        None
    }

    fn next_timer(&self) -> Option<Time> {
        self.leaves().filter_map(|leaf| leaf.0.next_timer()).min()
    }

    fn on_timer(&mut self, now: Time) {
        self.leaves.iter_mut().flatten().for_each(|leaf| leaf.catch_up(now));
    }

    fn held_until(&self) -> Option<Time> {
        self.held
    }

    fn serves_while_held(&self) -> bool {
        true
    }

    fn backlog(&self) -> Backlog {
        let classes = total(self.leaves().map(|leaf| leaf.0.backlog()));
        let bytes = classes.bytes + self.direct_bytes;
        let packets = classes.packets + self.direct.len() as u32;
        Backlog { packets, bytes, link_bytes: bytes }
    }

    fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.leaves().all(|leaf| leaf.0.is_empty())
    }

    /// The kernel does not dequeue from leaves while the tree is empty (htb_dequeue).
    fn notices_empty(&self) -> bool {
        false
    }

    fn vars(&self) -> &'static [Var] {
        &[]
    }

    fn observe(&self, out: &mut [f64]) {
        debug_assert!(out.is_empty(), "a scheduler has no state variables");
    }
}
