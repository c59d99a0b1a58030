//! BBR v1's detector of token-bucket policers (Linux 6.1 `bbr_lt_bw_sampling`; endpoints sheet §2.7): two
//! intervals in a row with high loss and the same rate mean that somebody polices the flow to that rate.

use sojourn_aqm::Time;

/// An interval lasts at least so many round trips, and at most four times as many.
const MIN_ROUNDS: u32 = 4;
/// Part of the packets lost that makes an interval lossy.
const LOSSY: f64 = 50.0 / 256.0;
/// Two rates are the same within an eighth, or within 4 kbit/s.
const SAME_RATIO: f64 = 1.0 / 8.0;
const SAME_BYTES: f64 = 4000.0 / 8.0;
/// The rate is believed for so many round trips.
const BELIEVED_ROUNDS: u32 = 48;

/// What the detector is told of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// Now.
    pub now: Time,
    /// Packets delivered in all.
    pub delivered: u64,
    /// Packets lost in all.
    pub lost: u64,
    /// Whether this acknowledgement showed losses.
    pub loses: bool,
    /// Whether a round trip begins.
    pub round_start: bool,
    /// Whether the application limits the flow.
    pub app_limited: bool,
    /// Whether gains are being cycled, the only time when belief runs out.
    pub cycling: bool,
}

/// The detector of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policer {
    start: Option<Interval>,
    rounds: u32,
    /// The rate of the last lossy interval, in packets per second.
    rate: Option<f64>,
    believed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    at: Time,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// The rate that the flow is policed to, in packets per second.
    pub fn rate(&self) -> Option<f64> {
        self.rate.filter(|_| self.believed)
    }

    /// Takes in an acknowledgement; returns whether belief has just run out.
    pub fn on_ack(&mut self, heard: &Heard, payload_bytes: u32) -> bool {
        self.rounds += u32::from(heard.round_start && (!self.believed || heard.cycling));
        if self.believed {
            let over = self.rounds >= BELIEVED_ROUNDS;
            if over {
                *self = Policer::default();
            }
            return over;
        }
        let here = Interval { at: heard.now, delivered: heard.delivered, lost: heard.lost };
        let Some(start) = self.start else {
            // The first loss: the bucket is empty.
            if heard.loses {
                (self.start, self.rounds) = (Some(here), 0);
            }
            return false;
        };
        if heard.app_limited || self.rounds > 4 * MIN_ROUNDS {
            *self = Policer::default();
        } else if heard.loses && self.rounds >= MIN_ROUNDS {
            self.end_interval(start, here, payload_bytes);
        }
        false
    }

    fn end_interval(&mut self, start: Interval, end: Interval, payload_bytes: u32) {
        let delivered = (end.delivered - start.delivered) as f64;
        let lost = (end.lost - start.lost) as f64;
        let seconds = end.at.since(start.at).as_secs();
        if delivered == 0.0 || lost < LOSSY * delivered || seconds < 1e-3 {
            return;
        }
        let rate = delivered / seconds;
        (self.start, self.rounds) = (Some(end), 0);
        if let Some(before) = self.rate {
            let apart = (rate - before).abs();
            let same = apart <= SAME_RATIO * before;
            if same || apart * f64::from(payload_bytes) <= SAME_BYTES {
                (self.rate, self.believed) = (Some((rate + before) / 2.0), true);
                return;
            }
        }
        self.rate = Some(rate);
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Policer::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::Span;

    /// Rounds of 100 ms with 100 packets delivered and `lost` lost.
    fn rounds(policer: &mut Policer, from: u64, count: u64, lost: u64) -> Option<u64> {
        for n in from..from + count {
            let heard = Heard {
                now: Time::ZERO + Span::from_millis(100 * n),
                delivered: 100 * n,
                lost: lost * n,
                loses: lost > 0,
                round_start: true,
                app_limited: false,
                cycling: true,
            };
            if policer.on_ack(&heard, 1448) {
                return Some(n);
            }
        }
        None
    }

    #[test]
    fn two_lossy_intervals_of_the_same_rate_are_believed_for_48_rounds() {
        let mut policer = Policer::default();
        assert_eq!(rounds(&mut policer, 0, 8, 25), None);
        assert_eq!(policer.rate(), None, "one interval");
        assert_eq!(rounds(&mut policer, 8, 1, 25), None);
        assert_eq!(policer.rate(), Some(1000.0));
        assert_eq!(rounds(&mut policer, 9, 100, 25), Some(8 + 48));
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn little_loss_is_no_policer() {
        let mut policer = Policer::default();
        rounds(&mut policer, 0, 60, 19); // below 50 in 256 of what is delivered
        assert_eq!(policer.rate(), None);
    }
}
