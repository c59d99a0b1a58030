//! When a receiver acknowledges: immediately, after a number of segments, or after a delay (RFC
//! 5681 §4.2).
//!
//! Linux 6.1 (`tcp_event_data_recv`, `__tcp_ack_snd_check`, `tcp_send_delayed_ack`) adapts the
//! delay to the gaps between segments. It acknowledges the first segments of a connection, and the
//! first after a pause, one by one (quick acknowledgements); before 4.18 it also did so after a
//! gap. Linux compresses duplicates. Other stacks count segments and use a fixed delay.
//!
//! Deviation from Linux: a window of fixed size (`receive_window` without `autotuning`) is offered
//! from the start.

use sojourn_aqm::{Span, Time};

use super::profile::AckRule;
use super::rtt::stamp;
use super::timer_wheel::{self, TICK};

/// Quick acknowledgements after a mark (Linux `__tcp_ecn_check_ce`).
const QUICK_AT_MARK: u8 = 2;
/// Linux `TCP_ATO_MIN`, and the longest delay of an acknowledgement (RFC 1122 §4.2.3.2).
const MIN_DELAY: Span = Span::from_millis(40);
const MIN_DELAY_TICKS: u64 = MIN_DELAY.as_nanos() / TICK.as_nanos();
const MAX_DELAY: Span = Span::from_millis(500);
/// Duplicates that are never held back (Linux `TCP_FASTRETRANS_THRESH`), the most that are held
/// back (`tcp_comp_sack_nr`), and for how long (`tcp_comp_sack_delay_ns`).
const NEVER_HELD: u32 = 3;
const MAX_HELD: u32 = 44;
const MAX_HOLD: Span = Span::from_millis(1);

/// The acknowledgement timing of one receiver.
#[derive(Clone, Debug)]
pub(crate) struct DelayedAck {
    rule: AckRule,
    /// Whether timers expire on the ticks of a timer wheel.
    wheel: bool,
    /// The current delay in ticks, if adaptive (Linux `icsk_ack.ato`; fact tcp-51).
    ato: u64,
    /// Quick acknowledgements left (Linux `icsk_ack.quick`).
    quick: u32,
    /// The tick in which the last segment in order arrived (Linux `icsk_ack.lrcvtime`).
    last_data: Option<u64>,
    /// Round-trip time of the handshake, and the longest delay that follows from it (Linux
    /// `tcp_send_delayed_ack`: one round trip, but at least 40 ms).
    rtt: Option<Span>,
    longest: Span,
    due: Time,
    /// When the most recently set timer expires; acknowledgements do not stop it (fact tcp-52).
    expiry: Time,
    held: Held,
    /// Whether a segment with PSH is unacknowledged (Linux `ICSK_ACK_PUSHED`).
    pushed: bool,
}

/// Duplicates held back (SACK compression).
#[derive(Clone, Debug)]
struct Held {
    /// Their acknowledgement number.
    next: u32,
    /// Duplicates with that number that were sent at once.
    sent: u32,
    count: u32,
    /// The timestamp that an acknowledgement would have had if sent when the last duplicate
    /// arrived.
    stamp: u32,
    due: Time,
}

impl DelayedAck {
    /// The state before the first segment.
    pub(crate) fn new(rule: AckRule, wheel: bool) -> DelayedAck {
        DelayedAck {
            rule,
            wheel,
            ato: MIN_DELAY_TICKS,
            quick: 0,
            last_data: None,
            rtt: None,
            longest: MAX_DELAY,
            due: Time::NEVER,
            expiry: Time::ZERO,
            held: Held { next: 0, sent: 0, count: 0, stamp: 0, due: Time::NEVER },
            pushed: false,
        }
    }

    /// Sets the round-trip time of the handshake, if known.
    pub(crate) fn on_established(&mut self, rtt: Option<Span>) {
        self.rtt = rtt;
        self.longest = rtt.map_or(MAX_DELAY, |rtt| rtt.max(MIN_DELAY).min(MAX_DELAY));
    }

    /// When an acknowledgement is due.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.due.min(self.held.due)
    }

    /// The round-trip time of the handshake, if known.
    pub(crate) fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// Handles a segment that arrived in order (Linux `tcp_event_data_recv`). Here and below,
    /// `window` is the receive window in segments; it costs a division and is rarely needed, hence
    /// a closure.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Time, window: impl Fn() -> u32) {
        if !self.rule.adaptive {
            return;
        }
        let tick = timer_wheel::tick_of(now);
        let last = self.last_data.replace(tick);
        match last.map(|last| tick - last) {
            None => self.go_quick(self.rule.quick, window()),
            Some(gap) if gap <= MIN_DELAY_TICKS / 2 => {
                self.ato = self.ato / 2 + MIN_DELAY_TICKS / 2
            }
            Some(gap) if gap < self.ato => self.ato = (self.ato / 2 + gap).min(self.timeout()),
            Some(gap) if gap > self.timeout() => self.raise_quick(self.rule.quick, window()),
            Some(_) => {}
        }
    }

    /// The retransmission timeout of this end in ticks, based only on the handshake's sample.
    fn timeout(&self) -> u64 {
        let variance = |rtt: Span| (rtt + rtt).max(Span::from_millis(200));
        let timeout = self.rtt.map_or(Span::from_secs(1), |rtt| rtt + variance(rtt));
        timeout.as_nanos().div_ceil(TICK.as_nanos())
    }

    fn raise_quick(&mut self, most: u8, window: u32) {
        self.quick = self.quick.max((window / 2).max(2).min(u32::from(most)));
    }

    /// Enters quick-acknowledgement mode for the next `most` segments, and resets the delay (Linux
    /// `tcp_enter_quickack_mode`).
    fn go_quick(&mut self, most: u8, window: u32) {
        self.raise_quick(most, window);
        self.ato = MIN_DELAY_TICKS;
    }

    /// Handles a segment that arrives a second time.
    pub(crate) fn on_duplicate(&mut self, window: u32) {
        if self.rule.adaptive {
            self.go_quick(self.rule.quick, window);
        }
    }

    /// Handles a segment that arrives out of order.
    #[inline]
    pub(crate) fn on_gap(&mut self, window: impl Fn() -> u32) {
        if self.rule.quick_at_gaps {
            self.go_quick(self.rule.quick, window());
        }
    }

    /// Handles a mark, or a retransmission among ECN-capable data: the sender's window may be small
    /// (Linux `__tcp_ecn_check_ce`).
    pub(crate) fn on_mark(&mut self, window: u32) {
        if self.rule.adaptive {
            self.go_quick(self.rule.quick.min(QUICK_AT_MARK), window);
        }
    }

    /// Makes the next acknowledgement due at once because the window has grown (Linux
    /// `tcp_grow_window`).
    #[inline]
    pub(crate) fn on_window_growth(&mut self) {
        if self.rule.adaptive {
            self.quick |= 1;
        }
    }

    /// Ends quick acknowledgements because less than half of the buffer is free (Linux
    /// `__tcp_select_window`).
    pub(crate) fn on_low_buffer(&mut self) {
        self.quick = 0;
    }

    /// Whether the next segment is acknowledged alone (Linux `tcp_in_quickack_mode`).
    #[inline]
    pub(crate) fn is_quick(&self) -> bool {
        self.quick > 0
    }

    /// Quick acknowledgements left.
    #[cfg(test)]
    pub(crate) fn quick_left(&self) -> u32 {
        self.quick
    }

    /// Whether to acknowledge `segments` in-order segments now; otherwise sets the timer.
    #[inline]
    pub(crate) fn is_due_after(&mut self, now: Time, segments: u32) -> bool {
        if self.are_enough(segments) || self.quick > 0 {
            return true;
        }
        let adapted = || Span::from_nanos(self.ato * TICK.as_nanos()).min(self.longest);
        let wait = if self.rule.adaptive { adapted() } else { self.rule.delay };
        let due = timer_wheel::expiry(self.wheel, now, now + wait);
        self.due = self.due.min(due);
        self.expiry = self.due;
        false
    }

    /// Whether `segments` unacknowledged segments require an immediate acknowledgement.
    #[inline]
    pub(crate) fn are_enough(&self, segments: u32) -> bool {
        segments >= self.rule.every
    }

    /// Records whether an in-order segment carries PSH (Linux 6.6 and Debian's 6.1,
    /// `tcp_measure_rcv_mss`).
    #[inline]
    pub(crate) fn on_push(&mut self, push: bool) {
        self.pushed |= push && self.rule.answers_push;
    }

    /// Whether a segment with PSH must be acknowledged once it has been read and nothing is missing
    /// (Linux `tcp_cleanup_rbuf`).
    #[inline]
    pub(crate) fn is_pushed(&self) -> bool {
        self.pushed
    }

    /// Whether to send a duplicate that acknowledges `next` now. Otherwise the duplicate is held
    /// back (Linux `__tcp_ack_snd_check`) for a part of a round trip, either the receiver's mean or
    /// that of the handshake, whichever is shorter.
    pub(crate) fn is_duplicate_due(&mut self, now: Time, next: u32, mean: Option<Span>) -> bool {
        let Some(compression) = self.rule.compression.filter(|_| self.quick == 0) else {
            return true;
        };
        if self.held.next != next {
            (self.held.next, self.held.sent) = (next, 0);
        }
        if self.held.sent < NEVER_HELD {
            self.held.sent += 1;
            return true;
        }
        if self.held.count >= MAX_HELD {
            return true;
        }
        self.held.count += 1;
        self.held.stamp = stamp(now);
        if self.held.due == Time::NEVER {
            let percent = u64::from(compression.percent.get());
            let part = |rtt: Span| Span::from_nanos(rtt.as_nanos() * percent / 100);
            let shorter = self.rtt.into_iter().chain(mean).min();
            let wait = shorter.map_or(Span::ZERO, part).min(MAX_HOLD);
            self.held.due = now + wait + Span::from_micros(u64::from(compression.slack_us));
            if self.expiry > now {
                self.held.due = self.held.due.min(self.expiry);
            }
        }
        false
    }

    /// Whether duplicates are held back.
    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        self.held.count > 0
    }

    /// The timestamp of an acknowledgement sent now. In Linux 6.1 the timer that releases held
    /// duplicates does not read the clock (`tcp_compressed_ack_kick`); another timer that releases
    /// them does.
    #[inline]
    pub(crate) fn stamp(&self, now: Time) -> u32 {
        let is_let_go = self.held.due <= now && self.held.due != self.expiry;
        let is_early = is_let_go && self.rule.compression.is_some_and(|it| it.is_stamped_early);
        if is_early { self.held.stamp } else { stamp(now) }
    }

    /// Handles the expired timer; Linux doubles the delay (`tcp_delack_timer_handler`).
    pub(crate) fn on_timer(&mut self, now: Time) {
        if self.rule.adaptive && self.due <= now {
            self.ato = (2 * self.ato).min(self.timeout());
        }
    }

    /// Records that an acknowledgement has been sent.
    #[inline]
    pub(crate) fn on_sent(&mut self) {
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = MIN_DELAY_TICKS; // Linux `tcp_dec_quickack_mode`
            }
        }
        self.pushed = false;
        self.due = Time::NEVER;
        (self.held.count, self.held.due) = (0, Time::NEVER);
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::{LINUX, LINUX_7_2, NEWRENO, profile};
    use super::*;

    const MANY: u32 = u32::MAX;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// The delays after segments that arrive at these times, each acknowledged by the timer.
    fn waits(rtt_ms: u64, times_ms: &[u64]) -> Vec<f64> {
        let mut acks = DelayedAck::new(AckRule { quick: 0, ..LINUX.ack }, false);
        acks.on_established(Some(Span::from_millis(rtt_ms)));
        let wait = |&ms: &u64| {
            acks.on_data(at(ms), || MANY);
            assert!(!acks.is_due_after(at(ms), 1));
            let due = acks.due();
            acks.on_timer(due);
            acks.on_sent();
            due.since(at(ms)).as_secs() * 1e3
        };
        times_ms.iter().map(wait).collect()
    }

    #[test]
    fn the_delay_doubles_when_the_timer_expires_up_to_the_round_trip() {
        assert_eq!(waits(100, &[0, 150, 300, 450]), [40.0, 80.0, 100.0, 100.0]);
        assert_eq!(waits(10, &[0, 60, 120]), [40.0, 40.0, 40.0]);
    }

    #[test]
    fn the_delay_follows_short_gaps() {
        // The delay is 80 ms after the timer. Gaps of 10 ms change it to 60 ms, then to 50 ms: half
        // of the delay, plus 20 ms.
        let mut acks = DelayedAck::new(AckRule { quick: 0, ..LINUX.ack }, false);
        acks.on_established(Some(Span::from_millis(200)));
        acks.on_data(at(0), || MANY);
        acks.is_due_after(at(0), 1);
        acks.on_timer(at(40));
        acks.on_sent();
        acks.on_data(at(10), || MANY);
        assert_eq!(acks.ato, 60);
        acks.on_data(at(20), || MANY);
        assert_eq!(acks.ato, 50);
        acks.on_data(at(55), || MANY);
        assert_eq!(acks.ato, 60, "25 and the gap of 35");
    }

    /// Fact tcp-51.
    #[test]
    fn gaps_and_the_delay_are_counted_in_whole_ticks() {
        let mut acks = DelayedAck::new(AckRule { quick: 0, ..LINUX.ack }, true);
        acks.on_established(Some(Span::from_millis(200)));
        let us = |us: u64| Time::ZERO + Span::from_micros(us);
        acks.on_data(us(900), || MANY);
        acks.on_data(us(21_100), || MANY);
        assert_eq!(acks.ato, 20 + 21, "20.2 ms are 21 ticks");
        acks.on_data(us(41_900), || MANY);
        assert_eq!(acks.ato, 20 + 20, "half of 41 ticks; 20.8 ms are 20");
    }

    /// Fact tcp-52.
    #[test]
    fn a_timer_that_an_acknowledgement_did_not_stop_sends_what_is_held() {
        let mut acks = DelayedAck::new(AckRule { quick: 0, ..LINUX.ack }, false);
        acks.on_established(Some(Span::from_millis(200)));
        acks.on_data(at(0), || MANY);
        assert!(!acks.is_due_after(at(0), 1), "until 40 ms");
        acks.on_sent();
        assert_eq!(acks.due(), Time::NEVER);
        let held = |acks: &mut DelayedAck, now: Time| {
            while acks.is_duplicate_due(now, 1, None) {}
            let due = acks.due();
            acks.on_sent();
            due
        };
        let [before, after] = [39_500, 40_500].map(Span::from_micros);
        assert_eq!(held(&mut acks, Time::ZERO + before), at(40), "after 0.5 ms, not 1.1");
        let late = Time::ZERO + after;
        assert_eq!(held(&mut acks, late), late + Span::from_micros(1_100), "it has expired");
    }

    /// Fact tcp-55: timestamps when the timer fires 1.1 ms after the first held duplicate and 0.5
    /// ms after the last, and when an older timer fires in between.
    #[test]
    fn what_the_timer_of_held_duplicates_sends_has_the_timestamp_of_the_last_in_linux_6_1() {
        let stamp_after = |rule: AckRule, older: bool| {
            let mut acks = DelayedAck::new(AckRule { quick: 0, ..rule }, false);
            acks.on_established(Some(Span::from_millis(200)));
            if older {
                acks.on_data(at(1), || MANY);
                assert!(!acks.is_due_after(at(1), 1), "until 41 ms");
                acks.on_sent();
            }
            let at_us = |us| Time::ZERO + Span::from_micros(us);
            while acks.is_duplicate_due(at_us(40_300), 1, None) {}
            assert!(!acks.is_duplicate_due(at_us(40_900), 1, None));
            (acks.stamp(acks.due()), acks.due())
        };
        let (held, due) = stamp_after(LINUX.ack, false);
        assert_eq!((held, due), (stamp(at(40)), at(40) + Span::from_micros(1_400)));
        assert_eq!(stamp_after(LINUX_7_2.ack, false).0, stamp(at(41)));
        assert_eq!(stamp_after(LINUX.ack, true), (stamp(at(41)), at(41)));
    }

    #[test]
    fn a_pause_longer_than_the_timeout_restarts_quick_acknowledgements() {
        let mut acks = DelayedAck::new(LINUX.ack, false);
        acks.on_established(Some(Span::from_millis(100)));
        let mut quick = |start_ms: u64| {
            let mut count = 0;
            acks.on_data(at(start_ms), || MANY);
            while acks.is_due_after(at(start_ms), 1) {
                acks.on_sent();
                count += 1;
                acks.on_data(at(start_ms), || MANY);
            }
            acks.on_sent();
            count
        };
        assert_eq!([quick(0), quick(250), quick(600)], [16, 0, 16]);
        let mut small = DelayedAck::new(LINUX.ack, false);
        small.on_data(at(0), || 10);
        assert_eq!(small.quick, 5, "half of the window");
    }

    #[test]
    fn duplicates_after_the_third_are_held_back_a_twentieth_of_a_round_trip() {
        let mut acks = DelayedAck::new(AckRule { quick: 0, ..LINUX.ack }, false);
        acks.on_established(Some(Span::from_millis(10)));
        let mut due = |next| {
            let due = acks.is_duplicate_due(at(5), next, None);
            if due {
                acks.on_sent();
            }
            due
        };
        assert_eq!([7, 7, 7, 7].map(&mut due), [true, true, true, false]);
        assert_eq!([7; 43].map(&mut due), [false; 43]);
        assert!(due(7), "at most 44 are held back");
        assert!(due(8), "another number starts again from zero");
        let _ = due(8) & due(8) & due(8);
        assert_eq!(acks.due(), at(5) + Span::from_micros(600));
    }

    /// How long a duplicate is held back after a handshake of 10 ms, in microseconds.
    fn held_us(rule: AckRule, mean_ms: Option<u64>) -> u64 {
        let mut acks = DelayedAck::new(AckRule { quick: 0, ..rule }, false);
        acks.on_established(Some(Span::from_millis(10)));
        let mean = mean_ms.map(Span::from_millis);
        let due = [(); 4].map(|()| acks.is_duplicate_due(at(5), 7, mean));
        assert_eq!(due, [true, true, true, false]);
        acks.due().since(at(5)).as_nanos() / 1000
    }

    /// Fact tcp-37.
    #[test]
    fn duplicates_are_held_back_by_the_shorter_of_two_round_trips() {
        let held = [None, Some(20), Some(6)].map(|mean| held_us(LINUX.ack, mean));
        assert_eq!(held, [600, 600, 400]);
    }

    /// Fact tcp-47.
    #[test]
    fn duplicates_are_held_back_by_a_third_of_a_round_trip_in_linux_7_2() {
        let held = [None, Some(2), Some(1)].map(|mean| held_us(LINUX_7_2.ack, mean));
        assert_eq!(held, [1_010, 670, 340], "at most a millisecond");
    }

    #[test]
    fn other_stacks_count_segments_and_wait_for_a_fixed_time() {
        let mut every = DelayedAck::new(NEWRENO.ack, false);
        every.on_data(at(0), || MANY);
        assert!(every.is_due_after(at(0), 1));
        let rule = AckRule { every: 2, ..profile("pi2-ns3").unwrap().ack };
        let mut delayed = DelayedAck::new(rule, false);
        delayed.on_data(at(0), || MANY);
        assert!(!delayed.is_due_after(at(0), 1) && delayed.is_duplicate_due(at(0), 0, None));
        assert_eq!(delayed.due(), at(200));
        delayed.on_duplicate(MANY);
        assert!(!delayed.is_due_after(at(0), 1), "quick acknowledgements are Linux's");
    }

    #[test]
    fn a_gap_of_twenty_milliseconds_is_short_and_one_as_long_as_the_delay_changes_nothing() {
        let after = |gap_ms: u64| {
            let mut acks = DelayedAck::new(AckRule { quick: 0, ..LINUX.ack }, false);
            acks.on_established(Some(Span::from_millis(200)));
            acks.on_data(at(0), || MANY);
            acks.ato = 100;
            acks.on_data(at(gap_ms), || MANY);
            acks.ato
        };
        // The expected delays, in order: half of 100 ms plus 20 ms; half of 100 ms plus the gap,
        // twice; unchanged.
        assert_eq!([20, 21, 99, 100].map(after), [70, 71, 149, 100]);
    }

    #[test]
    fn marks_start_two_quick_acknowledgements_and_duplicates_sixteen() {
        let mut acks = DelayedAck::new(LINUX.ack, false);
        acks.on_mark(MANY);
        assert_eq!(acks.quick, 2);
        acks.on_duplicate(MANY);
        assert_eq!(acks.quick, 16);
        acks.on_mark(MANY);
        assert_eq!(acks.quick, 16, "never fewer");
        let mut small = DelayedAck::new(LINUX.ack, false);
        small.on_duplicate(2);
        assert_eq!(small.quick, 2, "at least two");
    }

    #[test]
    fn only_a_gap_longer_than_the_timeout_restarts_quick_acknowledgements() {
        // The timeout after a handshake of 100 ms is 300 ms.
        let quick_after = |gap_ms: u64| {
            let mut acks = DelayedAck::new(LINUX.ack, false);
            acks.on_established(Some(Span::from_millis(100)));
            acks.on_data(at(0), || MANY);
            acks.quick = 1;
            acks.on_data(at(gap_ms), || MANY);
            acks.quick
        };
        assert_eq!([300, 301].map(quick_after), [1, 16]);
    }
}
