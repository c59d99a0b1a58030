//! Evidence for drops and marks: a watched discipline reports to its sink, just before each of
//! them, the state variables as they were before the decision.
//!
//! Laws are wrapped individually, a scheme as a whole. Unwatched laws have another type, so their
//! packet path has no overhead. All values are in one map column, so a new AQM does not change the
//! table. Built by [`crate::registry::build_watched`].

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::law::{Aqm, Cause, Evidence, Observable, Stage, Var, Verdict};
use crate::packet::{Backlog, Head, Packet};
use crate::qdisc::{Departure, Qdisc, Sink, Turn};
use crate::rng::Rng;
use crate::time::{Rate, Time};
use crate::units::Limit;

/// A law whose state is recorded before each verdict.
pub(super) struct Watched<L> {
    law: L,
    before: Vec<f64>,
}

/// A law that reports its state before each verdict.
#[cfg(not(any(target_family = "wasm", test)))]
pub(super) fn watched<L: Observable>(law: L) -> Watched<L> {
    Watched::new(law)
}

/// The same as one type for all laws, so that disciplines are compiled once for them: copies would
/// make the live page a tenth larger. In native code, its calls would cost 6 % of a run; unit tests
/// check them.
#[cfg(any(target_family = "wasm", test))]
pub(super) fn watched(law: impl Observable + 'static) -> Box<dyn Observable> {
    Box::new(Watched::new(law))
}

impl<L: Observable> Watched<L> {
    fn new(law: L) -> Watched<L> {
        let before = vec![f64::NAN; law.vars().len()];
        Watched { law, before }
    }

    fn record(&mut self) {
        self.law.observe(&mut self.before);
    }
}

impl<L: Observable> Aqm for Watched<L> {
    fn is_limit_first(&self) -> bool {
        self.law.is_limit_first()
    }

    fn is_inert(&self) -> bool {
        self.law.is_inert()
    }

    fn judges_arrivals(&self) -> bool {
        self.law.judges_arrivals()
    }

    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if self.law.judges_arrivals() {
            self.record();
        }
        self.law.on_enqueue(now, head, queue, rng)
    }

    fn on_overflow(&mut self, now: Time, queue: Backlog) {
        self.record();
        self.law.on_overflow(now, queue);
    }

    fn on_eviction(&mut self, now: Time, queue: Backlog) {
        self.record();
        self.law.on_eviction(now, queue);
    }

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        self.record();
        self.law.on_dequeue(now, head, queue, rng)
    }

    fn on_empty(&mut self, now: Time) {
        self.law.on_empty(now);
    }

    fn on_listing(&mut self, now: Time, is_listed: bool) {
        self.law.on_listing(now, is_listed);
    }

    fn next_timer(&self) -> Option<Time> {
        self.law.next_timer()
    }

    fn on_head(&mut self, enqueued: Option<Time>) {
        self.law.on_head(enqueued);
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        self.law.on_timer(now, queue);
    }

    fn on_idle_timers(&mut self, now: Time) {
        self.law.on_idle_timers(now);
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        self.law.on_rate(now, rate);
    }

    fn observe(&self, out: &mut [f64]) {
        self.law.observe(out);
    }

    fn evidence(&self) -> Option<Evidence<'_>> {
        Some(Evidence { vars: self.law.vars(), values: &self.before })
    }
}

impl<L: Observable> Observable for Watched<L> {
    fn vars(&self) -> &'static [Var] {
        self.law.vars()
    }
}

/// A scheme whose state is recorded before each call of `enqueue` and `dequeue`.
pub(super) struct WatchedScheme<P> {
    scheme: Box<dyn Qdisc<P>>,
    before: Vec<f64>,
}

impl<P: Packet> WatchedScheme<P> {
    pub(super) fn new(scheme: Box<dyn Qdisc<P>>) -> Self {
        let before = vec![f64::NAN; scheme.vars().len()];
        WatchedScheme { scheme, before }
    }
}

/// Reports the evidence before each drop and mark, then forwards the drop or mark.
struct EvidenceSink<'a, P> {
    evidence: Evidence<'a>,
    sink: &'a mut dyn Sink<P>,
}

impl<P> Sink<P> for EvidenceSink<'_, P> {
    fn dropped(&mut self, packet: P, enqueued: Time, stage: Stage, cause: Cause) {
        self.sink.evidence(self.evidence);
        self.sink.dropped(packet, enqueued, stage, cause);
    }

    fn marked(&mut self, packet: &mut P, enqueued: Time, stage: Stage, cause: Cause) {
        self.sink.evidence(self.evidence);
        self.sink.marked(packet, enqueued, stage, cause);
    }

    fn split(&mut self, further: u32) {
        self.sink.split(further);
    }
}

impl<P: Packet> Qdisc<P> for WatchedScheme<P> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        self.scheme.observe(&mut self.before);
        let evidence = Evidence { vars: self.scheme.vars(), values: &self.before };
        self.scheme.enqueue(now, packet, rng, &mut EvidenceSink { evidence, sink });
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.scheme.observe(&mut self.before);
        let evidence = Evidence { vars: self.scheme.vars(), values: &self.before };
        self.scheme.dequeue(now, rng, &mut EvidenceSink { evidence, sink })
    }

    fn next_timer(&self) -> Option<Time> {
        self.scheme.next_timer()
    }

    fn on_timer(&mut self, now: Time) {
        self.scheme.on_timer(now);
    }

    fn held_until(&self) -> Option<Time> {
        self.scheme.held_until()
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        self.scheme.on_rate(now, rate);
    }

    fn on_limit(&mut self, limit: Limit) -> bool {
        self.scheme.on_limit(limit)
    }

    fn flow_queue(&self, packet: &P) -> Option<u32> {
        self.scheme.flow_queue(packet)
    }

    fn turn(&self, queue: u32) -> Option<Turn> {
        self.scheme.turn(queue)
    }

    fn backlog(&self) -> Backlog {
        self.scheme.backlog()
    }

    fn vars(&self) -> &'static [Var] {
        self.scheme.vars()
    }

    fn observe(&self, out: &mut [f64]) {
        self.scheme.observe(out);
    }
}

#[cfg(test)]
#[path = "watched_tests.rs"]
mod tests;
