//! The total backlog of a discipline's queues, its limit, and the memory of its buffers.

use crate::packet::{Backlog, Packet};
use crate::units::Limit;

/// The backlog of a whole discipline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Total {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

/// Limit on the backlog of a whole discipline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceiling {
    packets: u64,
    bytes: u64,
}

impl Ceiling {
    /// A limit, and a bound in bytes that always applies.
    pub(crate) fn new(limit: Limit, memory_bytes: u64) -> Ceiling {
        match limit {
            Limit::Packets(packets) => Ceiling { packets, bytes: memory_bytes },
            Limit::Bytes(bytes) => Ceiling { packets: u64::MAX, bytes: bytes.min(memory_bytes) },
        }
    }
}

/// Memory that a Linux host allocates for the packets of a discipline, if that memory is limited.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BufferMemory {
    limit: Option<u64>,
    used: u64,
}

impl BufferMemory {
    /// The memory of an empty discipline; without a limit, it is never counted.
    pub(crate) fn new(limit: Option<u64>) -> BufferMemory {
        BufferMemory { limit, used: 0 }
    }

    /// Changes the limit of memory that is counted.
    pub(crate) fn set_limit(&mut self, bytes: u64) -> u64 {
        self.limit.replace(bytes).expect("else the memory in use is unknown")
    }

    pub(crate) fn is_counted(&self) -> bool {
        self.limit.is_some()
    }

    /// The memory of one packet.
    pub(crate) fn of(&self, packet: &impl Packet) -> u64 {
        if self.is_counted() { u64::from(packet.buffer_bytes()) } else { 0 }
    }

    pub(crate) fn add(&mut self, bytes: u64) {
        self.used += bytes;
    }

    pub(crate) fn remove(&mut self, bytes: u64) {
        self.used -= bytes;
    }

    #[cfg(test)]
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    pub(crate) fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.used > limit)
    }

    pub(crate) fn has_room_for(&self, bytes: u64) -> bool {
        self.limit.is_none_or(|limit| self.used + bytes <= limit)
    }

    /// Whether a packet fits into an empty discipline at all.
    pub(crate) fn has_ever_room_for(&self, bytes: u64) -> bool {
        BufferMemory { used: 0, ..*self }.has_room_for(bytes)
    }
}

impl Total {
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    pub(crate) fn remove(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }

    pub(crate) fn is_over(&self, ceiling: Ceiling) -> bool {
        u64::from(self.packets) > ceiling.packets || self.bytes > ceiling.bytes
    }

    /// Whether one more packet of that size fits below the ceiling.
    #[inline]
    pub(crate) fn has_room_for(&self, bytes: u32, ceiling: Ceiling) -> bool {
        u64::from(self.packets) < ceiling.packets && self.bytes + u64::from(bytes) <= ceiling.bytes
    }

    /// Whether one more packet of that size exceeds the limit.
    pub(crate) fn is_full_for(&self, bytes: u32, limit: Limit) -> bool {
        match limit {
            Limit::Packets(n) => u64::from(self.packets) >= n,
            Limit::Bytes(n) => self.bytes + u64::from(bytes) > n,
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets, bytes: self.bytes, link_bytes: self.bytes }
    }
}
