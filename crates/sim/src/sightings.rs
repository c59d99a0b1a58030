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

/// The sightings so far, if they are wanted.
#[derive(Debug, Default)]
pub(crate) struct Sightings(Option<Vec<Sighting>>);

impl Sightings {
    /// Starts to keep them.
    pub(crate) fn begin(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// Notes a packet, if sightings are wanted.
    #[inline]
    pub(crate) fn note(&mut self, t: Time, point: Point, packet: &Packet) {
        if self.0.is_some() {
            self.keep(t, point, packet);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, t: Time, point: Point, packet: &Packet) {
        self.0.get_or_insert_default().push(Sighting { t, point, packet: *packet });
    }

    /// All of them, in the order of time.
    pub(crate) fn take(&mut self) -> Vec<Sighting> {
        let mut all = self.0.take().unwrap_or_default();
        // A steady link says early when a packet will have left it.
        all.sort_by_key(|sighting| sighting.t);
        all
    }
}
