//! Tail loss probes (RFC 8985 §7 as in Linux 6.1; endpoints sheet §1.10): when nothing has come back for
//! two round trips, one packet more, so that a loss at the end of a burst shows itself in a SACK and not
//! only in a timeout.
//!
//! Deviation from the RFC, as in Linux: a lone packet outstanding is given 200 ms for a delayed
//! acknowledgement, whatever the receiver's delay is.

use sojourn_aqm::{Span, Time};

use super::{Alarm, Reason, Sender, State};
use crate::packet::{Block, Packet};
use crate::tcp::scoreboard::Delivery;

/// Beside two round trips: two jiffies, and the worst delayed acknowledgement for a lone packet.
const SLACK: Span = Span::from_millis(2);
const DELAYED_ACK: Span = Span::from_millis(200);
/// The shortest time that a timer is set for.
const JIFFY: Span = Span::from_millis(1);

/// A probe that has not been explained yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// What had been sent, the probe included.
    end: u32,
    /// It was a segment sent before.
    again: bool,
}

impl Probe {
    /// Whether a block that tells of a duplicate tells of this probe.
    pub(super) fn is_answered_by(&self, block: Block) -> bool {
        self.again && block.end == self.end
    }
}

impl Sender {
    /// Sets the timer after an acknowledgement that starts it anew, or new data that was sent: for a
    /// probe where one is due before the timeout, otherwise for the timeout.
    #[inline]
    pub(super) fn set_timer(&mut self, now: Time, restart: bool, sent_new: bool) {
        let runs = matches!(self.alarm, Alarm::Timeout | Alarm::Reordering);
        if sent_new && self.may_probe() {
            // A probe waits anew, but not beyond the timeout of the head.
            let timeout = self.board.head_sent() + self.rtt.timeout();
            let probe = now + self.probe_delay();
            self.set_alarm(
                now,
                Alarm::Probe,
                if timeout > now { timeout.min(probe) } else { probe },
            );
        } else if restart || sent_new && !runs {
            self.restart_timer(now);
        }
    }

    pub(super) fn restart_timer(&mut self, now: Time) {
        if self.board.outstanding() == 0 {
            return self.rest();
        }
        let timeout = self.rtt.timeout();
        if self.may_probe() {
            let wait = timeout.min(self.probe_delay());
            return self.set_alarm(now, Alarm::Probe, now + wait);
        }
        let due = match self.alarm {
            Alarm::Rest | Alarm::Timeout => now + timeout,
            // Linux `tcp_rearm_rto`: what has passed while the timer was set for these, counts.
            Alarm::Probe | Alarm::Reordering => (self.board.head_sent() + timeout).max(now + JIFFY),
        };
        self.set_alarm(now, Alarm::Timeout, due);
    }

    fn may_probe(&self) -> bool {
        self.profile.tail_probes && matches!(self.state, State::Open | State::Cwr)
    }

    fn probe_delay(&self) -> Span {
        let smoothed = self.rtt.smoothed();
        if smoothed == Span::ZERO {
            return self.profile.rto.initial;
        }
        let slack = if self.board.outstanding() == 1 { DELAYED_ACK } else { SLACK };
        smoothed + smoothed + slack
    }

    /// The timer rang for a probe: new data if there is any, otherwise the highest segment again. One
    /// probe at a time; after it the timeout has its full length.
    pub(super) fn send_probe(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        debug_assert!(self.board.outstanding() > 0, "only what is outstanding is probed for");
        let last = self.board.nxt() - 1;
        let again = self.board.nxt() == self.segments.count.min(self.offered);
        if self.probe.is_some() || again && self.board.is_sacked(last) {
            let due = self.board.head_sent() + self.rtt.timeout();
            return self.set_alarm(now, Alarm::Timeout, due.max(now + JIFFY));
        }
        if again {
            self.board.send_probe(now, last);
            self.send_again(now, last, emit);
        } else {
            self.transmit(now, emit);
            self.last_sent = now;
        }
        self.probe = Some(Probe { end: self.board.nxt(), again });
        self.set_alarm(now, Alarm::Timeout, now + self.rtt.timeout());
    }

    /// Whether a probe that is a segment sent before is in flight.
    pub(super) fn is_probing_again(&self) -> bool {
        self.probe.is_some_and(|probe| probe.again)
    }

    /// Is the probe explained? An acknowledgement beyond it, without one that tells of a second copy,
    /// says that the probe repaired a loss: the window is reduced as for any other.
    pub(super) fn judge_probe(&mut self, ack: u32, delivery: &Delivery, told_twice: bool) {
        let Some(probe) = self.probe.filter(|probe| ack >= probe.end) else { return };
        if !probe.again || told_twice {
            self.probe = None; // nothing was lost, or the SACKs tell what was
        } else if ack > probe.end {
            self.probe = None;
            self.start_reduction(self.profile.on_mark, Reason::Loss);
            self.window.cwnd = self.descent.final_window(&self.window);
            self.undo = None;
            self.state = State::Open;
        } else if !delivery.advanced && delivery.sacked == 0 {
            self.probe = None; // both copies have arrived
        }
    }
}
