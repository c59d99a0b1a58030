//! ACK aggregation (Linux 6.1 `bbr_update_ack_aggregation`): `extra_acked` is the largest number of
//! packets acknowledged in excess of the bandwidth. BBR v1 and v3 add it to the window, so that a
//! flow keeps sending between two aggregates.

use sojourn_aqm::Time;

/// Round trips in one half of the max filter's window (`bbr_extra_acked_win_rtts`).
const ROUNDS: u32 = 5;
/// The excess is at most the bandwidth times this duration, in s (`bbr_extra_acked_max_us`).
const MOST: f64 = 0.1;

/// The estimator of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Aggregation {
    /// Packets acknowledged since the epoch began.
    acked: u32,
    since: Time,
    /// The largest excess in the current and in the previous half of the window.
    excess: [u32; 2],
    rounds: u32,
}

impl Aggregation {
    /// A new estimator.
    pub(crate) fn new(now: Time) -> Aggregation {
        Aggregation { acked: 0, since: now, excess: [0; 2], rounds: 0 }
    }

    /// Restarts the epoch when sending resumes after idle time.
    pub(crate) fn restart(&mut self, now: Time) {
        (self.acked, self.since) = (0, now);
    }

    /// Starts a round trip. With `short`, the filter's window is only one round trip, as in Startup
    /// of v3.
    pub(crate) fn start_round(&mut self, short: bool) {
        self.rounds += 1;
        if self.rounds >= if short { 1 } else { ROUNDS } {
            self.rounds = 0;
            self.excess = [0, self.excess[0]];
        }
    }

    /// Records `delivered` acknowledged packets, at a bandwidth of `bw` packets per second.
    pub(crate) fn on_ack(&mut self, now: Time, delivered: u32, bw: f64, cwnd: u32) {
        let mut expected = (bw * now.since(self.since).as_secs()) as u32;
        if self.acked <= expected {
            self.restart(now);
            expected = 0;
        }
        self.acked = self.acked.saturating_add(delivered);
        self.excess[0] = self.excess[0].max((self.acked - expected).min(cwnd));
    }

    /// `extra_acked`: packets to add to the window.
    pub(crate) fn window(&self, bw: f64) -> u32 {
        let largest = self.excess[0].max(self.excess[1]);
        largest.min((bw * MOST) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::Span;

    #[test]
    fn an_aggregate_counts_for_five_to_ten_round_trips() {
        let mut aggregation = Aggregation::new(Time::ZERO);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        // At 100 packets per second one packet is expected per 10 ms; 30 arrive at once.
        aggregation.on_ack(at(100), 30, 1000.0, 100);
        assert_eq!(aggregation.window(1000.0), 30);
        assert_eq!(aggregation.window(100.0), 10, "at most 100 ms of the bandwidth");
        let mut rounds = 0;
        while aggregation.window(1000.0) > 0 {
            aggregation.start_round(false);
            rounds += 1;
        }
        assert_eq!(rounds, 10);
    }

    #[test]
    fn a_steady_stream_has_no_excess_beyond_one_acknowledgement() {
        let mut aggregation = Aggregation::new(Time::ZERO);
        for n in 1..1000u64 {
            aggregation.on_ack(Time::ZERO + Span::from_millis(20 * n), 2, 100.0, 100);
        }
        assert!(aggregation.window(1000.0) <= 2, "{aggregation:?}");
    }
}
