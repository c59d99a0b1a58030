//! A link whose packets were seen, as the probe hears of it.

use sojourn_aqm::{Backlog, Rate, Stage, Time};
use sojourn_link::Transmitter;
use sojourn_measure::{LinkProbe, PacketView};
use sojourn_record::rows::Fate;
use sojourn_scenario::resolved::{Capacity, Link};

use crate::seen::Story;

/// A link whose packets were seen.
pub struct PassedLink {
    /// Bytes that it adds to every packet.
    pub framing_bytes: u32,
    /// What waits.
    pub backlog: Backlog,
    /// Whether it sends at recorded opportunities.
    is_recorded: bool,
    transmitter: Transmitter,
    /// Rates from given times on, the next one last.
    rates: Vec<(Time, Rate)>,
}

impl PassedLink {
    /// Before the first packet.
    pub fn new(link: &Link) -> PassedLink {
        let mut rates = match &link.capacity {
            Capacity::Schedule(steps) => steps.clone(),
            other => vec![(Time::ZERO, other.initial_rate())],
        };
        rates.reverse();
        let (_, first) = rates.pop().expect("there is a first rate");
        PassedLink {
            framing_bytes: link.framing_bytes,
            backlog: Backlog::EMPTY,
            is_recorded: matches!(link.capacity, Capacity::Trace(_)),
            transmitter: Transmitter::new(first),
            rates,
        }
    }

    /// Changes of its rate until `at`.
    pub fn advance(&mut self, at: Time) {
        while let Some((_, rate)) = self.rates.pop_if(|(from, _)| *from <= at) {
            self.transmitter = Transmitter::new(rate);
        }
    }

    /// A packet comes. A mark on arrival is told now, one at the head when it leaves.
    pub fn arrives(
        &mut self,
        at: Time,
        story: &Story,
        packet: &mut PacketView,
        ear: &mut LinkProbe<'_, true>,
    ) {
        ear.arrived();
        if let Some((Stage::Enqueue, cause)) = story.marked {
            ear.marked(packet, at, Stage::Enqueue, cause);
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.bytes);
    }

    /// A packet begins to leave, or is dropped.
    pub fn leaves(&mut self, story: &Story, mut packet: PacketView, ear: &mut LinkProbe<'_, true>) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.bytes);
        if let Some((stage, cause)) = story.marked.filter(|&(stage, _)| stage != Stage::Enqueue) {
            ear.marked(&mut packet, story.arrived, stage, cause);
        }
        match story.fate {
            Fate::Dropped(stage, cause) => ear.dropped(&packet, story.arrived, stage, cause),
            Fate::Sent => {
                ear.departed(&packet, story.arrived);
                match self.is_recorded {
                    // All of it now, though its last bytes may be for a later opportunity.
                    true => ear.carried(packet.bytes),
                    false => ear.busy(self.transmitter.next(packet.bytes)),
                }
            }
            Fate::Waiting => {}
        }
    }
}
