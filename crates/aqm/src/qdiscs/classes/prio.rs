//! Strict priority: serves the first class that has a packet.
//!
//! Source: Linux 6.1 `sch_prio.c`. Deviations: none known, except that a packet's class depends on
//! its DSCP only, not on `skb->priority`.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::leaf::{Leaf, total};
use super::{CODE_POINTS, check_map};
use crate::law::Var;
use crate::packet::{Backlog, Packet};
use crate::qdisc::{Departure, Qdisc, Sink};
use crate::rng::Rng;
use crate::time::{Rate, Time};

/// Classes in strict priority.
#[derive(Clone, PartialEq, Debug)]
pub struct Prio {
    /// The class of each DSCP, by index.
    pub class_of: [u8; CODE_POINTS],
}

impl Prio {
    /// The discipline with the queues of its classes, the most urgent first.
    ///
    /// # Panics
    /// If a DSCP has a class without a queue.
    pub fn build<P: Packet + Send + 'static>(
        &self,
        queues: Vec<Box<dyn Qdisc<P>>>,
    ) -> Box<dyn Qdisc<P>> {
        check_map(&self.class_of, queues.len());
        let leaves = queues.into_iter().map(Leaf).collect();
        Box::new(Bands { leaves, class_of: self.class_of })
    }
}

struct Bands<P> {
    leaves: Vec<Leaf<P>>,
    class_of: [u8; CODE_POINTS],
}

impl<P: Packet + Send> Qdisc<P> for Bands<P> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let class = self.class_of[usize::from(packet.dscp())];
        self.leaves[usize::from(class)].enqueue(now, packet, rng, sink);
    }

    /// Empty queues are called too, as in prio_dequeue, because CoDel reacts to them.
    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.leaves.iter_mut().find_map(|leaf| leaf.dequeue(now, rng, sink))
    }

    fn next_timer(&self) -> Option<Time> {
        self.leaves.iter().filter_map(|leaf| leaf.0.next_timer()).min()
    }

    fn on_timer(&mut self, now: Time) {
        self.leaves.iter_mut().for_each(|leaf| leaf.catch_up(now));
    }

    fn held_until(&self) -> Option<Time> {
        let waiting = self.leaves.iter().filter(|leaf| !leaf.0.is_empty());
        waiting.filter_map(|leaf| leaf.0.held_until()).min()
    }

    fn serves_while_held(&self) -> bool {
        true
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        self.leaves.iter_mut().for_each(|leaf| leaf.0.on_rate(now, rate));
    }

    fn backlog(&self) -> Backlog {
        total(self.leaves.iter().map(|leaf| leaf.0.backlog()))
    }

    fn is_empty(&self) -> bool {
        self.leaves.iter().all(|leaf| leaf.0.is_empty())
    }

    fn vars(&self) -> &'static [Var] {
        &[]
    }

    fn observe(&self, out: &mut [f64]) {
        debug_assert!(out.is_empty(), "a scheduler has no state variables");
    }
}
