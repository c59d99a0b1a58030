//! Wraps a custom law in checks. A breach of the contract is reported; the offending result is
//! ignored.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

use super::declaration::About;
use super::{Failures, Hooks, LawFailure};
use crate::law::{Aqm, Observable, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::rng::Rng;
use crate::time::{Rate, Time};

/// Maximum number of timers per simulated second; a law with more would never let a run end.
const MOST_TIMERS_PER_SECOND: u32 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A custom law, checked at every call.
pub(crate) struct Guarded {
    law: Box<dyn Aqm>,
    /// The hooks to call; empty after a failure.
    hooks: Hooks,
    has_failed: bool,
    /// Cached `next_timer`: asking at every packet would double the calls of many laws.
    next: Option<Time>,
    about: &'static About,
    failures: Arc<dyn Failures>,
    /// The current second, and the timers counted in it.
    second: u64,
    timers: u32,
}

impl Guarded {
    pub(super) fn new(
        law: Box<dyn Aqm>,
        hooks: Hooks,
        about: &'static About,
        failures: Arc<dyn Failures>,
    ) -> Guarded {
        let (has_failed, next) = (false, None);
        let (second, timers) = (0, 0);
        let mut made = Guarded { law, hooks, has_failed, next, about, failures, second, timers };
        made.ask_for_timer();
        made
    }

    fn ask_for_timer(&mut self) {
        self.next = self.hooks.timers.then(|| self.law.next_timer()).flatten();
    }

    /// The timer moves only in `on_timer`, `on_idle_timers` and `on_rate`; otherwise flow queues
    /// would miss a change.
    fn insist_on_timer(&mut self, now: Time) {
        let said = self.hooks.timers.then(|| self.law.next_timer()).flatten();
        if said != self.next && !self.has_failed {
            let text = |at: Option<Time>| match at {
                Some(at) => format!("at {} ns", at.as_nanos()),
                None => "none".to_owned(),
            };
            let (was, is) = (text(self.next), text(said));
            let why = format!(
                "the next timer was {was} and is {is}; it may change in on_timer, on_idle_timers \
                 and on_rate only, so that all laws with the same parameters share their times"
            );
            self.fail("next_timer", now, None, why);
        }
    }

    #[cold]
    fn fail(&mut self, hook: &'static str, at: Time, enqueued: Option<Time>, why: String) {
        (self.has_failed, self.hooks, self.next) = (true, Hooks::NONE, None);
        let (law, place) = (self.about.name, self.about.place.to_owned());
        self.failures.report(LawFailure { place, law, hook, at, enqueued, why, cause: None });
    }

    #[inline]
    fn checked(&mut self, hook: &'static str, now: Time, head: Head, verdict: Verdict) -> Verdict {
        if matches!(verdict, Verdict::Mark(_)) && !head.ecn.can_mark() {
            let why = "it marks a packet that is not ECN-capable; drop it, or let it pass";
            self.fail(hook, now, Some(head.enqueued), why.to_owned());
            return Verdict::Pass;
        }
        verdict
    }

    /// Counts timers per simulated second.
    fn count_timer(&mut self, now: Time) {
        let second = now.as_nanos() / SECOND_NS;
        if second != self.second {
            (self.second, self.timers) = (second, 0);
        }
        self.timers += 1;
        if self.timers > MOST_TIMERS_PER_SECOND {
            let why = format!(
                "it asked for more than {MOST_TIMERS_PER_SECOND} timers within one second; leave \
                 more time between them"
            );
            self.fail("next_timer", now, None, why);
        }
    }
}

impl Observable for Guarded {
    fn vars(&self) -> &'static [Var] {
        self.about.vars
    }
}

impl Aqm for Guarded {
    fn is_limit_first(&self) -> bool {
        self.law.is_limit_first()
    }

    // Inline, to build head and backlog in place: each copy stalls on the preceding stores.
    #[inline]
    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if !self.hooks.on_enqueue {
            return Verdict::Pass;
        }
        let verdict = self.law.on_enqueue(now, head, queue, rng);
        self.checked("on_enqueue", now, head, verdict)
    }

    fn on_overflow(&mut self, now: Time, queue: Backlog) {
        if !self.has_failed {
            self.law.on_overflow(now, queue);
        }
    }

    fn on_eviction(&mut self, now: Time, queue: Backlog) {
        if !self.has_failed {
            self.law.on_eviction(now, queue);
        }
    }

    #[inline]
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if !self.hooks.on_dequeue {
            return Verdict::Pass;
        }
        let verdict = self.law.on_dequeue(now, head, queue, rng);
        self.checked("on_dequeue", now, head, verdict)
    }

    #[inline]
    fn on_empty(&mut self, now: Time) {
        self.insist_on_timer(now);
        if self.hooks.on_empty {
            self.law.on_empty(now);
        }
    }

    #[inline]
    fn next_timer(&self) -> Option<Time> {
        self.next
    }

    fn on_head(&mut self, enqueued: Option<Time>) {
        if !self.has_failed {
            self.law.on_head(enqueued);
        }
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        if self.has_failed {
            return;
        }
        self.insist_on_timer(now);
        self.count_timer(now);
        if self.has_failed {
            return;
        }
        self.law.on_timer(now, queue);
        self.ask_for_timer();
        if let Some(next) = self.next_timer().filter(|&next| next <= now) {
            let why = format!(
                "the next timer is at {} ns; it must be later than the timer that just ran",
                next.as_nanos()
            );
            self.fail("next_timer", now, None, why);
        }
    }

    fn on_idle_timers(&mut self, now: Time) {
        if self.has_failed {
            return;
        }
        if !self.hooks.on_idle_timers {
            while let Some(due) = self.next_timer().filter(|due| due.is_due(now)) {
                self.on_timer(due, Backlog::EMPTY);
            }
            return;
        }
        self.law.on_idle_timers(now);
        self.ask_for_timer();
        if let Some(next) = self.next_timer().filter(|&next| next <= now) {
            let why = format!(
                "on_idle_timers left a timer due at {} ns; it must catch up on all that are due",
                next.as_nanos()
            );
            self.fail("on_idle_timers", now, None, why);
        }
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        if !self.has_failed {
            self.law.on_rate(now, rate);
            self.ask_for_timer();
        }
    }

    fn observe(&self, out: &mut [f64]) {
        self.law.observe(out);
    }
}
