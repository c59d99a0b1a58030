//! The window that a congestion control steers, and the growth that several of them share.

/// What old kernels did otherwise when a window grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OldGrowth {
    /// Slow start goes one packet beyond the threshold: before 4.3 it grew where `cwnd <= ssthresh`.
    pub past_threshold: bool,
    /// An increment comes with the acknowledgement after those that make it due (`tcp_cong_avoid_ai`
    /// before 4.0: it looked before it counted, and the rest was forgotten).
    pub late: bool,
    /// The acknowledgement that ends a reduction does not grow the window (`tcp_ack` before 4.6 looked
    /// at the state that it found).
    pub not_at_end: bool,
}

/// The window that a congestion control steers, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u32,
    /// Slow-start threshold; `u32::MAX` before the first reduction.
    pub ssthresh: u32,
    /// Packets acknowledged towards the next increment.
    pub credit: u32,
    /// Rules of old kernels.
    pub old: OldGrowth,
}

impl Window {
    /// The window of a new connection.
    pub fn new(initial: u32) -> Window {
        Window::above(initial, u32::MAX)
    }

    /// A window and its threshold, nothing counted yet.
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

    /// The threshold that remembers most of the present window where that is given up unused (Linux
    /// `tcp_current_ssthresh`).
    pub fn three_quarters(&self) -> u32 {
        self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
    }

    /// Slow start as in Linux: grows by what was delivered, up to the threshold, and returns what is left
    /// for congestion avoidance (endpoints sheet §1.5).
    #[inline]
    pub fn slow_start(&mut self, delivered: u32) -> u32 {
        let grown = self.cwnd.saturating_add(delivered).min(self.slow_start_end());
        let used = grown - self.cwnd;
        self.cwnd = grown;
        delivered - used
    }

    /// Slow start, then one packet more per window.
    #[inline]
    pub fn grow_as_reno(&mut self, mut delivered: u32) {
        if self.in_slow_start() {
            delivered = self.slow_start(delivered);
        }
        if delivered > 0 {
            self.additive(self.cwnd, delivered);
        }
    }

    /// Congestion avoidance: one packet more for every `per` delivered.
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
    fn t35_slow_start_doubles_whether_each_or_every_second_packet_is_acknowledged() {
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
    fn slow_start_leaves_the_rest_to_congestion_avoidance() {
        let mut window = Window::above(9, 10);
        assert_eq!((window.slow_start(3), window.cwnd), (2, 10));
    }

    /// Windows after each of so many acknowledgements of one packet.
    fn grown(mut window: Window, acks: usize) -> Vec<u32> {
        (0..acks)
            .map(|_| {
                window.grow_as_reno(1);
                window.cwnd
            })
            .collect()
    }

    #[test]
    fn old_kernels_start_slowly_one_packet_further_and_increase_one_acknowledgement_later() {
        let old = OldGrowth { past_threshold: true, late: true, ..OldGrowth::default() };
        let new = Window::above(2, 2);
        assert_eq!(grown(new, 6), [2, 3, 3, 3, 4, 4]);
        // tcp_reno_cong_avoid of 2.6.29: slow start at cwnd <= ssthresh, then w + 1 acknowledgements.
        assert_eq!(grown(Window { old, ..new }, 10), [3, 3, 3, 3, 4, 4, 4, 4, 4, 5]);
    }
}
