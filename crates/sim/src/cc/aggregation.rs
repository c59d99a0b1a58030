//! ACK aggregation (Linux 6.1 `bbr_update_ack_aggregation`): `extra_acked` is the largest number of
//! packets acknowledged beyond what the bandwidth explains. BBR v1 and v3 add it to the window, so
//! that a flow keeps sending between two aggregates.

use sojourn_aqm::Time;

/// Round trips of one half of the window of the maximum (`bbr_extra_acked_win_rtts`).
const ROUNDS: u32 = 5;
/// The excess is at most the bandwidth times this, in s (`bbr_extra_acked_max_us`).
const MOST: f64 = 0.1;

/// The estimator of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Aggregation {
    /// Packets acknowledged since the epoch began.
    acked: u32,
    since: Time,
    /// The largest excess in the present and in the former half of the window.
    excess: [u32; 2],
    rounds: u32,
}

impl Aggregation {
    /// Nothing acknowledged yet.
    pub(crate) fn new(now: Time) -> Aggregation {
        Aggregation { acked: 0, since: now, excess: [0; 2], rounds: 0 }
    }

    /// Sending resumes after idle time.
    pub(crate) fn restart(&mut self, now: Time) {
        (self.acked, self.since) = (0, now);
    }

    /// A round trip begins. `short`: the window is one round trip only, as in startup of v3.
    pub(crate) fn start_round(&mut self, short: bool) {
        self.rounds += 1;
        if self.rounds >= if short { 1 } else { ROUNDS } {
            self.rounds = 0;
            self.excess = [0, self.excess[0]];
        }
    }

    /// `delivered` packets were acknowledged, at a bandwidth of `bw` packets per second.
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
        // 100 packets per second: one per 10 ms is expected, 30 come at once.
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
