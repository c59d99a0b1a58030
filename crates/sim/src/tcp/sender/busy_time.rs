//! How long a connection was busy, and how long the receiver's window limited it: `tcpi_busy_time`
//! and `tcpi_rwnd_limited` of `tcp_info` (Linux `tcp_chrono_start`). The third of these times,
//! `tcpi_sndbuf_limited`, is not modelled: it counts in milliseconds, and stayed zero for flows of
//! the guest whose buffer was repeatedly full (fact tcp-36).

use sojourn_aqm::{Span, Time};

/// What limits a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Limit {
    /// Nothing: all data is acknowledged.
    #[default]
    Idle,
    /// The network: data is outstanding, or held back by the congestion window or by pacing.
    Busy,
    /// Only the receiver's window.
    ReceiveWindow,
}

/// Durations since the start of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BusyTimes {
    /// Time not idle.
    pub busy: Span,
    /// Time limited by the receiver's window; included in `busy`.
    pub rwnd_limited: Span,
}

impl std::ops::Add for BusyTimes {
    type Output = BusyTimes;

    fn add(self, more: BusyTimes) -> BusyTimes {
        let rwnd_limited = self.rwnd_limited + more.rwnd_limited;
        BusyTimes { busy: self.busy + more.busy, rwnd_limited }
    }
}

/// The current limit, and the time spent under earlier ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BusyTime {
    limit: Limit,
    since: Time,
    past: BusyTimes,
}

impl BusyTime {
    /// Sets the limit from now on.
    #[inline]
    pub(super) fn set(&mut self, now: Time, limit: Limit) {
        if self.limit != limit {
            *self = BusyTime { limit, since: now, past: self.times(now) };
        }
    }

    /// Times up to now.
    pub(super) fn times(&self, now: Time) -> BusyTimes {
        let span = now.since(self.since);
        let present = match self.limit {
            Limit::Idle => BusyTimes::default(),
            Limit::Busy => BusyTimes { busy: span, rwnd_limited: Span::ZERO },
            Limit::ReceiveWindow => BusyTimes { busy: span, rwnd_limited: span },
        };
        self.past + present
    }
}
