//! The receive window. The application reads immediately, so only the size of the buffer limits the
//! window. A Linux receiver approaches that limit by two segments for every segment that arrives
//! (`tcp_grow_window`).

use std::mem;

use sojourn_aqm::{Span, Time};

use super::profile::BufferRule;
use super::receive_buffer::{FIRST_SPACE, ReceiveBuffer, window_after};
use crate::prefetch::Prefetch;

/// How the receive window develops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowRule {
    /// Never limits the sender.
    Unlimited {
        /// The final size of an autotuned window, in segments: while such a window would grow,
        /// segments are acknowledged sooner.
        most: u32,
    },
    /// Constant, in segments.
    Fixed(u32),
    /// Grows with the data received in a round trip (Linux `tcp_rcv_space_adjust`).
    Autotuned {
        /// Bytes of payload in a segment.
        payload: u32,
        /// Largest size of the buffer in bytes of memory.
        most: u32,
        /// The memory that segments take, and the window that it allows.
        buffer: BufferRule,
    },
}

impl Default for WindowRule {
    fn default() -> WindowRule {
        WindowRule::Unlimited { most: u32::MAX }
    }
}

/// How much every segment adds while the buffer has room (Linux `tcp_grow_window`: twice the
/// largest segment, if a segment takes at most twice its payload in memory).
const STEP: u32 = 2;
/// The initial window of a Linux receiver: 65160 B.
const FIRST_WINDOW: u32 = 45;

/// The window of one receiver.
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    /// Segments in order that the program has not read yet.
    unread: u32,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Segments(SegmentWindow),
    Buffer(ReceiveBuffer),
}

impl ReceiveWindow {
    /// The window at the start of a connection.
    pub fn new(rule: WindowRule) -> ReceiveWindow {
        let segments =
            |segments, offered, most| Kind::Segments(SegmentWindow::new(segments, offered, most));
        let kind = match rule {
            WindowRule::Unlimited { most } => segments(u32::MAX, FIRST_WINDOW.min(most), most),
            WindowRule::Fixed(size) => segments(size, size, size),
            WindowRule::Autotuned { payload, most, buffer } => {
                Kind::Buffer(ReceiveBuffer::new(buffer, payload, most))
            }
        };
        ReceiveWindow { unread: 0, kind }
    }

    /// The last announced window, in segments beyond the one then expected next.
    #[inline]
    pub fn segments(&self) -> u32 {
        match &self.kind {
            Kind::Segments(window) => window.segments,
            Kind::Buffer(buffer) => buffer.segments(),
        }
    }

    /// Announces a window: in segments beyond the next expected one and remaining bytes, and
    /// whether less than half of the buffer is free (Linux `__tcp_select_window`).
    #[inline]
    pub fn announce(&mut self, next: u32) -> (u32, u16, bool) {
        match &mut self.kind {
            Kind::Segments(window) => (window.segments, 0, false),
            Kind::Buffer(buffer) => buffer.announce(next, self.unread),
        }
    }

    /// Whether less than half of the buffer is free, and whether the window to announce now is no
    /// smaller than the last announced one (Linux `__tcp_select_window`, `__tcp_ack_snd_check`).
    #[inline]
    pub fn is_low_and_keeps_size(&self) -> (bool, bool) {
        match &self.kind {
            Kind::Segments(_) => (false, true),
            Kind::Buffer(buffer) => buffer.is_low_and_keeps_size(self.unread),
        }
    }

    /// Whether a window announced now would be at least twice the remainder of the last one (Linux
    /// `tcp_cleanup_rbuf`).
    #[inline]
    pub fn has_doubled(&self, next: u32) -> bool {
        match &self.kind {
            Kind::Segments(_) => false,
            Kind::Buffer(buffer) => buffer.has_doubled(next, self.unread),
        }
    }

    /// Whether in-order data is unread.
    #[inline]
    pub fn is_unread(&self) -> bool {
        self.unread > 0
    }

    /// Stores a segment beyond the next expected; `follows` says whether it directly follows
    /// another. Returns whether the window has grown for it, which happens only if `may_grow`.
    #[inline]
    pub fn on_waiting(&mut self, seq: u32, follows: bool, may_grow: bool) -> bool {
        match &mut self.kind {
            Kind::Segments(window) => may_grow && window.on_segment(),
            Kind::Buffer(buffer) => {
                buffer.on_waiting(seq, follows, may_grow.then_some(self.unread))
            }
        }
    }

    /// Provides memory for out-of-order segments; `end` is one past the last of them.
    #[inline]
    pub fn provide_for_gap(&mut self, next: u32, end: u32) {
        if let Kind::Buffer(buffer) = &mut self.kind {
            buffer.provide_for_gap(next, end);
        }
    }

    /// Handles a segment that is now in order, with all stored segments behind it below `next`.
    #[inline]
    pub fn on_in_order(&mut self, seq: u32, next: u32) {
        self.unread += next - seq;
        if let Kind::Buffer(buffer) = &mut self.kind
            && next - seq > 1
        {
            buffer.on_released(seq, next);
        }
    }

    /// The window currently offered by a Linux receiver under this rule, in segments; for an
    /// unlimited window, the one that autotuning would offer.
    #[inline]
    pub fn offered(&self) -> u32 {
        match &self.kind {
            Kind::Segments(window) => window.offered,
            Kind::Buffer(buffer) => buffer.offered(),
        }
    }

    /// Called when the connection opens: starts the first round trip (Linux
    /// `tcp_init_buffer_space`).
    pub fn on_established(&mut self, now: Time) {
        match &mut self.kind {
            Kind::Segments(window) => window.since = now,
            Kind::Buffer(buffer) => buffer.on_established(now),
        }
    }

    /// Handles a segment that arrived in order. Returns whether the window has grown for it.
    #[inline]
    pub fn on_segment(&mut self) -> bool {
        match &mut self.kind {
            Kind::Segments(window) => window.on_segment(),
            Kind::Buffer(buffer) => buffer.on_segment(self.unread + 1),
        }
    }

    /// Lets the program read everything below `next`. Linux `tcp_recvmsg_locked` checks the round
    /// trip after each buffer that it has copied; here all buffers are read at the same time.
    /// Segments stored behind a hole may be in the buffer of the segment that fills it (fact
    /// tcp-42).
    #[inline]
    pub fn on_read(&mut self, now: Time, next: u32, rtt: Option<Span>) {
        let unread = mem::take(&mut self.unread);
        debug_assert!(unread > 0, "there is something to read");
        if self.is_round_trip_over(now, rtt) {
            let first = match &self.kind {
                Kind::Segments(_) => 1,
                Kind::Buffer(buffer) => buffer.first_of(unread),
            };
            self.on_round_trip(now, next + first - unread, unread - first);
            // If a round trip takes no time, the next one ends immediately.
            if unread > 1 && self.is_round_trip_over(now, rtt) {
                self.on_round_trip(now, next, 0);
            }
        }
    }

    #[inline]
    fn is_round_trip_over(&self, now: Time, rtt: Option<Span>) -> bool {
        match &self.kind {
            Kind::Segments(window) => window.is_round_trip_over(now, rtt),
            Kind::Buffer(buffer) => buffer.is_round_trip_over(now, rtt),
        }
    }

    #[cold]
    fn on_round_trip(&mut self, now: Time, next: u32, unread: u32) {
        match &mut self.kind {
            Kind::Segments(window) => window.on_round_trip(now, next),
            Kind::Buffer(buffer) => buffer.on_round_trip(now, next, unread),
        }
    }
}

/// A window in whole segments, set by the scenario or unlimited.
#[derive(Clone, Debug)]
struct SegmentWindow {
    segments: u32,
    /// The window currently offered by a Linux receiver (`rcv_ssthresh`), that of its buffer
    /// (`window_clamp`), and the largest allowed.
    offered: u32,
    clamp: u32,
    most: u32,
    /// Segments that arrived in the last round trip, and where and when the current one began.
    space: u32,
    start: u32,
    since: Time,
}

impl SegmentWindow {
    fn new(segments: u32, offered: u32, most: u32) -> SegmentWindow {
        SegmentWindow {
            segments,
            offered,
            clamp: offered,
            most,
            space: FIRST_SPACE.min(offered),
            start: 0,
            since: Time::ZERO,
        }
    }

    fn on_segment(&mut self) -> bool {
        if self.offered >= self.clamp {
            return false;
        }
        self.offered = (self.offered + STEP).min(self.clamp);
        true
    }

    /// Whether the program has been reading for a round trip and the window can grow.
    #[inline]
    fn is_round_trip_over(&self, now: Time, rtt: Option<Span>) -> bool {
        self.clamp != self.most && rtt.is_some_and(|rtt| now.since(self.since) >= rtt)
    }

    /// Ends a round trip: everything below `next` has arrived and been read.
    fn on_round_trip(&mut self, now: Time, next: u32) {
        let copied = next - self.start;
        if copied > self.space {
            let target = window_after(copied, self.space, 1).min(u64::from(self.most)) as u32;
            self.clamp = self.clamp.max(target);
            self.space = copied;
        }
        (self.start, self.since) = (next, now);
    }
}

impl Prefetch for ReceiveWindow {
    /// Prefetches its record of out-of-order segments.
    fn far(&self) {
        if let Kind::Buffer(buffer) = &self.kind {
            buffer.far();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window of a Linux receiver at the start of a connection with segments of `payload`.
    fn open_window(payload: u32) -> ReceiveWindow {
        let rule = WindowRule::Autotuned { payload, most: 16 << 20, buffer: BufferRule::Half };
        let mut window = ReceiveWindow::new(rule);
        window.on_established(Time::ZERO);
        window
    }

    /// Linux 6.1 `tcp_init_buffer_space`. If ten segments were assumed, a first window of seven
    /// segments of 9000 bytes could not grow, as at most seven or eight arrive in a round trip.
    #[test]
    fn a_window_that_starts_below_ten_segments_grows_with_the_first_that_exceed_it() {
        let mut window = open_window(8948);
        assert_eq!(window.segments(), 7);
        for (next, ms) in (1..=8).zip([10, 10, 10, 10, 10, 10, 10, 21]) {
            window.on_in_order(next - 1, next);
            let now = Time::ZERO + Span::from_millis(ms);
            window.on_read(now, next, Some(Span::from_millis(20)));
        }
        assert!(window.on_segment(), "it may grow");
        assert_eq!(window.announce(8), (8, 3_168, false), "146 units of 512 B");
    }

    #[test]
    fn every_segment_adds_two_to_the_window_until_it_fills_the_buffer() {
        let mut receive_window = ReceiveWindow::new(WindowRule::default());
        let rtt = Span::from_millis(100);
        assert!(!receive_window.on_segment(), "the first window fills the first buffer");
        // After a round trip of 10 segments, one of 16 asks for room for 2 * 16 + 16, and 2 * 48 *
        // 6 / 10 more.
        receive_window.on_in_order(0, 15);
        receive_window.on_read(Time::ZERO, 15, Some(rtt));
        receive_window.on_in_order(15, 16);
        receive_window.on_read(Time::ZERO + rtt, 16, Some(rtt));
        let mut segments = 0;
        while receive_window.on_segment() {
            segments += 1;
        }
        assert_eq!((segments, receive_window.offered()), (30, 104));
        assert_eq!(receive_window.segments(), u32::MAX);
    }

    /// Linux `tcp_ofo_queue` makes one buffer of up to 17 fragments (fact tcp-42).
    #[test]
    fn what_waited_behind_a_small_hole_counts_for_the_round_trip_that_ends() {
        let grows_after = |waiting: u32| {
            let mut window = open_window(1448);
            (1..=waiting).for_each(|seq| {
                window.on_waiting(seq, seq > 1, false);
            });
            window.on_in_order(0, waiting + 1);
            let rtt = Span::from_millis(20);
            window.on_read(Time::ZERO + rtt, waiting + 1, Some(rtt));
            window.on_segment()
        };
        // This is more than the ten segments that Linux assumes, and at most 17 in one buffer.
        assert_eq!([9, 10, 16, 17].map(grows_after), [false, true, true, false]);
    }

    /// Fact tcp-53: the segments take 163,520 bytes of memory; without the fourth segment's 1,448
    /// bytes, the window could be 444 bytes larger.
    #[test]
    fn a_segment_that_joins_a_buffer_takes_its_memory_before_the_window_grows() {
        let mut window = open_window(1448);
        let rtt = Span::from_millis(20);
        for seq in 0..12 {
            window.on_in_order(seq, seq + 1);
            let now = if seq == 11 { Time::ZERO + rtt } else { Time::ZERO };
            window.on_read(now, seq + 1, Some(rtt));
        }
        assert_eq!([(); 2].map(|()| window.on_segment()), [true; 2]);
        let grows = [23, 24, 25, 26].map(|seq| window.on_waiting(seq, seq > 23, true));
        assert_eq!(grows, [true, true, true, false]);
    }

    #[test]
    fn an_unlimited_window_grows_no_longer_than_its_buffer_would() {
        let mut receive_window = ReceiveWindow::new(WindowRule::Unlimited { most: 245 });
        let rtt = Span::from_millis(100);
        // A filled hole gives a round trip of 2,000 segments after one of 10, which would ask for
        // 1.6 million.
        receive_window.on_in_order(1_999, 2_000);
        receive_window.on_read(Time::ZERO + rtt, 2_000, Some(rtt));
        let grown = (0..1_000).filter(|_| receive_window.on_segment()).count();
        assert_eq!((grown, receive_window.announce(2_000).0), (100, u32::MAX));
    }

    #[test]
    fn fixed_and_unlimited_windows_do_not_change() {
        for (rule, expected) in [(WindowRule::Fixed(90), 90), (WindowRule::default(), u32::MAX)] {
            let mut receive_window = ReceiveWindow::new(rule);
            for seq in 1..81 {
                receive_window.on_waiting(seq, seq > 1, false);
            }
            assert_eq!(receive_window.announce(0).0, expected);
            receive_window.on_in_order(499, 500);
            let after = Time::ZERO + Span::from_secs(1);
            receive_window.on_read(after, 500, Some(Span::from_millis(1)));
            assert_eq!(receive_window.announce(500).0, expected);
        }
    }
}
