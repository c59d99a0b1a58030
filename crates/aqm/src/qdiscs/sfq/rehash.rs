//! Applies a new hash to queued packets.

use alloc::vec::Vec;

use super::Queues;
use crate::law::{Cause, Stage};
use crate::packet::Packet;
use crate::parts::linux_red::RedState;
use crate::qdisc::{Departure, Sink};
use crate::qdiscs::queues::total::Total;
use crate::rng::splitmix;
use crate::time::Time;

impl<P: Packet> Queues<P> {
    /// Changes the hash and re-sorts all queued packets: queue by queue in numerical order, each
    /// from its head (Linux 6.1 sch_sfq.c, sfq_perturbation and sfq_rehash).
    pub(super) fn perturb_if_due(&mut self, now: Time, sink: &mut dyn Sink<P>) {
        let Some(period) = self.perturb.filter(|_| now >= self.next_perturb) else { return };
        let late = now.since(self.next_perturb).as_nanos() / period.as_nanos();
        self.next_perturb += period.times(late + 1);
        self.new_salts += late + 1;
        let step = self.new_salts.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.salt = splitmix(self.first_salt.wrapping_add(step));
        let mut waiting = Vec::with_capacity(self.total.packets as usize);
        for (index, queue) in (0..).zip(&mut self.queues) {
            if !queue.packets.is_empty() {
                waiting.extend(core::iter::from_fn(|| self.pool.pop(&mut queue.packets)));
                queue.red = RedState::REST;
                self.slots[queue.slot] = None;
                self.free.push(index);
            }
        }
        (self.tail, self.total) = (None, Total::default());
        for Departure { packet, enqueued } in waiting {
            self.sort_in(enqueued, packet, sink);
        }
    }

    fn sort_in(&mut self, enqueued: Time, packet: P, sink: &mut dyn Sink<P>) {
        let slot = self.slot_of(packet.flow());
        let index = self.slots[slot].or_else(|| {
            let index = self.free.pop()?;
            self.activate(index, slot);
            Some(index)
        });
        match index {
            Some(index) if self.queue(index).packets.packets() < self.depth => {
                if let (Some(red), queue) = (self.red, self.queue(index)) {
                    // sfq_rehash: the averages restart at 0 and sample the re-sorted packets.
                    queue.red.sample(&red.curve, queue.packets.bytes());
                }
                self.append(index, enqueued, packet);
            }
            _ => sink.dropped(packet, enqueued, Stage::Queued, Cause::Overflow),
        }
    }
}
