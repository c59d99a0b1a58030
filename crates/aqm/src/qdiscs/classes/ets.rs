//! Enhanced transmission selection: strict bands first, then the other bands by deficit round
//! robin.
//!
//! Source: Linux 6.1 `sch_ets.c`. Without strict bands it decides as `sch_drr.c`, which has the
//! same turns. Unlike a leaf of HTB, a band sends only what its deficit covers (fact qdisc-26).
//!
//! Deviations: a packet's class depends on its DSCP only, not on `skb->priority`. If a band's AQM
//! drops its last packets, the next band is served at once; the kernel returns no packet until its
//! next call.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::leaf::{PeekedLeaf, total};
use super::{CODE_POINTS, check_map};
use crate::law::Var;
use crate::packet::{Backlog, Packet};
use crate::qdisc::{Departure, Qdisc, Sink};
use crate::rng::Rng;
use crate::time::{Rate, Time};

/// Bands in strict priority, then bands that take turns.
#[derive(Clone, PartialEq, Debug)]
pub struct Ets {
    /// The bytes of a turn, by band; `None` for the strict bands, which come first.
    pub quanta: Vec<Option<u64>>,
    /// The band of each DSCP, by index.
    pub class_of: [u8; CODE_POINTS],
}

impl Ets {
    /// The discipline with the queues of its bands.
    ///
    /// # Panics
    /// If the number of queues differs from that of the bands, a DSCP has a band without a queue,
    /// or a quantum is zero.
    pub fn build<P: Packet + Send + 'static>(
        &self,
        queues: Vec<Box<dyn Qdisc<P>>>,
    ) -> Box<dyn Qdisc<P>> {
        assert_eq!(queues.len(), self.quanta.len(), "one queue per band");
        check_map(&self.class_of, queues.len());
        assert!(!self.quanta.contains(&Some(0)), "a turn without bytes would never end");
        let band = |(queue, &quantum)| Band { leaf: PeekedLeaf::new(queue), quantum, deficit: 0 };
        let bands = queues.into_iter().zip(&self.quanta).map(band).collect();
        Box::new(Bands { bands, class_of: self.class_of, active: VecDeque::new(), held: None })
    }
}

struct Band<P> {
    leaf: PeekedLeaf<P>,
    quantum: Option<u64>,
    deficit: u64,
}

struct Bands<P> {
    bands: Vec<Band<P>>,
    class_of: [u8; CODE_POINTS],
    /// The bands with quanta that have packets, the next one first.
    active: VecDeque<u8>,
    /// When a band can send again, if the last dequeue returned nothing.
    held: Option<Time>,
}

impl<P: Packet> Bands<P> {
    fn leaves(&self) -> impl Iterator<Item = &PeekedLeaf<P>> {
        self.bands.iter().map(|band| &band.leaf)
    }

    /// The next packet of the bands with quanta.
    fn by_turns(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        loop {
            let band = &mut self.bands[usize::from(*self.active.front()?)];
            let next = band.leaf.peek(now, rng, sink).map(u64::from);
            match (next, band.quantum) {
                (None, _) if !band.leaf.is_empty() => {
                    self.held = earlier(self.held, band);
                    return None;
                }
                (Some(bytes), Some(quantum)) if bytes > band.deficit => {
                    band.deficit += quantum;
                    self.active.rotate_left(1);
                }
                (next, _) => {
                    band.deficit -= next.unwrap_or(0);
                    let departure = band.leaf.dequeue(now, rng, sink);
                    if band.leaf.is_empty() {
                        self.active.pop_front();
                    }
                    if departure.is_some() {
                        return departure;
                    }
                }
            }
        }
    }
}

/// The earlier of a time and of when a band can send again.
fn earlier<P: Packet>(held: Option<Time>, band: &Band<P>) -> Option<Time> {
    [held, band.leaf.leaf.0.held_until()].into_iter().flatten().min()
}

impl<P: Packet + Send> Qdisc<P> for Bands<P> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let class = self.class_of[usize::from(packet.dscp())];
        let band = &mut self.bands[usize::from(class)];
        band.leaf.leaf.enqueue(now, packet, rng, sink);
        let Some(quantum) = band.quantum else { return };
        if !band.leaf.is_empty() && !self.active.contains(&class) {
            band.deficit = quantum;
            self.active.push_back(class);
        }
    }

    /// Empty strict bands are called too, as in ets_qdisc_dequeue, because CoDel reacts to them.
    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.held = None;
        let strict = self.bands.iter_mut().filter(|band| band.quantum.is_none());
        for band in strict {
            if let Some(departure) = band.leaf.dequeue(now, rng, sink) {
                return Some(departure);
            }
            if !band.leaf.is_empty() {
                self.held = earlier(self.held, band);
            }
        }
        self.by_turns(now, rng, sink)
    }

    fn next_timer(&self) -> Option<Time> {
        self.leaves().filter_map(|leaf| leaf.leaf.0.next_timer()).min()
    }

    fn on_timer(&mut self, now: Time) {
        self.bands.iter_mut().for_each(|band| band.leaf.leaf.catch_up(now));
    }

    fn held_until(&self) -> Option<Time> {
        self.held
    }

    fn serves_while_held(&self) -> bool {
        true
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        self.bands.iter_mut().for_each(|band| band.leaf.leaf.0.on_rate(now, rate));
    }

    fn backlog(&self) -> Backlog {
        total(self.leaves().map(PeekedLeaf::backlog))
    }

    fn is_empty(&self) -> bool {
        self.leaves().all(PeekedLeaf::is_empty)
    }

    fn vars(&self) -> &'static [Var] {
        &[]
    }

    fn observe(&self, out: &mut [f64]) {
        debug_assert!(out.is_empty(), "a scheduler has no state variables");
    }
}
