//! A token bucket as in Linux (sch_tbf.c; with an overdraft sch_htb.c), in integers. Tokens are
//! bits, counted in billionths, so that any integer rate yields an integer number of them per
//! nanosecond.

use sojourn_aqm::{Framing, Span, Time};
use sojourn_scenario::resolved::Bucket;

const PER_BYTE: i64 = 8 * 1_000_000_000;

/// A token bucket of a given rate and depth.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    bps: u64,
    depth: i64,
    tokens: i64,
    /// Bytes that used tokens since the start, as the bucket counts them.
    taken_bytes: u64,
    counted: Time,
    overdraft: bool,
    framing: Framing,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(bucket: &Bucket) -> TokenBucket {
        let depth = bucket.burst_bytes as i64 * PER_BYTE; // at most 1 GB, checked when resolved
        let Bucket { rate, overdraft, framing, .. } = *bucket;
        let (bps, counted) = (rate.as_bps(), Time::ZERO);
        TokenBucket { bps, depth, tokens: depth, taken_bytes: 0, counted, overdraft, framing }
    }

    /// The size of a packet as the bucket counts it (sch_generic.h, psched_l2t_ns).
    pub(crate) fn bytes_of(&self, bytes: u32) -> u64 {
        self.framing.bytes(bytes)
    }

    /// Whether even a full bucket has too few tokens for a packet.
    pub(crate) fn never_holds(&self, bytes: u32) -> bool {
        !self.overdraft && price(self.bytes_of(bytes)) > self.depth
    }

    /// When a packet may leave: now or later.
    pub fn ready(&mut self, now: Time, bytes: u32) -> Time {
        self.refill(now);
        let needed = if self.overdraft { 0 } else { price(self.bytes_of(bytes)) };
        match needed - self.tokens {
            ..=0 => now,
            missing => now + Span::from_nanos(missing.unsigned_abs().div_ceil(self.bps)),
        }
    }

    /// Takes the tokens of a packet that leaves now.
    pub fn take(&mut self, now: Time, bytes: u32) {
        self.refill(now);
        let bytes = self.bytes_of(bytes);
        self.tokens -= price(bytes);
        self.taken_bytes += bytes;
        debug_assert!(self.overdraft || self.tokens >= 0, "only an overdraft owes tokens");
    }

    #[inline]
    fn refill(&mut self, now: Time) {
        if now == self.counted {
            return;
        }
        self.tokens = self.tokens_at(now);
        self.counted = now;
    }

    /// Bytes that took tokens since the start.
    pub(crate) fn taken_bytes(&self) -> u64 {
        self.taken_bytes
    }

    /// The tokens at `now`, in billionths of a bit; negative if the bucket is in debt.
    pub(crate) fn tokens_at(&self, now: Time) -> i64 {
        let accrued = u128::from(self.bps) * u128::from(now.since(self.counted).as_nanos());
        let missing = (self.depth - self.tokens).unsigned_abs();
        self.tokens + accrued.min(u128::from(missing)) as i64
    }
}

/// Tokens for these bytes.
fn price(bytes: u64) -> i64 {
    bytes as i64 * PER_BYTE // at most some 65535 * 2 bytes
}

/// The bytes that a link with a token bucket has sent, and those that it may send immediately.
/// Bytes are counted as the bucket counts them, with its framing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TokenReserve {
    /// Tokens in the bucket, in billionths of a bit; negative if the bucket is in debt.
    pub tokens: i64,
    /// Bytes that have passed the bucket since the start.
    pub taken_bytes: u64,
    /// Bytes of packets that are queued for the line.
    pub passed_bytes: u64,
    /// Bytes of the packet being sent.
    pub sending_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sojourn_aqm::{Cells, Packing, Rate};

    fn bucket(kbit: u64, burst_bytes: u64, overdraft: bool) -> TokenBucket {
        let rate = Rate::from_bps(kbit * 1_000);
        let framing = Framing::NONE;
        TokenBucket::new(&Bucket { rate, burst_bytes, line: rate, overdraft, framing })
    }

    #[test]
    fn htb_lends_one_packet_and_waits_until_no_tokens_are_owed() {
        let mut bucket = bucket(10_000, 1_000, true);
        let mut now = Time::ZERO;
        let mut departures = Vec::new();
        for _ in 0..4 {
            now = bucket.ready(now, 1_500);
            bucket.take(now, 1_500);
            departures.push(now.as_nanos() / 1_000);
        }
        // 1000 B of tokens, then debts of 500 B and 1500 B: packets leave after 0.4 ms, then 1.2 ms
        // each.
        assert_eq!(departures, [0, 400, 1_600, 2_800]);
    }

    #[test]
    fn a_bucket_counts_overhead_and_cells_that_the_queue_does_not() {
        let rate = Rate::from_bps(8_000_000); // a byte per microsecond
        let packing = Packing { mpu: 0, cells: Cells::Atm };
        let framing = Framing { overhead: 40, packing };
        let (burst_bytes, overdraft) = (1_749, false);
        let plan = Bucket { rate, burst_bytes, line: rate, overdraft, framing };
        let mut bucket = TokenBucket::new(&plan);
        // 1500 + 40 bytes take 33 cells, 1749 bytes, which empties the bucket.
        assert_eq!(bucket.ready(Time::ZERO, 1_500), Time::ZERO);
        bucket.take(Time::ZERO, 1_500);
        // 52 + 40 bytes take 2 cells, 106 bytes.
        assert_eq!(bucket.ready(Time::ZERO, 52), Time::from_nanos(106_000));
    }

    proptest! {
        /// Conformance: in every pattern of departures, any window of length t carries at most
        /// burst + rate t.
        #[test]
        fn every_window_conforms(
            kbit in 100u64..100_000,
            burst in 1_500u64..20_000,
            packets in prop::collection::vec((40u32..1500, 0u64..3_000_000), 2..80),
        ) {
            let mut bucket = bucket(kbit, burst, false);
            let mut now = Time::ZERO;
            let mut left: Vec<(u64, u64)> = Vec::new();
            for (bytes, pause) in packets {
                now = bucket.ready(now + Span::from_nanos(pause), bytes);
                bucket.take(now, bytes);
                left.push((now.as_nanos(), u64::from(bytes)));
            }
            for first in 0..left.len() {
                let mut sum = 0;
                for &(at, bytes) in &left[first..] {
                    sum += bytes;
                    let span = at - left[first].0;
                    let allowed = u128::from(burst) * 8_000_000_000
                        + u128::from(kbit) * 1_000 * u128::from(span);
                    prop_assert!(u128::from(sum) * 8_000_000_000 <= allowed);
                }
            }
        }
    }
}
