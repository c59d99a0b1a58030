//! Packets as they were seen at places of the path; see [`crate::capture`].

use sojourn_aqm::Time;

use crate::packet::Packet;

/// Where a packet was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// It leaves an end of its flow.
    Sent,
    /// It arrives at a link, by place, before its queue.
    Arrived(usize),
    /// It has left a link, by place: its last bit was sent.
    Left(usize),
    /// It reaches the other end of its flow.
    Received,
}

/// A packet at one place.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    /// When.
    pub t: Time,
    /// Where.
    pub point: Point,
    /// The packet as it was then.
    pub packet: Packet,
}

/// Which packets are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Wanted {
    /// None.
    #[default]
    Nothing,
    /// Those that arrive at one link, by place.
    ArrivalsAt(usize),
    /// All, at every place.
    Everything,
}

/// The sightings so far.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    wanted: Wanted,
    seen: Vec<Sighting>,
}

impl Sightings {
    /// Keeps from here on what is wanted.
    pub(crate) fn keep(&mut self, wanted: Wanted) {
        self.wanted = wanted;
    }

    /// Notes a packet, if it is wanted.
    #[inline]
    pub(crate) fn note(&mut self, t: Time, point: Point, packet: &Packet) {
        if self.wanted != Wanted::Nothing {
            self.push(t, point, packet);
        }
    }

    #[cold]
    #[inline(never)]
    fn push(&mut self, t: Time, point: Point, packet: &Packet) {
        let is_wanted = match self.wanted {
            Wanted::Nothing => false,
            Wanted::ArrivalsAt(link) => point == Point::Arrived(link),
            Wanted::Everything => true,
        };
        if is_wanted {
            self.seen.push(Sighting { t, point, packet: *packet });
        }
    }

    /// Whether there is none that was not taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Takes those so far, in the order of time.
    pub(crate) fn take(&mut self) -> Vec<Sighting> {
        let mut seen = std::mem::take(&mut self.seen);
        // A steady link says early when a packet will have left it.
        seen.sort_by_key(|sighting| sighting.t);
        seen
    }
}
