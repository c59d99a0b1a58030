//! The contents of the datagrams that one end of a flow has in flight. A packet carries only the
//! number of its content. Only flows over a library have contents.

use std::collections::VecDeque;

/// Contents by number, until the packet has arrived or was lost.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    /// The number of the first slot.
    first: u32,
    /// Contents, each with the number of packets that carry it.
    slots: VecDeque<Option<(Vec<u8>, u32)>>,
    /// Buffers for reuse.
    spare: Vec<Vec<u8>>,
}

/// The most buffers kept for reuse: enough for a burst.
const MOST_SPARE: usize = 64;

impl InFlight {
    /// An empty buffer.
    pub(super) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Stores the content of the next packet; returns the packet's number.
    pub(super) fn push(&mut self, content: Vec<u8>) -> u32 {
        self.slots.push_back(Some((content, 1)));
        self.first + self.slots.len() as u32 - 1
    }

    /// Counts a copy of a packet.
    pub(super) fn copy(&mut self, number: u32) {
        let slot = number.checked_sub(self.first).map(|place| place as usize);
        if let Some(Some((_, packets))) = slot.and_then(|place| self.slots.get_mut(place)) {
            *packets += 1;
        }
    }

    /// Takes the content of a packet that has arrived, or was lost.
    pub(super) fn take(&mut self, number: u32) -> Option<Vec<u8>> {
        let place = number.checked_sub(self.first)? as usize;
        let slot = self.slots.get_mut(place)?;
        if let Some((content, packets)) = slot.as_mut().filter(|(_, packets)| *packets > 1) {
            *packets -= 1;
            return Some(content.clone());
        }
        let content = slot.take().map(|(content, _)| content);
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
        }
        content
    }

    /// Returns a buffer for reuse.
    pub(super) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < MOST_SPARE {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// How many contents are stored.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_taken_once_and_in_any_order() {
        let mut in_flight = InFlight::default();
        let numbers = [b"a", b"b", b"c"].map(|content| in_flight.push(content.to_vec()));
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(in_flight.take(1), Some(b"b".to_vec()));
        assert_eq!(in_flight.take(1), None);
        assert_eq!(in_flight.take(0), Some(b"a".to_vec()));
        assert_eq!(in_flight.push(b"d".to_vec()), 3);
        assert_eq!((in_flight.take(3), in_flight.take(9)), (Some(b"d".to_vec()), None));
        assert_eq!(in_flight.len(), 1);
        in_flight.copy(2);
        assert_eq!([2, 2, 2].map(|it| in_flight.take(it).is_some()), [true, true, false]);
    }
}
