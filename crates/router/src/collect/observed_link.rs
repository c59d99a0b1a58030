//! A link whose packets were captured, as it is reported to the probe.

use std::collections::VecDeque;
use std::sync::Arc;

use sojourn_aqm::{Backlog, Rate, Span, Stage, Time};
use sojourn_link::{Opportunities, Transmitter};
use sojourn_measure::{LinkProbe, PacketView, Probe};
use sojourn_record::rows::Fate;
use sojourn_scenario::resolved::{Capacity, Link};

use crate::captures::PacketRecord;

/// A link whose packets were captured.
///
/// When a packet has left the queue is known, not how it was sent. The link sends one after the
/// other at the rate of the scenario, so that packets which left a little early wait for each
/// other, and a link never carries more than its rate. [`Excess`] is how early they left.
pub(super) struct ObservedLink {
    /// Bytes that it adds to every packet.
    framing_bytes: u32,
    backlog: Backlog,
    sends: Sends,
    /// Of a link of one rate without a device below its queue.
    pub(super) excess: Option<Excess>,
}

/// How far departures run ahead of the rate: packets that leave the queue before those in front of
/// them can have been sent.
pub(super) struct Excess {
    transmitter: Transmitter,
    /// When all that has left the queue can have been sent.
    free: Time,
    /// The longest that a packet would have had to wait for that.
    pub(super) longest: Span,
    /// The transmission time of the largest packet.
    pub(super) packet: Span,
}

impl Excess {
    pub(super) fn new(link: &Link) -> Option<Excess> {
        let Capacity::Constant(rate) = &link.capacity else { return None };
        let bytes = link.mtu_bytes + link.framing_bytes;
        link.device.is_none().then(|| Excess {
            transmitter: Transmitter::new(*rate),
            free: Time::ZERO,
            longest: Span::ZERO,
            packet: rate.time_for(u64::from(bytes)),
        })
    }

    pub(super) fn departs(&mut self, at: Time, bytes: u32) {
        let start = self.free.max(at);
        self.longest = self.longest.max(start.since(at));
        self.free = start + self.transmitter.next(bytes);
    }
}

/// How it sends what has left the queue.
enum Sends {
    /// At rates.
    AtRates {
        transmitter: Transmitter,
        /// Rates from given times on, the next one last.
        rates: Vec<(Time, Rate)>,
        /// When packets left the queue that are still to be sent, and their bytes.
        left: VecDeque<(Time, u32)>,
        /// When the packet before has been sent.
        free: Time,
    },
    /// At recorded opportunities.
    Recorded {
        opportunities: Opportunities,
        /// Bytes that have left the queue and are still to be sent.
        left_bytes: u64,
    },
}

impl ObservedLink {
    /// The link before the first packet.
    pub(super) fn new(link: &Link) -> ObservedLink {
        let sends = match &link.capacity {
            Capacity::Trace(trace) => Sends::Recorded {
                opportunities: Opportunities::new(Arc::clone(trace)),
                left_bytes: 0,
            },
            Capacity::Schedule(steps) => Sends::at_rates(steps.clone()),
            other => Sends::at_rates(vec![(Time::ZERO, other.initial_rate())]),
        };
        ObservedLink {
            framing_bytes: link.framing_bytes,
            backlog: Backlog::EMPTY,
            sends,
            excess: Excess::new(link),
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

    /// Reports what it sends before `at`; nothing leaves the queue earlier any more.
    pub(super) fn carry(&mut self, at: Time, probe: &mut Probe, index: usize) {
        match &mut self.sends {
            Sends::AtRates { transmitter, rates, left, free } => {
                while let Some(&(since, bytes)) = left.front()
                    && since.max(*free) < at
                {
                    left.pop_front();
                    let start = since.max(*free);
                    while let Some((_, rate)) = rates.pop_if(|(from, _)| *from <= start) {
                        *transmitter = Transmitter::new(rate);
                    }
                    let span = transmitter.next(bytes);
                    probe.at_link::<true>(start, index).busy(bytes, span);
                    *free = start + span;
                }
            }
            Sends::Recorded { opportunities, left_bytes } => {
                while opportunities.next() < at {
                    let carried = (*left_bytes).min(u64::from(opportunities.bytes()));
                    *left_bytes -= carried;
                    probe.at_link::<true>(opportunities.next(), index).carried(carried as u32);
                    opportunities.advance();
                }
            }
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
        at: Time,
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
                if let Some(excess) = &mut self.excess {
                    excess.departs(at, packet.bytes);
                }
                match &mut self.sends {
                    Sends::AtRates { left, .. } => left.push_back((at, packet.bytes)),
                    Sends::Recorded { left_bytes, .. } => *left_bytes += u64::from(packet.bytes),
                }
            }
            Fate::Waiting => {}
        }
    }
}

impl Sends {
    /// At rates from given times on; the first is that of time zero.
    fn at_rates(mut rates: Vec<(Time, Rate)>) -> Sends {
        rates.reverse();
        let (_, first) = rates.pop().expect("there is a first rate");
        let (transmitter, left, free) = (Transmitter::new(first), VecDeque::new(), Time::ZERO);
        Sends::AtRates { transmitter, rates, left, free }
    }
}
