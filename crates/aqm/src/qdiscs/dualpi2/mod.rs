//! DualPI2: a low-latency and a classic queue with coupled signals: p'^2 in the classic queue, the
//! larger of its own ramp and k p' in the other one.
//!
//! Source: RFC 9332 §2.4, §2.5.1 and Appendix A (pass 2) for `rfc9332`; Linux `sch_dualpi2.c` for
//! `linux`. This file has the code that both dialects share; `signals.rs` has their verdicts on
//! packets at the head.
//!
//! Where the RFC leaves a choice:
//! - Weighted round robin with the credits of Linux; the weight of 1/16 is an example of the RFC.
//! - Separate `recur` counters for each purpose; the RFC's low-latency queue has one for drops and
//!   marks together.
//! - The ramp uses the delay of the packet in hand; queue lengths exclude that packet.
//! - An arrival is accepted if an MTU fits (RFC); with a limit in packets, if fewer packets are
//!   queued.
//!
//! Under overload of both queues `rfc9332` leaves the link idle at times, whereas `linux` does not
//! (fact qdisc-14).
//!
//! Deviations from Linux: random numbers are floating-point, although the controller has Linux's
//! integers; packets are classified by ECN only; `l_min_len` is tested on departure, not on arrival
//! (no difference at its default of 0); packets are dropped at the head only (`drop_early` off); no
//! `memlimit`.

mod linux;
mod params;
mod protection;
mod signals;

use alloc::boxed::Box;
use alloc::vec::Vec;

pub use params::DualPi2Params;

use crate::effective::Effective;
use crate::law::{Cause, Env, Stage, Var, Verdict};
use crate::packet::{Backlog, Ecn, Head, Packet};
use crate::params::Hertz;
use crate::parts::periodic::Periodic;
use crate::qdisc::{Departure, Qdisc, Scheme, Sink, mark, split};
use crate::qdiscs::queues::packet_fifo::{PacketFifo, PacketQueue};
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;
use protection::Protection;
use signals::{Coupled, Place};

/// DualPI2, as registered.
pub struct DualPi2;

const VARS: &[Var] = &[
    Var {
        name: "drop_prob",
        unit: "1",
        doc: "p_C = p'^2: probability of a signal in the classic queue",
    },
    Var { name: "base_prob", unit: "1", doc: "p': output of the controller" },
    Var {
        name: "coupled_prob",
        unit: "1",
        doc: "k p', at most 1: marks that the other queue must make",
    },
    Var { name: "delay", unit: "s", doc: "The longer delay of the two queues at the last update" },
    Var { name: "l_packets", unit: "packets", doc: "Packets in the low-latency queue" },
    Var { name: "c_packets", unit: "packets", doc: "Packets in the classic queue" },
];

impl Scheme for DualPi2 {
    type Params = DualPi2Params;
    const NAME: &'static str = "dualpi2";
    const DOC: &'static str = "A low-latency and a classic queue with coupled signals (RFC 9332)";
    const VARS: &'static [Var] = VARS;

    fn build<P: Packet + Send + 'static>(params: &DualPi2Params, env: &Env) -> Box<dyn Qdisc<P>> {
        Box::new(DualQueue::<P>::new(params, env))
    }

    fn effective(p: &DualPi2Params, _env: &Env) -> Vec<Effective> {
        let kept = |gain: Hertz| if p.dialect == "linux" { linux::kept_gain(gain) } else { gain };
        alloc::vec![
            Effective::instead("alpha", p.alpha, kept(p.alpha), ""),
            Effective::instead("beta", p.beta, kept(p.beta), ""),
            Effective::filled("L4S marks from", p.l_min_th),
            Effective::filled("L4S marks all from", p.l_min_th + p.l_range),
        ]
    }
}

/// The discipline.
#[derive(Debug)]
struct DualQueue<P> {
    low: PacketFifo<P>,
    classic: PacketFifo<P>,
    signals: Coupled,
    timer: Periodic,
    limit: Limit,
    splits: bool,
    /// Room that an arrival must leave free.
    headroom: Option<u64>,
    scheduler: Scheduler,
    protection: Option<Box<Protection>>,
    /// The link's rate, if known.
    rate: Option<Rate>,
}

/// Weighted round robin between the two queues.
#[derive(Clone, Copy, Debug)]
struct Scheduler {
    /// If positive, the classic queue is next.
    credit: f64,
    at_rest: f64,
    /// Credits per byte: the classic queue earns them for departures from the other queue and pays
    /// for its own.
    c_share: f64,
    l_share: f64,
    /// Whether packets that are dropped at the head count as served.
    counts_drops: bool,
}

impl Scheduler {
    fn new(c_weight: f64, mtu_bytes: u32, is_linux: bool) -> Scheduler {
        // Linux sch_dualpi2.c, dualpi2_calculate_c_protection: whole percents, so credits that
        // should add up to zero do.
        let (c_share, whole) = match is_linux {
            true => (libm::round(c_weight * 1e8) / 1e6, 100.0),
            false => (c_weight, 1.0),
        };
        let l_share = whole - c_share;
        let at_rest = f64::from(mtu_bytes) * (c_share - l_share);
        // Linux sch_dualpi2.c, dualpi2_qdisc_dequeue: the credit changes after the verdict.
        Scheduler { credit: at_rest, at_rest, c_share, l_share, counts_drops: !is_linux }
    }

    /// Which queue to serve; at least one of them holds packets.
    fn place(&self, low_waits: bool, classic_waits: bool) -> Place {
        debug_assert!(low_waits || classic_waits, "packets wait");
        match low_waits && (!classic_waits || self.credit <= 0.0) {
            true => Place::Low,
            false => Place::Classic,
        }
    }

    /// A packet was taken while the other queue had a backlog.
    fn served(&mut self, place: Place, bytes: u32) {
        match place {
            Place::Low => self.credit += self.c_share * f64::from(bytes),
            Place::Classic => self.credit -= self.l_share * f64::from(bytes),
        }
    }
}

impl<P: Packet> DualQueue<P> {
    fn new(params: &DualPi2Params, env: &Env) -> Self {
        let is_rfc = params.dialect == "rfc9332";
        DualQueue {
            low: PacketFifo::default(),
            classic: PacketFifo::default(),
            signals: Coupled::new(params, env),
            timer: Periodic::new(params.tupdate),
            limit: params.limit,
            splits: params.split_gso,
            headroom: is_rfc.then_some(u64::from(env.mtu_bytes)),
            scheduler: Scheduler::new(params.c_weight, env.mtu_bytes, !is_rfc),
            protection: Protection::new(params, env).map(Box::new),
            rate: env.rate,
        }
    }

    /// RFC 9332 §2.3: ECT(1) and CE go to the low-latency queue, unless it is protected from their
    /// flow (RFC 9957 §4.2.1).
    fn place_of(&mut self, now: Time, packet: &P) -> Place {
        if matches!(packet.ecn(), Ecn::NotEct | Ecn::Ect0) {
            return Place::Classic;
        }
        let Some(protection) = &mut self.protection else { return Place::Low };
        let delay = match self.rate {
            Some(rate) => rate.time_for(self.low.bytes()),
            None => self.low.head().map_or(Span::ZERO, |it| now.since(it.enqueued)),
        };
        let arriving = (packet.flow(), packet.bytes());
        match protection.sanctions(now, arriving, delay, self.signals.ramp(delay)) {
            true => Place::Classic,
            false => Place::Low,
        }
    }

    fn total(&self) -> Backlog {
        let bytes = self.low.bytes() + self.classic.bytes();
        let packets = self.low.packets() + self.classic.packets();
        Backlog { packets, bytes, link_bytes: bytes }
    }

    fn is_full_for(&self, bytes: u32) -> bool {
        let total = self.total();
        match self.limit {
            Limit::Packets(n) => u64::from(total.packets) >= n,
            Limit::Bytes(n) => {
                let room = u64::from(bytes).max(self.headroom.unwrap_or(0));
                total.bytes + room > n
            }
        }
    }

    /// A packet of one segment, or a super-packet that stays whole, arrives.
    #[inline]
    fn offer(&mut self, now: Time, packet: P, sink: &mut dyn Sink<P>) {
        if self.is_full_for(packet.bytes()) {
            return sink.dropped(packet, now, Stage::Enqueue, Cause::Overflow);
        }
        let place = self.place_of(now, &packet);
        self.fifo(place).push(now, packet);
    }

    /// The queue to serve, and whether the other queue has a backlog.
    fn next(&mut self) -> Option<(Place, bool)> {
        let (low_waits, classic_waits) = (!self.low.is_empty(), !self.classic.is_empty());
        if !low_waits && !classic_waits {
            self.scheduler.credit = self.scheduler.at_rest;
            return None;
        }
        let place = self.scheduler.place(low_waits, classic_waits);
        let other_waits = match place {
            Place::Low => classic_waits,
            Place::Classic => low_waits,
        };
        Some((place, other_waits))
    }

    fn fifo(&mut self, place: Place) -> &mut PacketFifo<P> {
        match place {
            Place::Low => &mut self.low,
            Place::Classic => &mut self.classic,
        }
    }

    /// The backlog of both queues, and the packets in the low-latency queue, without the head of a
    /// queue.
    fn behind(&self, place: Place, head: Head) -> (Backlog, u32) {
        let Backlog { packets, bytes, .. } = self.total();
        let bytes = bytes - u64::from(head.bytes);
        let low = self.low.packets() - u32::from(place == Place::Low);
        (Backlog { packets: packets - 1, bytes, link_bytes: bytes }, low)
    }
}

impl<P: Packet + Send> Qdisc<P> for DualQueue<P> {
    fn enqueue(&mut self, now: Time, packet: P, _rng: &mut Rng, sink: &mut dyn Sink<P>) {
        match packet.segments() > 1 && self.splits {
            true => split(packet, sink, |segment, sink| self.offer(now, segment, sink)),
            false => self.offer(now, packet, sink),
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        while let Some((place, other_waits)) = self.next() {
            let Departure { packet, enqueued } = self.fifo(place).head().expect("it waits");
            let head = Head { bytes: packet.bytes(), ecn: packet.ecn(), enqueued: *enqueued };
            let (left, low) = self.behind(place, head);
            let verdict = self.signals.judge(place, now, head, left, low, rng);
            let counts = self.scheduler.counts_drops || !matches!(verdict, Verdict::Drop(_));
            if other_waits && counts {
                self.scheduler.served(place, head.bytes);
            }
            let fifo = self.fifo(place);
            if let (Verdict::Mark(cause), Some(first)) = (verdict, fifo.head()) {
                mark(&mut first.packet, first.enqueued, Stage::Dequeue, cause, sink);
            }
            let departure = fifo.pop_judged(head.bytes);
            match (verdict, departure) {
                (Verdict::Drop(cause), Some(Departure { packet, enqueued })) => {
                    sink.dropped(packet, enqueued, Stage::Dequeue, cause);
                }
                (_, departure) => return departure,
            }
        }
        None
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.timer.next())
    }

    fn on_timer(&mut self, now: Time) {
        let age =
            |fifo: &mut PacketFifo<P>| fifo.head().map_or(Span::ZERO, |it| now.since(it.enqueued));
        self.signals.update(age(&mut self.classic).max(age(&mut self.low)));
        // Linux sch_dualpi2.c, next_pi2_timeout: counted from the time at which the timer ran, not
        // from its due time.
        match self.signals.is_linux() {
            true => self.timer.restart(now),
            false => self.timer.advance(now),
        }
    }

    fn on_rate(&mut self, _now: Time, rate: Rate) {
        self.rate = Some(rate);
    }

    fn on_limit(&mut self, limit: Limit) -> bool {
        self.limit = limit;
        true
    }

    fn backlog(&self) -> Backlog {
        self.total()
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        out[..4].copy_from_slice(&self.signals.observe());
        out[4] = f64::from(self.low.packets());
        out[5] = f64::from(self.classic.packets());
    }
}

#[cfg(test)]
mod tests;
