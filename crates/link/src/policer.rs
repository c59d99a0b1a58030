//! A policer: drops arrivals above its rate, and never queues packets.
//!
//! Source: Linux 6.1 act_police.c, tcf_police_act, with `conform-exceed drop`. Deviation: the
//! kernel rounds the depth down to ticks of 64 ns at the policer's rate, and the time of a packet
//! down to a nanosecond; ours are exact.

use sojourn_aqm::{Framing, Time};
use sojourn_scenario::resolved::{Bucket, Policer as Plan};

use crate::TokenBucket;

/// The largest packet that `tc` lets conform without `mtu`: 255 slots of 8 bytes (fact link-8).
const MTU_BYTES: u32 = 255 << 3;

/// A policer, full at the start.
#[derive(Clone, Copy, Debug)]
pub struct Policer(TokenBucket);

impl Policer {
    /// The policer of a scenario's link.
    pub fn new(plan: &Plan) -> Policer {
        let Plan { rate, burst_bytes } = *plan;
        let framing = Framing::NONE;
        Policer(TokenBucket::new(&Bucket {
            rate,
            burst_bytes,
            line: rate,
            overdraft: false,
            framing,
        }))
    }

    /// Whether a packet conforms, given its size and that of each segment; if so, it takes its
    /// tokens. A packet that does not conform takes no tokens.
    pub fn conforms(&mut self, now: Time, bytes: u32, segment_bytes: u32) -> bool {
        let conforms = segment_bytes <= MTU_BYTES && self.0.ready(now, bytes) == now;
        if conforms {
            self.0.take(now, bytes);
        }
        conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::Rate;

    /// At 8 Mbit/s a byte takes a microsecond.
    fn policer() -> Policer {
        Policer::new(&Plan { rate: Rate::from_bps(8_000_000), burst_bytes: 3000 })
    }

    #[test]
    fn what_exceeds_rate_and_burst_is_dropped_and_takes_no_tokens() {
        let mut policer = policer();
        let arrivals = [(0, 1500), (0, 1500), (0, 1), (999, 1000), (1000, 1000), (1000, 1)];
        let found =
            arrivals.map(|(us, bytes)| policer.conforms(Time::from_nanos(us * 1000), bytes, bytes));
        assert_eq!(found, [true, true, false, false, true, false]);
    }

    #[test]
    fn a_pause_saves_no_more_than_the_burst() {
        let mut policer = policer();
        let later = Time::from_nanos(1_000_000_000);
        assert_eq!(
            [1500, 1500, 1].map(|bytes| policer.conforms(later, bytes, bytes)),
            [true, true, false]
        );
    }

    /// Linux 6.1 act_police.c, tcf_police_mtu_check.
    #[test]
    fn a_packet_above_the_table_of_tc_never_conforms() {
        assert_eq!(
            [2041, 2040].map(|bytes| policer().conforms(Time::ZERO, bytes, bytes)),
            [false, true]
        );
    }
}
