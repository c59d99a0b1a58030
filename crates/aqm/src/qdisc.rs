//! The discipline: holds packets, and decides their order and which of them are evicted.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::effective::Effective;
use crate::law::{Cause, Env, Evidence, Stage, Var};
use crate::packet::{Backlog, Packet};
use crate::params::Params;
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;

/// Receives every dropped packet and every mark of a discipline.
///
/// ```
/// # use sojourn_aqm::{Ecn, Packet};
/// # struct Datagram;
/// # impl Packet for Datagram {
/// #     fn bytes(&self) -> u32 { 1200 }
/// #     fn ecn(&self) -> Ecn { Ecn::NotEct }
/// #     fn set_ce(&mut self) {}
/// #     fn flow(&self) -> u64 { 0 }
/// # }
/// use sojourn_aqm::{Cause, Env, Limit, QdiscSpec, Rng, Sink, Stage, Time, registry};
///
/// #[derive(Default)]
/// struct Overflows(u32);
///
/// impl Sink<Datagram> for Overflows {
///     fn dropped(&mut self, _: Datagram, _accepted: Time, stage: Stage, cause: Cause) {
///         assert_eq!((stage, cause), (Stage::Enqueue, Cause::Overflow));
///         self.0 += 1;
///     }
///     fn marked(&mut self, _: &mut Datagram, _accepted: Time, _: Stage, _: Cause) {}
/// }
///
/// let env = Env { limit: Limit::Packets(2), mtu_bytes: 1500, rate: None, salt: 0 };
/// let spec = QdiscSpec::parse("taildrop:limit=2p")?;
/// let mut queue = registry::build::<Datagram>(&spec, &env)?;
/// let (mut rng, mut overflows) = (Rng::stream(1, "queue", 0), Overflows::default());
/// for _ in 0..5 {
///     queue.enqueue(Time::ZERO, Datagram, &mut rng, &mut overflows);
/// }
/// assert_eq!(overflows.0, 3);
/// # Ok::<(), sojourn_aqm::SpecError>(())
/// ```
pub trait Sink<P> {
    /// `packet` is dropped. `enqueued` is when it was accepted (`now` if it was never accepted).
    fn dropped(&mut self, packet: P, enqueued: Time, stage: Stage, cause: Cause);
    /// `packet` was just marked CE and stays in the queue or is about to leave; the host may record
    /// the mark in it. `enqueued` is when it was accepted (now, if it is arriving).
    fn marked(&mut self, packet: &mut P, enqueued: Time, stage: Stage, cause: Cause);
    /// The discipline splits an arriving super-packet: that many packets arrive besides the first.
    fn split(&mut self, further: u32) {
        let _ = further;
    }
    /// Receives the state variables from before the decision that the next call reports. Called
    /// only by a discipline made by [`crate::registry::build_watched`].
    fn evidence(&mut self, evidence: Evidence<'_>) {
        let _ = evidence;
    }
}

/// A departing packet, with its arrival time.
// C field order keeps a packet's offset from a 16-byte boundary. Otherwise loads straddle stores,
// which costs 1 to 2 ns per packet that is served immediately.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Departure<P> {
    /// The packet, marked or not.
    pub packet: P,
    /// When it was accepted; the sojourn time is the difference to now.
    pub enqueued: Time,
}

/// A flow queue's position in the rounds of its discipline (RFC 8290 §4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The list that contains the queue.
    pub list: TurnList,
    /// Bytes that the queue may still send in this round; negative if it sent too much.
    pub credits: i64,
}

/// A list of flow queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TurnList {
    /// In neither list: it is not served.
    Inactive = 0,
    /// New: served first.
    New = 1,
    /// Old: served in rounds.
    Old = 2,
}

/// A queueing discipline. Object-safe: a host holds `Box<dyn Qdisc<P>>`.
///
/// Every packet offered leaves exactly once: as a departure or through [`Sink::dropped`].
///
/// A host runs timers before enqueues and dequeues at the same time:
///
/// ```
/// # use sojourn_aqm::{Ecn, Packet};
/// # struct Datagram;
/// # impl Packet for Datagram {
/// #     fn bytes(&self) -> u32 { 1200 }
/// #     fn ecn(&self) -> Ecn { Ecn::NotEct }
/// #     fn set_ce(&mut self) {}
/// #     fn flow(&self) -> u64 { 0 }
/// # }
/// # struct Ignore;
/// # impl Sink<Datagram> for Ignore {
/// #     fn dropped(&mut self, _: Datagram, _: Time, _: Stage, _: Cause) {}
/// #     fn marked(&mut self, _: &mut Datagram, _: Time, _: Stage, _: Cause) {}
/// # }
/// # use sojourn_aqm::{Cause, Sink, Stage};
/// use sojourn_aqm::{Env, Limit, QdiscSpec, Rate, Rng, Time, registry};
///
/// let rate = Some(Rate::from_bps(10_000_000));
/// let env = Env { limit: Limit::Packets(1000), mtu_bytes: 1500, rate, salt: 0 };
/// let mut pie = registry::build::<Datagram>(&QdiscSpec::parse("pie:target=5ms")?, &env)?;
/// let mut rng = Rng::stream(1, "queue", 0);
/// for millis in 0..100 {
///     let now = Time::from_nanos(millis * 1_000_000);
///     while let Some(due) = pie.next_timer().filter(|&due| due <= now) {
///         pie.on_timer(due);
///     }
///     pie.enqueue(now, Datagram, &mut rng, &mut Ignore);
///     if millis % 2 == 0 {
///         let left = pie.dequeue(now, &mut rng, &mut Ignore).expect("one waits");
///         assert!(left.enqueued <= now);
///     }
/// }
/// assert_eq!(pie.backlog().packets, 50, "PIE lets a burst pass for 150 ms");
/// # Ok::<(), sojourn_aqm::SpecError>(())
/// ```
pub trait Qdisc<P: Packet>: Send {
    /// A packet arrives: it is kept or dropped.
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>);
    /// Takes the next packet to send, if any. It may drop packets first.
    fn dequeue(&mut self, now: Time, rng: &mut Rng, sink: &mut dyn Sink<P>)
    -> Option<Departure<P>>;
    /// When [`Qdisc::on_timer`] is due. The time changes only in `on_timer`, and in `enqueue` on an
    /// empty queue.
    fn next_timer(&self) -> Option<Time> {
        None
    }
    /// The timer of [`Qdisc::next_timer`] is due.
    fn on_timer(&mut self, now: Time) {
        let _ = now;
    }
    /// When to call [`Qdisc::dequeue`] again if it returned `None` with a backlog. Only a
    /// discipline that shapes (CAKE with a rate) holds packets back.
    fn held_until(&self) -> Option<Time> {
        None
    }
    /// Whether a packet that arrives while others are held back may be served before them, so that
    /// a host must call `dequeue` again after each arrival.
    fn serves_while_held(&self) -> bool {
        false
    }
    /// The rate of the link has changed.
    fn on_rate(&mut self, now: Time, rate: Rate) {
        let _ = (now, rate);
    }
    /// Changes the limit. Queued packets stay until they leave or room is needed. Returns false,
    /// and changes nothing, if the discipline's limit is fixed. Thresholds that a law derived from
    /// the limit stay.
    fn on_limit(&mut self, limit: Limit) -> bool {
        let _ = limit;
        false
    }
    /// A station's packets used this much airtime of a wireless LAN, sent by this link or received
    /// from the station. Ignored except by disciplines that share airtime.
    fn on_airtime(&mut self, now: Time, station: usize, airtime: Span) {
        let _ = (now, station, airtime);
    }
    /// The number of the queue to which the flow of a packet is hashed, if each flow queue has a
    /// separate law.
    fn flow_queue(&self, packet: &P) -> Option<u32> {
        let _ = packet;
        None
    }
    /// The position of queue `number` in the rounds; `None` if it does not exist or
    /// [`Qdisc::flow_queue`] is `None`.
    fn turn(&self, queue: u32) -> Option<Turn> {
        let _ = queue;
        None
    }
    /// The size of the packet that the next [`Qdisc::dequeue`] returns; `None` if that call may
    /// drop or mark packets.
    fn peek(&self) -> Option<u32> {
        None
    }
    /// The current backlog.
    fn backlog(&self) -> Backlog;
    /// Whether the backlog is zero; faster than [`Qdisc::backlog`].
    fn is_empty(&self) -> bool {
        self.backlog().packets == 0
    }
    /// Whether [`Qdisc::dequeue`] on an empty queue may have an effect. If not, a host may skip it.
    fn notices_empty(&self) -> bool {
        true
    }
    /// Whether the queue is empty, and enqueue + dequeue of a packet of `bytes` would be a no-op. A
    /// host may then skip both.
    fn lets_through(&self, bytes: u32) -> bool {
        let _ = bytes;
        false
    }
    /// The state variables that [`Qdisc::observe`] writes.
    fn vars(&self) -> &'static [Var];
    /// Writes one value for each of [`Qdisc::vars`].
    fn observe(&self, out: &mut [f64]);
}

/// The registry entry of a discipline that is neither a law in one queue nor a law in flow queues.
/// The implementing type only carries the name; [`Scheme::build`] makes the discipline.
///
/// ```
/// use sojourn_aqm::qdiscs::sfq::Sfq;
/// use sojourn_aqm::{Scheme, params::Params};
///
/// fn describe<S: Scheme>() -> String {
///     let dialects: Vec<&str> = S::Params::DIALECTS.iter().map(|dialect| dialect.name).collect();
///     format!("{} ({})", S::NAME, dialects.join(", "))
/// }
///
/// assert!(describe::<Sfq>().starts_with("sfq ("));
/// ```
pub trait Scheme: 'static {
    /// Its parameters; `limit` is one of them.
    type Params: Params;
    /// Its name: `dualpi2`.
    const NAME: &'static str;
    /// A one-line description with the source.
    const DOC: &'static str;
    /// The state variables written by [`Qdisc::observe`].
    const VARS: &'static [Var];
    /// The discipline, empty, at time zero. `params` have passed [`Params::check`].
    fn build<P: Packet + Send + 'static>(params: &Self::Params, env: &Env) -> Box<dyn Qdisc<P>>;
    /// The values that the discipline uses instead of given parameters, or for open ones.
    fn effective(params: &Self::Params, env: &Env) -> Vec<Effective> {
        let _ = (params, env);
        Vec::new()
    }
}

/// Splits an arriving super-packet and passes each segment to `enqueue`.
#[cold]
pub fn split<P: Packet, S: Sink<P> + ?Sized>(
    mut packet: P,
    sink: &mut S,
    mut enqueue: impl FnMut(P, &mut S),
) {
    sink.split(packet.segments() - 1);
    while let Some(first) = packet.split_first() {
        enqueue(first, sink);
    }
    enqueue(packet, sink);
}

/// Sets CE on a packet that can be marked and reports it to the sink.
pub(crate) fn mark<P: Packet>(
    packet: &mut P,
    enqueued: Time,
    stage: Stage,
    cause: Cause,
    sink: &mut dyn Sink<P>,
) {
    debug_assert!(packet.ecn().can_mark(), "only what can be marked is marked");
    packet.set_ce();
    sink.marked(packet, enqueued, stage, cause);
}
