//! The congestion window and its threshold, and the growth that several controls share.

use sojourn_aqm::Span;

/// Linux `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`.
const SLOW_START_RATIO: f64 = 2.0;
const AVOIDANCE_RATIO: f64 = 1.2;

/// How window growth differed in old kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OldGrowth {
    /// Whether slow start goes one packet beyond the threshold (before 4.3 it grew while `cwnd <=
    /// ssthresh`).
    pub past_threshold: bool,
    /// Whether an increment happens on the acknowledgement after it is due (before 4.0
    /// `tcp_cong_avoid_ai` compared before it counted, and dropped the remainder).
    pub late: bool,
    /// Whether the acknowledgement that ends a reduction leaves the window unchanged (before 4.6
    /// `tcp_ack` tested the state before processing it).
    pub not_at_end: bool,
}

/// The congestion window, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u32,
    /// Slow-start threshold; `u32::MAX` before the first reduction.
    pub ssthresh: u32,
    /// Packets acknowledged towards the next increment (Linux `snd_cwnd_cnt`).
    pub credit: u32,
    /// Rules of old kernels.
    pub old: OldGrowth,
}

impl Window {
    /// The window of a new connection.
    pub fn new(initial: u32) -> Window {
        Window::above(initial, u32::MAX)
    }

    /// A window with its threshold, and no credit.
    pub fn above(cwnd: u32, ssthresh: u32) -> Window {
        Window { cwnd, ssthresh, credit: 0, old: OldGrowth::default() }
    }

    /// Whether the window grows by slow start.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.slow_start_end()
    }

    fn slow_start_end(&self) -> u32 {
        self.ssthresh.saturating_add(u32::from(self.old.past_threshold))
    }

    /// The threshold that preserves most of the window when unused window is given up (Linux
    /// `tcp_current_ssthresh`).
    pub fn three_quarters(&self) -> u32 {
        self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
    }

    /// Linux's pacing rate for a control without one, in packets per second: twice the window per
    /// round trip while the window is below half the threshold, 1.2 times the window otherwise
    /// (Linux 6.1 `tcp_update_pacing_rate`). `None` before the first round-trip sample.
    pub(crate) fn pacing_rate(&self, outstanding: u32, srtt: Span) -> Option<f64> {
        let ratio = if self.cwnd < self.ssthresh / 2 { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
        let rate = ratio * f64::from(self.cwnd.max(outstanding)) / srtt.as_secs();
        Some(rate).filter(|_| srtt > Span::ZERO)
    }

    /// Slow start: grows by `delivered` up to the threshold, and returns the rest for congestion
    /// avoidance (Linux `tcp_slow_start`).
    #[inline]
    pub fn slow_start(&mut self, delivered: u32) -> u32 {
        let grown = self.cwnd.saturating_add(delivered).min(self.slow_start_end());
        let used = grown - self.cwnd;
        self.cwnd = grown;
        delivered - used
    }

    /// Slow start, then one packet more per window (RFC 5681 §3.1).
    #[inline]
    pub fn grow_as_reno(&mut self, mut delivered: u32) {
        if self.in_slow_start() {
            delivered = self.slow_start(delivered);
        }
        if delivered > 0 {
            self.additive(self.cwnd, delivered);
        }
    }

    /// Congestion avoidance: one packet more for every `per` delivered (Linux `tcp_cong_avoid_ai`).
    #[inline]
    pub fn additive(&mut self, per: u32, delivered: u32) {
        if self.credit >= per {
            self.credit = 0;
            self.cwnd += 1;
            if self.old.late {
                return;
            }
        }
        self.credit += delivered;
        if self.credit >= per && !self.old.late {
            let steps = self.credit / per;
            self.credit -= steps * per;
            self.cwnd += steps;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_doubles_the_window_however_many_packets_are_acknowledged_at_once() {
        for per_ack in [1, 2, 4] {
            let mut window = Window::new(10);
            for expected in [20, 40, 80] {
                let packets = window.cwnd;
                (0..packets / per_ack).for_each(|_| assert_eq!(window.slow_start(per_ack), 0));
                window.slow_start(packets % per_ack);
                assert_eq!(window.cwnd, expected);
            }
        }
    }

    #[test]
    fn slow_start_returns_the_rest_for_congestion_avoidance() {
        let mut window = Window::above(9, 10);
        assert_eq!((window.slow_start(3), window.cwnd), (2, 10));
    }

    /// Windows after each of `acks` acknowledgements of one packet.
    fn grown(mut window: Window, acks: usize) -> Vec<u32> {
        (0..acks)
            .map(|_| {
                window.grow_as_reno(1);
                window.cwnd
            })
            .collect()
    }

    #[test]
    fn old_kernels_stay_in_slow_start_for_one_packet_more_and_increase_one_ack_later() {
        let old = OldGrowth { past_threshold: true, late: true, ..OldGrowth::default() };
        let new = Window::above(2, 2);
        assert_eq!(grown(new, 6), [2, 3, 3, 3, 4, 4]);
        // Linux 2.6.29 `tcp_reno_cong_avoid`: slow start at cwnd <= ssthresh, then w + 1
        // acknowledgements.
        assert_eq!(grown(Window { old, ..new }, 10), [3, 3, 3, 3, 4, 4, 4, 4, 4, 5]);
    }

    #[test]
    fn credit_beyond_an_increment_is_kept_and_several_may_be_due_at_once() {
        let mut window = Window::above(10, 10);
        window.additive(4, 11);
        assert_eq!((window.cwnd, window.credit), (12, 3));
        // Credit that already suffices gives one increment and is cleared.
        window.additive(3, 1);
        assert_eq!((window.cwnd, window.credit), (13, 1));
    }

    #[test]
    fn the_pacing_rate_is_twice_or_1_2_times_the_window() {
        let rtt = Span::from_millis(100);
        let rate = |cwnd, ssthresh| Window::above(cwnd, ssthresh).pacing_rate(0, rtt);
        assert_eq!(rate(49, 100), Some(980.0));
        assert_eq!(rate(50, 100), Some(600.0));
        assert_eq!(Window::new(10).pacing_rate(0, Span::ZERO), None);
    }

    #[test]
    fn the_window_is_in_slow_start_below_the_threshold() {
        let starts = |cwnd| Window::above(cwnd, 10).in_slow_start();
        assert_eq!([9, 10, 11].map(starts), [true, false, false]);
        assert_eq!(Window::above(36, 20).three_quarters(), 27);
        assert_eq!(Window::above(10, 20).three_quarters(), 20);
    }
}
