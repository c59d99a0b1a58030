//! HyStart++ (RFC 9406): leaves slow start in two steps. When the delay rises, conservative slow
//! start (CSS) reduces growth to a quarter; after five round trips slow start ends, unless the
//! delay has fallen again.
//!
//! Deviations from the RFC: None known.

use sojourn_aqm::Span;

use super::{Ack, Window};

/// RFC 9406 §4.3. Without pacing, one acknowledgement counts for at most `L` packets.
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u32 = 5;
const L: u32 = 8;
const MIN_RTT_DIVISOR: u64 = 8;
const MIN_RTT_THRESH: Span = Span::from_millis(4);
const MAX_RTT_THRESH: Span = Span::from_millis(16);

/// The detector of one slow start.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStartPlus {
    last_round_min_rtt: Option<Span>,
    current_round_min_rtt: Option<Span>,
    rtt_sample_count: u32,
    /// The round ends when this segment is acknowledged (`windowEnd`).
    window_end: u32,
    css: Option<Css>,
    credit: u32,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Css {
    /// `cssBaselineMinRtt`: the delay when CSS began.
    baseline_min_rtt: Span,
    rounds: u32,
}

impl HyStartPlus {
    /// Takes a sample; sets the threshold to the window if slow start should end.
    pub(crate) fn on_rtt(&mut self, ack: &Ack, rtt: Span, window: &mut Window) {
        if !window.in_slow_start() {
            return;
        }
        if ack.una > self.window_end {
            self.start_round(ack.nxt, window);
        }
        let current = self.current_round_min_rtt.map_or(rtt, |min| min.min(rtt));
        self.current_round_min_rtt = Some(current);
        self.rtt_sample_count += 1;
        if self.rtt_sample_count < N_RTT_SAMPLE {
            return;
        }
        match (self.css, self.last_round_min_rtt) {
            (None, Some(last)) if current >= last + rtt_thresh(last) => {
                self.css = Some(Css { baseline_min_rtt: current, rounds: 0 });
            }
            (Some(slow), _) if current < slow.baseline_min_rtt => self.css = None,
            _ => {}
        }
    }

    fn start_round(&mut self, nxt: u32, window: &mut Window) {
        self.window_end = nxt;
        self.last_round_min_rtt = self.current_round_min_rtt.take();
        self.rtt_sample_count = 0;
        if let Some(slow) = &mut self.css {
            slow.rounds += 1;
            if slow.rounds >= CSS_ROUNDS {
                window.ssthresh = window.cwnd;
            }
        }
    }

    /// How many of the delivered packets count towards growth.
    pub(crate) fn counted(&mut self, delivered: u32, paced: bool) -> u32 {
        let delivered = if paced { delivered } else { delivered.min(L) };
        if self.css.is_none() {
            return delivered;
        }
        self.credit += delivered;
        let counted = self.credit / CSS_GROWTH_DIVISOR;
        self.credit %= CSS_GROWTH_DIVISOR;
        counted
    }
}

/// `RttThresh`: an eighth of the last round's minimum, 4 ms to 16 ms (RFC 9406 §4.2).
fn rtt_thresh(last_round_min_rtt: Span) -> Span {
    Span::from_nanos(last_round_min_rtt.as_nanos() / MIN_RTT_DIVISOR)
        .clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
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
                srtt: rtt,
                una,
                nxt: 10 * n + 10,
                paced: false,
            };
            detector.on_rtt(&ack, rtt, window);
        }
    }

    #[test]
    fn conservative_slow_start_begins_when_the_delay_rises_by_an_eighth() {
        for (rtt_ms, rose) in [(112, false), (113, true)] {
            let (mut detector, mut window) = (HyStartPlus::default(), Window::new(10));
            round(&mut detector, 0, 100, &mut window);
            round(&mut detector, 1, rtt_ms, &mut window);
            assert_eq!(detector.css.is_some(), rose, "{rtt_ms} ms");
        }
    }

    #[test]
    fn slow_start_ends_after_five_conservative_rounds() {
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
    fn a_fallen_delay_returns_to_slow_start() {
        let (mut detector, mut window) = (HyStartPlus::default(), Window::new(10));
        for (n, rtt_ms) in [100, 113, 112].into_iter().enumerate() {
            round(&mut detector, n as u32, rtt_ms, &mut window);
        }
        assert!(detector.css.is_none());
        assert_eq!([detector.counted(20, false), detector.counted(20, true)], [8, 20]);
    }
}
