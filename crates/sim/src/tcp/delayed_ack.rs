//! When a receiver acknowledges (endpoints sheet §3.1, §3.3): at once, after so many segments, or later.
//!
//! Linux adapts how long it waits to the gaps between segments, acknowledges the first segments of a
//! connection and those after a pause one by one, before 4.18 also those after a gap, and thins duplicates.
//! Other stacks count and wait.
//! Deviations from Linux: a receiver whose offered window has still to grow to its buffer (`tcp_grow_window`) goes
//! on acknowledging every segment; here windows have grown. With Linux's default buffer of 128 kB that is so for a
//! few segments whenever more arrives in a round trip than ever before, with one of 4 MB for the first 700. And
//! segments are pushed by the window that is offered when they arrive, not when the application wrote them, and
//! never because a write of the application ends.

use sojourn_aqm::{Span, Time};

use super::profile::AckRule;
use super::wheel;

/// Segments acknowledged one by one at a mark.
const QUICK_AT_MARK: u32 = 2;
/// Linux `TCP_ATO_MIN`, and the longest wait of an acknowledgement.
const SHORTEST: Span = Span::from_millis(40);
const LONGEST: Span = Span::from_millis(500);
/// Duplicates that are never held back, the most that are, and for how long (Linux `tcp_comp_sack_nr`,
/// `tcp_comp_sack_delay_ns`).
const DUPLICATES: u32 = 3;
const MOST_HELD: u32 = 44;
const HELD_FOR: Span = Span::from_millis(1);
/// What the kernel may add to that (Linux `tcp_comp_sack_slack_ns`); nothing else wakes it earlier here.
const HELD_SLACK: Span = Span::from_micros(100);

/// The clock of one receiver's acknowledgements.
#[derive(Clone, Debug)]
pub struct DelayedAck {
    rule: AckRule,
    tick: Option<Span>,
    /// How long the next one waits, if the rule adapts.
    wait: Span,
    /// Segments still to be acknowledged one by one.
    quick: u32,
    /// When the last segment in order arrived.
    last_data: Option<Time>,
    /// Of the handshake.
    rtt: Option<Span>,
    due: Time,
    held: Held,
    /// The last segment known to be pushed.
    pushed: u32,
}

/// Duplicates held back.
#[derive(Clone, Debug)]
struct Held {
    /// The number that they acknowledge.
    next: u32,
    /// Sent at once since that number.
    sent: u32,
    count: u32,
    due: Time,
}

impl DelayedAck {
    /// Before the first segment.
    pub fn new(rule: AckRule, tick: Option<Span>) -> DelayedAck {
        DelayedAck {
            rule,
            tick,
            wait: SHORTEST,
            quick: 0,
            last_data: None,
            rtt: None,
            due: Time::NEVER,
            held: Held { next: 0, sent: 0, count: 0, due: Time::NEVER },
            pushed: 0,
        }
    }

    /// The round trip of the handshake.
    pub fn on_established(&mut self, rtt: Span) {
        self.rtt = Some(rtt);
    }

    /// When an acknowledgement is due.
    #[inline]
    pub fn due(&self) -> Time {
        self.due.min(self.held.due)
    }

    /// The round trip of the handshake, if there was one.
    pub fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// A segment has arrived in order (Linux `tcp_event_data_recv`); `offered`: segments that the receiver
    /// offers.
    pub fn on_data(&mut self, now: Time, offered: u32) {
        if !self.rule.adaptive {
            return;
        }
        match self.last_data.replace(now).map(|last| now.since(last)) {
            None => self.go_quick(self.rule.quick, offered),
            Some(gap) if gap <= SHORTEST.half() => self.wait = self.wait.half() + SHORTEST.half(),
            Some(gap) if gap < self.wait => {
                self.wait = (self.wait.half() + gap).min(self.timeout());
            }
            Some(gap) if gap > self.timeout() => self.raise_quick(self.rule.quick, offered),
            Some(_) => {}
        }
    }

    /// The retransmission timeout of this end, which has sent nothing but its part of the handshake.
    fn timeout(&self) -> Span {
        let variance = |rtt: Span| (rtt + rtt).max(Span::from_millis(200));
        self.rtt.map_or(Span::from_secs(1), |rtt| rtt + variance(rtt))
    }

    fn raise_quick(&mut self, most: u32, offered: u32) {
        self.quick = self.quick.max((offered / 2).max(2).min(most));
    }

    /// The next `most` segments are acknowledged one by one, and then waiting begins anew.
    fn go_quick(&mut self, most: u32, offered: u32) {
        self.raise_quick(most, offered);
        self.wait = SHORTEST;
    }

    /// A segment has arrived twice.
    pub fn on_duplicate(&mut self, offered: u32) {
        if self.rule.adaptive {
            self.go_quick(self.rule.quick, offered);
        }
    }

    /// A segment has arrived out of order.
    pub fn on_gap(&mut self, offered: u32) {
        if self.rule.quick_at_gaps {
            self.go_quick(self.rule.quick, offered);
        }
    }

    /// A mark, or a retransmission among marked data: the sender's window may be small.
    pub fn on_mark(&mut self, offered: u32) {
        if self.rule.adaptive {
            self.go_quick(self.rule.quick.min(QUICK_AT_MARK), offered);
        }
    }

    /// Whether `segments` in order call for an acknowledgement now; otherwise one is due later.
    pub fn is_due_after(&mut self, now: Time, segments: u32) -> bool {
        if self.are_enough(segments) || self.quick > 0 {
            return true;
        }
        let wait = if self.rule.adaptive { self.bounded_wait() } else { self.rule.delay };
        let due = self.tick.map_or(now + wait, |tick| wheel::rings(now, now + wait, tick));
        self.due = self.due.min(due);
        false
    }

    /// Whether one acknowledgement covers no more segments than these.
    #[inline]
    pub fn are_enough(&self, segments: u32) -> bool {
        segments >= self.rule.every
    }

    /// Whether a segment in order is acknowledged once it has been read, because it is pushed; `next`: the
    /// segment behind what has arrived.
    ///
    /// A sender with much to send pushes a segment whenever half of the largest window offered to it has been
    /// filled (Linux `forced_push`). One that arrives in order, when all is read, is acknowledged then (Linux 6.6
    /// and Debian's 6.1, `tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`).
    pub fn is_pushed(&mut self, next: u32, offered: u32) -> bool {
        let pushed = self.rule.answers_push && next - self.pushed > offered / 2;
        if pushed {
            self.pushed = next;
        }
        pushed
    }

    /// Linux `tcp_send_delayed_ack`: no longer than a round trip, but at least 40 ms.
    fn bounded_wait(&self) -> Span {
        let most = self.rtt.map_or(LONGEST, |rtt| rtt.max(SHORTEST).min(LONGEST));
        self.wait.min(most)
    }

    /// Whether a duplicate that acknowledges `next` is sent now; otherwise it is held back for a moment.
    pub fn is_duplicate_due(&mut self, now: Time, next: u32) -> bool {
        if !self.rule.compression || self.quick > 0 {
            return true;
        }
        if self.held.next != next {
            (self.held.next, self.held.sent) = (next, 0);
        }
        if self.held.sent < DUPLICATES {
            self.held.sent += 1;
            return true;
        }
        if self.held.count >= MOST_HELD {
            return true;
        }
        self.held.count += 1;
        if self.held.due == Time::NEVER {
            let twentieth = |rtt: Span| Span::from_nanos(rtt.as_nanos() / 20);
            let wait = self.rtt.map_or(Span::ZERO, twentieth).min(HELD_FOR);
            self.held.due = now + wait + HELD_SLACK;
        }
        false
    }

    /// Whether duplicates are held back.
    #[inline]
    pub fn is_holding(&self) -> bool {
        self.held.count > 0
    }

    /// The timer of a delayed acknowledgement has rung: Linux waits longer for the next.
    pub fn on_timer(&mut self, now: Time) {
        if self.rule.adaptive && self.due <= now {
            self.wait = (self.wait + self.wait).min(self.timeout());
        }
    }

    /// An acknowledgement has been sent.
    #[inline]
    pub fn on_sent(&mut self) {
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.wait = SHORTEST; // Linux `tcp_dec_quickack_mode`
            }
        }
        self.due = Time::NEVER;
        (self.held.count, self.held.due) = (0, Time::NEVER);
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::{LINUX, NEWRENO, profile};
    use super::*;

    const MANY: u32 = u32::MAX;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// The waits after segments that arrive at these times, each acknowledged by the timer.
    fn waits(rtt_ms: u64, times_ms: &[u64]) -> Vec<f64> {
        let mut acks = DelayedAck::new(AckRule { quick: 0, ..LINUX.ack }, None);
        acks.on_established(Span::from_millis(rtt_ms));
        let wait = |&ms: &u64| {
            acks.on_data(at(ms), MANY);
            assert!(!acks.is_due_after(at(ms), 1));
            let due = acks.due();
            acks.on_timer(due);
            acks.on_sent();
            due.since(at(ms)).as_secs() * 1e3
        };
        times_ms.iter().map(wait).collect()
    }

    #[test]
    fn the_wait_doubles_when_the_timer_rings_and_is_bounded_by_the_round_trip() {
        assert_eq!(waits(100, &[0, 150, 300, 450]), [40.0, 80.0, 100.0, 100.0]);
        assert_eq!(waits(10, &[0, 60, 120]), [40.0, 40.0, 40.0]);
    }

    #[test]
    fn the_wait_follows_short_gaps() {
        // After a timer 80 ms; a gap of 10 ms takes it to 60, then to 50, by half and 20 ms.
        let mut acks = DelayedAck::new(AckRule { quick: 0, ..LINUX.ack }, None);
        acks.on_established(Span::from_millis(200));
        acks.on_data(at(0), MANY);
        acks.is_due_after(at(0), 1);
        acks.on_timer(at(40));
        acks.on_sent();
        acks.on_data(at(10), MANY);
        assert_eq!(acks.wait, Span::from_millis(60));
        acks.on_data(at(20), MANY);
        assert_eq!(acks.wait, Span::from_millis(50));
        acks.on_data(at(55), MANY);
        assert_eq!(acks.wait, Span::from_millis(60), "25 and the gap of 35");
    }

    #[test]
    fn t75_a_pause_longer_than_the_timeout_brings_quick_acknowledgements_back() {
        let mut acks = DelayedAck::new(LINUX.ack, None);
        acks.on_established(Span::from_millis(100));
        let mut quick = |start_ms: u64| {
            let mut count = 0;
            acks.on_data(at(start_ms), MANY);
            while acks.is_due_after(at(start_ms), 1) {
                acks.on_sent();
                count += 1;
                acks.on_data(at(start_ms), MANY);
            }
            acks.on_sent();
            count
        };
        assert_eq!([quick(0), quick(250), quick(600)], [16, 0, 16]);
        let mut small = DelayedAck::new(LINUX.ack, None);
        small.on_data(at(0), 10);
        assert_eq!(small.quick, 5, "half of what is offered");
    }

    #[test]
    fn duplicates_after_the_third_are_held_back_a_twentieth_of_a_round_trip() {
        let mut acks = DelayedAck::new(AckRule { quick: 0, ..LINUX.ack }, None);
        acks.on_established(Span::from_millis(10));
        let mut due = |next| {
            let due = acks.is_duplicate_due(at(5), next);
            if due {
                acks.on_sent();
            }
            due
        };
        assert_eq!([7, 7, 7, 7].map(&mut due), [true, true, true, false]);
        assert_eq!([7; 43].map(&mut due), [false; 43]);
        assert!(due(7), "at most 44 are held back");
        assert!(due(8), "another number starts anew");
        let _ = due(8) & due(8) & due(8);
        assert_eq!(acks.due(), at(5) + Span::from_micros(600));
    }

    #[test]
    fn other_stacks_count_and_wait() {
        let mut every = DelayedAck::new(NEWRENO.ack, None);
        every.on_data(at(0), MANY);
        assert!(every.is_due_after(at(0), 1));
        let rule = AckRule { every: 2, ..profile("pi2-ns3").unwrap().ack };
        let mut delayed = DelayedAck::new(rule, None);
        delayed.on_data(at(0), MANY);
        assert!(!delayed.is_due_after(at(0), 1) && delayed.is_duplicate_due(at(0), 0));
        assert_eq!(delayed.due(), at(200));
        delayed.on_duplicate(MANY);
        assert!(!delayed.is_due_after(at(0), 1), "quick acknowledgements are Linux's");
    }
}
