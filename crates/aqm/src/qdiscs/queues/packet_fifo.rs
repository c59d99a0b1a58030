//! FIFO queues without a law, which count their bytes.

use alloc::collections::VecDeque;

use crate::packet::Packet;
use crate::qdisc::Departure;
use crate::time::Time;

/// Packets in order of arrival, in private memory or a shared pool.
pub(crate) trait PacketQueue {
    type Packet: Packet;

    fn packets(&self) -> u32;

    fn bytes(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.packets() == 0
    }

    /// The packet at the head.
    fn head(&mut self) -> Option<&mut Departure<Self::Packet>>;

    /// Appends a packet.
    fn push(&mut self, enqueued: Time, packet: Self::Packet);

    /// Takes the head.
    fn pop(&mut self) -> Option<Departure<Self::Packet>>;
}

impl<W: PacketQueue> PacketQueue for &mut W {
    type Packet = W::Packet;

    fn packets(&self) -> u32 {
        (**self).packets()
    }

    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn head(&mut self) -> Option<&mut Departure<W::Packet>> {
        (**self).head()
    }

    fn push(&mut self, enqueued: Time, packet: W::Packet) {
        (**self).push(enqueued, packet);
    }

    fn pop(&mut self) -> Option<Departure<W::Packet>> {
        (**self).pop()
    }
}

/// Packets in private memory, each with its arrival time.
#[derive(Debug)]
pub(crate) struct PacketFifo<P> {
    waiting: VecDeque<Departure<P>>,
    bytes: u64,
}

impl<P> Default for PacketFifo<P> {
    fn default() -> Self {
        PacketFifo { waiting: VecDeque::new(), bytes: 0 }
    }
}

impl<P: Packet> PacketFifo<P> {
    /// The size of the head.
    pub(crate) fn first_bytes(&self) -> Option<u32> {
        self.waiting.front().map(|first| first.packet.bytes())
    }

    /// Takes the head, which has been judged and has `bytes` bytes: the size need not be read
    /// again.
    #[inline]
    pub(crate) fn pop_judged(&mut self, bytes: u32) -> Option<Departure<P>> {
        self.bytes -= u64::from(bytes);
        self.waiting.pop_front()
    }
}

impl<P: Packet> PacketQueue for PacketFifo<P> {
    type Packet = P;

    fn packets(&self) -> u32 {
        self.waiting.len() as u32
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn head(&mut self) -> Option<&mut Departure<P>> {
        self.waiting.front_mut()
    }

    fn push(&mut self, enqueued: Time, packet: P) {
        self.bytes += u64::from(packet.bytes());
        self.waiting.push_back(Departure { packet, enqueued });
    }

    fn pop(&mut self) -> Option<Departure<P>> {
        // The packet is counted before it is taken, so that it is copied as a whole.
        self.bytes -= u64::from(self.waiting.front()?.packet.bytes());
        self.waiting.pop_front()
    }
}
