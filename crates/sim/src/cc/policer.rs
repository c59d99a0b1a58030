//! BBR v1's detector of token-bucket policers (Linux 6.1 `bbr_lt_bw_sampling`): two intervals in a
//! row with high loss and the same rate mean that the flow is policed to that rate.

use sojourn_aqm::Time;

/// Fewest round trips of an interval; the most is four times this number (`bbr_lt_intvl_min_rtts`).
const INTERVAL_MIN_ROUNDS: u32 = 4;
/// Fraction of packets lost that makes an interval lossy (`bbr_lt_loss_thresh`).
const LOSS_THRESH: f64 = 50.0 / 256.0;
/// Two rates are the same within an eighth, or within 4 kbit/s (`bbr_lt_bw_ratio`,
/// `bbr_lt_bw_diff`).
const SAME_RATIO: f64 = 1.0 / 8.0;
const SAME_BYTES: f64 = 4000.0 / 8.0;
/// Round trips for which the rate is used (`bbr_lt_bw_max_rtts`).
const USE_ROUNDS: u32 = 48;

/// The data about an acknowledgement that the detector needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicerInput {
    /// Now.
    pub(crate) now: Time,
    /// Packets delivered in total.
    pub(crate) delivered: u64,
    /// Packets lost in total.
    pub(crate) lost: u64,
    /// Whether this acknowledgement revealed losses.
    pub(crate) has_losses: bool,
    /// Whether a round trip begins.
    pub(crate) round_start: bool,
    /// Whether the application limits the flow.
    pub(crate) app_limited: bool,
    /// Whether BBR is in ProbeBW, the only mode in which the rate expires.
    pub(crate) in_probe_bw: bool,
}

/// The detector of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Policer {
    start: Option<Interval>,
    rounds: u32,
    /// The rate of the last lossy interval, in packets per second.
    rate: Option<f64>,
    uses_rate: bool,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    at: Time,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// The rate to which the flow is policed, in packets per second.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.rate.filter(|_| self.uses_rate)
    }

    /// Processes an acknowledgement; returns whether the rate has just expired.
    pub(crate) fn on_ack(&mut self, input: &PolicerInput, payload_bytes: u32) -> bool {
        if self.uses_rate {
            self.rounds += u32::from(input.round_start && input.in_probe_bw);
            let over = self.rounds >= USE_ROUNDS;
            if over {
                *self = Policer::default();
            }
            return over;
        }
        let here = Interval { at: input.now, delivered: input.delivered, lost: input.lost };
        if self.start.is_none() {
            // The first loss: the bucket is empty.
            if !input.has_losses {
                return false;
            }
            self.rounds = 0;
        }
        let start = *self.start.get_or_insert(here);
        self.rounds += u32::from(input.round_start);
        if input.app_limited || self.rounds > 4 * INTERVAL_MIN_ROUNDS {
            *self = Policer::default();
        } else if input.has_losses && self.rounds >= INTERVAL_MIN_ROUNDS {
            self.end_interval(start, here, payload_bytes);
        }
        false
    }

    fn end_interval(&mut self, start: Interval, end: Interval, payload_bytes: u32) {
        let delivered = (end.delivered - start.delivered) as f64;
        let lost = (end.lost - start.lost) as f64;
        let seconds = end.at.since(start.at).as_secs();
        if delivered == 0.0 || lost < LOSS_THRESH * delivered || seconds < 1e-3 {
            return;
        }
        let rate = delivered / seconds;
        (self.start, self.rounds) = (Some(end), 0);
        if let Some(before) = self.rate {
            let difference = (rate - before).abs();
            let same = difference <= SAME_RATIO * before;
            if same || difference * f64::from(payload_bytes) <= SAME_BYTES {
                (self.rate, self.uses_rate) = (Some((rate + before) / 2.0), true);
                return;
            }
        }
        self.rate = Some(rate);
    }

    /// Forgets everything.
    pub(crate) fn reset(&mut self) {
        *self = Policer::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::Span;

    /// Runs rounds of 100 ms with 100 packets delivered and `lost` lost.
    fn rounds(policer: &mut Policer, from: u64, count: u64, lost: u64) -> Option<u64> {
        for n in from..from + count {
            let input = PolicerInput {
                now: Time::ZERO + Span::from_millis(100 * n),
                delivered: 100 * n,
                lost: lost * n,
                has_losses: lost > 0,
                round_start: true,
                app_limited: false,
                in_probe_bw: true,
            };
            if policer.on_ack(&input, 1448) {
                return Some(n);
            }
        }
        None
    }

    #[test]
    fn two_lossy_intervals_of_the_same_rate_set_the_rate_for_48_rounds() {
        let mut policer = Policer::default();
        assert_eq!(rounds(&mut policer, 0, 7, 25), None);
        assert_eq!(policer.rate(), None, "one interval");
        assert_eq!(rounds(&mut policer, 7, 1, 25), None);
        assert_eq!(policer.rate(), Some(1000.0));
        assert_eq!(rounds(&mut policer, 8, 100, 25), Some(7 + 48));
        assert_eq!(policer.rate(), None);
    }

    /// The loss that begins an interval may coincide with the start of a round, which then counts.
    #[test]
    fn the_round_that_starts_with_the_first_loss_counts() {
        let mut policer = Policer::default();
        assert_eq!(rounds(&mut policer, 0, 3, 25), None);
        assert_eq!(policer.rate, None);
        assert_eq!(rounds(&mut policer, 3, 1, 25), None);
        assert_eq!(policer.rate, Some(1000.0), "of rounds 0 to 3");
    }

    #[test]
    fn little_loss_means_no_policer() {
        let mut policer = Policer::default();
        // Below 50/256 of the packets delivered. If a rate were in use, it would expire in these
        // rounds.
        assert_eq!(rounds(&mut policer, 0, 60, 19), None);
        assert_eq!(policer.rate(), None);
    }
}
