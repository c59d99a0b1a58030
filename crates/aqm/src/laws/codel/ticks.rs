//! CoDel in the integer arithmetic of Linux `codel.h` and `codel_impl.h`, and in ns-3's variant of
//! it: time in ticks of 1024 ns that wrap at 32 bits, and 1/sqrt(count) in 16 bits, improved by one
//! Newton step at every change of the count.
//!
//! Source: Linux 7.2 `codel_impl.h`, `codel_dequeue`, `codel_should_drop` and `codel_Newton_step`;
//! ns-3 `CoDelQueueDisc`, `DoDequeue` and `OkToDrop`. A time of zero means "not set", as in the
//! kernel: this is bit-exact, but misreads one tick in 2^32.
//!
//! Deviations: the kernel's bypass of an empty queue is missing. ns-3 compares times as if they did
//! not wrap. Our `ns3` handles wrapping, so the two differ after 73 minutes.

use super::{CoDelParams, KernelCode};
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Ecn, Head};
use crate::time::{Span, Time};

/// An instant or a span: units of 1024 ns, modulo 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ticks(u32);

impl Ticks {
    const ZERO: Ticks = Ticks(0);

    fn at(time: Time) -> Ticks {
        Ticks((time.as_nanos() >> 10) as u32)
    }

    fn of(span: Span) -> Ticks {
        Ticks((span.as_nanos() >> 10) as u32)
    }

    fn plus(self, other: Ticks) -> Ticks {
        Ticks(self.0.wrapping_add(other.0))
    }

    fn minus(self, other: Ticks) -> Ticks {
        Ticks(self.0.wrapping_sub(other.0))
    }

    /// Whether this is earlier than `other`, modulo 2^32 ticks.
    fn is_before(self, other: Ticks) -> bool {
        (self.minus(other).0 as i32) < 0
    }
}

/// A span rounded to whole ticks, as the law stores it.
pub(super) fn kept(span: Span) -> Span {
    Span::from_nanos(u64::from(Ticks::of(span).0) << 10)
}

/// 1/sqrt(count), in units of 2^-16.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct InverseRoot(u16);

impl InverseRoot {
    /// The largest value, just below 1.
    const ONE: InverseRoot = InverseRoot(u16::MAX);

    /// x (3 - count x^2) / 2, computed with 32 fractional bits and stored with 16.
    fn improved(self, count: u32) -> InverseRoot {
        let x = u64::from(self.0) << 16;
        let square = (x * x) >> 32;
        let rest = (3u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(square)) >> 2;
        InverseRoot((rest.wrapping_mul(x) >> 47) as u16)
    }

    /// The span times this root.
    fn of(self, span: Ticks) -> Ticks {
        Ticks(((u64::from(span.0) * (u64::from(self.0) << 16)) >> 32) as u32)
    }
}

/// How long after a dropping state has ended it counts as recent (Linux `codel_impl.h`,
/// `codel_dequeue`).
fn memory_of(interval: Ticks) -> Ticks {
    Ticks(interval.0.wrapping_mul(16))
}

/// Drops at one departure (Linux 7.2 `codel.h`, `CODEL_MAX_DROPS_PER_DEQUEUE`).
const MAX_DROPS: u32 = 256;

/// The source to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Build {
    Linux,
    Ns3,
}

/// The point in `codel_dequeue` of the last verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Between two calls.
    Resting,
    /// This call made the drop that opens a dropping state.
    Entered,
    /// This call made a drop within the dropping state.
    Dropped,
}

/// The law in ticks.
#[derive(Clone, Debug)]
pub(super) struct TickCoDel {
    build: Build,
    kernel: KernelCode,
    target: Ticks,
    interval: Ticks,
    mtu_bytes: u64,
    ecn: bool,
    ce_threshold: Option<Ticks>,
    l4s: bool,
    frozen_count: Option<u32>,
    phase: Phase,
    /// Signals within the dropping state in this call.
    signals: u32,
    dropping: bool,
    /// Zero means not set.
    first_above: Ticks,
    drop_next: Ticks,
    inverse_root: InverseRoot,
    count: u32,
    last_count: u32,
    sojourn: Ticks,
}

impl TickCoDel {
    pub(super) fn new(build: Build, params: &CoDelParams, env: &Env) -> TickCoDel {
        TickCoDel {
            build,
            // The bound and the least spacing are Linux's.
            kernel: if build == Build::Linux { params.kernel } else { KernelCode::Linux6_1 },
            target: Ticks::of(params.target),
            interval: Ticks::of(params.interval),
            mtu_bytes: params.mtu_bytes.0.map_or(u64::from(env.mtu_bytes), |bytes| bytes.0),
            ecn: params.ecn,
            ce_threshold: params.ce_threshold.0.map(Ticks::of),
            l4s: params.l4s,
            frozen_count: params.frozen_count(),
            phase: Phase::Resting,
            signals: 0,
            dropping: false,
            first_above: Ticks::ZERO,
            // Linux compares with the uptime, which is large, ns-3 with the simulation time.
            drop_next: match build {
                Build::Linux => Ticks::ZERO.minus(memory_of(Ticks::of(params.interval))),
                Build::Ns3 => Ticks::ZERO,
            },
            inverse_root: match build {
                Build::Linux => InverseRoot(0),
                Build::Ns3 => InverseRoot::ONE,
            },
            count: 0,
            last_count: 0,
            sojourn: Ticks::ZERO,
        }
    }

    fn is_above(&mut self, now: Ticks, head: Head, queue: Backlog) -> bool {
        self.sojourn = now.minus(Ticks::at(head.enqueued));
        let small = match self.build {
            Build::Linux => queue.link_bytes <= self.mtu_bytes,
            // ns-3 CoDelQueueDisc::OkToDrop: strictly less, and only this queue's backlog.
            Build::Ns3 => queue.bytes < self.mtu_bytes,
        };
        if self.sojourn.is_before(self.target) || small {
            self.first_above = Ticks::ZERO;
            return false;
        }
        if self.first_above == Ticks::ZERO {
            self.first_above = now.plus(self.interval);
            return false;
        }
        self.first_above.is_before(now)
    }

    fn is_recent(&self, now: Ticks) -> bool {
        let since = now.minus(self.drop_next);
        match self.build {
            Build::Linux => since.is_before(memory_of(self.interval)),
            // ns-3 CoDelQueueDisc::DoDequeue compares unsigned numbers, so a future drop does not
            // count as recent.
            Build::Ns3 => u64::from(since.0) < u64::from(self.interval.0) * 16,
        }
    }

    fn enter(&mut self, now: Ticks, can_mark: bool) -> Verdict {
        let grown = self.count.wrapping_sub(self.last_count);
        if let Some(count) = self.frozen_count {
            self.freeze(count);
        } else if grown > 1 && self.is_recent(now) {
            self.count = grown;
            self.inverse_root = self.inverse_root.improved(grown);
        } else {
            self.count = 1;
            self.inverse_root = InverseRoot::ONE;
        }
        self.last_count = self.count;
        self.drop_next = now.plus(self.spacing());
        self.dropping = true;
        self.phase = if can_mark { Phase::Resting } else { Phase::Entered };
        Verdict::signal(can_mark, Cause::Target)
    }

    fn continue_dropping(&mut self, now: Ticks, can_mark: bool) -> Verdict {
        if now.is_before(self.drop_next) {
            self.phase = Phase::Resting;
            return Verdict::Pass;
        }
        self.signals = if self.phase == Phase::Dropped { self.signals + 1 } else { 1 };
        if self.kernel == KernelCode::Linux7_2 && self.signals > MAX_DROPS {
            self.drop_next = now.plus(self.spacing());
            self.phase = Phase::Resting;
            return Verdict::Pass;
        }
        self.raise();
        if can_mark {
            let from = if self.build == Build::Ns3 { now } else { self.drop_next };
            self.drop_next = from.plus(self.spacing());
        }
        self.phase = if can_mark { Phase::Resting } else { Phase::Dropped };
        Verdict::signal(can_mark, Cause::Target)
    }

    fn raise(&mut self) {
        if let Some(count) = self.frozen_count {
            self.freeze(count);
        } else {
            self.count = self.count.wrapping_add(1);
            self.inverse_root = self.inverse_root.improved(self.count);
        }
    }

    /// With a fixed count, Newton steps never improve the root, so it is computed here.
    fn freeze(&mut self, count: u32) {
        self.count = count;
        let root = 65_536.0 / libm::sqrt(f64::from(count));
        self.inverse_root = InverseRoot(root.min(f64::from(u16::MAX)) as u16);
    }

    fn spacing(&self) -> Ticks {
        let least = if self.kernel == KernelCode::Linux7_2 { 1 } else { 0 };
        Ticks(self.inverse_root.of(self.interval).0.max(least))
    }

    fn leave(&mut self) -> Verdict {
        self.dropping = false;
        self.phase = Phase::Resting;
        Verdict::Pass
    }

    /// ns-3 `CoDelQueueDisc::DoDequeue`: only the threshold applies to ECT(1) and CE packets,
    /// unless a packet was dropped before them in the same call.
    fn judge_l4s(&mut self, now: Ticks, head: Head) -> Verdict {
        self.sojourn = now.minus(Ticks::at(head.enqueued));
        let is_over = self.ce_threshold.is_some_and(|limit| limit.is_before(self.sojourn));
        if is_over { Verdict::Mark(Cause::CeThreshold) } else { Verdict::Pass }
    }

    fn or_threshold_mark(&self, verdict: Verdict, head: Head) -> Verdict {
        let is_on = self.build == Build::Linux || (self.ecn && !self.l4s);
        let allowed = head.ecn.can_mark() && is_on;
        match (verdict, self.ce_threshold) {
            (Verdict::Pass, Some(limit)) if allowed && limit.is_before(self.sojourn) => {
                Verdict::Mark(Cause::CeThreshold)
            }
            _ => verdict,
        }
    }

    #[inline(never)] // out of line: keeps the default's code small
    pub(super) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict {
        let now = Ticks::at(now);
        if self.l4s && self.phase == Phase::Resting && matches!(head.ecn, Ecn::Ect1 | Ecn::Ce) {
            return self.judge_l4s(now, head);
        }
        let above = self.is_above(now, head, queue);
        let can_mark = self.ecn && head.ecn.can_mark();
        let verdict = match self.phase {
            Phase::Entered => {
                self.phase = Phase::Resting;
                Verdict::Pass
            }
            _ if !above => self.leave(),
            Phase::Resting if !self.dropping => self.enter(now, can_mark),
            Phase::Resting => self.continue_dropping(now, can_mark),
            Phase::Dropped => {
                self.drop_next = self.drop_next.plus(self.spacing());
                self.continue_dropping(now, can_mark)
            }
        };
        self.or_threshold_mark(verdict, head)
    }

    /// Linux 6.1.192 `codel_impl.h`, `codel_dequeue`: a queue found empty ends the dropping state
    /// and clears `first_above`. Linux 5.10 and ns-3 `CoDelQueueDisc::DoDequeue` clear it only if
    /// drops emptied the queue within the call.
    pub(super) fn on_empty(&mut self) {
        let clears = self.build == Build::Linux && self.kernel != KernelCode::Linux5_10;
        if clears || self.phase != Phase::Resting {
            self.first_above = Ticks::ZERO;
        }
        self.dropping = self.phase == Phase::Entered;
        self.phase = Phase::Resting;
    }

    /// Linux `sch_fq_codel.c`, `fq_codel_drop`: packets dropped in an overload are counted, but the
    /// inverse root is unchanged.
    pub(super) fn on_eviction(&mut self) {
        if self.build == Build::Linux && self.frozen_count.is_none() {
            self.count = self.count.wrapping_add(1);
        }
    }

    pub(super) fn is_dropping(&self) -> bool {
        self.dropping
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// When the next signal is due, or was due when the last dropping state ended; correct within
    /// 4398 s, after which ticks wrap; zero before it is first known.
    pub(super) fn scheduled(&self) -> Time {
        let known = self.count > 0;
        Time::from_nanos(if known { u64::from(self.drop_next.0) << 10 } else { 0 })
    }

    pub(super) fn sojourn(&self) -> Span {
        Span::from_nanos(u64::from(self.sojourn.0) << 10)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::params::Params;

    /// Linux `codel.h`, `CODEL_SHIFT`: a tick is 2^10 ns.
    #[test]
    fn spans_are_whole_ticks() {
        assert_eq!(Ticks::of(Span::from_millis(100)), Ticks(97_656));
        assert_eq!(Ticks::of(Span::from_millis(5)), Ticks(4_882));
    }

    fn as_number(root: InverseRoot) -> f64 {
        f64::from(root.0) / 65_536.0
    }

    /// Fact aqm-19.
    #[test]
    fn one_newton_step_for_each_count_is_coarse_at_first() {
        let mut root = InverseRoot::ONE;
        let printed = [0.5000, 0.5625, 0.4878, 0.4415];
        for (count, expected) in (2..).zip(printed) {
            root = root.improved(count);
            assert!((as_number(root) - expected).abs() < 5e-5, "count {count}: {root:?}");
        }
        for count in 6..100_u32 {
            root = root.improved(count);
            let off = as_number(root) * f64::from(count).sqrt() - 1.0;
            assert!(off.abs() < 0.01 || count == 6, "count {count}: {off}");
        }
    }

    /// Linux `codel_impl.h`, `codel_dequeue`: one Newton step leads from the root of 100 towards
    /// that of 2.
    #[test]
    fn a_resumed_count_starts_from_the_old_root() {
        let hundred = InverseRoot((65_536 / 10) as u16);
        assert!((as_number(hundred.improved(2)) - 0.149).abs() < 5e-4);
    }

    /// Fact aqm-21: an overload of flow queues raises the count from 1 to 66 at once, and the next
    /// steps move away before they approach 1/8.
    #[test]
    fn a_count_that_jumps_leaves_the_root_behind() {
        let mut root = InverseRoot::ONE;
        let mut improve = |count| {
            root = root.improved(count);
            as_number(root)
        };
        let first = improve(66);
        let later: Vec<f64> = (67..90).map(improve).collect();
        assert!((first - 0.50).abs() < 0.01, "{first}");
        let least = later.iter().copied().fold(1.0, f64::min);
        assert!((least - 0.03).abs() < 0.01, "{least}");
        let off = later.last().expect("some") * libm::sqrt(89.0) - 1.0;
        assert!(off.abs() < 0.01, "{off}");
    }

    /// Fact aqm-22.
    #[test]
    fn a_drop_still_to_come_is_recent_for_linux_and_not_for_ns3() {
        let recent = |build, drop_next| {
            let params = CoDelParams::of_dialect("linux").expect("a dialect");
            let mut codel = TickCoDel::new(build, &params, &crate::testing::env());
            codel.drop_next = Ticks(drop_next);
            codel.is_recent(Ticks(10_000_000))
        };
        assert!(recent(Build::Linux, 10_000_100) && !recent(Build::Ns3, 10_000_100));
        let memory = 16 * 97_656;
        for build in [Build::Linux, Build::Ns3] {
            assert!(recent(build, 10_000_001 - memory) && !recent(build, 10_000_000 - memory));
        }
    }

    #[test]
    fn times_compare_across_the_end_of_the_circle() {
        let (late, early) = (Ticks(u32::MAX - 5), Ticks(7));
        assert!(late.is_before(early) && !early.is_before(late));
        assert_eq!(early.minus(late), Ticks(13));
    }
}
