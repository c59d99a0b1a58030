//! The transmit ring of a device: packets below the queue, invisible to the AQM.

use std::collections::VecDeque;

use sojourn_aqm::{Limit, Packet};
use sojourn_scenario::resolved::Device;

/// Packets that a device has taken out of the queue; the first is being sent.
#[derive(Debug)]
pub struct TxRing<P> {
    limit: Limit,
    packets: VecDeque<P>,
    bytes: u64,
}

impl<P: Packet> TxRing<P> {
    /// An empty ring. Without a device it holds only the packet being sent.
    pub fn new(device: Option<Device>) -> TxRing<P> {
        let limit = device.map_or(Limit::Packets(1), |device| device.limit);
        TxRing { limit, packets: VecDeque::new(), bytes: 0 }
    }

    /// Whether it accepts another packet. A limit in bytes may be exceeded by one packet: Linux
    /// stops a queue when the device holds more than the limit
    /// (include/linux/dynamic_queue_limits.h, dql_avail).
    pub(crate) fn has_room(&self) -> bool {
        self.packets.is_empty()
            || match self.limit {
                Limit::Bytes(bytes) => self.bytes <= bytes,
                Limit::Packets(packets) => (self.packets.len() as u64) < packets,
            }
    }

    pub(crate) fn push(&mut self, packet: P) {
        self.bytes += u64::from(packet.bytes());
        self.packets.push_back(packet);
    }

    pub(crate) fn pop(&mut self) -> P {
        let packet = self.packets.pop_front().expect("a packet that was sent is in the ring");
        self.bytes -= u64::from(packet.bytes());
        packet
    }

    /// The first packet, which has been sent.
    pub(crate) fn head_mut(&mut self) -> &mut P {
        self.packets.front_mut().expect("a packet that was sent is in the ring")
    }

    /// The sizes of the packets, including the one being sent, which is the first.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u32> {
        self.packets.iter().map(Packet::bytes)
    }

    /// The first packet.
    pub(crate) fn head(&self) -> Option<&P> {
        self.packets.front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::Ecn;

    /// A packet of this many bytes.
    struct Bytes(u32);

    impl Packet for Bytes {
        fn bytes(&self) -> u32 {
            self.0
        }
        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }
        fn set_ce(&mut self) {}
        fn flow(&self) -> u64 {
            0
        }
    }

    #[test]
    fn what_is_left_after_a_packet_was_sent_decides_whether_another_one_has_room() {
        let device = Device { limit: Limit::Bytes(1_600), overhead_bytes: 0 };
        let mut ring = TxRing::new(Some(device));
        let mut room = Vec::new();
        for bytes in [100, 1_500, 1_500] {
            room.push(ring.has_room());
            ring.push(Bytes(bytes));
        }
        assert_eq!(room, [true; 3], "1600 bytes do not exceed the limit");
        assert_eq!((ring.pop().0, ring.bytes, ring.has_room()), (100, 3_000, false));
        assert_eq!((ring.pop().0, ring.bytes, ring.has_room()), (1_500, 1_500, true));
    }
}
