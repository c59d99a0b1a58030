//! The law: *when* to signal. It decides about one queue and never holds a packet.
//!
//! A law is called once per packet and answers pass, mark or drop. After a drop at the head it is
//! called again for the next head, so the caller contains RFC 8289's dequeue loop. The tests
//! compare the law with a literal transcription of that loop. A [`Backlog`] never contains the
//! packet being handled, as in all sources of CoDel, PIE, PI2 and RED. It also gives the bytes
//! queued for the whole link, which RFC 8289 §4.4 compares with the MTU. A scheme (SFQ, CAKE) is
//! law and queues.
// tidy: allow(length): the one table of causes

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::effective::Effective;
use crate::packet::{Backlog, Head};
use crate::params::{Params, StepTable};
use crate::parts::periodic::Periodic;
use crate::rng::Rng;
use crate::time::{Rate, Time};
use crate::units::Limit;

/// The decision about the packet in hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Let the packet pass unchanged.
    Pass,
    /// Mark CE and forward; only if [`crate::Ecn::can_mark`] holds.
    Mark(Cause),
    /// Drop the packet.
    Drop(Cause),
}

impl Verdict {
    /// The congestion signal: a mark if `mark`, else a drop.
    pub const fn signal(mark: bool, cause: Cause) -> Verdict {
        if mark { Verdict::Mark(cause) } else { Verdict::Drop(cause) }
    }

    /// The verdict as a number, for languages without our types: 0 means pass. Otherwise the upper
    /// four bits say that the packet is marked (1) or dropped (2), the lower four its [`Cause`].
    #[inline]
    pub const fn code(self) -> u32 {
        match self {
            Verdict::Pass => 0,
            Verdict::Mark(cause) => 0x10 | cause as u32,
            Verdict::Drop(cause) => 0x20 | cause as u32,
        }
    }

    /// Inverse of [`Verdict::code`].
    #[inline]
    pub fn of_code(code: u32) -> Option<Verdict> {
        if code == 0 {
            return Some(Verdict::Pass);
        }
        let cause = *Cause::ALL.get((code & 0xf) as usize)?;
        match code >> 4 {
            1 => Some(Verdict::Mark(cause)),
            2 => Some(Verdict::Drop(cause)),
            _ => None,
        }
    }
}

/// Why a packet was dropped or marked. Tables show the [`CauseClass`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// No room.
    Overflow,
    /// A draw against a probability.
    Random,
    /// Any other deterministic rule, such as a thinned probability.
    Deterministic,
    /// The schedule of CoDel or COBALT: sojourn times stay above the target.
    Target,
    /// A step: the sojourn time or the backlog is above the threshold for immediate marking.
    CeThreshold,
    /// RED: the average exceeds its maximum threshold.
    Forced,
    /// DualPI2 in overload: a drop from the low-latency queue, or of an ECN-capable packet.
    Overload,
    /// DualPI2 in overload: a random drop of an ECN-capable packet (Linux).
    RandomOverload,
    /// MADPIE's flag: the delay at an update was above the bound.
    DelayBound,
    /// SFB: the flow's bins are too full.
    BinOverflow,
    /// SFB: the rate limit of unresponsive flows.
    Penalty,
    /// CHOKe: a queued packet drawn at random belonged to the same flow.
    Match,
    /// The policer in front of the queue lacked tokens.
    Policed,
    /// fq: the flow already holds its maximum number of packets.
    FlowLimit,
    /// fq: the departure time lies too far ahead.
    Horizon,
}

/// The kind of rule behind a [`Cause`]: a word in tables and a code in digests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CauseClass {
    /// No room.
    Overflow,
    /// A random draw.
    Random,
    /// A deterministic rule.
    Deterministic,
    /// The policer in front of the queue.
    Policed,
}

/// Where a packet was dropped or marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Stage {
    /// On arrival.
    Enqueue,
    /// Evicted from the queue.
    Queued,
    /// At the head, about to leave.
    Dequeue,
}

impl Cause {
    /// Every cause, in the order of their numbers.
    pub const ALL: [Cause; 15] = [
        Cause::Overflow,
        Cause::Random,
        Cause::Deterministic,
        Cause::Target,
        Cause::CeThreshold,
        Cause::Forced,
        Cause::Overload,
        Cause::RandomOverload,
        Cause::DelayBound,
        Cause::BinOverflow,
        Cause::Penalty,
        Cause::Match,
        Cause::Policed,
        Cause::FlowLimit,
        Cause::Horizon,
    ];

    /// The kind of rule.
    pub const fn class(self) -> CauseClass {
        match self {
            Cause::Overflow | Cause::FlowLimit => CauseClass::Overflow,
            Cause::Random | Cause::RandomOverload | Cause::Match => CauseClass::Random,
            Cause::Deterministic
            | Cause::Target
            | Cause::CeThreshold
            | Cause::Forced
            | Cause::Overload
            | Cause::DelayBound
            | Cause::BinOverflow
            | Cause::Penalty
            | Cause::Horizon => CauseClass::Deterministic,
            Cause::Policed => CauseClass::Policed,
        }
    }
}

impl CauseClass {
    /// The word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            CauseClass::Overflow => "overflow",
            CauseClass::Random => "random",
            CauseClass::Deterministic => "deterministic",
            CauseClass::Policed => "policed",
        }
    }
}

impl Stage {
    /// The word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Stage::Enqueue => "enqueue",
            Stage::Queued => "queued",
            Stage::Dequeue => "dequeue",
        }
    }
}

/// A state variable that a law or a discipline exports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Var {
    /// Name in tables, such as `drop_prob`.
    pub name: &'static str,
    /// Unit: `1` for pure numbers, `s`, `bytes`, `packets`, `bytes/s`.
    pub unit: &'static str,
    /// One line.
    pub doc: &'static str,
}

/// The state variables before a decision.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The variables.
    pub vars: &'static [Var],
    /// One value for each.
    pub values: &'a [f64],
}

/// The environment in which a law is constructed.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// Limit of the discipline's backlog.
    pub limit: Limit,
    /// Largest packet, as the link counts it; in Linux dialects the device's (`psched_mtu`).
    pub mtu_bytes: u32,
    /// Initial rate of the link, if known.
    pub rate: Option<Rate>,
    /// Salt for flow hashing.
    pub salt: u64,
}

/// A law of active queue management. By default, every hook does nothing.
///
/// The host (a discipline) calls the hooks in chronological order, and within one instant in the
/// order of the events. Backlogs do not contain the packet in hand.
///
/// A law that drops arrivals behind the third queued packet:
///
/// ```
/// use sojourn_aqm::{Aqm, Backlog, Cause, Ecn, Head, Rng, Time, Verdict};
///
/// struct Three;
///
/// impl Aqm for Three {
///     fn on_enqueue(&mut self, _: Time, _: Head, queue: Backlog, _: &mut Rng) -> Verdict {
///         if queue.packets < 3 { Verdict::Pass } else { Verdict::Drop(Cause::Deterministic) }
///     }
/// }
///
/// let (now, mut rng) = (Time::ZERO, Rng::stream(1, "queue", 0));
/// let head = Head { bytes: 1500, ecn: Ecn::NotEct, enqueued: now };
/// let queue = |packets| Backlog { packets, bytes: 4500, link_bytes: 4500 };
/// assert_eq!(Three.on_enqueue(now, head, queue(2), &mut rng), Verdict::Pass);
/// assert_eq!(
///     Three.on_enqueue(now, head, queue(3), &mut rng),
///     Verdict::Drop(Cause::Deterministic)
/// );
/// ```
pub trait Aqm: Send {
    /// Whether the discipline tests its limit before it calls [`Aqm::on_enqueue`] (PIE and most
    /// others) or after that call (RED, whose average includes every arrival).
    fn is_limit_first(&self) -> bool {
        true
    }

    /// A packet arrives.
    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let _ = (now, head, queue, rng);
        Verdict::Pass
    }

    /// An arrival was dropped for lack of room.
    fn on_overflow(&mut self, now: Time, queue: Backlog) {
        let _ = (now, queue);
    }

    /// A queued packet was evicted from the head to make room; most laws treat it as an overflow.
    fn on_eviction(&mut self, now: Time, queue: Backlog) {
        self.on_overflow(now, queue);
    }

    /// A packet is at the head and about to leave. After [`Verdict::Drop`] the discipline asks
    /// again for the next head within the same call, at the same `now`; after `Drop` of the last
    /// packet it calls [`Aqm::on_empty`].
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let _ = (now, head, queue, rng);
        Verdict::Pass
    }

    /// The link asked for a packet and the queue was empty, possibly after drops at the head. With
    /// several queues, the hook is called for the queue whose turn it was. If the law drops the
    /// only packet of an unlisted queue, the hook is called at that time.
    fn on_empty(&mut self, now: Time) {
        let _ = now;
    }

    /// Flow queues of dialect `freebsd` listed the queue after its first packet was appended, or
    /// found it empty and no longer list it.
    fn on_listing(&mut self, now: Time, is_listed: bool) {
        let _ = (now, is_listed);
    }

    /// Whether every hook is a no-op, so that a discipline need not call them.
    fn is_inert(&self) -> bool {
        false
    }

    /// Whether [`Aqm::on_enqueue`] may return another verdict than [`Verdict::Pass`].
    fn judges_arrivals(&self) -> bool {
        true
    }

    /// When [`Aqm::on_timer`] is due; always later than its last call. Laws with the same
    /// parameters have the same timer times, regardless of their queues: flow queues rely on it.
    /// The time changes only in [`Aqm::on_timer`], [`Aqm::on_idle_timers`], [`Aqm::on_rate`].
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Called before [`Aqm::on_timer`] with the arrival time of the head, or `None` if the queue is
    /// empty. Not called before [`Aqm::on_idle_timers`].
    fn on_head(&mut self, enqueued: Option<Time>) {
        let _ = enqueued;
    }

    /// The timer announced by [`Aqm::next_timer`] is due.
    fn on_timer(&mut self, now: Time, queue: Backlog) {
        let _ = (now, queue);
    }

    /// The queue has been empty: catch up on all timers due at or before `now`. The result must be
    /// as if [`Aqm::on_timer`] were called for each of them with an empty backlog; a law whose
    /// state no longer changes may skip calls. The hook must be fast for any `now`: calls beyond
    /// [`Periodic::MOST_CAUGHT_UP`] are skipped.
    fn on_idle_timers(&mut self, now: Time) {
        for _ in 0..Periodic::MOST_CAUGHT_UP {
            let Some(due) = self.next_timer().filter(|due| due.is_due(now)) else { return };
            self.on_timer(due, Backlog::EMPTY);
        }
    }

    /// The rate of the link has changed.
    fn on_rate(&mut self, now: Time, rate: Rate) {
        let _ = (now, rate);
    }

    /// Writes one value for each of [`Law::VARS`], in their order.
    fn observe(&self, out: &mut [f64]) {
        debug_assert!(out.is_empty(), "a law with variables must write them");
    }

    /// The state variables before the law's last verdict. `None`, at no cost, unless the law was
    /// built by [`crate::registry::build_watched`].
    fn evidence(&self) -> Option<Evidence<'_>> {
        None
    }
}

/// A law with named state variables: every [`Law`] and every custom law.
pub trait Observable: Aqm {
    /// The state variables written by [`Aqm::observe`].
    fn vars(&self) -> &'static [Var];
}

/// A law whose type is not known, as in a discipline that serves many laws.
impl Aqm for Box<dyn Observable> {
    fn is_limit_first(&self) -> bool {
        (**self).is_limit_first()
    }

    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        (**self).on_enqueue(now, head, queue, rng)
    }

    fn on_overflow(&mut self, now: Time, queue: Backlog) {
        (**self).on_overflow(now, queue);
    }

    fn on_eviction(&mut self, now: Time, queue: Backlog) {
        (**self).on_eviction(now, queue);
    }

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        (**self).on_dequeue(now, head, queue, rng)
    }

    fn on_empty(&mut self, now: Time) {
        (**self).on_empty(now);
    }

    fn on_listing(&mut self, now: Time, is_listed: bool) {
        (**self).on_listing(now, is_listed);
    }

    fn is_inert(&self) -> bool {
        (**self).is_inert()
    }

    fn judges_arrivals(&self) -> bool {
        (**self).judges_arrivals()
    }

    fn next_timer(&self) -> Option<Time> {
        (**self).next_timer()
    }

    fn on_head(&mut self, enqueued: Option<Time>) {
        (**self).on_head(enqueued);
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        (**self).on_timer(now, queue);
    }

    fn on_idle_timers(&mut self, now: Time) {
        (**self).on_idle_timers(now);
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        (**self).on_rate(now, rate);
    }

    fn observe(&self, out: &mut [f64]) {
        (**self).observe(out);
    }

    fn evidence(&self) -> Option<Evidence<'_>> {
        (**self).evidence()
    }
}

impl Observable for Box<dyn Observable> {
    fn vars(&self) -> &'static [Var] {
        (**self).vars()
    }
}

impl<L: Law> Observable for L {
    fn vars(&self) -> &'static [Var] {
        L::VARS
    }
}

/// A law's metadata in the registry.
///
/// ```
/// use sojourn_aqm::{Aqm, Backlog, Cause, Env, Head, Law, Limit, Rng, Time, Var, Verdict, params};
/// use sojourn_aqm::params::Params;
///
/// params! {
///     /// Parameters of a law for an example.
///     pub struct ShortParams {
///         dialects: "example" = "an example";
///         /// Packets that may wait.
///         most: u64, POSITIVE, "an example" => 3;
///     }
/// }
///
/// struct Short(ShortParams);
///
/// impl Aqm for Short {
///     fn on_enqueue(&mut self, _: Time, _: Head, queue: Backlog, _: &mut Rng) -> Verdict {
///         match u64::from(queue.packets) < self.0.most {
///             true => Verdict::Pass,
///             false => Verdict::Drop(Cause::Deterministic),
///         }
///     }
/// }
///
/// impl Law for Short {
///     type Params = ShortParams;
///     const NAME: &'static str = "short";
///     const DOC: &'static str = "Keeps the queue short";
///     const VARS: &'static [Var] = &[];
///     fn new(params: &ShortParams, _: &Env) -> Short {
///         Short(params.clone())
///     }
/// }
///
/// let mut params = ShortParams::of_dialect("example").expect("it has that one");
/// params.set("most", "5").expect("a legal value");
/// let env = Env { limit: Limit::Packets(9), mtu_bytes: 1500, rate: None, salt: 0 };
/// assert_eq!(Short::new(&params, &env).next_timer(), None);
/// ```
pub trait Law: Aqm + Sized + 'static {
    /// Its parameters.
    type Params: Params;
    /// Its name: `codel`.
    const NAME: &'static str;
    /// A one-line description with the source.
    const DOC: &'static str;
    /// The state variables written by [`Aqm::observe`].
    const VARS: &'static [Var];
    /// How the law's controller scales its steps by its output: one table for each value of the
    /// parameter that selects the table. Read by external analyses (`sojourn.stability`).
    const STEP_TABLES: &'static [StepTable] = &[];
    /// A law in its initial state, at time zero. `params` have passed [`Params::check`].
    fn new(params: &Self::Params, env: &Env) -> Self;
    /// The values that the law uses instead of given parameters, or for open ones.
    fn effective(params: &Self::Params, env: &Env) -> Vec<Effective> {
        let _ = (params, env);
        Vec::new()
    }
}
