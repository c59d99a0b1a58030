//! The shaper of CAKE: each packet advances a clock by its transmission time.

use crate::time::{Rate, Span, Time};

/// The time of a byte as a whole number of 2^-`shift` nanoseconds (Linux 6.1 sch_cake.c,
/// cake_set_rate).
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteTime {
    fraction: u64,
    shift: u32,
}

impl ByteTime {
    pub(super) fn at(rate: Rate) -> ByteTime {
        const BITS: u32 = 34;
        const LEAST: u64 = 64;
        let bytes_per_sec = (rate.as_bps() / 8).max(LEAST);
        let (mut fraction, mut shift) = ((1_000_000_000 << BITS) / bytes_per_sec, BITS);
        while fraction >> BITS > 0 {
            (fraction, shift) = (fraction >> 1, shift - 1);
        }
        ByteTime { fraction, shift }
    }

    /// The time of `bytes`, truncated; saturates.
    pub(super) fn of(self, bytes: u64) -> Span {
        let nanos = (u128::from(bytes) * u128::from(self.fraction)) >> self.shift;
        Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// The clock of a tin, which affects only priority (Linux 6.1 sch_cake.c, cake_advance_shaper).
#[derive(Clone, Copy, Debug)]
pub(super) struct TinClock {
    byte_time: Option<ByteTime>,
    next: Time,
}

impl TinClock {
    pub(super) fn new(threshold: Option<Rate>) -> TinClock {
        TinClock { byte_time: threshold.map(ByteTime::at), next: Time::ZERO }
    }

    pub(super) fn set_rate(&mut self, threshold: Option<Rate>) {
        self.byte_time = threshold.map(ByteTime::at);
    }

    /// The time until which the tin has used up the rate of its threshold.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// A packet arrives at an empty tin: unused time is not saved.
    pub(super) fn wake(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// A packet of this size on the link below leaves. A tin that has exceeded its threshold is
    /// delayed by this packet only.
    pub(super) fn charge(&mut self, bytes: u64, now: Time) {
        let Some(byte_time) = self.byte_time else { return };
        let span = byte_time.of(bytes);
        self.next = match self.next < now {
            true => self.next + span,
            false => self.next.max(now + span),
        };
    }
}

/// The clocks of the shaper, which is based on deficits instead of a token bucket (Linux 6.1
/// sch_cake.c, cake_advance_shaper).
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    byte_time: Option<ByteTime>,
    next: Time,
    /// A clock that advances 1.5 times as fast: it limits bursts after the other clock has fallen
    /// behind.
    failsafe: Time,
}

impl Shaper {
    pub(super) fn new(rate: Option<Rate>) -> Shaper {
        Shaper { byte_time: rate.map(ByteTime::at), next: Time::ZERO, failsafe: Time::ZERO }
    }

    pub(super) fn set_rate(&mut self, rate: Option<Rate>) {
        self.byte_time = rate.map(ByteTime::at);
    }

    /// Whether it has a rate.
    pub(super) fn is_limited(&self) -> bool {
        self.byte_time.is_some()
    }

    /// The time until which no packet may leave.
    pub(super) fn held_until(&self, now: Time) -> Option<Time> {
        let until = self.next.min(self.failsafe);
        (self.byte_time.is_some() && until > now).then_some(until)
    }

    /// A packet arrives at an empty discipline: unused time is not saved.
    pub(super) fn wake(&mut self, now: Time) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// A packet of this size was dropped in ingress mode.
    pub(super) fn charge_drop(&mut self, bytes: u64) {
        if let Some(byte_time) = self.byte_time {
            self.next += byte_time.of(bytes);
        }
    }

    /// A packet of this size on the link below leaves.
    pub(super) fn charge(&mut self, bytes: u64) {
        let Some(byte_time) = self.byte_time else { return };
        let span = byte_time.of(bytes);
        self.next += span;
        self.failsafe += span + Span::from_nanos(span.as_nanos() / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::{Cells, Framing, Packing};

    /// Tests framing up to the parameter's maximum.
    #[test]
    fn the_largest_framing_takes_the_longest_time_and_overflows_nothing() {
        let slow = Rate::from_bps(1);
        for cells in [Cells::None, Cells::Atm, Cells::Ptm] {
            let packing = Packing { mpu: u64::MAX, cells };
            let framing = Framing { overhead: i64::MAX, packing };
            let mut shaper = Shaper::new(Some(slow));
            shaper.charge(framing.bytes(u32::MAX));
            shaper.charge(framing.bytes(1));
            assert_eq!(shaper.held_until(Time::ZERO), Some(Time::NEVER));
        }
        assert_eq!(ByteTime::at(slow).of(1 << 31).as_nanos(), (1 << 31) * 15_625_000);
    }

    /// Linux 6.1 sch_cake.c, cake_set_rate and cake_advance_shaper: 1514 bytes at 7 Mbit/s take
    /// 1730285.7 ns; the kernel stores the time of a byte with 24 fractional bits.
    #[test]
    fn times_are_cut_off_as_by_the_kernel() {
        let at = |bps| ByteTime::at(Rate::from_bps(bps));
        assert_eq!(at(80_000_000).of(1514), Span::from_nanos(151_400));
        assert_eq!(at(7_000_000).of(1514), Span::from_nanos(1_730_285));
        assert_eq!(at(7_000_000).shift, 23);
        assert_eq!(at(1).of(1), Span::from_nanos(1_000_000_000 / 64), "never below 64 B/s");
    }
}
