//! How CAKE takes packets out of its queues, and drops them if there is no room.

use core::mem;

use super::queue_state::Phase;
use super::tins::{List, Tin};
use super::{AckFilter, CakeQueues, ack_filter};
use crate::packet::Packet;
use crate::qdisc::{Departure, Qdisc, Sink, split};
use crate::qdiscs::queues::law_queue::HeadVerdict;
use crate::qdiscs::queues::total::Ceiling;
use crate::rng::Rng;
use crate::time::Time;
use crate::units::Limit;

impl<P: Packet> CakeQueues<P> {
    /// Asks COBALT about the head of a queue (Linux 6.1 sch_cake.c, cake_dequeue_one). In ingress
    /// mode a drop is charged to the shaper and to the shares of its flow and tin.
    #[inline]
    fn judge(
        &mut self,
        now: Time,
        (tin, list, index): (usize, List, u32),
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<HeadVerdict> {
        if self.adapts_laws {
            self.adapt_law(tin, index);
        }
        let verdict = self.flows.judge_head(index, now, rng, sink);
        if let Some(HeadVerdict::Dropped(bytes)) = verdict {
            self.tins[tin].packets -= 1;
            self.heap.shrank(index, |index| self.flows.bytes(index));
            if self.ingress {
                let on_link = self.framing.bytes(bytes);
                self.shaper.charge_drop(on_link);
                self.charge(now, (tin, list, index), on_link);
            }
        }
        verdict
    }

    /// Charges a packet, of this size on the link below, to its tin and its flow.
    fn charge(&mut self, now: Time, (tin, list, index): (usize, List, u32), on_link: u64) {
        self.tins[tin].charge(on_link, now);
        if let Some(credits) = self.credits(tin, list, index) {
            *credits -= on_link as i64;
        }
    }

    /// Handles the case that the queue at the head of a list was found empty.
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

    /// A packet was appended to a queue: filters acknowledgements and estimates the bandwidth
    /// (Linux 6.1 sch_cake.c, cake_enqueue).
    pub(super) fn follow_arrival(
        &mut self,
        now: Time,
        tin: usize,
        index: u32,
        sink: &mut dyn Sink<P>,
    ) {
        let filtered = match self.ack_filter {
            AckFilter::Off => 0,
            _ => self.filter_acks(now, tin, index, sink).unwrap_or(0),
        };
        let Some(autorate) = &mut self.autorate else { return };
        let bytes = self.flows.last_bytes(index).expect("a packet was appended");
        // Negative if the acknowledgement is shorter than the one that it replaces.
        if autorate.arrive(now, u64::from(bytes).wrapping_sub(u64::from(filtered))) {
            self.set_rates();
        }
    }

    /// Takes over the estimated rate (Linux 6.1 sch_cake.c, cake_reconfigure). The laws of the
    /// queues follow when they are next called.
    fn set_rates(&mut self) {
        let Some(autorate) = &self.autorate else { return };
        for (place, tin) in self.tins.iter_mut().enumerate() {
            tin.set_threshold(autorate.params(), autorate.share(place).threshold, self.mtu_bytes);
        }
        self.shaper.set_rate(autorate.params().bandwidth.0);
        self.flows.set_memory_limit(autorate.params().limits().1);
    }

    /// Passes the present rate, target and load of a tin to the law of one of its queues.
    fn adapt_law(&mut self, tin: usize, index: u32) {
        let Tin { frame_time, bulk, target, interval, .. } = self.tins[tin];
        let law = self.flows.law_mut(index);
        law.set_least_sojourn(frame_time, if self.ingress { bulk } else { 0 });
        law.set_target(target, interval);
    }

    /// Drops an acknowledgement that the last packet of a queue makes redundant, and returns its
    /// size. In ingress mode the shaper pays for it.
    fn filter_acks(
        &mut self,
        now: Time,
        tin: usize,
        index: u32,
        sink: &mut dyn Sink<P>,
    ) -> Option<u32> {
        let filter = self.ack_filter;
        let find = |older: &mut dyn Iterator<Item = (u32, &P)>, latest: &P| {
            ack_filter::redundant(older, latest, filter)
        };
        let bytes = self.flows.remove(index, find, sink)?;
        self.tins[tin].packets -= 1;
        if self.ingress {
            let on_link = self.framing.bytes(bytes);
            self.shaper.charge_drop(on_link);
            self.tins[tin].clock.charge(on_link, now);
        }
        Some(bytes)
    }

    /// Splits a super-packet. The limits and the estimate of the bandwidth apply to all segments
    /// together (Linux 6.1 sch_cake.c, cake_enqueue).
    #[cold]
    pub(super) fn enqueue_segments(
        &mut self,
        now: Time,
        packet: P,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) where
        P: Send,
    {
        let bytes = packet.bytes();
        let limit = mem::replace(&mut self.limit, Limit::Packets(u64::MAX));
        let memory_limit = self.flows.set_memory_limit(u64::MAX);
        let autorate = self.autorate.take();
        split(packet, sink, |segment, sink| self.enqueue(now, segment, rng, sink));
        (self.limit, self.autorate) = (limit, autorate);
        self.flows.set_memory_limit(memory_limit);
        if self.autorate.as_mut().is_some_and(|autorate| autorate.arrive(now, u64::from(bytes))) {
            self.set_rates();
        }
        while self.is_over_limit() {
            self.shed(now, sink);
        }
    }

    /// The bytes that the head of a queue, of `bytes`, takes on the link below (Linux 6.1
    /// sch_cake.c, cake_overhead).
    #[inline]
    fn on_link(&mut self, index: u32, bytes: u32) -> u64 {
        match self.splits {
            true => self.framing.bytes(bytes),
            false => self.flows.head(index).map_or(0, |head| self.framing.bytes_of(head)),
        }
    }

    pub(super) fn is_over_limit(&self) -> bool {
        let is_over = self.flows.total().is_over(Ceiling::new(self.limit, u64::MAX));
        is_over || self.flows.buffers().is_over()
    }

    /// The queue on top of the heap loses its head.
    pub(super) fn shed(&mut self, now: Time, sink: &mut dyn Sink<P>) {
        let fattest = self.heap.fattest(|index| self.flows.bytes(index));
        let tin = self.tin_of_queue(fattest);
        if self.adapts_laws {
            self.adapt_law(tin, fattest);
        }
        let bytes = self.flows.evict(fattest, now, sink).expect("the fattest queue holds packets");
        self.tins[tin].packets -= 1;
        if self.ingress {
            let bytes = self.framing.bytes(bytes);
            self.shaper.charge_drop(bytes);
            self.tins[tin].clock.charge(bytes, now);
        }
        self.heap.shed(|index| self.flows.bytes(index));
    }

    /// Takes the next packet of a tin; `None` if the tin's next queue was found empty.
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
            match self.judge(now, (tin, list, index), rng, sink) {
                None => {
                    self.retire(now, tin, list, index);
                    return None;
                }
                // This queue is still next, unless the drop has used up its credits.
                Some(HeadVerdict::Dropped(_)) => {}
                Some(HeadVerdict::Passes(bytes)) => {
                    let on_link = self.on_link(index, bytes);
                    self.shaper.charge(on_link);
                    self.charge(now, (tin, list, index), on_link);
                    self.tins[tin].packets -= 1;
                    let departure = self.flows.pop(index, bytes);
                    self.heap.shrank(index, |index| self.flows.bytes(index));
                    self.heap.count_departure();
                    return departure;
                }
            }
        }
    }
}
