//! Computes transmission times at a rate. The remainder of each division is carried to the next, so
//! the long-run rate is exact.

use sojourn_aqm::{Rate, Span};

const BITS_TIMES_NANOS: u64 = 8 * 1_000_000_000;

/// Serialises packets at a rate.
#[derive(Clone, Copy, Debug)]
pub struct Transmitter {
    rate: Rate,
    /// Nanoseconds per byte if that is a whole number, which saves a division per packet.
    nanos_per_byte: Option<u64>,
    remainder: u64,
    /// The size that was divided last, because most packets of a link have the same size.
    divided: Divided,
}

/// The transmission time of a packet size: whole nanoseconds, and the remainder of the division.
#[derive(Clone, Copy, Debug, Default)]
struct Divided {
    bytes: u32,
    nanos: u64,
    remainder: u64,
}

impl Transmitter {
    /// A transmitter at `rate`.
    pub fn new(rate: Rate) -> Transmitter {
        let exact = BITS_TIMES_NANOS.is_multiple_of(rate.as_bps());
        let nanos_per_byte = exact.then(|| BITS_TIMES_NANOS / rate.as_bps());
        Transmitter { rate, nanos_per_byte, remainder: 0, divided: Divided::default() }
    }

    /// Its rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The work of sending a packet of `bytes`, in billionths of a bit, including the remainder
    /// from the last packet.
    pub(crate) fn work(&self, bytes: u32) -> u64 {
        u64::from(bytes) * BITS_TIMES_NANOS + self.remainder
    }

    /// Work done in a time that is too short to finish the packet.
    pub(crate) fn work_in(&self, span: Span) -> u64 {
        span.as_nanos() * self.rate.as_bps()
    }

    /// The time for this much work, rounded down.
    pub(crate) fn time_for(&self, work: u64) -> Span {
        Span::from_nanos(work / self.rate.as_bps())
    }

    /// Carries the remainder rounded off by [`Transmitter::time_for`] to the next packet, unless
    /// the time of a byte is a whole number.
    pub(crate) fn carry_remainder_of(&mut self, work: u64) {
        self.remainder = if self.nanos_per_byte.is_some() { 0 } else { work % self.rate.as_bps() };
    }

    /// The transmission time of the next packet, of `bytes`.
    #[inline]
    pub fn next(&mut self, bytes: u32) -> Span {
        if let Some(nanos) = self.nanos_per_byte {
            return Span::from_nanos(u64::from(bytes) * nanos);
        }
        if bytes != self.divided.bytes {
            // This is below 2^64 for every packet up to 2 GB.
            let (total, rate) = (u64::from(bytes) * BITS_TIMES_NANOS, self.rate.as_bps());
            self.divided = Divided { bytes, nanos: total / rate, remainder: total % rate };
        }
        let Divided { nanos, remainder, .. } = self.divided;
        self.remainder += remainder;
        let carries = self.remainder >= self.rate.as_bps();
        self.remainder -= if carries { self.rate.as_bps() } else { 0 };
        Span::from_nanos(nanos + u64::from(carries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_the_remainder_so_that_the_long_run_rate_is_exact() {
        let mut transmitter = Transmitter::new(Rate::from_bps(3_000_000));
        let total: u64 = (0..3_000).map(|_| transmitter.next(1_000).as_nanos()).sum();
        assert_eq!(total, 8_000_000_000); // 3 MB at 3 Mbit/s
    }

    /// All packets together take the time of all bits, rounded down, regardless of their sizes.
    #[test]
    fn sizes_in_turns_carry_one_remainder() {
        let bps = 7_000_000_001;
        let (mut transmitter, mut bits, mut nanos) = (Transmitter::new(Rate::from_bps(bps)), 0, 0);
        for bytes in [40, 1500, 1500, 52, 0, 9000, 40, 1500].into_iter().cycle().take(1_000) {
            bits += 8 * u64::from(bytes);
            nanos += transmitter.next(bytes).as_nanos();
            assert_eq!(nanos, bits * 1_000_000_000 / bps);
        }
    }

    #[test]
    fn at_10_mbit_a_byte_takes_800_ns() {
        let mut transmitter = Transmitter::new(Rate::from_bps(10_000_000));
        let sizes = [40, 218, 1000, 1040, 1507, 1514, 1538];
        let micros = [32_000, 174_400, 800_000, 832_000, 1_205_600, 1_211_200, 1_230_400];
        for (bytes, nanos) in sizes.into_iter().zip(micros) {
            assert_eq!(transmitter.next(bytes), Span::from_nanos(nanos));
        }
    }
}
