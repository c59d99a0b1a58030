//! COBALT: CoDel with a count that decays smoothly, and BLUE against unresponsive flows, in
//! parallel.
//!
//! Source: Linux 6.1 `sch_cake.c`, `cobalt_should_drop`, `cobalt_queue_full` and
//! `cobalt_queue_empty`; ns-3 `CobaltQueueDisc`.
//!
//! Deviations from Linux and ns-3:
//! - `linux` starts with the inverse root at 1, as ns-3 does, and without a time for the next
//!   signal; Linux starts with both at 0 and so signals the second packet above target ever seen
//!   (`linux_exact` does the same; fact aqm-30).
//! - The inverse root is exact; Linux and ns-3 have a table up to 15, then 32-bit Newton steps, as
//!   `linux_exact` does here. Linux 6.12 and later have another table than 6.1 (`inverse_roots`).
//! - BLUE may move at any time; in Linux, not until one target after time zero.
//! - Linux widens the target by the number of bulk flows in its ingress mode, which is not offered.
//!
//! ns-3 may drop the last packet of a queue and raises BLUE by delay; so does dialect `ns3`.

use crate::law::{Aqm, Cause, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Ecn, Head};
use crate::params;
use crate::params::OrOff;
use crate::params::rules::contradiction;
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::words;

words! {
    /// Which release's table of 1 / sqrt(count) for small counts.
    pub enum InverseRoots {
        /// Computed when the module is loaded (Linux 6.1 sch_cake.c, cobalt_cache_init).
        Linux6_1 = "linux-6.1",
        /// Constants (Linux 6.12 and 7.2 sch_cake.c, inv_sqrt_cache; fact linux-30).
        Linux6_12 = "linux-6.12",
    }
}

params! {
    /// Parameters of COBALT.
    pub struct CobaltParams {
        dialects: "linux" = "Linux sch_cake.c with the inverse root at 1 in a fresh queue",
            "linux_exact" = "Linux sch_cake.c with the inverse root at 0 in a fresh queue",
            "ns3" = "ns-3 CobaltQueueDisc: no MTU rule, BLUE also by delay";
        /// Sojourn time that is acceptable as a standing delay.
        target: Span, POSITIVE, "Linux sch_cake.c: 5 ms" => Span::from_millis(5);
        /// Time over which signals speed up; a worst-case RTT.
        interval: Span, POSITIVE, "Linux sch_cake.c: 100 ms" => Span::from_millis(100);
        /// How much an overflow raises BLUE's probability.
        p_inc: f64, PROBABILITY, "Linux sch_cake.c: 1/256" => 1.0 / 256.0;
        /// How much an empty queue lowers it.
        p_dec: f64, PROBABILITY, "Linux sch_cake.c: 1/4096" => 1.0 / 4096.0;
        /// Sojourn time above which BLUE's probability rises as if the queue had overflowed.
        blue_threshold: OrOff<Span>, POSITIVE, "Linux sch_cake.c: overflow only" => OrOff(None),
            "ns3": "ns-3 CobaltQueueDisc: BlueThreshold" => OrOff(Some(Span::from_millis(400)));
        /// Whether the CoDel part marks ECN-capable packets instead of dropping them.
        ecn: bool, ANY, "Linux sch_cake.c: always" => true,
            "ns3": "ns-3 CobaltQueueDisc: UseEcn" => false;
        /// Sojourn time above which every ECN-capable packet is marked; needs `ecn` or `l4s`.
        ce_threshold: OrOff<Span>, ANY, "ns-3 CobaltQueueDisc: CeThreshold" => OrOff(None);
        /// Whether `ce_threshold` marks only ECT(1) and CE, which are then neither dropped nor
        /// marked otherwise.
        l4s: bool, ANY, "ns-3 CobaltQueueDisc: UseL4s" => false;
        /// Table of 1 / sqrt(count): `linux-6.1`, or `linux-6.12` as in that release and later.
        inverse_roots: InverseRoots, ANY, "Linux 6.1 sch_cake.c, cobalt_cache_init"
            => InverseRoots::Linux6_1;
    } behaviour {
        "a fresh inverse root is": "1: the first signal comes after an interval",
            "ns-3 CobaltQueueDisc; our choice: a whole interval, as CoDel waits",
            "linux_exact": "0: the second packet above target is signalled", "Linux sch_cake.c";
        "1 / sqrt(count)": "exact", "our choice",
            "linux_exact" | "ns3": "32 bits: a table up to 15, then one Newton step per change",
                "Linux sch_cake.c, cobalt_invsqrt; ns-3 CobaltQueueDisc::InvSqrt";
        "above target": "sojourn > target and > four packet times", "Linux sch_cake.c",
            "ns3": "sojourn > target", "ns-3 CobaltQueueDisc";
        "BLUE's probability rises": "when the queue overflows", "Linux sch_cake.c",
            "ns3": "when the queue overflows, and by a sojourn above blue_threshold",
                "ns-3 CobaltQueueDisc";
        "BLUE moves": "at most once per target", "Linux sch_cake.c, cobalt_queue_full",
            "ns3": "at most once per target for 4.29 s, then at every call (fact ns3-1)",
                "ns-3 CobaltQueueDisc, m_lastUpdateTimeBlue";
        "an eviction from a flow queue": "is an overflow of that queue",
            "Linux sch_cake.c, cake_drop",
            "ns3": "changes nothing", "ns-3 FqCobaltQueueDisc::FqCobaltDrop";
        "BLUE and ECN": "BLUE drops packets that could be marked, too",
            "Linux sch_cake.c; ns-3 CobaltQueueDisc";
        "the last packet": "is not dropped", "Linux sch_cake.c",
            "ns3": "may be dropped", "ns-3 CobaltQueueDisc";
    }
    check: |params| match params.target < params.interval {
        true => Ok(()),
        false => Err(contradiction(params, "target", "less than", "interval", "RFC 8289 §4.3")),
    };
    unused: |dialect| match dialect {
        "ns3" => &["inverse_roots"],
        "linux_exact" => &["ce_threshold", "l4s"],
        _ => &["ce_threshold", "l4s", "inverse_roots"],
    };
}

/// 1 / sqrt(count).
#[derive(Clone, Copy, Debug)]
enum InverseRoot {
    /// As a real number.
    Exact(f64),
    /// In units of 2^-32: a table for small counts, then one Newton step for each change (Linux 6.1
    /// sch_cake.c, cobalt_invsqrt).
    Newton(u32),
}

/// Linux 6.1 sch_cake.c, cobalt_cache_init: four Newton steps from the previous root.
const ROOTS_6_1: [u32; 16] = {
    let mut roots = [u32::MAX; 16];
    let mut count = 1;
    while count < 16 {
        let mut root = roots[count - 1];
        let mut steps = 0;
        while steps < 4 {
            root = improved(root, count as u32);
            steps += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
};

/// Linux 6.12 sch_cake.c, inv_sqrt_cache: constants. These three constants differ from 6.1, where
/// four Newton steps do not converge.
const ROOTS_6_12: [u32; 16] = {
    let mut roots = ROOTS_6_1;
    roots[2] = 3_037_000_500;
    roots[3] = 2_479_700_525;
    roots[6] = 1_753_413_056;
    roots
};

impl InverseRoots {
    const fn table(self) -> &'static [u32; 16] {
        match self {
            InverseRoots::Linux6_1 => &ROOTS_6_1,
            InverseRoots::Linux6_12 => &ROOTS_6_12,
        }
    }
}

/// x (3 - count x^2) / 2, in units of 2^-32 (Linux 6.1 sch_cake.c, cobalt_newton_step).
const fn improved(root: u32, count: u32) -> u32 {
    let square = (root as u64 * root as u64) >> 32;
    let rest = (3u64 << 32).wrapping_sub(count as u64 * square) >> 2;
    (rest.wrapping_mul(root as u64) >> 31) as u32
}

impl InverseRoot {
    fn for_count(self, count: u32, roots: InverseRoots) -> InverseRoot {
        match self {
            InverseRoot::Exact(_) => InverseRoot::Exact(1.0 / libm::sqrt(f64::from(count.max(1)))),
            InverseRoot::Newton(root) => {
                let small = roots.table().get(count as usize).copied();
                InverseRoot::Newton(small.unwrap_or_else(|| improved(root, count)))
            }
        }
    }

    /// The interval times this root.
    fn of(self, interval: Span) -> Span {
        let nanos = interval.as_nanos();
        Span::from_nanos(match self {
            InverseRoot::Exact(root) => (nanos as f64 * root) as u64,
            InverseRoot::Newton(root) => ((u128::from(nanos) * u128::from(root)) >> 32) as u64,
        })
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Cobalt {
    params: CobaltParams,
    is_ns3: bool,
    mtu_bytes: u64,
    /// The time to send four MTUs (in CAKE's ingress mode, possibly more); a shorter sojourn time
    /// never counts as above target (Linux only).
    least_sojourn: Span,
    dropping: bool,
    count: u32,
    /// 1 / sqrt(count); in a fresh queue 0 or 1, by dialect.
    inverse_root: InverseRoot,
    /// When the next signal is due or the count next decays; with a count of 0, one interval after
    /// the last dequeue.
    drop_next: Time,
    blue_prob: f64,
    blue_changed: Option<Time>,
}

impl Cobalt {
    /// The law with parameters computed by CAKE.
    pub(crate) fn with(params: CobaltParams, env: &Env) -> Cobalt {
        let is_ns3 = params.dialect == "ns3";
        let (inverse_root, drop_next) = match params.dialect {
            "linux_exact" => (InverseRoot::Newton(0), Time::ZERO),
            // ns-3 CobaltQueueDisc::InitializeParams
            "ns3" => (InverseRoot::Newton(u32::MAX), Time::ZERO),
            _ => (InverseRoot::Exact(1.0), Time::NEVER),
        };
        let mut law = Cobalt {
            is_ns3,
            params,
            mtu_bytes: u64::from(env.mtu_bytes),
            least_sojourn: Span::ZERO,
            dropping: false,
            count: 0,
            inverse_root,
            drop_next,
            blue_prob: 0.0,
            blue_changed: is_ns3.then_some(Time::ZERO),
        };
        law.tune(env.rate);
        law
    }

    /// Whether both parts are in their initial state and `drop_next` has passed; until then CAKE
    /// keeps a queue listed (Linux 6.1 sch_cake.c, cake_dequeue).
    pub(crate) fn is_at_rest(&self, now: Time) -> bool {
        self.count == 0 && self.blue_prob == 0.0 && now >= self.drop_next
    }

    /// Sets the minimum sojourn time at which the law acts in CAKE, given `frame`, the time of a
    /// largest packet: the time of four packets or, in ingress mode, of two per bulk flow if that
    /// is longer (Linux 6.1 sch_cake.c, cobalt_should_drop).
    pub(crate) fn set_least_sojourn(&mut self, frame: Span, bulk_flows: u32) {
        self.least_sojourn = frame.times(4.max(2 * u64::from(bulk_flows)));
    }

    /// Sets target and interval, which CAKE derives from its rate.
    pub(crate) fn set_target(&mut self, target: Span, interval: Span) {
        (self.params.target, self.params.interval) = (target, interval);
    }

    fn tune(&mut self, rate: Option<Rate>) {
        let span = rate.filter(|_| !self.is_ns3).map(|rate| rate.time_for(4 * self.mtu_bytes));
        self.least_sojourn = span.unwrap_or(Span::ZERO);
    }

    fn after(&self, from: Time) -> Time {
        from + self.inverse_root.of(self.params.interval)
    }

    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.inverse_root = self.inverse_root.for_count(count, self.params.inverse_roots);
    }

    /// BLUE moves at most once per target (Linux `cobalt_queue_full`).
    fn move_blue(&mut self, now: Time, step: f64) {
        let target = self.params.target;
        if self.blue_changed.is_none_or(|then| now.since(then) > target) {
            self.blue_prob = (self.blue_prob + step).clamp(0.0, 1.0);
            // ns-3 stores this time in 32 bits (fact ns3-1).
            let kept =
                if self.is_ns3 { now.as_nanos() & u64::from(u32::MAX) } else { now.as_nanos() };
            self.blue_changed = Some(Time::from_nanos(kept));
        }
    }

    /// The CoDel part: whether this packet is signalled, and whether the next signal is already
    /// overdue.
    fn is_due(&mut self, now: Time, is_over: bool) -> (bool, bool) {
        // Linux `cobalt_should_drop` computes `next_due` and `schedule` before the state below
        // moves `drop_next`.
        let mut due = self.count > 0 && now >= self.drop_next;
        let mut is_late = now > self.drop_next;
        if is_over && !self.dropping {
            self.dropping = true;
            self.drop_next = self.after(now);
            self.count = self.count.max(1);
        } else if !is_over {
            self.dropping = false;
        }
        if due && self.dropping {
            self.set_count(self.count.saturating_add(1));
            self.drop_next = self.after(self.drop_next);
            return (true, now > self.drop_next);
        }
        while due {
            self.forget_one();
            is_late = now > self.drop_next;
            due = self.count > 0 && now >= self.drop_next;
        }
        (false, is_late)
    }

    fn forget_one(&mut self) {
        self.set_count(self.count - 1);
        self.drop_next = self.after(self.drop_next);
    }

    fn settle(&mut self, now: Time, is_late: bool, is_drop: bool) {
        if self.count == 0 {
            self.drop_next = now + self.params.interval;
        } else if is_late && !is_drop {
            self.drop_next = now;
        }
    }
}

impl Aqm for Cobalt {
    fn on_overflow(&mut self, now: Time, _queue: Backlog) {
        self.move_blue(now, self.params.p_inc);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    fn on_eviction(&mut self, now: Time, queue: Backlog) {
        // ns-3 FqCobaltQueueDisc::FqCobaltDrop takes packets directly from the child's queue,
        // bypassing the child.
        if !self.is_ns3 {
            self.on_overflow(now, queue);
        }
    }

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let sojourn = head.sojourn(now);
        let is_over_ce = self.params.ce_threshold.0.is_some_and(|limit| sojourn > limit);
        if self.params.l4s && matches!(head.ecn, Ecn::Ect1 | Ecn::Ce) {
            return if is_over_ce { Verdict::Mark(Cause::CeThreshold) } else { Verdict::Pass };
        }
        if self.params.blue_threshold.0.is_some_and(|limit| sojourn > limit) {
            self.move_blue(now, self.params.p_inc);
        }
        let is_over = sojourn > self.params.target && sojourn > self.least_sojourn;
        let (is_due, is_late) = self.is_due(now, is_over);
        let may_mark = self.params.ecn && head.ecn.can_mark();
        let marks = is_due && may_mark;
        let by_blue = self.blue_prob > 0.0 && rng.uniform() < self.blue_prob;
        let is_drop = by_blue || (is_due && !marks);
        self.settle(now, is_late, is_drop);
        // Linux `cake_dequeue` never drops the last packet of a queue; ns-3 may.
        let may_drop = queue.packets > 0 || self.is_ns3;
        match () {
            () if may_drop && is_due && !marks => Verdict::Drop(Cause::Target),
            () if may_drop && by_blue => Verdict::Drop(Cause::Random),
            () if marks => Verdict::Mark(Cause::Target),
            () if is_over_ce && may_mark && !self.params.l4s => Verdict::Mark(Cause::CeThreshold),
            () => Verdict::Pass,
        }
    }

    fn on_empty(&mut self, now: Time) {
        if self.blue_prob > 0.0 {
            self.move_blue(now, -self.params.p_dec);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.forget_one();
        }
    }

    fn on_rate(&mut self, _now: Time, rate: Rate) {
        self.tune(Some(rate));
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = f64::from(u8::from(self.dropping));
        out[1] = f64::from(self.count);
        out[2] = self.blue_prob;
        out[3] = self.drop_next.as_secs();
    }
}

impl Law for Cobalt {
    type Params = CobaltParams;
    const NAME: &'static str = "cobalt";
    const DOC: &'static str = "CoDel and BLUE side by side on one queue (Linux sch_cake.c)";
    const VARS: &'static [Var] = &[
        Var { name: "dropping", unit: "1", doc: "1 while sojourn times are above target, else 0" },
        Var { name: "count", unit: "1", doc: "Signals, less those forgotten since" },
        Var { name: "blue_prob", unit: "1", doc: "BLUE's drop probability" },
        Var { name: "drop_next", unit: "s", doc: "Time at which the next signal is due" },
    ];

    fn new(params: &CobaltParams, env: &Env) -> Self {
        Cobalt::with(params.clone(), env)
    }
}

#[cfg(test)]
#[path = "cobalt_tests.rs"]
mod tests;
