//! CoDel with nanoseconds and an exact square root: RFC 8289, the earlier draft, and CoDel-ACT.
//! FreeBSD's dummynet has the draft's routine, in milliseconds and with a root of 16 bits.
//!
//! The discipline asks about one packet at a time, whereas `dequeue` in RFC 8289 §5.5 loops:
//! [`State`] records the point in that routine at which the last verdict was given.

use super::CoDelParams;
use super::freebsd::Root;
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::parts::dummynet::{in_ticks, whole_micros};
use crate::time::{Span, Time};

/// The text that the law follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Text {
    /// RFC 8289 §5.5: within 16 intervals, resume with the growth of the last dropping state.
    Rfc8289,
    /// draft-nichols-tsvwg-codel-01; Schwarzkopf, Veith and Menth 2016 Listing 1: resume with
    /// count - 2, within 8 intervals; the drop that ends a dropping state is not counted.
    Draft,
    /// Schwarzkopf, Veith and Menth 2016 §II-B and Listing 2: as in the draft, but the wait before
    /// the first drop shrinks with the last count.
    Act,
    /// Pollere's ns-2 `codel.cc` of July 2012: the wait shrinks only within 8 intervals, and the
    /// very first packet needs no wait.
    ActPollere,
    /// FreeBSD 14 `dn_aqm_codel.h`: as in the draft; a drop still to come is not recent.
    FreeBsd,
}

/// FreeBSD 14 `aqm_codel_init`: `maxpkt_size` before the first packet.
const SMALLEST_MTU: u64 = 500;

/// Schwarzkopf, Veith and Menth 2016 Listing 2: above this, a resumed count is scaled instead of
/// lowered by 2.
const DECAY_ABOVE: u32 = 126;

/// The law in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    text: Text,
    target: Span,
    interval: Span,
    mtu_bytes: u64,
    ecn: bool,
    ce_threshold: Option<Span>,
    /// A fixed count, in place of the growing one.
    frozen_count: Option<u32>,
    state: State,
    /// The time at which the sojourn time will have been above target for one interval.
    first_above: Option<Time>,
    /// Number of signals in this dropping state or, outside of one, in the last dropping state.
    count: u32,
    /// `count` when the last dropping state was entered.
    last_count: u32,
    sojourn: Span,
    /// 1/sqrt(count) of [`Text::FreeBsd`].
    root: Root,
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
    /// Not dropping. `drop_next` is from the last dropping state, if any.
    Quiet { drop_next: Option<Time> },
    /// This call made the drop that opens a dropping state; the next head passes unconditionally.
    Entered { drop_next: Time },
    /// Dropping; the next signal is due at `drop_next`.
    Dropping { drop_next: Time },
    /// This call made a drop; `drop_next` advances if the next head is above target too.
    Dropped { drop_next: Time },
}

impl Exact {
    pub(super) fn new(text: Text, params: &CoDelParams, env: &Env) -> Exact {
        let kept = |span| if text == Text::FreeBsd { whole_micros(span) } else { span };
        Exact {
            text,
            target: kept(params.target),
            interval: kept(params.interval),
            mtu_bytes: match text {
                Text::FreeBsd => SMALLEST_MTU,
                _ => params.mtu_bytes.0.map_or(u64::from(env.mtu_bytes), |bytes| bytes.0),
            },
            ecn: params.ecn,
            ce_threshold: params.ce_threshold.0,
            frozen_count: params.frozen_count(),
            state: State::Quiet { drop_next: None },
            first_above: (text == Text::ActPollere).then_some(Time::ZERO),
            count: 0,
            last_count: 0,
            sojourn: Span::ZERO,
            root: Root::default(),
        }
    }

    /// FreeBSD 14 `aqm_codel_enqueue`: the MTU is the largest packet so far.
    pub(super) fn on_enqueue(&mut self, bytes: u32) {
        if self.text == Text::FreeBsd {
            self.mtu_bytes = self.mtu_bytes.max(u64::from(bytes));
        }
    }

    /// FreeBSD 14 `fq_codel_enqueue`: a queue that is listed again is not dropping.
    pub(super) fn on_listing(&mut self) {
        if let (Text::FreeBsd, Some(drop_next)) = (self.text, self.drop_next()) {
            self.state = State::Quiet { drop_next: Some(drop_next) };
            self.first_above = None;
        }
    }

    /// FreeBSD 14 `codel_dodequeue`: time is in ticks, and the backlog is that of the queue alone.
    #[inline(never)]
    pub(super) fn on_dequeue_in_ticks(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict {
        let head = Head { enqueued: in_ticks(head.enqueued), ..head };
        self.on_dequeue(in_ticks(now), head, Backlog { link_bytes: queue.bytes, ..queue })
    }

    /// RFC 8289 §5.6 `dodequeue`: whether a drop is allowed now.
    fn is_above(&mut self, now: Time, head: Head, queue: Backlog) -> bool {
        self.sojourn = head.sojourn(now);
        // RFC 8289 §4.4: with several queues, the link's backlog counts.
        if self.sojourn < self.target || queue.link_bytes <= self.mtu_bytes {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            Some(first_above) => now >= first_above,
            None => {
                let first_above = now + self.wait(now);
                self.first_above = Some(first_above);
                now >= first_above
            }
        }
    }

    /// How long the sojourn time must stay above target before the first drop.
    fn wait(&mut self, now: Time) -> Span {
        let shrinks = match self.text {
            Text::Rfc8289 | Text::Draft | Text::FreeBsd => false,
            Text::Act => true,
            Text::ActPollere => self.is_recent(now, self.drop_next(), 8),
        };
        if shrinks && self.count > 1 { self.spacing() } else { self.interval }
    }

    fn drop_next(&self) -> Option<Time> {
        match self.state {
            State::Quiet { drop_next } => drop_next,
            State::Entered { drop_next }
            | State::Dropping { drop_next }
            | State::Dropped { drop_next } => Some(drop_next),
        }
    }

    fn is_recent(&self, now: Time, drop_next: Option<Time>, intervals: u64) -> bool {
        let is_past = |then| self.text != Text::FreeBsd || then <= now;
        let memory = self.interval.times(intervals);
        drop_next.is_some_and(|then| is_past(then) && now.since(then) < memory)
    }

    /// RFC 8289 §5.5: enter the dropping state, with the last dropping state's rate if that state
    /// was recent.
    #[inline(never)]
    fn enter(&mut self, now: Time, drop_next: Option<Time>, can_mark: bool) -> Verdict {
        let resumed = match self.text {
            Text::Rfc8289 => self.resumed(now, drop_next),
            _ => self.resumed_from_draft(now, drop_next),
        };
        self.count = self.frozen_count.unwrap_or(resumed);
        self.last_count = self.count;
        let drop_next = now + self.spacing();
        self.state =
            if can_mark { State::Dropping { drop_next } } else { State::Entered { drop_next } };
        Verdict::signal(can_mark, Cause::Target)
    }

    fn resumed(&self, now: Time, drop_next: Option<Time>) -> u32 {
        let grown = self.count - self.last_count;
        if grown > 1 && self.is_recent(now, drop_next, 16) { grown } else { 1 }
    }

    fn resumed_from_draft(&self, now: Time, drop_next: Option<Time>) -> u32 {
        if self.count <= 2 || !self.is_recent(now, drop_next, 8) {
            return 1;
        }
        let is_act = matches!(self.text, Text::Act | Text::ActPollere);
        let decays = is_act && self.count - 2 > DECAY_ABOVE;
        // Listing 2: 0.9844 of the old count, rounded down (fact aqm-18).
        let decayed = || (u64::from(self.count) * 9844 / 10_000) as u32;
        if decays { decayed() } else { self.count - 2 }
    }

    /// One iteration of the loop of RFC 8289 §5.5 within the dropping state.
    fn continue_dropping(&mut self, now: Time, drop_next: Time, can_mark: bool) -> Verdict {
        if now < drop_next {
            self.state = State::Dropping { drop_next };
            return Verdict::Pass;
        }
        if self.text == Text::Rfc8289 || can_mark {
            self.raise();
        }
        self.state = if can_mark {
            State::Dropping { drop_next: drop_next + self.spacing() }
        } else {
            State::Dropped { drop_next }
        };
        Verdict::signal(can_mark, Cause::Target)
    }

    /// The packet after a dropped one is above target too.
    #[inline(never)]
    fn after_drop(&mut self, drop_next: Time) -> Time {
        // RFC 8289 §5.5 increments the count at the drop; Listing 1 of the paper and the draft
        // increment it here.
        if self.text != Text::Rfc8289 {
            self.raise();
        }
        drop_next + self.spacing()
    }

    fn raise(&mut self) {
        self.count = self.frozen_count.unwrap_or(self.count.saturating_add(1));
    }

    fn leave(&mut self, drop_next: Time) -> Verdict {
        self.state = State::Quiet { drop_next: Some(drop_next) };
        Verdict::Pass
    }

    /// The control law: interval / sqrt(count) (RFC 8289 §5.6). `count` must not be 0 here.
    fn spacing(&mut self) -> Span {
        debug_assert!(self.count > 0, "the first signal has been counted");
        if self.text == Text::FreeBsd {
            return self.root.spacing(self.count, self.interval);
        }
        let nanos = self.interval.as_nanos() as f64 / libm::sqrt(f64::from(self.count));
        Span::from_nanos(nanos as u64)
    }

    /// Linux `codel_impl.h`, `codel_dequeue`: a packet that leaves with a sojourn time above
    /// `ce_threshold` is marked.
    fn or_threshold_mark(&self, verdict: Verdict, head: Head) -> Verdict {
        match (verdict, self.ce_threshold) {
            (Verdict::Pass, Some(limit)) if self.sojourn > limit && head.ecn.can_mark() => {
                Verdict::Mark(Cause::CeThreshold)
            }
            _ => verdict,
        }
    }

    #[inline(always)]
    pub(super) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict {
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
                let drop_next = self.after_drop(drop_next);
                self.continue_dropping(now, drop_next, can_mark)
            }
        };
        self.or_threshold_mark(verdict, head)
    }

    pub(super) fn on_empty(&mut self) {
        self.first_above = None;
        self.state = match self.state {
            State::Quiet { drop_next } => State::Quiet { drop_next },
            State::Entered { drop_next } => State::Dropping { drop_next },
            State::Dropping { drop_next } | State::Dropped { drop_next } => {
                State::Quiet { drop_next: Some(drop_next) }
            }
        };
    }

    pub(super) fn is_dropping(&self) -> bool {
        !matches!(self.state, State::Quiet { .. })
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// When the next signal is due, or was due when the last dropping state ended; zero before the
    /// first signal is scheduled.
    pub(super) fn scheduled(&self) -> Time {
        match self.state {
            State::Quiet { drop_next } => drop_next.unwrap_or(Time::ZERO),
            State::Entered { drop_next }
            | State::Dropping { drop_next }
            | State::Dropped { drop_next } => drop_next,
        }
    }

    pub(super) fn sojourn(&self) -> Span {
        self.sojourn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{env, ms, params_of};

    /// Fact aqm-22: FreeBSD compares a signed time with an unsigned one.
    #[test]
    fn a_drop_still_to_come_is_not_recent_for_freebsd() {
        let recent = |text, drop_next| {
            let codel = Exact::new(text, &params_of("rfc8289", &[]), &env());
            codel.is_recent(ms(5_000), Some(ms(drop_next)), 8)
        };
        assert!(recent(Text::Draft, 5_001) && !recent(Text::FreeBsd, 5_001));
        for text in [Text::Draft, Text::FreeBsd] {
            assert!(recent(text, 5_000) && recent(text, 4_201) && !recent(text, 4_200));
        }
    }
}
