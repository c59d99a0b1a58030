//! A custom law behind checks: what it does against the contract is reported and has no effect.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

use super::declaration::About;
use super::{Failures, LawFailure};
use crate::law::{Aqm, Observable, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::rng::Rng;
use crate::time::{Rate, Time};

/// A law that asks for more timers than this within one second of time would never let a run end.
const MOST_TIMERS_PER_SECOND: u32 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A custom law, checked at every call.
pub(crate) struct Guarded {
    law: Box<dyn Aqm>,
    has_failed: bool,
    catches_up: bool,
    about: &'static About,
    failures: Arc<dyn Failures>,
    /// The second in which timers are counted, and how many there were.
    second: u64,
    timers: u32,
}

impl Guarded {
    pub(super) fn new(
        law: Box<dyn Aqm>,
        catches_up: bool,
        about: &'static About,
        failures: Arc<dyn Failures>,
    ) -> Guarded {
        Guarded { law, has_failed: false, catches_up, about, failures, second: 0, timers: 0 }
    }

    #[cold]
    fn fail(&mut self, hook: &'static str, at: Time, enqueued: Option<Time>, why: String) {
        self.has_failed = true;
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

    /// Counts the timers of one second of time.
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

    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if self.has_failed {
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

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if self.has_failed {
            return Verdict::Pass;
        }
        let verdict = self.law.on_dequeue(now, head, queue, rng);
        self.checked("on_dequeue", now, head, verdict)
    }

    fn on_empty(&mut self, now: Time) {
        if !self.has_failed {
            self.law.on_empty(now);
        }
    }

    fn next_timer(&self) -> Option<Time> {
        if self.has_failed { None } else { self.law.next_timer() }
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
        self.count_timer(now);
        self.law.on_timer(now, queue);
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
        if !self.catches_up {
            while let Some(due) = self.next_timer().filter(|due| due.is_due(now)) {
                self.on_timer(due, Backlog::EMPTY);
            }
            return;
        }
        self.law.on_idle_timers(now);
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
        }
    }

    fn observe(&self, out: &mut [f64]) {
        self.law.observe(out);
    }
}
