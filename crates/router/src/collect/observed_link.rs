//! A link whose packets were captured, as it is reported to the probe.

use sojourn_aqm::{Backlog, Rate, Stage, Time};
use sojourn_link::Transmitter;
use sojourn_measure::{LinkProbe, PacketView};
use sojourn_record::rows::Fate;
use sojourn_scenario::resolved::{Capacity, Link};

use crate::captures::PacketRecord;

/// A link whose packets were captured.
pub(super) struct ObservedLink {
    /// Bytes that it adds to every packet.
    framing_bytes: u32,
    backlog: Backlog,
    /// Whether it sends at recorded opportunities.
    is_recorded: bool,
    transmitter: Transmitter,
    /// Rates from given times on, the next one last.
    rates: Vec<(Time, Rate)>,
}

impl ObservedLink {
    /// The link before the first packet.
    pub(super) fn new(link: &Link) -> ObservedLink {
        let mut rates = match &link.capacity {
            Capacity::Schedule(steps) => steps.clone(),
            other => vec![(Time::ZERO, other.initial_rate())],
        };
        rates.reverse();
        let (_, first) = rates.pop().expect("there is a first rate");
        ObservedLink {
            framing_bytes: link.framing_bytes,
            backlog: Backlog::EMPTY,
            is_recorded: matches!(link.capacity, Capacity::Trace(_)),
            transmitter: Transmitter::new(first),
            rates,
        }
    }

    /// Bytes that it adds to every packet.
    pub(super) fn framing_bytes(&self) -> u32 {
        self.framing_bytes
    }

    /// The packets that wait.
    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Changes of its rate until `at`.
    pub(super) fn advance(&mut self, at: Time) {
        while let Some((_, rate)) = self.rates.pop_if(|(from, _)| *from <= at) {
            self.transmitter = Transmitter::new(rate);
        }
    }

    /// A packet arrives. A mark on arrival is reported now, one at the head when the packet leaves.
    pub(super) fn arrives(
        &mut self,
        at: Time,
        record: &PacketRecord,
        packet: &mut PacketView,
        observer: &mut LinkProbe<'_, true>,
    ) {
        observer.arrived();
        if let Some((Stage::Enqueue, cause)) = record.marked {
            observer.marked(packet, at, Stage::Enqueue, cause);
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.bytes);
    }

    /// The transmission of a packet begins, or it is dropped.
    pub(super) fn leaves(
        &mut self,
        record: &PacketRecord,
        mut packet: PacketView,
        observer: &mut LinkProbe<'_, true>,
    ) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.bytes);
        if let Some((stage, cause)) = record.marked.filter(|&(stage, _)| stage != Stage::Enqueue) {
            observer.marked(&mut packet, record.arrived, stage, cause);
        }
        match record.fate {
            Fate::Dropped(stage, cause) => observer.dropped(&packet, record.arrived, stage, cause),
            Fate::Sent => {
                observer.departed(&packet, record.arrived);
                if self.is_recorded {
                    // All its bytes count now, though the last may need a later opportunity.
                    observer.carried(packet.bytes);
                } else {
                    observer.busy(self.transmitter.next(packet.bytes));
                }
            }
            Fate::Waiting => {}
        }
    }
}
