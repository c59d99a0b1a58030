//! A link whose packets were captured, as it is reported to the probe.

use sojourn_aqm::{Backlog, Departure, Rate, Sink, Stage, Time};
use sojourn_record::rows::Fate;
use sojourn_scenario::resolved::{Capacity, Link};
use sojourn_sim::link::Server;
use sojourn_sim::packet::Packet;
use sojourn_sim::probe::Ear as LinkObserver;
use sojourn_sim::serve::server;
use sojourn_sim::transmitter::Transmitter;

use crate::captures::PacketRecord;

/// A link whose packets were captured.
pub(super) struct ObservedLink {
    /// Bytes that it adds to every packet.
    framing_bytes: u32,
    backlog: Backlog,
    /// How it sends; used only to compute the utilisation.
    server: Server,
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
            server: server(link, 0),
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

    /// How it sends.
    pub(super) fn server(&self) -> &Server {
        &self.server
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
        packet: &mut Packet,
        observer: &mut LinkObserver<'_, true>,
    ) {
        observer.arrived(packet);
        if let Some((Stage::Enqueue, cause)) = record.marked {
            observer.marked(packet, at, Stage::Enqueue, cause);
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.link_bytes);
    }

    /// The transmission of a packet begins, or it is dropped.
    pub(super) fn leaves(
        &mut self,
        record: &PacketRecord,
        mut packet: Packet,
        observer: &mut LinkObserver<'_, true>,
    ) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.link_bytes);
        if let Some((stage, cause)) = record.marked.filter(|&(stage, _)| stage != Stage::Enqueue) {
            observer.marked(&mut packet, record.arrived, stage, cause);
        }
        match record.fate {
            Fate::Dropped(stage, cause) => observer.dropped(packet, record.arrived, stage, cause),
            Fate::Sent => {
                observer.departed(&Departure { packet, enqueued: record.arrived });
                match self.server {
                    // All its bytes count now, though the last may need a later opportunity.
                    Server::Recorded { .. } => observer.carried(packet.link_bytes),
                    _ => observer.busy(self.transmitter.next(packet.link_bytes)),
                }
            }
            Fate::Waiting => {}
        }
    }
}
