//! Pacing: packets leave at a rate, not in bursts.
//!
//! As in Linux 6.1 (`tcp_update_skb_after_send`), the first ten segments leave unpaced, and a
//! packet that leaves late shortens the next gap, at most by half. A control without a pacing rate
//! uses that of [`crate::cc::Window`].
//!
//! Packets leave one by one unless the control allows a burst or the host has segmentation offload.
//! Until they leave they stay in TCP, unsent (`tcp_pacing_check`), unless the control needs the
//! qdisc `fq`. TCP then passes some of them down to `fq`, and these count as in flight
//! (`tcp_small_queue_check`).

use sojourn_aqm::{Span, Time};

/// Segments of a connection up to this one are not paced (Linux `tcp_update_skb_after_send`).
const UNPACED: u32 = 10;

/// When the packets of one connection may leave.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    /// How far packets may leave ahead of the rate.
    burst: Span,
    /// Time per packet; `None` if packets are not paced.
    gap: Option<Span>,
    /// When the next packet is due.
    next: Time,
    sent: u32,
}

impl Pacer {
    /// A pacer without a rate.
    pub(crate) fn new(burst: Span) -> Pacer {
        Pacer { burst, gap: None, next: Time::ZERO, sent: 0 }
    }

    /// Sets the rate in packets per second; `None` if unpaced.
    pub(crate) fn set_rate(&mut self, rate: Option<f64>) {
        self.gap = rate.filter(|&rate| rate > 0.0).map(|rate| Span::from_secs_f64(1.0 / rate));
    }

    /// Whether a packet may leave now.
    #[inline]
    pub(crate) fn allows(&self, now: Time) -> bool {
        self.next <= now + self.burst || self.gap.is_none() || self.sent < UNPACED
    }

    /// How many packets TCP passes down to the qdisc `fq` ahead of time: the packets of 2^-10 s, at
    /// least two (Linux `tcp_small_queue_check`).
    pub(crate) fn queued_in_fq(&self) -> u32 {
        const LONGEST: Span = Span::from_nanos(1_000_000_000 >> 10);
        let gap = self.gap.map_or(1, |gap| gap.as_nanos().max(1));
        (LONGEST.as_nanos() / gap).clamp(2, u64::from(u32::MAX)) as u32
    }

    /// When the next packet is due.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// How long the next packet must still wait.
    pub(crate) fn wait(&self, now: Time) -> Span {
        self.next.since(now)
    }

    /// Records that `packets` packets leave together. The tenth segment is the first that delays
    /// the next.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, packets: u32) {
        self.sent = self.sent.saturating_add(packets);
        if let Some(gap) = self.gap.filter(|_| self.sent >= UNPACED) {
            let gap = Span::from_nanos(gap.as_nanos() * u64::from(packets));
            let late = if self.next < now { now.since(self.next) } else { Span::ZERO };
            self.next = self.next.max(now) + gap.saturating_sub(late.min(gap.half()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn ten_packets_leave_unpaced() {
        let mut pacer = Pacer::new(Span::ZERO);
        pacer.set_rate(Some(1000.0));
        (0..10).for_each(|_| {
            assert!(pacer.allows(Time::ZERO));
            pacer.on_sent(Time::ZERO, 1);
        });
        assert!(!pacer.allows(at(999)) && pacer.allows(at(1000)));
    }

    /// A pacer at one packet per millisecond, the next due at 1 s.
    fn pacing(burst: Span) -> Pacer {
        Pacer { burst, gap: Some(Span::from_millis(1)), next: at(1_000_000), sent: UNPACED }
    }

    #[test]
    fn a_late_packet_shortens_the_next_gap_by_half_at_most() {
        for (late_us, gap_us) in [(0, 1000), (300, 700), (800, 500), (5000, 500)] {
            let mut pacer = pacing(Span::ZERO);
            let now = at(1_000_000 + late_us);
            pacer.on_sent(now, 1);
            assert_eq!(pacer.next(), now + Span::from_micros(gap_us), "{late_us} us late");
        }
    }

    #[test]
    fn a_burst_that_leaves_late_shortens_the_next_gap_by_half_of_its_gap() {
        for (late_us, gap_us) in [(0, 4000), (1500, 2500), (5000, 2000)] {
            let mut pacer = pacing(Span::ZERO);
            let now = at(1_000_000 + late_us);
            pacer.on_sent(now, 4);
            assert_eq!(pacer.next(), now + Span::from_micros(gap_us), "{late_us} us late");
        }
    }

    #[test]
    fn a_burst_leaves_ahead_of_the_rate_and_nothing_beyond_it() {
        let mut pacer = pacing(Span::from_millis(3));
        let mut left = 0;
        while pacer.allows(at(1_000_000)) {
            pacer.on_sent(at(1_000_000), 1);
            left += 1;
        }
        assert_eq!((left, pacer.next()), (4, at(1_004_000)));
    }

    #[test]
    fn a_millisecond_of_packets_and_at_least_two_wait_in_fq() {
        let queued = |gap_us| {
            let gap = Some(Span::from_micros(gap_us));
            Pacer { gap, ..pacing(Span::ZERO) }.queued_in_fq()
        };
        assert_eq!([10, 325, 326, 5_000].map(queued), [97, 3, 2, 2]);
    }

    #[test]
    fn without_a_positive_rate_nothing_is_held_back() {
        for rate in [None, Some(0.0)] {
            let mut pacer = pacing(Span::ZERO);
            pacer.set_rate(rate);
            assert!(pacer.allows(Time::ZERO), "{rate:?}");
        }
    }
}
