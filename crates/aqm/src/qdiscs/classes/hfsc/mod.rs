//! HFSC: a tree of classes with service curves. A real-time curve guarantees a leaf's delay and
//! rate; link-sharing curves divide the remaining rate; an upper limit bounds a class's share of
//! it.
//!
//! Source: Linux 6.1 `sch_hfsc.c`, after Stoica, Zhang and Ng 1997. The leaf with the earliest
//! deadline sends, among packets whose eligible time has come. Otherwise, on every level the class
//! with the least virtual time is chosen, among those whose fit time has come.
//!
//! Deviations: a class follows from the DSCP alone. As in the kernel, a leaf with a real-time curve
//! takes its next packet from its AQM when the previous one leaves; here that packet no longer
//! counts towards the AQM's limit, unless the AQM is tail drop (fact qdisc-22). A leaf emptied by
//! its AQM gives way at once.

mod curve;
mod state;

use alloc::boxed::Box;
use alloc::vec::Vec;

pub use curve::ServiceCurve;

use super::CODE_POINTS;
use super::leaf::{PeekedLeaf, total};
use crate::law::{Cause, Stage, Var};
use crate::packet::{Backlog, Packet};
use crate::qdisc::{Departure, Qdisc, Sink};
use crate::rng::Rng;
use crate::time::Time;
use curve::{ticks, time_of};
use state::Classes;

/// A class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HfscNode {
    /// The class of which it is a part, by index.
    pub parent: Option<usize>,
    /// Guaranteed service of a leaf.
    pub rt: Option<ServiceCurve>,
    /// Its share of the rate that is not guaranteed; for a class with children, `rt` is used
    /// instead.
    pub ls: Option<ServiceCurve>,
    /// Its maximum rate by sharing.
    pub ul: Option<ServiceCurve>,
}

/// A tree of classes.
#[derive(Clone, PartialEq, Debug)]
pub struct Hfsc {
    /// The classes. Classes without children are leaves.
    pub classes: Vec<HfscNode>,
    /// The leaf of each DSCP, by index; packets of a DSCP without a leaf are dropped.
    pub class_of: [Option<u8>; CODE_POINTS],
}

impl Hfsc {
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
        let is_leaf = |class| self.is_leaf(class);
        let leaves = super::leaves(self.classes.len(), is_leaf, queues, PeekedLeaf::new);
        let classes = Classes::new(self);
        Box::new(Tree { classes, leaves, class_of: self.class_of, held: None })
    }
}

struct Tree<P> {
    /// Class 0 is the root.
    classes: Classes,
    /// Indexed by class; `None` for a class with children.
    leaves: Vec<Option<PeekedLeaf<P>>>,
    class_of: [Option<u8>; CODE_POINTS],
    /// When a class can send again, if the last dequeue returned nothing.
    held: Option<Time>,
}

impl<P: Packet> Tree<P> {
    /// The leaf of a class; classes are numbered from 1.
    fn leaf(&mut self, class: usize) -> &mut PeekedLeaf<P> {
        self.leaves[class - 1].as_mut().expect("only leaves have packets")
    }

    fn leaves(&self) -> impl Iterator<Item = &PeekedLeaf<P>> {
        self.leaves.iter().flatten()
    }

    /// Deactivates a leaf whose AQM has dropped its last packets (hfsc_qlen_notify).
    fn give_way(&mut self, class: usize) {
        self.classes.sent(class, 0, true);
        self.classes.end_deadlines(class);
    }

    /// Sets the deadline of a leaf's next packet after one of `sent` bytes (hfsc_dequeue).
    fn after(
        &mut self,
        now: Time,
        (class, is_real_time): (usize, bool),
        sent: u32,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) {
        let is_empty = self.leaf(class).is_empty();
        self.classes.sent(class, sent, is_empty);
        if is_real_time {
            self.classes.count_real_time(class, sent);
        }
        if !self.classes.has_real_time(class) {
            return;
        }
        if is_empty {
            return self.classes.end_deadlines(class);
        }
        let next = self.leaf(class).peek(now, rng, sink);
        match next.is_none() && self.leaf(class).is_empty() {
            true => self.give_way(class),
            false => self.classes.next(class, next.unwrap_or(0), is_real_time),
        }
    }
}

impl<P: Packet + Send> Qdisc<P> for Tree<P> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let Some(class) = self.class_of[usize::from(packet.dscp())] else {
            return sink.dropped(packet, now, Stage::Enqueue, Cause::Deterministic);
        };
        let class = usize::from(class) + 1;
        let bytes = packet.bytes();
        let was_empty = self.leaf(class).is_empty();
        self.leaf(class).leaf.enqueue(now, packet, rng, sink);
        if !was_empty || self.leaf(class).is_empty() || self.classes.is_active(class) {
            return;
        }
        self.classes.activate(ticks(now), class, bytes);
        if self.classes.has_real_time(class) {
            self.leaf(class).peek(now, rng, sink);
        }
        if self.leaf(class).is_empty() {
            self.give_way(class);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.held = None;
        while !self.is_empty() {
            let by_deadline = self.classes.by_deadline(ticks(now));
            let is_real_time = by_deadline.is_some();
            let chosen = by_deadline.or_else(|| self.classes.by_virtual_time(ticks(now)));
            let Some(class) = chosen else {
                let next = self.classes.next_event().map(|at| time_of(at.max(ticks(now) + 1)));
                let own = self.leaves().filter_map(|leaf| leaf.leaf.0.held_until());
                self.held = next.into_iter().chain(own).min();
                break;
            };
            if let Some(departure) = self.leaf(class).dequeue(now, rng, sink) {
                let sent = departure.packet.bytes();
                self.after(now, (class, is_real_time), sent, rng, sink);
                return Some(departure);
            }
            if !self.leaf(class).is_empty() {
                self.held = self.leaf(class).leaf.0.held_until();
                break;
            }
            self.give_way(class);
        }
        None
    }

    fn next_timer(&self) -> Option<Time> {
        self.leaves().filter_map(|leaf| leaf.leaf.0.next_timer()).min()
    }

    fn on_timer(&mut self, now: Time) {
        self.leaves.iter_mut().flatten().for_each(|leaf| leaf.leaf.catch_up(now));
    }

    fn held_until(&self) -> Option<Time> {
        self.held
    }

    fn serves_while_held(&self) -> bool {
        true
    }

    fn backlog(&self) -> Backlog {
        total(self.leaves().map(PeekedLeaf::backlog))
    }

    fn is_empty(&self) -> bool {
        self.leaves().all(PeekedLeaf::is_empty)
    }

    /// The kernel does not dequeue from leaves while the tree is empty (hfsc_dequeue).
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
