//! Packets as seen at capture points of the path; see [`crate::capture`].

use sojourn_aqm::{Packet as _, Time};

use crate::packet::Packet;

/// Where a packet was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// Leaving one end of its flow.
    Sent,
    /// Arriving at the link with this index, before its queue.
    Arrived(usize),
    /// After the link with this index has sent its last bit.
    Left(usize),
    /// Reaching the other end of its flow.
    Received,
}

/// A packet at one capture point.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    /// When it was seen.
    pub t: Time,
    /// Where it was seen.
    pub point: Point,
    /// The packet at that time.
    pub packet: Packet,
}

/// The packets to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Wanted {
    /// No packets.
    #[default]
    Nothing,
    /// Packets that arrive at the link with this index.
    ArrivalsAt(usize),
    /// All packets, at every point.
    Everything,
}

/// The sightings so far.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    wanted: Wanted,
    seen: Vec<Sighting>,
}

impl Sightings {
    /// Keeps wanted packets from now on.
    pub(crate) fn keep(&mut self, wanted: Wanted) {
        self.wanted = wanted;
    }

    /// Records a packet, if it is wanted.
    #[inline]
    pub(crate) fn note(&mut self, t: Time, point: Point, packet: &Packet) {
        if self.wanted != Wanted::Nothing {
            self.push(t, point, packet);
        }
    }

    #[cold]
    #[inline(never)]
    fn push(&mut self, t: Time, point: Point, packet: &Packet) {
        let mut packet = *packet;
        match self.wanted {
            Wanted::Nothing => return,
            Wanted::ArrivalsAt(link) if point != Point::Arrived(link) => return,
            Wanted::ArrivalsAt(_) => {}
            // A capture has segments.
            Wanted::Everything => {
                while let Some(first) = packet.split_first() {
                    self.seen.push(Sighting { t, point, packet: first });
                }
            }
        }
        self.seen.push(Sighting { t, point, packet });
    }

    /// Whether all sightings have been taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Takes the sightings so far, ordered by time.
    pub(crate) fn take(&mut self) -> Vec<Sighting> {
        let mut seen = std::mem::take(&mut self.seen);
        // A steady link reports departures ahead of time.
        seen.sort_by_key(|sighting| sighting.t);
        seen
    }
}
