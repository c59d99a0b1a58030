//! CoDel: drops from the head, ever more often, once every packet of a whole interval has waited
//! longer than a target.
//!
//! Source: RFC 8289 §5, whose `dequeue` routine is turned inside out here: the discipline asks
//! about one packet at a time, and `State` remembers where in the routine the last answer was
//! given. A literal transcription of the routine is kept beside this file as a test oracle.
//!
//! Deviations from RFC 8289:
//! - `ecn` and `ce_threshold`, which its pseudo-code lacks, follow Linux `codel_impl.h`: a mark
//!   takes the place of a drop, at most one per dequeue.
//! - `first_above_time` and `drop_next` are unset rather than zero before they have a meaning.
//! - The optional longer first spacing of data centres (§4.5) is not offered.
//!
//! Deviations from Linux `codel_impl.h`: the square root is exact, not a 16-bit Newton step; time
//! is in nanoseconds, not in ticks of 1024; the test of `first_above` is `>=`, not `>`; finding the
//! queue empty clears `first_above`; an overload of flow queues does not raise `count`.
//!
//! Deviations from ns-3: as from Linux (ns-3 has its Newton step and its `>`); the MTU test is `<=`
//! as in the RFC, not `<`, and against all that waits for the link, not the flow queue alone; after
//! a mark the next one is counted from `drop_next`, not from now.

use crate::law::{Aqm, Cause, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::{Bytes, OrAuto, OrOff};
use crate::rng::Rng;
use crate::time::{Span, Time};

params! {
    /// Parameters of CoDel.
    pub struct CoDelParams {
        dialects: "rfc8289" = "RFC 8289 §5 with an exact square root; ECN as Linux";
        /// Sojourn time that is acceptable as a standing delay.
        target: Span, POSITIVE, "RFC 8289 §4.3" => Span::from_millis(5);
        /// How long sojourn times must stay above target before the first drop; a worst-case RTT.
        interval: Span, POSITIVE, "RFC 8289 §4.2" => Span::from_millis(100);
        /// A backlog of this size or less is never too much; `auto` is the largest packet of the
        /// link.
        mtu_bytes: OrAuto<Bytes>, POSITIVE, "RFC 8289 §5.3: SHOULD be the interface MTU"
            => OrAuto(None);
        /// Whether packets that can be marked are marked instead of dropped.
        ecn: bool, ANY, "RFC 8289 has no ECN; Linux sch_codel.c: off" => false;
        /// Sojourn time above which every packet that can be marked is marked, whatever else holds.
        ce_threshold: OrOff<Span>, ANY, "Linux codel.h: disabled" => OrOff(None);
    }
    check: |params| {
        if params.target < params.interval {
            Ok(())
        } else {
            Err("target must be less than interval (RFC 8289 §4.3: 5 to 10 % of it)".into())
        }
    };
}

/// The law.
#[derive(Clone, Debug)]
pub struct CoDel {
    target: Span,
    interval: Span,
    mtu_bytes: u64,
    ecn: bool,
    ce_threshold: Option<Span>,
    state: State,
    /// When the sojourn time will have been above target for a whole interval.
    first_above: Option<Time>,
    /// Signals in this dropping state, or in the last one.
    count: u32,
    /// `count` when the last dropping state was entered.
    last_count: u32,
    sojourn: Span,
}

/// ```text
///             above target for an interval: drop
///   Quiet ------------------------------------------> Entered
///     ^                \                                 | next head passes
///     |                 \ the same, marked               v
///     | not above        `-------------------------> Dropping <--. not yet due, or marked
///     +------------------------------------------------/  |   ^--'
///     |                                               due |
///     | not above                                         v
///     +--------------------------------------------- Dropped: one step on, then as Dropping
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not dropping. `drop_next` is left over from the last dropping state, if there was one.
    Quiet { drop_next: Option<Time> },
    /// The drop that opens a dropping state was made in this call; the next head passes unjudged.
    Entered { drop_next: Time },
    /// Dropping; the next signal is due at `drop_next`.
    Dropping { drop_next: Time },
    /// A drop was made in this call; `drop_next` moves on if the next head is above target too.
    Dropped { drop_next: Time },
}

impl CoDel {
    /// RFC 8289 §5.6 `dodequeue`: whether a drop is allowed now.
    fn is_above(&mut self, now: Time, head: Head, queue: Backlog) -> bool {
        self.sojourn = head.sojourn(now);
        // RFC 8289 §4.4: with several queues the backlog that counts is that of the link.
        if self.sojourn < self.target || queue.link_bytes <= self.mtu_bytes {
            self.first_above = None;
            return false;
        }
        let first_above = *self.first_above.get_or_insert(now + self.interval);
        now >= first_above
    }

    /// RFC 8289 §5.5: enter the dropping state, at the rate that worked last time if that was
    /// recent.
    fn enter(&mut self, now: Time, drop_next: Option<Time>, can_mark: bool) -> Verdict {
        let grown = self.count - self.last_count;
        let recent = drop_next.is_some_and(|then| now.since(then) < self.interval.times(16));
        self.count = if grown > 1 && recent { grown } else { 1 };
        self.last_count = self.count;
        let drop_next = now + self.spacing();
        self.state =
            if can_mark { State::Dropping { drop_next } } else { State::Entered { drop_next } };
        Verdict::signal(can_mark, Cause::Deterministic)
    }

    /// One turn of the loop of RFC 8289 §5.5 within the dropping state.
    fn continue_dropping(&mut self, now: Time, drop_next: Time, can_mark: bool) -> Verdict {
        if now < drop_next {
            self.state = State::Dropping { drop_next };
            return Verdict::Pass;
        }
        self.count = self.count.saturating_add(1);
        self.state = if can_mark {
            State::Dropping { drop_next: drop_next + self.spacing() }
        } else {
            State::Dropped { drop_next }
        };
        Verdict::signal(can_mark, Cause::Deterministic)
    }

    fn leave(&mut self, drop_next: Time) -> Verdict {
        self.state = State::Quiet { drop_next: Some(drop_next) };
        Verdict::Pass
    }

    /// The control law: interval / sqrt(count) (RFC 8289 §5.6). `count` is never 0 when it is used.
    fn spacing(&self) -> Span {
        debug_assert!(self.count > 0, "the first signal has been counted");
        let nanos = self.interval.as_nanos() as f64 / libm::sqrt(f64::from(self.count));
        Span::from_nanos(nanos as u64)
    }

    /// Linux `codel_impl.h`: whatever leaves with a sojourn time above `ce_threshold` is marked.
    fn or_threshold_mark(&self, verdict: Verdict, head: Head) -> Verdict {
        match (verdict, self.ce_threshold) {
            (Verdict::Pass, Some(limit)) if self.sojourn > limit && head.ecn.can_mark() => {
                Verdict::Mark(Cause::Deterministic)
            }
            _ => verdict,
        }
    }
}

impl Aqm for CoDel {
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, _rng: &mut Rng) -> Verdict {
        let above = self.is_above(now, head, queue);
        let can_mark = self.ecn && head.ecn.can_mark();
        let verdict = match self.state {
            State::Quiet { .. } if !above => Verdict::Pass,
            State::Quiet { drop_next } => self.enter(now, drop_next, can_mark),
            State::Entered { drop_next } => {
                self.state = State::Dropping { drop_next };
                Verdict::Pass
            }
            State::Dropping { drop_next } | State::Dropped { drop_next } if !above => {
                self.leave(drop_next)
            }
            State::Dropping { drop_next } => self.continue_dropping(now, drop_next, can_mark),
            State::Dropped { drop_next } => {
                self.continue_dropping(now, drop_next + self.spacing(), can_mark)
            }
        };
        self.or_threshold_mark(verdict, head)
    }

    fn on_empty(&mut self, _now: Time) {
        self.first_above = None;
        self.state = match self.state {
            State::Quiet { drop_next } => State::Quiet { drop_next },
            State::Entered { drop_next } => State::Dropping { drop_next },
            State::Dropping { drop_next } | State::Dropped { drop_next } => {
                State::Quiet { drop_next: Some(drop_next) }
            }
        };
    }

    fn observe(&self, out: &mut [f64]) {
        let dropping = !matches!(self.state, State::Quiet { .. });
        out[0] = f64::from(u8::from(dropping));
        out[1] = f64::from(self.count);
        out[2] = self.sojourn.as_secs();
    }
}

impl Law for CoDel {
    type Params = CoDelParams;
    const NAME: &'static str = "codel";
    const DOC: &'static str =
        "Controlled delay: drops at the head once sojourn times stay above a target (RFC 8289)";
    const VARS: &'static [Var] = &[
        Var { name: "dropping", unit: "1", doc: "1 in the dropping state, else 0" },
        Var { name: "count", unit: "1", doc: "Signals in this or the last dropping state" },
        Var { name: "sojourn", unit: "s", doc: "Sojourn time of the last packet at the head" },
    ];

    fn new(params: &CoDelParams, env: &Env) -> Self {
        CoDel {
            target: params.target,
            interval: params.interval,
            mtu_bytes: params.mtu_bytes.0.map_or(u64::from(env.mtu_bytes), |bytes| bytes.0),
            ecn: params.ecn,
            ce_threshold: params.ce_threshold.0,
            state: State::Quiet { drop_next: None },
            first_above: None,
            count: 0,
            last_count: 0,
            sojourn: Span::ZERO,
        }
    }
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
