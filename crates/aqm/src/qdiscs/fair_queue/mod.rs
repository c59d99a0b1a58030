//! fq: one queue per flow, served in rounds by bytes, each flow paced to its rate or to the
//! departure times of its packets; since Linux 6.12 in three bands that share by weight.
//!
//! Source: Linux 7.2.13 `sch_fq.c`; parameter `kernel` chooses an older one (facts qdisc-23
//! and qdisc-24).
//!
//! Deviations from Linux:
//! - A socket has one flow as long as it exists; Linux resets the flow when the socket's memory is
//!   reused.
//! - `timer_slack` is always used in full; a kernel with other timers may wake earlier.
//! - `offload_horizon`, for devices that pace, does not exist.

mod flow;
mod params;
mod rounds;
mod serving;
mod table;
mod throttled;
mod trees;

use alloc::boxed::Box;
use alloc::vec::Vec;

pub use params::{FairQueueParams, FqKernel};

use crate::effective::Effective;
use crate::law::{Cause, Env, Stage, Var};
use crate::packet::{Backlog, Packet};
use crate::params::{Bytes, Quantity as _};
use crate::qdisc::{Departure, Qdisc, Scheme, Sink};
use crate::qdiscs::queues::pool::Pool;
use crate::qdiscs::queues::total::Total;
use crate::rng::{Rng, splitmix};
use crate::time::{Span, Time};
use crate::units::Limit;
use flow::{FlowPackets, State};
use params::BANDS;
use rounds::{Age, Rounds};
use table::{FlowTable, Forgetting};
use throttled::Throttled;

/// fq, as registered.
pub struct FairQueue;

const VARS: &[Var] = &[
    Var { name: "flows", unit: "1", doc: "Flows in the table" },
    Var { name: "inactive_flows", unit: "1", doc: "Flows without packets" },
    Var { name: "throttled_flows", unit: "1", doc: "Flows that wait for their time" },
];

const NANOS_PER_SEC: u64 = 1_000_000_000;
/// Linux uapi pkt_sched.h, `TC_PRIO_CONTROL`.
const CONTROL: u8 = 7;
/// Maximum number of queued packets that bypass the flows (Linux 7.2 sch_fq.c, fq_fastpath_check).
const MOST_PASSING: u32 = 8;

impl Scheme for FairQueue {
    type Params = FairQueueParams;
    const NAME: &'static str = "fq";
    const DOC: &'static str = "Fair queueing with pacing per flow, in three bands (Linux sch_fq.c)";
    const VARS: &'static [Var] = VARS;

    fn build<P: Packet + Send + 'static>(p: &FairQueueParams, env: &Env) -> Box<dyn Qdisc<P>> {
        Box::new(Queues::<P>::new(p, env))
    }

    fn effective(p: &FairQueueParams, env: &Env) -> Vec<Effective> {
        let mtus = |set: Option<Bytes>, name, count| {
            let bytes = Bytes(count * u64::from(env.mtu_bytes));
            set.is_none().then(|| Effective::filled(name, bytes.show()))
        };
        let quantum = mtus(p.quantum.0, "quantum", 2);
        quantum.into_iter().chain(mtus(p.initial_quantum.0, "initial_quantum", 10)).collect()
    }
}

/// The discipline.
#[derive(Debug)]
struct Queues<P> {
    table: FlowTable,
    pool: Pool<P>,
    rounds: Rounds,
    throttled: Throttled,
    /// Packets that bypass the flows (`internal` of Linux).
    passing: FlowPackets,
    total: Total,
    /// The backlog of each band, without packets that bypass the flows.
    of_bands: [Total; BANDS],
    params: FairQueueParams,
    band_of: [u8; 16],
    quantum: i64,
    initial_quantum: i64,
    refill_jiffies: u64,
    salt: u64,
}

impl<P: Packet> Queues<P> {
    fn new(p: &FairQueueParams, env: &Env) -> Self {
        let mtu = i64::from(env.mtu_bytes);
        let bytes = |set: Option<Bytes>, mtus: i64| set.map_or(mtus * mtu, |set| set.0 as i64);
        let is_old = p.kernel == FqKernel::Linux5_10;
        let most = if p.kernel == FqKernel::Linux7_2 { usize::MAX } else { 8 };
        let forgetting = Forgetting { most, only_if_crowded: is_old, hz: p.hz };
        Queues {
            table: FlowTable::new(p.buckets as usize, forgetting),
            pool: Pool::new(),
            rounds: Rounds::new(p.weights().map(|weight| weight.0), !is_old),
            throttled: Throttled::default(),
            passing: FlowPackets::default(),
            total: Total::default(),
            of_bands: [Total::default(); BANDS],
            params: p.clone(),
            band_of: p.bands_of_priorities().expect("the parameters have been checked"),
            quantum: bytes(p.quantum.0, 2),
            initial_quantum: bytes(p.initial_quantum.0, 10),
            refill_jiffies: in_jiffies(p.refill_delay, p.hz, NANOS_PER_SEC - 1),
            salt: env.salt,
        }
    }

    fn has_bands(&self) -> bool {
        self.params.kernel != FqKernel::Linux5_10
    }

    fn jiffies(&self, now: Time) -> u64 {
        in_jiffies(now.since(Time::ZERO), self.params.hz, 0)
    }

    /// The key of a packet's flow: its socket, or some bits of its hash (Linux sch_fq.c,
    /// fq_classify). Sockets sort above hashes, as pointers do.
    fn key_of(&self, packet: &P) -> u64 {
        let hash = || splitmix(packet.sender_hash() ^ self.salt) >> 32 & self.params.orphan_mask;
        packet.socket().map_or_else(|| hash() << 1 | 1, |socket| 1 << 63 | socket << 1)
    }

    /// The band of a packet.
    fn band(&self, packet: &P) -> usize {
        usize::from(self.band_of[usize::from(packet.priority() & 15)])
    }

    /// When a packet may leave.
    fn due_of(horizon: Span, departure: &Departure<P>) -> Time {
        let enqueued = departure.enqueued;
        departure.packet.departure().map_or(enqueued, |at| at.min(enqueued + horizon))
    }

    /// Whether a packet may bypass its flow's turn (Linux 7.2 sch_fq.c, fq_fastpath_check; in Linux
    /// 6.1, fq_classify).
    fn passes(&self, now: Time, packet: &P, due: Time) -> bool {
        if !self.has_bands() {
            return packet.priority() == CONTROL;
        }
        let is_ready = |at: Time| at <= now;
        let idle = self.table.inactive + self.throttled.count;
        let is_free = self.table.count == idle
            && self.passing.count() < MOST_PASSING
            && !self.throttled.earliest.is_some_and(is_ready);
        let is_paced = self.params.maxrate.0.is_some() || packet.pacing_rate().is_some();
        is_ready(due) && !is_paced && (self.total.packets == 0 || is_free)
    }

    /// The reason to drop an arrival before its flow is looked up.
    fn refuses(&self, now: Time, packet: &P, band: usize) -> Option<Cause> {
        let total = if self.has_bands() { &self.of_bands[band] } else { &self.total };
        if total.is_full_for(packet.bytes(), self.params.limit) {
            return Some(Cause::Overflow);
        }
        let latest = now + self.params.horizon;
        let is_beyond = packet.departure().is_some_and(|departure| departure > latest);
        (is_beyond && self.params.horizon_drop).then_some(Cause::Horizon)
    }

    /// Adds a packet to its flow; returns the cause of a drop if there is no room.
    fn join(&mut self, now: Time, packet: P, due: Time, band: u8) -> Result<(), P> {
        let jiffies = self.jiffies(now);
        let key = self.key_of(&packet);
        let index = self.table.find_or_add(key, jiffies, self.initial_quantum);
        let count = self.table.flow(index).packets.count();
        if u64::from(count) >= self.params.flow_limit {
            return Err(packet);
        }
        self.list(index, jiffies);
        if self.has_bands() && count == 0 {
            self.table.inactive -= 1;
        }
        self.of_bands[usize::from(band)].add(packet.bytes());
        let has_departure = packet.departure().is_some();
        let flow = self.table.flow(index);
        flow.band = band;
        Self::push(&mut self.pool, &mut flow.packets, now, packet, due, self.params.horizon);
        self.advance(index, now, due, has_departure);
        Ok(())
    }

    /// Makes a detached flow a new one, in the band of its last packet; after a pause it may send a
    /// quantum, unless it is in debt (a negative number is a large `u32` in fq_enqueue).
    fn list(&mut self, index: u32, jiffies: u64) {
        let State::Detached { since } = self.table.flow(index).state else { return };
        self.rounds.append(&mut self.table.flows, index, Age::New);
        if !self.has_bands() {
            self.table.inactive -= 1;
        }
        let (refill, quantum) = (self.refill_jiffies, self.quantum);
        let flow = self.table.flow(index);
        flow.state = State::Listed;
        if jiffies > since.saturating_add(refill) && flow.credits >= 0 {
            flow.credits = flow.credits.max(quantum);
        }
    }

    /// Appends a packet to a flow (Linux sch_fq.c, flow_queue_add).
    fn push(
        pool: &mut Pool<P>,
        to: &mut FlowPackets,
        now: Time,
        packet: P,
        due: Time,
        horizon: Span,
    ) {
        let last = pool.tail(&to.in_order).map(|last| Self::due_of(horizon, last));
        match last.is_none_or(|last| due >= last) {
            true => pool.push(&mut to.in_order, now, packet),
            false => {
                let due_of = |departure: &Departure<P>| Self::due_of(horizon, departure);
                pool.insert_by(&mut to.late, now, packet, due_of);
            }
        }
    }

    /// If an arrival departs before its throttled flow's time, it wakes the flow at its departure
    /// time (Linux 7.2 sch_fq.c, fq_flow_adjust_timer).
    fn advance(&mut self, index: u32, now: Time, due: Time, has_departure: bool) {
        let flow = self.table.flow(index);
        let is_earlier = flow.next_send.is_some_and(|next| due < next) && has_departure;
        let applies = self.params.kernel == FqKernel::Linux7_2 && self.params.maxrate.0.is_none();
        if !is_earlier || !applies || !matches!(flow.state, State::Throttled { .. }) {
            return;
        }
        let was_first = self.throttled.earliest == flow.next_send;
        flow.next_send = Some(due);
        self.throttled.leave();
        if due > now {
            flow.state = State::Throttled { ticket: self.throttled.add(index, due) };
            return;
        }
        flow.state = State::Listed;
        self.rounds.append(&mut self.table.flows, index, Age::Old);
        if was_first {
            self.throttled.earliest = self.first_throttled().map(|(at, _)| at);
        }
    }

    fn first_throttled(&mut self) -> Option<(Time, u32)> {
        let flows = &self.table.flows;
        self.throttled
            .first(|index, ticket| flows[index as usize].state == State::Throttled { ticket })
    }
}

/// A span in jiffies, after adding these nanosecond jiffies.
fn in_jiffies(span: Span, hz: u64, more: u64) -> u64 {
    let scaled = u128::from(span.as_nanos()) * u128::from(hz) + u128::from(more);
    u64::try_from(scaled / u128::from(NANOS_PER_SEC)).unwrap_or(u64::MAX)
}

impl<P: Packet + Send> Qdisc<P> for Queues<P> {
    fn enqueue(&mut self, now: Time, packet: P, _: &mut Rng, sink: &mut dyn Sink<P>) {
        let (bytes, band) = (packet.bytes(), self.band(&packet));
        if let Some(cause) = self.refuses(now, &packet, band) {
            return sink.dropped(packet, now, Stage::Enqueue, cause);
        }
        let horizon = self.params.horizon;
        let due = packet.departure().map_or(now, |at| at.min(now + horizon));
        if self.passes(now, &packet, due) {
            Self::push(&mut self.pool, &mut self.passing, now, packet, due, horizon);
        } else if let Err(packet) = self.join(now, packet, due, band as u8) {
            return sink.dropped(packet, now, Stage::Enqueue, Cause::FlowLimit);
        }
        self.total.add(bytes);
    }

    fn dequeue(&mut self, now: Time, _: &mut Rng, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        if self.total.packets == 0 {
            return None;
        }
        if let Some(departure) = self.serve_passing() {
            return Some(departure);
        }
        self.release(now);
        self.serve(now, sink)
    }

    fn held_until(&self) -> Option<Time> {
        self.throttled.earliest.map(|earliest| earliest + self.params.timer_slack)
    }

    fn serves_while_held(&self) -> bool {
        true
    }

    fn on_limit(&mut self, limit: Limit) -> bool {
        self.params.limit = limit;
        true
    }

    fn backlog(&self) -> Backlog {
        self.total.backlog()
    }

    fn is_empty(&self) -> bool {
        self.total.packets == 0
    }

    fn notices_empty(&self) -> bool {
        false
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.table.count as f64;
        out[1] = self.table.inactive as f64;
        out[2] = self.throttled.count as f64;
    }
}

#[cfg(test)]
mod tests;
