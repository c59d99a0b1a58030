//! A packet pool shared by many queues; allocates only at a new peak of the backlog.
//!
//! The place freed last is reused first, because it is still cached. Links are separate from
//! packets, so that appending does not load the previous packet.

use alloc::vec::Vec;

use crate::packet::Packet;
use crate::qdisc::Departure;
use crate::time::Time;

/// The packets of all queues.
#[derive(Debug)]
pub(crate) struct Pool<P> {
    /// The packet in each place; `None` while the place is free.
    packets: Vec<Option<Departure<P>>>,
    links: Vec<Link>,
    /// The place to use next, or [`NO_PLACE`] if all are taken. Free places are linked.
    free: u32,
}

/// No place has this number.
const NO_PLACE: u32 = u32::MAX;

/// The neighbours of a packet. Unspecified at the ends of a chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The place of the next packet.
    next: u32,
    /// The place of the previous packet.
    previous: u32,
}

/// One queue of the pool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chain {
    /// Places of the ends; unspecified while the chain is empty.
    first: u32,
    last: u32,
    packets: u32,
    bytes: u64,
}

impl Chain {
    pub(crate) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    pub(crate) fn packets(&self) -> u32 {
        self.packets
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<P: Packet> Pool<P> {
    pub(crate) fn new() -> Self {
        Pool { packets: Vec::new(), links: Vec::new(), free: NO_PLACE }
    }

    /// Appends a packet.
    #[inline]
    pub(crate) fn push(&mut self, chain: &mut Chain, enqueued: Time, packet: P) {
        let place = self.free;
        let Some(link) = self.links.get(place as usize) else {
            return self.push_to_new_place(chain, enqueued, packet);
        };
        self.free = link.next;
        let bytes = u64::from(packet.bytes());
        debug_assert!(self.packets[place as usize].is_none(), "a free place is empty");
        self.packets[place as usize] = Some(Departure { packet, enqueued });
        if chain.is_empty() {
            chain.first = place;
        } else {
            self.links[chain.last as usize].next = place;
            self.links[place as usize].previous = chain.last;
        }
        chain.last = place;
        chain.packets += 1;
        chain.bytes += bytes;
    }

    /// The last packet.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn tail(&self, chain: &Chain) -> Option<&Departure<P>> {
        if chain.is_empty() { None } else { self.packets[chain.last as usize].as_ref() }
    }

    /// Inserts a packet after the last one whose key is not greater.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn insert_by<K: Ord>(
        &mut self,
        chain: &mut Chain,
        enqueued: Time,
        packet: P,
        key: impl Fn(&Departure<P>) -> K,
    ) {
        self.push(chain, enqueued, packet);
        let place = chain.last;
        let of = |place: u32| self.packets[place as usize].as_ref().map(&key);
        let (mut before, mut steps) = (self.links[place as usize].previous, chain.packets - 1);
        while steps > 0 && of(before) > of(place) {
            (before, steps) = (self.links[before as usize].previous, steps - 1);
        }
        if steps == chain.packets - 1 {
            return;
        }
        chain.last = self.links[place as usize].previous;
        let next = if steps == 0 { chain.first } else { self.links[before as usize].next };
        match steps {
            0 => chain.first = place,
            _ => self.links[before as usize].next = place,
        }
        self.links[place as usize] = Link { next, previous: before };
        self.links[next as usize].previous = place;
    }

    /// Takes the head.
    #[inline]
    pub(crate) fn pop(&mut self, chain: &mut Chain) -> Option<Departure<P>> {
        // The packet is inspected before it is taken, so that it is copied as a whole.
        let bytes = self.head(chain)?.packet.bytes();
        self.pop_sized(chain, bytes)
    }

    /// Takes the head, which exists and has `bytes` bytes: the size need not be read again.
    #[inline]
    pub(crate) fn pop_sized(&mut self, chain: &mut Chain, bytes: u32) -> Option<Departure<P>> {
        debug_assert!(!chain.is_empty(), "who knows the size has seen a head");
        let place = chain.first;
        chain.first = self.links[place as usize].next;
        self.release(chain, place, bytes)
    }

    /// Takes the tail.
    pub(crate) fn pop_tail(&mut self, chain: &mut Chain) -> Option<Departure<P>> {
        if chain.is_empty() {
            return None;
        }
        let place = chain.last;
        let bytes = self.packets[place as usize].as_ref()?.packet.bytes();
        chain.last = self.links[place as usize].previous;
        self.release(chain, place, bytes)
    }

    /// The last packet, and all others with their places, from the head on.
    pub(crate) fn split_last(
        &self,
        chain: &Chain,
    ) -> Option<(impl Iterator<Item = (u32, &P)>, &P)> {
        let before = chain.packets.checked_sub(1)?;
        let packet = |place: u32| Some(&self.packets[place as usize].as_ref()?.packet);
        let next = |&place: &u32| Some(self.links[place as usize].next);
        let places = core::iter::successors(Some(chain.first), next).take(before as usize);
        Some((places.filter_map(move |place| Some((place, packet(place)?))), packet(chain.last)?))
    }

    /// Takes the packet at a place of the chain.
    pub(crate) fn unlink(&mut self, chain: &mut Chain, place: u32) -> Option<Departure<P>> {
        let Link { next, previous } = self.links[place as usize];
        let bytes = self.packets[place as usize].as_ref()?.packet.bytes();
        match place == chain.first {
            true => chain.first = next,
            false => self.links[previous as usize].next = next,
        }
        match place == chain.last {
            true => chain.last = previous,
            false => self.links[next as usize].previous = previous,
        }
        self.release(chain, place, bytes)
    }

    #[inline]
    pub(crate) fn head(&mut self, chain: &Chain) -> Option<&mut Departure<P>> {
        if chain.is_empty() {
            return None;
        }
        self.packets[chain.first as usize].as_mut()
    }

    /// Appends a packet when the pool is full. Out of line, so that `push` need not save
    /// its registers.
    #[cold]
    #[inline(never)]
    fn push_to_new_place(&mut self, chain: &mut Chain, enqueued: Time, packet: P) {
        self.free = self.packets.len() as u32;
        self.packets.push(None);
        self.links.push(Link { next: NO_PLACE, previous: NO_PLACE });
        self.push(chain, enqueued, packet);
    }

    /// Takes a packet of `bytes` bytes out of its slot, which becomes free.
    #[inline]
    fn release(&mut self, chain: &mut Chain, place: u32, bytes: u32) -> Option<Departure<P>> {
        chain.bytes -= u64::from(bytes);
        chain.packets -= 1;
        self.links[place as usize].next = self.free;
        self.free = place;
        let held = self.packets[place as usize].take();
        debug_assert!(held.is_some(), "a place in a chain holds a packet");
        held
    }
}
