//! The timers of a connection: one timer with three possible purposes, as in Linux
//! (`icsk_pending`), and the pacing timer.

use sojourn_aqm::{Span, Time};

use super::Sender;
use crate::tcp::timer_wheel;

/// The purpose of the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Timer {
    /// The timer is off.
    Off,
    /// The retransmission timeout (RFC 6298 §5); while the receiver's window is closed, the next
    /// zero-window probe.
    Retransmission,
    /// A tail loss probe (RFC 8985 §7).
    TailLossProbe,
    /// The end of RACK's reordering window (RFC 8985 §6.3), or the delay of early retransmit.
    Reordering,
}

/// The shortest duration of a timer.
pub(super) const JIFFY: Span = Span::from_millis(1);

/// When the timers of a connection expire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    pending: Timer,
    /// When it expires.
    due: Time,
    /// When a packet held back only by pacing may leave.
    pacing_due: Time,
    /// Whether timers expire on the ticks of a timer wheel.
    wheel: bool,
}

impl Timers {
    pub(super) fn new(wheel: bool) -> Timers {
        Timers { pending: Timer::Off, due: Time::NEVER, pacing_due: Time::NEVER, wheel }
    }

    #[inline]
    pub(super) fn next(&self) -> Time {
        self.due.min(self.pacing_due)
    }

    #[inline]
    pub(super) fn pending(&self) -> Timer {
        self.pending
    }

    #[inline]
    pub(super) fn due(&self) -> Time {
        self.due
    }

    #[inline]
    pub(super) fn pacing_due(&self) -> Time {
        self.pacing_due
    }

    #[inline]
    pub(super) fn set(&mut self, now: Time, timer: Timer, due: Time) {
        (self.pending, self.due) = (timer, timer_wheel::expiry(self.wheel, now, due));
    }

    #[inline]
    pub(super) fn set_pacing(&mut self, due: Time) {
        self.pacing_due = due;
    }

    pub(super) fn stop(&mut self) {
        (self.pending, self.due) = (Timer::Off, Time::NEVER);
    }
}

impl Sender {
    /// Sets the timer after an acknowledgement that restarts it, or after new data was sent: for a
    /// tail loss probe if one is due before the timeout, otherwise for the timeout (RFC 6298 §5.1,
    /// §5.3; RFC 8985 §7.2).
    #[inline]
    pub(super) fn set_timer(&mut self, now: Time, restart: bool, sent_new: bool) {
        let runs = matches!(self.timers.pending(), Timer::Retransmission | Timer::Reordering);
        if sent_new && self.may_probe_tail() {
            // The probe is postponed, but not beyond the timeout of the head.
            let timeout = self.board.head_sent() + self.rtt.timeout();
            let probe = now + self.probe_timeout();
            let due = if timeout > now { timeout.min(probe) } else { probe };
            self.timers.set(now, Timer::TailLossProbe, due);
        } else if restart || sent_new && !runs {
            self.restart_timer(now);
        }
    }

    /// Restarts the timer, or stops it if nothing is outstanding (RFC 6298 §5.2).
    pub(super) fn restart_timer(&mut self, now: Time) {
        if self.board.outstanding() == 0 {
            return self.timers.stop();
        }
        let timeout = self.rtt.timeout();
        if self.may_probe_tail() {
            let wait = timeout.min(self.probe_timeout());
            return self.timers.set(now, Timer::TailLossProbe, now + wait);
        }
        let due = match self.timers.pending() {
            Timer::Off | Timer::Retransmission => now + timeout,
            // Linux `tcp_rearm_rto`: after one of these timers, the timeout counts from when the
            // head was sent.
            Timer::TailLossProbe | Timer::Reordering => {
                (self.board.head_sent() + timeout).max(now + JIFFY)
            }
        };
        self.timers.set(now, Timer::Retransmission, due);
    }

    /// The timeout of the head, at least a jiffy from now.
    pub(super) fn set_timeout_of_head(&mut self, now: Time) {
        let due = self.board.head_sent() + self.rtt.timeout();
        self.timers.set(now, Timer::Retransmission, due.max(now + JIFFY));
    }
}
