//! HyStart++ (RFC 9406): leaves slow start in two steps. When the delay rises, growth slows to a quarter;
//! five round trips later slow start ends, unless the delay has fallen again.
//!
//! Deviations from the RFC: none known.

use sojourn_aqm::Span;

use super::{Ack, Window};

/// RFC 9406 §4.3: samples per round, divisor of growth, rounds of conservative slow start, and the
/// most packets that one acknowledgement counts for where sending is not paced.
const SAMPLES: u32 = 8;
const GROWTH_DIVISOR: u32 = 4;
const ROUNDS: u32 = 5;
const MOST_PER_ACK: u32 = 8;
const MIN_THRESHOLD: Span = Span::from_millis(4);
const MAX_THRESHOLD: Span = Span::from_millis(16);

/// The detector of one slow start.
#[derive(Clone, Debug, Default)]
pub struct HyStartPlus {
    last_min: Option<Span>,
    current_min: Option<Span>,
    samples: u32,
    /// The round ends when this segment is acknowledged.
    round_end: u32,
    conservative: Option<Conservative>,
    credit: u32,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// The delay that it began with.
    baseline: Span,
    rounds: u32,
}

impl HyStartPlus {
    /// Takes a sample; sets the threshold to the window when slow start should end.
    pub fn on_rtt(&mut self, ack: &Ack, rtt: Span, window: &mut Window) {
        if !window.in_slow_start() {
            return;
        }
        if ack.una > self.round_end {
            self.start_round(ack.nxt, window);
        }
        let current = self.current_min.map_or(rtt, |min| min.min(rtt));
        self.current_min = Some(current);
        self.samples += 1;
        if self.samples < SAMPLES {
            return;
        }
        match (self.conservative, self.last_min) {
            (None, Some(last)) if current >= last + threshold(last) => {
                self.conservative = Some(Conservative { baseline: current, rounds: 0 });
            }
            (Some(slow), _) if current < slow.baseline => self.conservative = None,
            _ => {}
        }
    }

    fn start_round(&mut self, nxt: u32, window: &mut Window) {
        self.round_end = nxt;
        self.last_min = self.current_min.take();
        self.samples = 0;
        if let Some(slow) = &mut self.conservative {
            slow.rounds += 1;
            if slow.rounds >= ROUNDS {
                window.ssthresh = window.cwnd;
            }
        }
    }

    /// How many of the packets delivered count towards growth.
    pub fn counted(&mut self, delivered: u32, paced: bool) -> u32 {
        let delivered = if paced { delivered } else { delivered.min(MOST_PER_ACK) };
        if self.conservative.is_none() {
            return delivered;
        }
        self.credit += delivered;
        let counted = self.credit / GROWTH_DIVISOR;
        self.credit %= GROWTH_DIVISOR;
        counted
    }
}

/// How far the delay may rise: an eighth of the last round's, 4 ms to 16 ms.
fn threshold(last_min: Span) -> Span {
    Span::from_nanos(last_min.as_nanos() / 8).clamp(MIN_THRESHOLD, MAX_THRESHOLD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::Time;

    /// A round of ten samples.
    fn round(detector: &mut HyStartPlus, n: u32, rtt_ms: u64, window: &mut Window) {
        for i in 1..=10 {
            let una = 10 * n + i;
            let rtt = Span::from_millis(rtt_ms);
            let ack = Ack {
                now: Time::ZERO,
                delivered: 1,
                rtt: Some(rtt),
                una,
                nxt: 10 * n + 10,
                paced: false,
            };
            detector.on_rtt(&ack, rtt, window);
        }
    }

    #[test]
    fn t71_the_delay_must_rise_by_an_eighth() {
        for (rtt_ms, rose) in [(112, false), (113, true)] {
            let (mut detector, mut window) = (HyStartPlus::default(), Window::new(10));
            round(&mut detector, 0, 100, &mut window);
            round(&mut detector, 1, rtt_ms, &mut window);
            assert_eq!(detector.conservative.is_some(), rose, "{rtt_ms} ms");
        }
    }

    #[test]
    fn t71_slow_start_ends_after_five_conservative_rounds() {
        let (mut detector, mut window) = (HyStartPlus::default(), Window::new(10));
        round(&mut detector, 0, 100, &mut window);
        for n in 1..6 {
            round(&mut detector, n, 113, &mut window);
            assert!(window.in_slow_start(), "round {n}");
        }
        assert_eq!(
            [4, 4, 1, 1, 1, 1].map(|packets| detector.counted(packets, false)),
            [1, 1, 0, 0, 0, 1]
        );
        round(&mut detector, 6, 113, &mut window);
        assert_eq!(window.ssthresh, window.cwnd);
    }

    #[test]
    fn t71_a_fallen_delay_returns_to_slow_start() {
        let (mut detector, mut window) = (HyStartPlus::default(), Window::new(10));
        for (n, rtt_ms) in [100, 113, 112].into_iter().enumerate() {
            round(&mut detector, n as u32, rtt_ms, &mut window);
        }
        assert!(detector.conservative.is_none());
        assert_eq!([detector.counted(20, false), detector.counted(20, true)], [8, 20]);
    }
}
