//! The places where captures are taken.

use sojourn_scenario::Resolved;
use sojourn_sim::capture::{Point, Sighting};

/// A place; each has a separate file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CapturePlace {
    /// The senders of all flows.
    Sender,
    /// The receivers of all flows.
    Receiver,
    /// In front of the queue of the link with this index.
    In(usize),
    /// Behind that link.
    Out(usize),
}

impl CapturePlace {
    /// Both ends of the flows, and both sides of each queue.
    pub(crate) fn all(plan: &Resolved) -> impl Iterator<Item = CapturePlace> {
        let links = (0..plan.links.len())
            .flat_map(|link| [CapturePlace::In(link), CapturePlace::Out(link)]);
        [CapturePlace::Sender, CapturePlace::Receiver].into_iter().chain(links)
    }

    /// Whether a packet of the simulator is captured at the place.
    pub(crate) fn sees(self, seen: &Sighting) -> bool {
        match (self, seen.point) {
            (CapturePlace::Sender, Point::Sent) | (CapturePlace::Receiver, Point::Received) => {
                !seen.packet.is_reverse()
            }
            (CapturePlace::Sender, Point::Received) | (CapturePlace::Receiver, Point::Sent) => {
                seen.packet.is_reverse()
            }
            (CapturePlace::In(link), Point::Arrived(at))
            | (CapturePlace::Out(link), Point::Left(at)) => link == at,
            _ => false,
        }
    }

    /// The name of its file.
    pub(crate) fn name(self, plan: &Resolved) -> String {
        match self {
            CapturePlace::Sender => "sender".to_owned(),
            CapturePlace::Receiver => "receiver".to_owned(),
            CapturePlace::In(link) => format!("{}-in", plan.links[link].name),
            CapturePlace::Out(link) => format!("{}-out", plan.links[link].name),
        }
    }

    /// A description of the place.
    pub(crate) fn about(self, plan: &Resolved) -> String {
        match self {
            CapturePlace::Sender => "what the senders of all flows send and receive".to_owned(),
            CapturePlace::Receiver => "what the receivers of all flows send and receive".to_owned(),
            CapturePlace::In(link) => {
                format!("packets arriving at the queue of link {}", plan.links[link].name)
            }
            CapturePlace::Out(link) => {
                format!("packets that link {} has sent", plan.links[link].name)
            }
        }
    }
}
