//! A law that measures its queue without CE-marked packets, as though they had been dropped.
//!
//! Source: Khademi, Ros and Welzl 2013 §7 recommend this and leave the definition open ("perhaps").
//! Our definition (fact qdisc-21): backlogs exclude queued CE-marked packets, and a sojourn time
//! excludes the time that the link has spent on CE-marked packets since the arrival. Packets marked
//! upstream count as marked. A departure rate that a law measures includes all packets, so that
//! PIE's estimate by Little's law is the delay caused by unmarked packets.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use crate::law::{Aqm, Evidence, Observable, Var, Verdict};
use crate::packet::{Backlog, Ecn, Head};
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};

/// A queued packet.
#[derive(Clone, Copy, Debug)]
struct Queued {
    /// Time that the link had spent on CE-marked packets when this one arrived.
    marked_time: Span,
    bytes: u32,
    is_marked: bool,
}

/// The law, and the packets and times hidden from it.
pub(super) struct Unmarked {
    law: Box<dyn Observable>,
    queued: VecDeque<Queued>,
    /// The CE-marked packets of `queued`.
    marked: Backlog,
    /// Time that the link has spent on CE-marked packets, excluding the one in service.
    marked_time: Span,
    /// When the packet in service left the queue; `None` unless it is CE-marked.
    serving_since: Option<Time>,
    /// Arrival of the head, for the next timer.
    head: Option<Time>,
}

impl Unmarked {
    pub(super) fn new(law: Box<dyn Observable>) -> Unmarked {
        Unmarked {
            law,
            queued: VecDeque::new(),
            marked: Backlog::EMPTY,
            marked_time: Span::default(),
            serving_since: None,
            head: None,
        }
    }

    /// Time that the link has spent on CE-marked packets until `now`.
    fn marked_time(&self, now: Time) -> Span {
        self.marked_time + self.serving_since.map_or(Span::default(), |since| now.since(since))
    }

    /// Called when the link asks for a packet, so it has sent the last one.
    fn end_service(&mut self, now: Time) {
        self.marked_time = self.marked_time(now);
        self.serving_since = None;
    }

    /// The backlog without CE-marked packets.
    fn without_marked(&self, queue: Backlog) -> Backlog {
        Backlog {
            packets: queue.packets - self.marked.packets,
            bytes: queue.bytes - self.marked.bytes,
            link_bytes: queue.link_bytes - self.marked.bytes,
        }
    }

    fn push(&mut self, now: Time, bytes: u32, is_marked: bool) {
        let marked_time = self.marked_time(now);
        self.queued.push_back(Queued { marked_time, bytes, is_marked });
        if is_marked {
            self.marked.packets += 1;
            self.marked.bytes += u64::from(bytes);
        }
    }

    fn forget(&mut self, gone: Queued) {
        if gone.is_marked {
            self.marked.packets -= 1;
            self.marked.bytes -= u64::from(gone.bytes);
        }
    }

    fn pop(&mut self) -> Queued {
        let head = self.queued.pop_front().expect("the discipline has a packet at its head");
        self.forget(head);
        head
    }
}

impl Aqm for Unmarked {
    fn is_limit_first(&self) -> bool {
        self.law.is_limit_first()
    }

    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let queue = self.without_marked(queue);
        let verdict = self.law.on_enqueue(now, head, queue, rng);
        match verdict {
            Verdict::Pass => self.push(now, head.bytes, head.ecn == Ecn::Ce),
            Verdict::Mark(_) => self.push(now, head.bytes, true),
            Verdict::Drop(_) => {}
        }
        verdict
    }

    fn on_overflow(&mut self, now: Time, queue: Backlog) {
        // A law that is called before the limit is tested has already let the packet pass.
        if !self.law.is_limit_first() {
            let arrival = self.queued.pop_back().expect("the law was asked about the arrival");
            self.forget(arrival);
        }
        self.law.on_overflow(now, self.without_marked(queue));
    }

    fn on_eviction(&mut self, now: Time, queue: Backlog) {
        self.pop();
        self.law.on_eviction(now, self.without_marked(queue));
    }

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        self.end_service(now);
        let marked_time = self.marked_time - self.pop().marked_time;
        let seen = Head { enqueued: head.enqueued + marked_time, ..head };
        let verdict = self.law.on_dequeue(now, seen, self.without_marked(queue), rng);
        let is_marked = match verdict {
            Verdict::Pass => head.ecn == Ecn::Ce,
            Verdict::Mark(_) => true,
            Verdict::Drop(_) => false,
        };
        self.serving_since = is_marked.then_some(now);
        verdict
    }

    fn on_empty(&mut self, now: Time) {
        debug_assert!(self.queued.is_empty(), "nothing is queued");
        self.end_service(now);
        self.law.on_empty(now);
    }

    fn is_inert(&self) -> bool {
        self.law.is_inert()
    }

    fn next_timer(&self) -> Option<Time> {
        self.law.next_timer()
    }

    /// Passed on at the timer, when the end of the link's busy time is known.
    fn on_head(&mut self, enqueued: Option<Time>) {
        self.head = enqueued;
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        let marked_time = self.marked_time(now);
        let head = self.head.zip(self.queued.front());
        self.law.on_head(head.map(|(time, head)| time + (marked_time - head.marked_time)));
        self.law.on_timer(now, self.without_marked(queue));
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
        self.law.evidence()
    }
}

impl Observable for Unmarked {
    fn vars(&self) -> &'static [Var] {
        self.law.vars()
    }
}

#[cfg(test)]
#[path = "unmarked_tests.rs"]
mod tests;
