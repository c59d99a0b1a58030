//! Finds the copies of a packet that a capture of several interfaces holds: a router's capture on
//! `any` has each forwarded packet twice.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};

use super::packet::Packet;

/// Packets that are remembered.
const MOST: usize = 1 << 14;

/// The packets of late, and where each was seen first.
#[derive(Default)]
pub(super) struct Repeats {
    seen: HashMap<u64, u64>,
    order: VecDeque<u64>,
    /// Packets that had been seen at another place.
    pub(super) count: u64,
}

impl Repeats {
    /// Whether a packet has been seen at another place.
    pub(super) fn is_repeat(&mut self, packet: &Packet, place: u64) -> bool {
        let mut hasher = DefaultHasher::new();
        (packet.source, packet.destination, packet.protocol).hash(&mut hasher);
        (packet.ip_bytes, packet.fingerprint).hash(&mut hasher);
        let key = hasher.finish();
        if let Some(&first) = self.seen.get(&key) {
            self.count += u64::from(first != place);
            return first != place;
        }
        if self.order.len() == MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        self.seen.insert(key, place);
        self.order.push_back(key);
        false
    }
}
