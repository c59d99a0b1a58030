//! Linux's heap, which selects the queue that loses a packet. Just after the heap is built, that is
//! the queue with the most bytes. Later it may be another, because a shrinking entry only swaps
//! with its larger child and does not sink further (fact qdisc-17).
//!
//! Source: Linux 6.1 `sch_cake.c`, `cake_init`, `cake_heapify`, `cake_heapify_up`, `cake_drop`,
//! `cake_dequeue`.

use alloc::vec::Vec;

/// Heap entries per queue number: one for each tin (`CAKE_MAX_TINS`).
const TINS: usize = 8;
/// Departures after an overflow for which the heap is maintained.
const KEPT_IN_ORDER: u32 = 65_535;

/// A heap over all queues of all tins. Queues are numbered tin by tin.
#[derive(Clone, Debug)]
pub(super) struct OverflowHeap {
    /// Queues of a tin.
    queues: usize,
    tins: usize,
    /// The entries by place; an entry is [`TINS`] times the queue's number in its tin, plus the
    /// tin. Empty until the first overflow.
    entries: Vec<u32>,
    /// The place of each entry.
    places: Vec<u32>,
    /// Remaining departures for which the heap is maintained.
    departures_left: u32,
}

impl OverflowHeap {
    /// A heap for `queues` queues in each of `tins` tins.
    pub(super) fn new(queues: usize, tins: usize) -> OverflowHeap {
        OverflowHeap { queues, tins, entries: Vec::new(), places: Vec::new(), departures_left: 0 }
    }

    /// A queue has got longer.
    pub(super) fn grew(&mut self, queue: u32, bytes_of: impl Fn(u32) -> u64) {
        if self.departures_left > 0 {
            self.sift_up(self.place_of(queue), &bytes_of);
        }
    }

    /// A packet of a queue has left or was dropped by its law.
    pub(super) fn shrank(&mut self, queue: u32, bytes_of: impl Fn(u32) -> u64) {
        if self.departures_left > 0 {
            self.sift_down(self.place_of(queue), &bytes_of);
        }
    }

    /// A packet has left.
    pub(super) fn count_departure(&mut self) {
        self.departures_left = self.departures_left.saturating_sub(1);
    }

    /// The queue that loses a packet.
    pub(super) fn fattest(&mut self, bytes_of: impl Fn(u32) -> u64) -> u32 {
        // If the queue on top is empty, cake_drop rebuilds the heap.
        if self.departures_left == 0 || self.bytes_at(0, &bytes_of) == 0 {
            self.build(&bytes_of);
        }
        self.departures_left = KEPT_IN_ORDER;
        self.queue_of(self.entries[0]).expect("a tin that holds packets is on top")
    }

    /// The fattest queue has lost a packet.
    pub(super) fn shed(&mut self, bytes_of: impl Fn(u32) -> u64) {
        self.sift_down(0, &bytes_of);
    }

    fn build(&mut self, bytes_of: &impl Fn(u32) -> u64) {
        if self.entries.is_empty() {
            self.entries = (0..(self.queues * TINS) as u32).collect();
            self.places = self.entries.clone();
        }
        for place in (0..=self.entries.len() / 2).rev() {
            self.sift_down(place, bytes_of);
        }
    }

    fn place_of(&self, queue: u32) -> usize {
        let (tin, in_tin) = (queue as usize / self.queues, queue as usize % self.queues);
        self.places[in_tin * TINS + tin] as usize
    }

    /// The queue of an entry, unless its tin does not exist.
    fn queue_of(&self, entry: u32) -> Option<u32> {
        let (tin, in_tin) = (entry as usize % TINS, entry as usize / TINS);
        (tin < self.tins).then(|| (tin * self.queues + in_tin) as u32)
    }

    fn bytes_at(&self, place: usize, bytes_of: &impl Fn(u32) -> u64) -> u64 {
        self.queue_of(self.entries[place]).map_or(0, bytes_of)
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.entries.swap(one, other);
        for place in [one, other] {
            self.places[self.entries[place] as usize] = place as u32;
        }
    }

    /// As in the kernel, the comparison after a swap still uses the bytes of the child that moved
    /// up.
    fn sift_down(&mut self, mut place: usize, bytes_of: &impl Fn(u32) -> u64) {
        let mut bytes = self.bytes_at(place, bytes_of);
        loop {
            let mut most = place;
            let children = (2 * place + 1..=2 * place + 2).filter(|&c| c < self.entries.len());
            for child in children {
                let other = self.bytes_at(child, bytes_of);
                if other > bytes {
                    (most, bytes) = (child, other);
                }
            }
            if most == place {
                return;
            }
            self.swap(place, most);
            place = most;
        }
    }

    fn sift_up(&mut self, mut place: usize, bytes_of: &impl Fn(u32) -> u64) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.bytes_at(place, bytes_of) <= self.bytes_at(parent, bytes_of) {
                return;
            }
            self.swap(place, parent);
            place = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.1 sch_cake.c, cake_drop: a newly built heap has the fattest queue on top.
    #[test]
    fn a_new_heap_has_the_fattest_queue_on_top() {
        let mut bytes = [0u64; 64];
        let mut heap = OverflowHeap::new(64, 1);
        let mut state = 7u32;
        for _ in 0..10_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let queue = state >> 26;
            if state & 256 == 0 {
                bytes[queue as usize] += u64::from(state >> 8 & 1023);
                heap.grew(queue, |queue| bytes[queue as usize]);
            } else {
                bytes[queue as usize] /= 2;
                heap.shrank(queue, |queue| bytes[queue as usize]);
            }
            heap.build(&|queue| bytes[queue as usize]);
            assert_eq!(bytes.iter().max(), Some(&heap.bytes_at(0, &|queue| bytes[queue as usize])));
        }
    }

    /// Linux 6.1 sch_cake.c, cake_heapify: only strictly larger entries move up, the left child
    /// before the right one. Queue 3 moves to the top when it grows, and stays there when queue 5
    /// is equally fat.
    #[test]
    fn of_queues_with_equally_many_bytes_the_first_one_stays_first() {
        let mut bytes = [0u64; 8];
        let mut heap = OverflowHeap::new(8, 1);
        bytes[3] = 1000;
        assert_eq!(heap.fattest(|queue| bytes[queue as usize]), 3);
        bytes[1] = 1000;
        heap.grew(1, |queue| bytes[queue as usize]);
        assert_eq!(heap.fattest(|queue| bytes[queue as usize]), 3, "not the lowest number");
        bytes[3] = 900;
        heap.shed(|queue| bytes[queue as usize]);
        assert_eq!(heap.fattest(|queue| bytes[queue as usize]), 1);
    }

    /// Fact qdisc-17.
    #[test]
    fn a_queue_that_shrinks_changes_places_once_until_an_empty_one_is_on_top() {
        let bytes = core::cell::Cell::new([0u64; 8]);
        let set = |queue: usize, value| {
            let mut all = bytes.get();
            all[queue] = value;
            bytes.set(all);
        };
        let of = |queue: u32| bytes.get()[queue as usize];
        let mut heap = OverflowHeap::new(8, 1);
        set(3, 1000);
        assert_eq!(heap.fattest(of), 3);
        for (queue, grown) in [(1, 800), (4, 700)] {
            set(queue, grown);
            heap.grew(queue as u32, of);
        }
        set(3, 100);
        heap.shed(of);
        assert_eq!(heap.fattest(of), 1, "queue 3 stands above queue 4");
        set(1, 50);
        heap.shed(of);
        assert_eq!(heap.fattest(of), 3, "although queue 4 has more");
        set(3, 0);
        heap.shed(of);
        set(1, 0);
        heap.shed(of);
        assert_eq!(heap.fattest(of), 4, "rebuilt");
    }
}
