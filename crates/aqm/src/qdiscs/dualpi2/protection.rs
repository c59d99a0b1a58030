//! Queue protection: flows that build the low-latency queue lose their place in it (RFC 9957).
//!
//! Source: RFC 9957 §4: `qprotect`, `pick_bucket`, `fill_bucket`. A bucket is the time at which its
//! flow's queuing score has aged to zero.
//!
//! Decisions: the delay of the queue is its backlog at the link's rate, and without a known rate
//! the age of its head (fact aqm-137); the threshold CRITICALqL is the delay from which the queue
//! marks all packets, as RFC 9957 §4.1 has it by default.

use super::params::DualPi2Params;
use crate::law::Env;
use crate::rng::splitmix;
use crate::time::{Rate, Span, Time};

/// RFC 9957 §4.1: `ATTEMPTS`, buckets that a flow may use.
const ATTEMPTS: u32 = 2;
/// RFC 9957 §4.1: `BI_SIZE`, bits of the hash that choose a bucket.
const BITS: u32 = 5;
const BUCKETS: usize = 1 << BITS;
/// RFC 9957 §4.1: `qLSCORE_MAX`, the largest score.
const MOST: Span = Span::from_secs(5);

/// The scores of flows.
#[derive(Clone, Debug)]
pub(super) struct Protection {
    critical_delay: Span,
    critical_score: Span,
    aging: Rate,
    salt: u64,
    /// The last bucket is for flows that find no other.
    buckets: [Bucket; BUCKETS + 1],
}

/// The score of a flow.
#[derive(Clone, Copy, Default, Debug)]
struct Bucket {
    flow: Option<u64>,
    expires: Time,
}

impl Protection {
    /// The protection that the parameters ask for.
    pub(super) fn new(params: &DualPi2Params, env: &Env) -> Option<Protection> {
        params.protection.then(|| Protection {
            critical_delay: params.l_min_th + params.l_range,
            critical_score: params.protection_score,
            aging: params.protection_aging,
            salt: env.salt,
            buckets: [Bucket::default(); BUCKETS + 1],
        })
    }

    /// Whether an arriving packet must leave the low-latency queue to others. `delay` is that of
    /// the queue, and `prob` the probability with which it marks packets at this delay.
    pub(super) fn sanctions(
        &mut self,
        now: Time,
        (flow, bytes): (u64, u32),
        delay: Span,
        prob: f64,
    ) -> bool {
        let added = Span::from_secs_f64(prob * f64::from(bytes) / self.aging.bytes_per_sec());
        let bucket = self.pick(now, flow);
        let score = (bucket.expires.since(now) + added).min(MOST);
        bucket.expires = now + score;
        let [delay, critical] = [delay, self.critical_delay].map(Span::as_secs);
        let is_critical =
            delay > critical && delay * score.as_secs() > critical * self.critical_score.as_secs();
        is_critical || score >= MOST
    }

    /// RFC 9957 §4.2.2: the flow's own bucket, else an expired one, else the last.
    fn pick(&mut self, now: Time, flow: u64) -> &mut Bucket {
        let hash = splitmix(flow ^ self.salt);
        let tried = |attempt: u32| (hash >> (BITS * attempt)) as usize % BUCKETS;
        let own = (0..ATTEMPTS).map(tried).find(|&at| self.buckets[at].flow == Some(flow));
        let expired = || (0..ATTEMPTS).map(tried).find(|&at| self.buckets[at].expires <= now);
        let place = own.or_else(expired).unwrap_or(BUCKETS);
        let bucket = &mut self.buckets[place];
        bucket.flow = Some(flow);
        bucket.expires = bucket.expires.max(now);
        bucket
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::testing::env;

    fn protection() -> Protection {
        let mut params = DualPi2Params::of_dialect("linux").unwrap();
        params.protection = true;
        Protection::new(&params, &env()).unwrap()
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// RFC 9957 §4.2.3: with all packets marked, 1500 B take 1500 / 2^19 s = 2.861 ms to age, so
    /// that a second one at once exceeds the critical 4 ms.
    #[test]
    fn a_flow_is_sanctioned_once_its_score_times_the_delay_is_critical() {
        let delay = Span::from_micros(1_001);
        let mut of = protection();
        assert!(!of.sanctions(us(0), (7, 1_500), delay, 1.0));
        assert!(of.sanctions(us(0), (7, 1_500), delay, 1.0));
        // Another flow pays for its own packets alone.
        assert!(!of.sanctions(us(0), (8, 1_500), delay, 1.0));
    }

    /// RFC 9957 §4.2.1: at a delay of 1.4 ms or more, 2.861 ms are enough; below the critical delay
    /// no score is, except the largest.
    #[test]
    fn the_longer_the_queue_the_lower_the_critical_score() {
        let first = |delay_us, prob| {
            protection().sanctions(us(0), (7, 1_500), Span::from_micros(delay_us), prob)
        };
        assert_eq!([1_390, 1_400].map(|us| first(us, 1.0)), [false, true]);
        assert!(!first(1_400, 0.5));
        let mut of = protection();
        let tries = (0..1_750).filter(|_| of.sanctions(us(0), (7, 1_500), Span::ZERO, 1.0));
        // 5 s / 2.861 ms = 1747.6.
        assert_eq!(tries.count(), 3);
    }

    /// RFC 9957 §5.2: a flow whose rate times the probability stays below the aging rate of
    /// 2^19 B/s keeps no score.
    #[test]
    fn a_flow_below_the_aging_rate_is_never_sanctioned() {
        let sanctioned = |interval_us: u64| {
            let mut of = protection();
            let delay = Span::from_micros(1_300);
            let at = |packet| us(packet * interval_us);
            (0..1_000).filter(|&it| of.sanctions(at(it), (7, 1_500), delay, 1.0)).count()
        };
        assert_eq!(sanctioned(2_862), 0);
        assert!(sanctioned(1_400) > 900);
    }

    /// RFC 9957 §4.2.2: 32 buckets of two attempts for each flow, then one for all others.
    #[test]
    fn flows_without_a_bucket_share_the_last_one() {
        let mut of = protection();
        let delay = Span::from_micros(1_001);
        (0..400).for_each(|flow| _ = of.sanctions(us(0), (flow, 1_500), delay, 1.0));
        assert_eq!(of.buckets.iter().filter(|it| it.expires > us(0)).count(), 33);
        let innocent = of.sanctions(us(1), (1_000, 60), delay, 1.0);
        assert!(innocent, "it shares the score of the others");
        // The scores age, and expired buckets are free again.
        assert!(!of.sanctions(Time::ZERO + Span::from_secs(6), (1_000, 60), delay, 1.0));
    }
}
