//! How CAKE takes packets out of its queues, and drops them where there is no room.

use super::CakeQueues;
use super::queue_state::Phase;
use super::sizes::NotesSizes;
use super::tins::{List, Tin};
use crate::packet::Packet;
use crate::qdisc::{Departure, Sink};
use crate::qdiscs::queues::law_queue::HeadVerdict;
use crate::qdiscs::queues::total::Ceiling;
use crate::rng::Rng;
use crate::time::Time;

impl<P: Packet> CakeQueues<P> {
    /// Asks COBALT about the heads of a queue until one passes. The heap moves a queue for each
    /// packet that it loses (Linux 6.1 sch_cake.c, cake_dequeue_one).
    fn judge(
        &mut self,
        now: Time,
        tin: usize,
        index: u32,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<u32> {
        let mut left = self.flows.bytes(index);
        let mut sizes = core::mem::take(&mut self.dropped_sizes);
        let mut sink = NotesSizes { sink, sizes: &mut sizes };
        let judged = self.flows.judge(index, now, rng, &mut sink);
        let passes = judged.map(|judged| judged.bytes());
        self.tins[tin].packets -= sizes.len() as u64;
        for bytes in sizes.drain(..) {
            left -= u64::from(bytes);
            let bytes_of = |queue| if queue == index { left } else { self.flows.bytes(queue) };
            self.heap.shrank(index, bytes_of);
        }
        self.dropped_sizes = sizes;
        passes
    }

    /// As [`CakeQueues::judge`] in ingress mode, for the head alone. A drop is charged to the
    /// shaper and to the shares of its flow and tin.
    fn judge_head(
        &mut self,
        now: Time,
        (tin, list, index): (usize, List, u32),
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<HeadVerdict> {
        let Tin { frame_time, bulk, .. } = self.tins[tin];
        self.flows.law_mut(index).set_bulk_flows(frame_time, bulk);
        let before = self.flows.bytes(index);
        let verdict = self.flows.judge_head(index, now, rng, sink);
        if verdict == Some(HeadVerdict::Dropped) {
            let bytes = self.framing.bytes((before - self.flows.bytes(index)) as u32);
            self.heap.shrank(index, |index| self.flows.bytes(index));
            self.shaper.charge_drop(bytes);
            self.tins[tin].packets -= 1;
            self.tins[tin].charge(bytes, now);
            if let Some(credits) = self.credits(tin, list, index) {
                *credits -= bytes as i64;
            }
        }
        verdict
    }

    /// The head of a list was found empty.
    fn retire(&mut self, now: Time, tin: usize, list: List, index: u32) {
        let of_tin = &mut self.tins[tin];
        match list {
            List::New => _ = of_tin.new.pop_front(),
            List::Old => of_tin.old.pop(),
            List::Decaying => of_tin.remove_decaying(index),
        }
        let is_at_rest = self.flows.law(index).is_at_rest(now);
        if !is_at_rest {
            of_tin.push_decaying(index);
        }
        self.set_phase(tin, index, if is_at_rest { Phase::Idle } else { Phase::Decaying });
    }

    pub(super) fn is_over_limit(&self) -> bool {
        let is_over = self.flows.total().is_over(Ceiling::new(self.limit, u64::MAX));
        is_over || self.flows.buffers().is_over()
    }

    /// The queue on top of the heap loses its head.
    pub(super) fn shed(&mut self, now: Time, sink: &mut dyn Sink<P>) {
        let fattest = self.heap.fattest(|index| self.flows.bytes(index));
        let bytes = self.flows.evict(fattest, now, sink).expect("the fattest queue holds packets");
        let tin = self.tin_of_queue(fattest);
        self.tins[tin].packets -= 1;
        if self.ingress {
            let bytes = self.framing.bytes(bytes);
            self.shaper.charge_drop(bytes);
            self.tins[tin].clock.charge(bytes, now);
        }
        self.heap.shed(|index| self.flows.bytes(index));
    }

    /// Takes the next packet of a tin; none if its next queue was found empty.
    #[inline]
    pub(super) fn serve(
        &mut self,
        now: Time,
        tin: usize,
        is_first: &mut bool,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        loop {
            let (list, index) = self.tins[tin].next(core::mem::take(is_first))?;
            let credits = self.credits(tin, list, index);
            if credits.is_some_and(|credits| *credits <= 0) {
                match list {
                    List::Old => self.tins[tin].turn_old(rng),
                    _ => self.step_back(tin, index, rng),
                }
                continue;
            }
            let passes = match self.ingress {
                false => self.judge(now, tin, index, rng, sink),
                true => match self.judge_head(now, (tin, list, index), rng, sink) {
                    Some(HeadVerdict::Dropped) => continue,
                    Some(HeadVerdict::Passes(bytes)) => Some(bytes),
                    None => None,
                },
            };
            if let Some(bytes) = passes {
                let on_link = self.framing.bytes(bytes);
                if let Some(credits) = self.credits(tin, list, index) {
                    *credits -= on_link as i64;
                }
                self.shaper.charge(on_link);
                self.tins[tin].charge(on_link, now);
                let departure = self.flows.pop(index, bytes);
                self.heap.shrank(index, |index| self.flows.bytes(index));
                self.heap.count_departure();
                return departure;
            } else {
                self.retire(now, tin, list, index);
                return None;
            }
        }
    }
}
