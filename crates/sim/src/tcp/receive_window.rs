//! The receive window. The application reads at once, so that the window is the size of the buffer,
//! counted from the next segment expected.

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
/// The initial window of a Linux receiver: 65160 B.
const FIRST_WINDOW: u32 = 45;

/// The window of one receiver.
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    segments: u32,
    /// The window of a Linux receiver by now, and its limit.
    grown: u32,
    most: u32,
    /// What arrived in the last round trip, and where and when the present one began.
    space: u32,
    start: u32,
    since: Time,
}

impl ReceiveWindow {
    /// At the start of a connection.
    pub fn new(rule: WindowRule) -> ReceiveWindow {
        let (segments, grown, most) = match rule {
            WindowRule::Unlimited => (u32::MAX, FIRST_WINDOW, u32::MAX),
            WindowRule::Fixed(segments) => (segments, segments, segments),
            WindowRule::Autotuned { initial, most } => {
                let initial = initial.min(most);
                (initial, initial, most)
            }
        };
        ReceiveWindow { segments, grown, most, space: FIRST_SPACE, start: 0, since: Time::ZERO }
    }

    /// The window in segments, beyond the next expected.
    #[inline]
    pub fn segments(&self) -> u32 {
        self.segments
    }

    /// The largest window of a Linux receiver under this rule so far; for an unlimited window, what
    /// autotuning would have reached.
    #[inline]
    pub fn grown(&self) -> u32 {
        self.grown
    }

    /// Everything below `next` has arrived and been read.
    #[inline]
    pub fn on_read(&mut self, now: Time, next: u32, rtt: Option<Span>) {
        if self.grown == self.most {
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
            self.grown = self.grown.max(target);
            if self.segments != u32::MAX {
                self.segments = self.grown;
            }
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
