//! The receive window. The application reads at once, so that the size of the buffer limits it,
//! counted from the next segment expected. A Linux receiver approaches that limit by two segments
//! for every segment that arrives (`tcp_grow_window`).

use sojourn_aqm::{Span, Time};

/// How the receive window develops, in segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowRule {
    /// Never a limit.
    Unlimited {
        /// What an autotuned window would end at: while it would grow, segments are acknowledged
        /// sooner.
        most: u32,
    },
    /// Constant.
    Fixed(u32),
    /// Grows with what arrives in a round trip (Linux `tcp_rcv_space_adjust`).
    Autotuned {
        /// Initial size.
        initial: u32,
        /// Largest size.
        most: u32,
    },
}

impl Default for WindowRule {
    fn default() -> WindowRule {
        WindowRule::Unlimited { most: u32::MAX }
    }
}

/// Segments per round trip that Linux assumes before it has measured (`rcvq_space.space`, at first
/// the initial window, where its own window has room for that: `tcp_init_buffer_space`).
const FIRST_SPACE: u32 = 10;
/// Segments that Linux adds for variations (`tcp_rcv_space_adjust`).
const CUSHION: u64 = 16;
/// How much every segment adds while the buffer has room for more (Linux `tcp_grow_window`: twice
/// the largest segment, where a segment takes no more memory than twice its payload).
const STEP: u32 = 2;
/// The initial window of a Linux receiver: 65160 B.
const FIRST_WINDOW: u32 = 45;

/// Where the window is not autotuned.
const NO_EDGE: u32 = u32::MAX;

/// The window of one receiver.
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    segments: u32,
    /// One past the last segment that was allowed, where the window is autotuned; it never moves
    /// back (Linux `tcp_select_window`).
    edge: u32,
    /// Segments that wait out of order, where the window is autotuned.
    held: u32,
    /// The window that a Linux receiver offers by now (`rcv_ssthresh`), that of its buffer
    /// (`window_clamp`), and the largest of these.
    offered: u32,
    clamp: u32,
    most: u32,
    /// What arrived in the last round trip, and where and when the present one began.
    space: u32,
    start: u32,
    since: Time,
}

impl ReceiveWindow {
    /// At the start of a connection.
    pub fn new(rule: WindowRule) -> ReceiveWindow {
        let (segments, clamp, most) = match rule {
            WindowRule::Unlimited { most } => (u32::MAX, FIRST_WINDOW.min(most), most),
            WindowRule::Fixed(segments) => (segments, segments, segments),
            WindowRule::Autotuned { initial, most } => {
                let initial = initial.min(most);
                (initial, initial, most)
            }
        };
        ReceiveWindow {
            segments,
            edge: if matches!(rule, WindowRule::Autotuned { .. }) { segments } else { NO_EDGE },
            held: 0,
            offered: clamp,
            clamp,
            most,
            space: FIRST_SPACE.min(clamp),
            start: 0,
            since: Time::ZERO,
        }
    }

    /// The window announced last, in segments beyond the next expected.
    #[inline]
    pub fn segments(&self) -> u32 {
        self.segments
    }

    /// The window to announce now, with the next segment expected. What waits out of order takes
    /// its room, but nothing that was announced is taken back (Linux `__tcp_select_window`,
    /// `tcp_select_window`; fact tcp-26).
    #[inline]
    pub fn announce(&mut self, next: u32) -> u32 {
        if self.edge != NO_EDGE {
            self.segments = self.room().min(self.offered).max(self.edge.saturating_sub(next));
            self.edge = next + self.segments;
        }
        self.segments
    }

    /// What the buffer has room for: a segment that waits takes as much of it as one that may come
    /// (Linux `tcp_space`).
    #[inline]
    fn room(&self) -> u32 {
        self.clamp.saturating_sub(self.held)
    }

    /// A segment beyond the next expected waits.
    #[inline]
    pub fn on_held(&mut self) {
        self.held += u32::from(self.edge != NO_EDGE);
    }

    /// So many that have waited are in order now.
    #[inline]
    pub fn on_released(&mut self, count: u32) {
        self.held = self.held.saturating_sub(count);
    }

    /// The window that a Linux receiver offers under this rule; for an unlimited window, what it
    /// would offer by autotuning.
    #[inline]
    pub fn offered(&self) -> u32 {
        self.offered
    }

    /// The connection is open: the first round trip begins (Linux `tcp_init_buffer_space`).
    pub fn on_established(&mut self, now: Time) {
        self.since = now;
    }

    /// A segment has arrived. Returns whether the window has grown for it.
    #[inline]
    pub fn on_segment(&mut self) -> bool {
        let room = self.room();
        if self.offered >= room {
            return false;
        }
        self.offered = (self.offered + STEP).min(room);
        true
    }

    /// Everything below `next` has arrived and been read.
    #[inline]
    pub fn on_read(&mut self, now: Time, next: u32, rtt: Option<Span>) {
        if self.clamp == self.most {
            return;
        }
        let Some(rtt) = rtt.filter(|&rtt| now.since(self.since) >= rtt) else { return };
        debug_assert!(rtt <= now.since(self.since), "a round trip has passed");
        let copied = next - self.start;
        if copied > self.space {
            // Linux `tcp_rcv_space_adjust`: twice, to leave room for losses, and more while the
            // sender is growing, which it will have done for another round trip when this window
            // arrives.
            let window = 2 * u64::from(copied) + CUSHION;
            let growth = window * u64::from(copied - self.space) / u64::from(self.space);
            let target = (window + 2 * growth).min(u64::from(self.most)) as u32;
            self.clamp = self.clamp.max(target);
            self.space = copied;
        }
        (self.start, self.since) = (next, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.1 `tcp_init_buffer_space`. A first window of seven segments of 9000 bytes could not
    /// grow where ten were assumed, as not more than seven or eight come in a round trip.
    #[test]
    fn a_window_that_starts_below_ten_segments_grows_with_the_first_that_exceed_it() {
        let mut window = ReceiveWindow::new(WindowRule::Autotuned { initial: 7, most: 2_000 });
        window.on_established(Time::ZERO);
        let round = Some(Span::from_millis(20));
        window.on_read(Time::from_nanos(21_000_000), 8, round);
        assert!(window.on_segment(), "it may grow");
        assert_eq!(window.announce(8), 9);
    }

    #[test]
    fn autotuning_keeps_ahead_of_slow_start() {
        let mut receive_window =
            ReceiveWindow::new(WindowRule::Autotuned { initial: 45, most: 2_000 });
        let rtt = Span::from_millis(100);
        let (mut now, mut next, mut window) = (Time::ZERO, 0, 10);
        while next < 10_000 {
            now += rtt;
            next += window;
            receive_window.on_read(now, next, Some(rtt));
            for _ in 0..window {
                receive_window.on_segment();
            }
            window = (2 * window).min(2_000);
            let announced = receive_window.announce(next);
            assert!(announced >= window, "{announced} for {window}");
        }
        assert_eq!(receive_window.segments(), 2_000);
    }

    #[test]
    fn every_segment_adds_two_to_the_window_until_it_fills_the_buffer() {
        let mut receive_window = ReceiveWindow::new(WindowRule::default());
        let rtt = Span::from_millis(100);
        assert!(!receive_window.on_segment(), "the first window fills the first buffer");
        // 16 in a round trip after 10: room for 2 * 16 + 16, and 2 * 48 * 6 / 10 more.
        receive_window.on_read(Time::ZERO + rtt, 16, Some(rtt));
        let mut segments = 0;
        while receive_window.on_segment() {
            segments += 1;
        }
        assert_eq!((segments, receive_window.offered()), (30, 104));
        assert_eq!(receive_window.segments(), u32::MAX);
    }

    #[test]
    fn an_unlimited_window_grows_no_longer_than_its_buffer_would() {
        let mut receive_window = ReceiveWindow::new(WindowRule::Unlimited { most: 245 });
        let rtt = Span::from_millis(100);
        // A hole is filled: 2,000 after 10 in a round trip would ask for 1.6 million.
        receive_window.on_read(Time::ZERO + rtt, 2_000, Some(rtt));
        let grown = (0..1_000).filter(|_| receive_window.on_segment()).count();
        assert_eq!((grown, receive_window.announce(2_000)), (100, u32::MAX));
    }

    #[test]
    fn fixed_and_unlimited_windows_do_not_change() {
        for (rule, expected) in [(WindowRule::Fixed(90), 90), (WindowRule::default(), u32::MAX)] {
            let mut receive_window = ReceiveWindow::new(rule);
            (0..80).for_each(|_| receive_window.on_held());
            assert_eq!(receive_window.announce(0), expected);
            receive_window.on_read(
                Time::ZERO + Span::from_secs(1),
                500,
                Some(Span::from_millis(1)),
            );
            assert_eq!(receive_window.announce(500), expected);
        }
    }

    /// Linux `tcp_select_window`: the right edge stays while what waits takes the room.
    #[test]
    fn behind_a_hole_the_window_opens_only_as_far_as_there_is_room_and_takes_nothing_back() {
        let rule = WindowRule::Autotuned { initial: 100, most: 100 };
        let mut receive_window = ReceiveWindow::new(rule);
        let mut announced = Vec::new();
        // All but every fifth of a hundred segments arrive; then the holes are filled in order.
        (0..80).for_each(|_| receive_window.on_held());
        announced.push((0, receive_window.announce(0)));
        for filled in (5..=100).step_by(5) {
            receive_window.on_released(4);
            announced.push((filled, receive_window.announce(filled)));
        }
        let edges: Vec<u32> = announced.iter().map(|(next, window)| next + window).collect();
        // 45 below the next, of the other 55 there wait 44: room for 56.
        assert_eq!(&edges[..10], [100, 100, 100, 100, 100, 100, 100, 100, 100, 101]);
        assert_eq!(edges[20], 200);
    }
}
