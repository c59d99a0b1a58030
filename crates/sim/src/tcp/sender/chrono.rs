//! How long a connection was busy, and how long of that the receiver's window held it back: `tcpi_busy_time`
//! and `tcpi_rwnd_limited` of `tcp_info` (Linux `tcp_chrono_start`). Its third time, `tcpi_sndbuf_limited`,
//! would always be zero: an application hands over all its data at once.

use sojourn_aqm::{Span, Time};

/// What a connection does with its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Phase {
    /// Everything is acknowledged.
    #[default]
    Idle,
    /// Something is outstanding, or waits for the congestion window or the pace.
    Busy,
    /// The receiver's window alone holds data back.
    RwndLimited,
}

/// Times since the start of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// Not idle.
    pub busy: Span,
    /// Held back by the receiver's window; part of `busy`.
    pub rwnd_limited: Span,
}

impl std::ops::Add for Times {
    type Output = Times;

    fn add(self, more: Times) -> Times {
        let rwnd_limited = self.rwnd_limited + more.rwnd_limited;
        Times { busy: self.busy + more.busy, rwnd_limited }
    }
}

/// The present phase and the times of those before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chrono {
    phase: Phase,
    since: Time,
    past: Times,
}

impl Chrono {
    /// From now on.
    #[inline]
    pub(super) fn enter(&mut self, now: Time, phase: Phase) {
        if self.phase != phase {
            *self = Chrono { phase, since: now, past: self.times(now) };
        }
    }

    /// Up to now.
    pub(super) fn times(&self, now: Time) -> Times {
        let span = now.since(self.since);
        let present = match self.phase {
            Phase::Idle => Times::default(),
            Phase::Busy => Times { busy: span, rwnd_limited: Span::ZERO },
            Phase::RwndLimited => Times { busy: span, rwnd_limited: span },
        };
        self.past + present
    }
}
