//! The window that a receiver offers (endpoints sheet §1.16). The application reads at once, so that the
//! window is what the buffer holds, counted from the next segment expected.

use sojourn_aqm::{Span, Time};

/// How much a receiver offers, in segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WindowRule {
    /// Never a limit.
    #[default]
    Unlimited,
    /// Always the same.
    Fixed(u32),
    /// Grows with what arrives in a round trip (Linux `tcp_rcv_space_adjust`).
    Autotuned {
        /// At first.
        initial: u32,
        /// At most.
        most: u32,
    },
}

/// Segments per round trip that Linux reckons with before it has measured.
const FIRST_SPACE: u32 = 10;
/// Segments that Linux adds for variations.
const CUSHION: u64 = 16;
/// What Linux's receivers offer at first: 65160 B.
const FIRST_OFFER: u32 = 45;

/// What one receiver offers.
#[derive(Clone, Debug)]
pub struct Offer {
    segments: u32,
    /// What a receiver of Linux would offer by now, and at most.
    grown: u32,
    most: u32,
    /// What arrived in the round trip before, and where and when the present one began.
    space: u32,
    start: u32,
    since: Time,
}

impl Offer {
    /// At the start of a connection.
    pub fn new(rule: WindowRule) -> Offer {
        let (segments, grown, most) = match rule {
            WindowRule::Unlimited => (u32::MAX, FIRST_OFFER, u32::MAX),
            WindowRule::Fixed(segments) => (segments, segments, segments),
            WindowRule::Autotuned { initial, most } => {
                let initial = initial.min(most);
                (initial, initial, most)
            }
        };
        Offer { segments, grown, most, space: FIRST_SPACE, start: 0, since: Time::ZERO }
    }

    /// Segments offered beyond the next expected.
    #[inline]
    pub fn segments(&self) -> u32 {
        self.segments
    }

    /// Segments that a receiver of Linux with this rule would have offered at most by now; one that is never
    /// the limit offers what its window would have grown to.
    #[inline]
    pub fn grown(&self) -> u32 {
        self.grown
    }

    /// Everything below `next` has arrived and been read.
    pub fn on_read(&mut self, now: Time, next: u32, rtt: Option<Span>) {
        if self.grown == self.most {
            return;
        }
        let Some(rtt) = rtt.filter(|&rtt| now.since(self.since) >= rtt) else { return };
        debug_assert!(rtt <= now.since(self.since), "a round trip has passed");
        let copied = next - self.start;
        if copied > self.space {
            // Twice for losses, and more where the sender grows: it has another round trip's growth by
            // the time that it hears of this.
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
        let mut offer = Offer::new(WindowRule::Autotuned { initial: 45, most: 2_000 });
        let rtt = Span::from_millis(100);
        let (mut now, mut next, mut window) = (Time::ZERO, 0, 10);
        while next < 10_000 {
            now += rtt;
            next += window;
            offer.on_read(now, next, Some(rtt));
            window = (2 * window).min(2_000);
            assert!(offer.segments() >= window, "{} for {window}", offer.segments());
        }
        assert_eq!(offer.segments(), 2_000);
    }

    #[test]
    fn other_windows_stay() {
        for (rule, expected) in [(WindowRule::Fixed(90), 90), (WindowRule::Unlimited, u32::MAX)] {
            let mut offer = Offer::new(rule);
            offer.on_read(Time::ZERO + Span::from_secs(1), 500, Some(Span::from_millis(1)));
            assert_eq!(offer.segments(), expected);
        }
    }
}
