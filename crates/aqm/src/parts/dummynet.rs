//! The clock of FreeBSD's dummynet: whole ticks, stored in microseconds.
//!
//! Source: FreeBSD 14 sys/netpfil/ipfw, `dn_aqm.h`, `AQM_UNOW`.
//!
//! Deviations: times do not wrap at 32 bits (71 minutes). A tick is 1 ms, as with FreeBSD's default
//! `kern.hz` of 1000 (100 in its virtual machines).

use crate::time::{Span, Time};

const TICK: u64 = 1_000_000;

/// The time that the clock shows.
pub const fn in_ticks(time: Time) -> Time {
    Time::from_nanos(time.as_nanos() / TICK * TICK)
}

/// A span in whole microseconds, as a law stores it.
pub const fn whole_micros(span: Span) -> Span {
    Span::from_micros(span.as_nanos() / 1_000)
}
