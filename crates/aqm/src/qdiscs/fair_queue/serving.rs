//! How fq takes packets out of its flows, and paces them.

use super::flow::{FlowPackets, State};
use super::params::bytes_per_sec;
use super::rounds::Age;
use super::{NANOS_PER_SEC, Queues};
use crate::law::{Cause, Stage};
use crate::packet::Packet;
use crate::qdisc::{Departure, Sink, mark};
use crate::qdiscs::queues::pool::Chain;
use crate::time::{Span, Time};

impl<P: Packet> Queues<P> {
    /// Moves flows whose time has come to the old flows (Linux sch_fq.c, fq_check_throttled).
    pub(super) fn release(&mut self, now: Time) {
        if self.throttled.earliest.is_none_or(|earliest| earliest > now) {
            return;
        }
        self.throttled.earliest = None;
        while let Some((at, index)) = self.first_throttled() {
            if at > now {
                self.throttled.earliest = Some(at);
                return;
            }
            self.throttled.take_first();
            self.table.flow(index).state = State::Listed;
            self.rounds.append(&mut self.table.flows, index, Age::Old);
        }
    }

    /// The next packet of a flow: whether it is one of the late ones, and when it is due (fq_peek).
    fn peek_flow(&mut self, packets: FlowPackets) -> Option<(bool, Time)> {
        let horizon = self.params.horizon;
        let mut due = |chain: &Chain| self.pool.head(chain).map(|d| Self::due_of(horizon, d));
        match (due(&packets.in_order), due(&packets.late)) {
            (Some(at), Some(late)) if late < at => Some((true, late)),
            (Some(at), _) => Some((false, at)),
            (None, late) => late.map(|late| (true, late)),
        }
    }

    fn pop(&mut self, packets: &mut FlowPackets, is_late: bool) -> Departure<P> {
        let chain = if is_late { &mut packets.late } else { &mut packets.in_order };
        let departure = self.pool.pop(chain).expect("it was peeked");
        self.total.remove(departure.packet.bytes());
        departure
    }

    /// The next packet that bypasses the flows.
    pub(super) fn serve_passing(&mut self) -> Option<Departure<P>> {
        let mut packets = self.passing;
        let (is_late, _) = self.peek_flow(packets)?;
        let departure = self.pop(&mut packets, is_late);
        self.passing = packets;
        Some(departure)
    }

    /// The next packet of the flows; `None` if no flow may send now (Linux sch_fq.c, fq_dequeue).
    pub(super) fn serve(&mut self, now: Time, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        loop {
            let (age, index) = self.rounds.next()?;
            if self.table.flow(index).credits <= 0 {
                self.table.flow(index).credits += self.quantum;
                self.rounds.remove_head(&self.table.flows, age);
                self.rounds.append(&mut self.table.flows, index, Age::Old);
                continue;
            }
            let packets = self.table.flow(index).packets;
            let Some((is_late, due)) = self.peek_flow(packets) else {
                self.retire(now, age, index);
                continue;
            };
            let flow = self.table.flow(index);
            let due = flow.next_send.map_or(due, |next| next.max(due));
            if now < due {
                flow.next_send = Some(due);
                self.rounds.remove_head(&self.table.flows, age);
                let ticket = self.throttled.add(index, due);
                self.table.flow(index).state = State::Throttled { ticket };
                continue;
            }
            return Some(self.take(index, is_late, now, due, sink));
        }
    }

    /// Takes a packet of a flow, marks it if it is late, and charges the flow for it.
    fn take(
        &mut self,
        index: u32,
        is_late: bool,
        now: Time,
        due: Time,
        sink: &mut dyn Sink<P>,
    ) -> Departure<P> {
        let mut packets = self.table.flow(index).packets;
        let mut departure = self.pop(&mut packets, is_late);
        self.table.flow(index).packets = packets;
        let Departure { packet, enqueued } = &mut departure;
        let is_above = |most: Span| now.since(due) > most;
        if packet.ecn().can_mark() && self.params.ce_threshold.0.is_some_and(is_above) {
            mark(packet, *enqueued, Stage::Dequeue, Cause::CeThreshold, sink);
        }
        let bytes = packet.bytes();
        // A packet keeps its DSCP while queued.
        self.of_bands[self.band(packet)].remove(bytes);
        if self.has_bands() {
            if packets.count() == 0 {
                self.table.inactive += 1;
            }
            self.rounds.charge(bytes);
        }
        self.table.flow(index).credits -= i64::from(bytes);
        if self.params.pacing {
            self.pace(index, now, &departure.packet);
        }
        departure
    }

    /// When the flow may send next. A packet with a departure time is paced only to `maxrate`.
    fn pace(&mut self, index: u32, now: Time, packet: &P) {
        let maxrate = self.params.maxrate.0.map(bytes_per_sec);
        let of_socket = packet.pacing_rate().map(bytes_per_sec);
        let mut rate = maxrate;
        let mut bytes = u64::from(packet.bytes());
        let threshold = bytes_per_sec(self.params.low_rate_threshold);
        let quantum = self.quantum as u64;
        let flow = self.table.flow(index);
        if packet.departure().is_none() {
            rate = [maxrate, of_socket].into_iter().flatten().min();
            if rate.is_some_and(|rate| rate <= threshold) {
                flow.credits = 0;
            } else {
                bytes = bytes.max(quantum);
                if flow.credits > 0 {
                    return;
                }
            }
        }
        let Some(rate) = rate else { return };
        let wait = bytes.saturating_mul(NANOS_PER_SEC) / rate.max(1);
        let wait = wait.min(NANOS_PER_SEC);
        // The packet left later than due: the next wait is shortened by that, at most by half.
        let late = flow.next_send.map_or(0, |next| now.since(next).as_nanos().min(wait / 2));
        flow.next_send = Some(now + Span::from_nanos(wait - late));
    }

    /// Handles a flow that was found empty. A new flow stays for one more round; before Linux 6.12,
    /// only if there are old flows.
    fn retire(&mut self, now: Time, age: Age, index: u32) {
        self.rounds.remove_head(&self.table.flows, age);
        if age == Age::New && (self.has_bands() || self.rounds.has_old()) {
            self.rounds.append(&mut self.table.flows, index, Age::Old);
            return;
        }
        self.table.flow(index).state = State::detached(self.jiffies(now));
        if !self.has_bands() {
            self.table.inactive += 1;
        }
    }
}
