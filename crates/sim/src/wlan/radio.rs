//! The transmitter of one station or access point: what waits below its queue, out of its sight.

use std::collections::VecDeque;

use sojourn_aqm::{Limit, Time};
use sojourn_scenario::resolved::Device;

use crate::agenda::Slot;
use crate::packet::Packet;
use crate::probe::Ear;
use crate::staged::{Above, take};

/// A device that contends for the medium with the first of its packets.
#[derive(Debug)]
pub struct Radio {
    /// The alarm of the medium.
    pub medium: Slot,
    limit: Limit,
    ring: VecDeque<Packet>,
    ring_bytes: u64,
}

impl Radio {
    /// An idle radio. Without a device it takes one packet at a time.
    pub fn new(medium: Slot, device: Option<Device>) -> Radio {
        let limit = device.map_or(Limit::Packets(1), |device| device.limit);
        Radio { medium, limit, ring: VecDeque::new(), ring_bytes: 0 }
    }

    /// The size of the packet that it contends with, if it has one.
    pub fn head_bytes(&self) -> Option<u32> {
        self.ring.front().map(|packet| packet.link_bytes)
    }

    /// Takes what the device has room for from the queue above; returns when a queue that holds packets
    /// back wants to be asked again.
    pub fn fill<const NOTES: bool>(
        &mut self,
        now: Time,
        above: &mut Above<'_>,
        ear: &mut Ear<'_, NOTES>,
    ) -> Time {
        while self.ring.is_empty() || self.has_room() {
            let Some(packet) = take(now, above, ear) else {
                return above.queue.held_until().unwrap_or(Time::NEVER);
            };
            self.ring_bytes += u64::from(packet.link_bytes);
            self.ring.push_back(packet);
        }
        Time::NEVER // the next departure makes room
    }

    /// The packet that it contended with: it was sent or given up.
    pub fn pop(&mut self) -> Packet {
        let packet = self.ring.pop_front().expect("what was sent was in the device");
        self.ring_bytes -= u64::from(packet.link_bytes);
        packet
    }

    fn has_room(&self) -> bool {
        match self.limit {
            Limit::Bytes(bytes) => self.ring_bytes <= bytes,
            Limit::Packets(packets) => (self.ring.len() as u64) < packets,
        }
    }
}
