//! Time, spans and rates: integers with their unit in the type.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// An instant, in nanoseconds since the start of the run. Zero is an ordinary instant, not "unset".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Time(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// An alarm set to this is never due.
    pub const NEVER: Time = Time(u64::MAX);

    /// An instant from nanoseconds since the start of the run.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Nanoseconds since the start of the run.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start of the run.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Whether an alarm set to this instant is due at `now`. [`Time::NEVER`] is never due, even at
    /// that instant itself, so loops over due alarms end.
    pub const fn is_due(self, now: Time) -> bool {
        self.0 <= now.0 && self.0 < Time::NEVER.0
    }

    /// The span from `earlier` to this instant; zero when `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

/// A length of time, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span(u64);

impl Span {
    /// No time.
    pub const ZERO: Span = Span(0);

    /// A span of whole nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos)
    }

    /// A span of whole microseconds.
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros * 1_000)
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000)
    }

    /// A span of whole seconds.
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs * NANOS_PER_SEC)
    }

    /// A span from seconds, rounded down to a nanosecond; negative and NaN give zero.
    pub fn from_secs_f64(secs: f64) -> Span {
        Span((secs * NANOS_PER_SEC as f64) as u64)
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, for use in formulas.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// This span less `other`, zero when `other` is longer.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// This span times a whole number.
    pub const fn times(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }

    /// Half of this span, rounded down to a nanosecond.
    pub const fn half(self) -> Span {
        Span(self.0 / 2)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        debug_assert!(self >= other, "a span cannot be negative");
        self.saturating_sub(other)
    }
}

/// A link rate in bits per second; never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(u64);

impl Rate {
    /// A rate in bits per second.
    ///
    /// # Panics
    /// When `bps` is zero, because a link that never sends is a bug of the caller.
    pub const fn from_bps(bps: u64) -> Rate {
        assert!(bps > 0, "a rate is positive");
        Rate(bps)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Bytes that pass in one second.
    pub fn bytes_per_sec(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// Time to send `bytes`, rounded down to a nanosecond.
    pub const fn time_for(self, bytes: u64) -> Span {
        Span((bytes as u128 * 8 * NANOS_PER_SEC as u128 / self.0 as u128) as u64)
    }

    /// Bytes that pass in `span`, rounded down.
    pub const fn bytes_in(self, span: Span) -> u64 {
        (self.0 as u128 * span.0 as u128 / (8 * NANOS_PER_SEC as u128)) as u64
    }
}

impl fmt::Display for Span {
    /// The shortest exact text that [`crate::units::span`] reads back: `15ms`, `1.5us`, `2s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, size) = match self.0 {
            0 => ("s", 1),
            n if n % NANOS_PER_SEC == 0 => ("s", NANOS_PER_SEC),
            n if n >= 10 * NANOS_PER_SEC => ("s", NANOS_PER_SEC),
            n if n >= 1_000_000 => ("ms", 1_000_000),
            n if n >= 1_000 => ("us", 1_000),
            _ => ("ns", 1),
        };
        write_scaled(f, self.0, size, unit)
    }
}

impl fmt::Display for Rate {
    /// The shortest exact text that [`crate::units::rate`] reads back: `10mbit`, `1.5gbit`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, size) = match self.0 {
            n if n >= 1_000_000_000 => ("gbit", 1_000_000_000),
            n if n >= 1_000_000 => ("mbit", 1_000_000),
            n if n >= 1_000 => ("kbit", 1_000),
            _ => ("bit", 1),
        };
        write_scaled(f, self.0, size, unit)
    }
}

/// Writes `n / size` as an exact decimal, followed by `unit`. `size` is a power of ten.
pub(crate) fn write_scaled(
    f: &mut fmt::Formatter<'_>,
    n: u64,
    size: u64,
    unit: &str,
) -> fmt::Result {
    write!(f, "{}", n / size)?;
    let (mut rest, mut step) = (n % size, size);
    if rest > 0 {
        f.write_str(".")?;
    }
    while rest > 0 {
        step /= 10;
        write!(f, "{}", rest / step)?;
        rest %= step;
    }
    f.write_str(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn shows_the_shortest_exact_text() {
        assert_eq!(Span::from_millis(15).to_string(), "15ms");
        assert_eq!(Span::from_nanos(1_500).to_string(), "1.5us");
        assert_eq!(Span::from_secs(300).to_string(), "300s");
        assert_eq!(Rate::from_bps(10_000_000).to_string(), "10mbit");
        assert_eq!(Rate::from_bps(1_500_000_000).to_string(), "1.5gbit");
    }

    #[test]
    fn serialises_1514_bytes_at_10_mbit_in_1_2112_ms() {
        let span = Rate::from_bps(10_000_000).time_for(1514);
        assert_eq!(span, Span::from_nanos(1_211_200));
    }

    #[test]
    fn each_range_of_spans_and_rates_has_its_unit() {
        let spans = [0, 999, 1_000, 999_999, 1_000_000, 1_500_000_000, 10_500_000_000];
        let shown = spans.map(|nanos| Span::from_nanos(nanos).to_string());
        assert_eq!(shown, ["0s", "999ns", "1us", "999.999us", "1ms", "1500ms", "10.5s"]);
        let rates = [1, 999, 1_000, 1_000_000, 1_000_000_000];
        let shown = rates.map(|bps| Rate::from_bps(bps).to_string());
        assert_eq!(shown, ["1bit", "999bit", "1kbit", "1mbit", "1gbit"]);
    }

    #[test]
    fn arithmetic_of_times_saturates() {
        let (early, late) = (Time::from_nanos(3), Time::from_nanos(10));
        assert_eq!((late.since(early), early.since(late)), (Span::from_nanos(7), Span::ZERO));
        assert_eq!(Time::NEVER + Span::from_nanos(1), Time::NEVER);
        assert_eq!(Span::from_nanos(5).saturating_sub(Span::from_nanos(7)), Span::ZERO);
        assert_eq!(Span::from_nanos(7) - Span::from_nanos(5), Span::from_nanos(2));
        assert_eq!(Span::from_nanos(7).half(), Span::from_nanos(3));
        assert_eq!(Span::from_nanos(7).times(3), Span::from_nanos(21));
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(1.5), Span::from_millis(1500));
    }

    #[test]
    fn a_rate_gives_bytes_and_seconds_rounded_down() {
        let rate = Rate::from_bps(12_000);
        assert_eq!(rate.bytes_per_sec(), 1500.0);
        assert_eq!(rate.bytes_in(Span::from_nanos(999_999_999)), 1499);
        assert_eq!(rate.time_for(1), Span::from_nanos(666_666));
        assert_eq!(
            (Time::from_nanos(1_500_000_000).as_secs(), Span::from_millis(5).as_secs()),
            (1.5, 0.005)
        );
    }

    #[test]
    fn an_instant_is_seconds_since_the_start() {
        assert_eq!((Time::ZERO + Span::from_millis(2_500)).as_secs(), 2.5);
    }
}
