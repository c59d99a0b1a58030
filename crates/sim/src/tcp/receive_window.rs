//! The receive window. The application reads at once, so that the size of the buffer limits it,
//! counted from the next segment expected. A Linux receiver approaches that limit by two segments
//! for every segment that arrives (`tcp_grow_window`).

use sojourn_aqm::{Span, Time};

/// How the receive window develops, in segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WindowRule {
    /// Never a limit.
    #[default]
    Unlimited,
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

/// Segments per round trip that Linux assumes before it has measured (`rcvq_space.space`, at first
/// the initial window).
const FIRST_SPACE: u32 = 10;
/// Segments that Linux adds for variations (`tcp_rcv_space_adjust`).
const CUSHION: u64 = 16;
/// How much every segment adds while the buffer has room for more (Linux `tcp_grow_window`: twice
/// the largest segment, where a segment takes no more memory than twice its payload).
const STEP: u32 = 2;
/// The initial window of a Linux receiver: 65160 B.
const FIRST_WINDOW: u32 = 45;
/// What a Linux receiver of an unlimited window offers at most: half of a buffer of 16 MiB, which
/// the hosts of engine linux have at least (fact tcp-24).
const MOST_OFFERED: u32 = (16 << 20) / 2 / 1448;

/// The window of one receiver.
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    segments: u32,
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
            WindowRule::Unlimited => (u32::MAX, FIRST_WINDOW, MOST_OFFERED),
            WindowRule::Fixed(segments) => (segments, segments, segments),
            WindowRule::Autotuned { initial, most } => {
                let initial = initial.min(most);
                (initial, initial, most)
            }
        };
        ReceiveWindow {
            segments,
            offered: clamp,
            clamp,
            most,
            space: FIRST_SPACE,
            start: 0,
            since: Time::ZERO,
        }
    }

    /// The window in segments, beyond the next expected.
    #[inline]
    pub fn segments(&self) -> u32 {
        self.segments
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
        if self.offered >= self.clamp {
            return false;
        }
        self.offered = (self.offered + STEP).min(self.clamp);
        if self.segments != u32::MAX {
            self.segments = self.offered;
        }
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
            assert!(
                receive_window.segments() >= window,
                "{} for {window}",
                receive_window.segments()
            );
        }
        assert_eq!(receive_window.segments(), 2_000);
    }

    #[test]
    fn every_segment_adds_two_to_the_window_until_it_fills_the_buffer() {
        let mut receive_window = ReceiveWindow::new(WindowRule::Unlimited);
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
    fn fixed_and_unlimited_windows_do_not_change() {
        for (rule, expected) in [(WindowRule::Fixed(90), 90), (WindowRule::Unlimited, u32::MAX)] {
            let mut receive_window = ReceiveWindow::new(rule);
            receive_window.on_read(
                Time::ZERO + Span::from_secs(1),
                500,
                Some(Span::from_millis(1)),
            );
            assert_eq!(receive_window.segments(), expected);
        }
    }
}
