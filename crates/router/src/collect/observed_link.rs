//! A link whose packets were captured, in the form reported to the probe.

use std::collections::VecDeque;
use std::sync::Arc;

use sojourn_aqm::{Backlog, Packing, Rate, Span, Stage, Time};
use sojourn_link::{Line, Opportunities};
use sojourn_measure::{LinkProbe, PacketView, Probe};
use sojourn_record::rows::Fate;
use sojourn_scenario::resolved::{Capacity, Link, Schedule};

use super::frames::Frame;
use crate::captures::PacketRecord;
use crate::planning::CREDITS_PER_BYTE;

/// A link whose packets were captured.
///
/// The capture shows when a packet left the queue, but not its transmission. We assume that the
/// link sends packets one after the other at the scenario's rate, so packets that left the queue
/// slightly early wait for each other, and the link never exceeds its rate. [`Excess`] records how
/// early they left.
pub(super) struct ObservedLink {
    /// Bytes of framing that it adds to every packet.
    framing_bytes: u32,
    packing: Packing,
    backlog: Backlog,
    sends: Sends,
    /// The early departures; `None` unless the link has rates.
    pub(super) excess: Option<Excess>,
}

/// How far departures run ahead of the rate: packets leave the queue before the link can have sent
/// the packets in front of them.
pub(super) struct Excess {
    largest_bytes: u64,
    /// How late a packet or a rate change may be.
    late: Span,
    /// The longest time that a packet would have had to wait for the link, if it exceeds the
    /// allowance.
    pub(super) longest: Span,
    /// Packets since the last one that did not leave early.
    early: u64,
}

impl Excess {
    /// The record before the first packet.
    fn new(largest_bytes: u64, late: Span) -> Excess {
        Excess { largest_bytes, late, longest: Span::ZERO, early: 0 }
    }

    /// Records that a packet left `ahead` of the time at which the link could have started to send
    /// it.
    fn note(&mut self, ahead: Span, rates: &RateSteps) {
        self.early = if ahead > Span::ZERO { self.early + 1 } else { 0 };
        if ahead > self.allowed(rates) {
            self.longest = self.longest.max(ahead);
        }
    }

    /// The allowance: two packets, the rounding error of the shaper for each packet that left early
    /// (fact linux-23), and the excess that the link may have sent before a rate reduction that
    /// came late.
    fn allowed(&self, &RateSteps { rate, before, .. }: &RateSteps) -> Span {
        let late_bytes = self.late.as_nanos() as u128 * u128::from(rate.max(before).as_bps());
        let late_bytes = late_bytes / (8 * 1_000_000_000);
        let early_bytes = 2 * self.largest_bytes + self.early / CREDITS_PER_BYTE;
        rate.min(before).time_for(early_bytes) + rate.time_for(late_bytes as u64)
    }
}

/// A schedule of rates.
struct RateSteps {
    line: Line,
    rate: Rate,
    /// The rate before this one.
    before: Rate,
    /// Later rates, the next one last.
    to_come: Vec<(Time, Rate)>,
}

impl RateSteps {
    /// A schedule without outages.
    fn new(schedule: &Schedule) -> RateSteps {
        let step = |&(at, rate): &(Time, Option<Rate>)| Some((at, rate?));
        let to_come = schedule.steps()[1..].iter().rev().filter_map(step).collect();
        let rate = schedule.first_rate();
        RateSteps { line: Line::from(schedule), rate, before: rate, to_come }
    }

    /// The transmission time of a packet that starts at `start`; starts must not decrease.
    fn send(&mut self, start: Time, bytes: u32) -> Span {
        while let Some((_, rate)) = self.to_come.pop_if(|(from, _)| *from <= start) {
            self.before = std::mem::replace(&mut self.rate, rate);
        }
        self.line.send(start, bytes).since(start)
    }
}

/// How the link sends the packets that have left the queue.
enum Sends {
    /// At rates.
    AtRates {
        rates: RateSteps,
        /// The packets that have left the queue: when each starts to be sent, its bytes, and its
        /// transmission time.
        left: VecDeque<(Time, u32, Span)>,
        /// When the last of them will have been sent.
        free: Time,
    },
    /// At recorded opportunities.
    Recorded {
        opportunities: Opportunities,
        /// Bytes that have left the queue but have not been sent.
        left_bytes: u64,
    },
    /// In frames of a wireless LAN.
    Wireless {
        /// Frames still to be sent.
        frames: VecDeque<Frame>,
    },
}

impl ObservedLink {
    /// The link before the first packet; `late` is how late a packet or a rate change may be.
    pub(super) fn new(link: &Link, late: Span) -> ObservedLink {
        let sends = match &link.capacity {
            Capacity::Trace(trace) => Sends::Recorded {
                opportunities: Opportunities::new(Arc::clone(trace)),
                left_bytes: 0,
            },
            Capacity::Schedule(schedule) => Sends::at_rates(schedule),
            Capacity::Wireless { .. } => Sends::Wireless { frames: VecDeque::new() },
            other => Sends::at_rates(&Schedule::of_rates([(Time::ZERO, other.initial_rate())])),
        };
        let has_rates = matches!(link.capacity, Capacity::Constant(_) | Capacity::Schedule(_));
        let largest_bytes = u64::from(link.largest_bytes() + link.framing_bytes);
        ObservedLink {
            framing_bytes: link.framing_bytes,
            packing: link.packing,
            backlog: Backlog::EMPTY,
            sends,
            excess: has_rates.then(|| Excess::new(largest_bytes, late)),
        }
    }

    /// Sets the frames that it sends, if it is a transmitter of a wireless LAN.
    pub(super) fn expect_frames(&mut self, expected: VecDeque<Frame>) {
        if let Sends::Wireless { frames } = &mut self.sends {
            *frames = expected;
        }
    }

    /// Bytes that a packet of `ip_bytes` takes on the link.
    pub(super) fn bytes_of(&self, ip_bytes: u16) -> u32 {
        self.packing.bytes(u64::from(ip_bytes) + u64::from(self.framing_bytes)) as u32
    }

    /// The queued packets.
    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Reports transmissions before `at`. No further packet may leave the queue before then.
    pub(super) fn carry(&mut self, at: Time, probe: &mut Probe, index: usize) {
        match &mut self.sends {
            Sends::AtRates { left, .. } => {
                while let Some(&(start, bytes, span)) = left.front()
                    && start < at
                {
                    left.pop_front();
                    probe.at_link::<true>(start, index).busy(bytes, 0, span);
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
            Sends::Wireless { frames } => {
                while let Some(frame) = frames.front()
                    && frame.end() < at
                {
                    frame.report(probe.at_link::<true>(frame.end(), index));
                    frames.pop_front();
                }
            }
        }
    }

    /// Handles an arrival. A mark on arrival is reported now, a mark at the head when the packet
    /// leaves.
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

    /// Handles the start of a packet's transmission, or its drop.
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
                self.departs(at, packet.bytes);
            }
            Fate::Waiting => {}
        }
    }

    /// Handles a packet's departure from the queue.
    pub(super) fn departs(&mut self, at: Time, bytes: u32) {
        match &mut self.sends {
            Sends::AtRates { rates, left, free } => {
                let start = at.max(*free);
                let span = rates.send(start, bytes);
                if let Some(excess) = &mut self.excess {
                    excess.note(start.since(at), rates);
                }
                left.push_back((start, bytes, span));
                *free = start + span;
            }
            Sends::Recorded { left_bytes, .. } => *left_bytes += u64::from(bytes),
            Sends::Wireless { .. } => {}
        }
    }
}

impl Sends {
    /// Sends at the rates of a schedule without outages.
    fn at_rates(schedule: &Schedule) -> Sends {
        let (rates, left, free) = (RateSteps::new(schedule), VecDeque::new(), Time::ZERO);
        Sends::AtRates { rates, left, free }
    }
}
