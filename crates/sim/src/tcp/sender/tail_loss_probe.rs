//! Tail loss probes (RFC 8985 §7, Linux 6.1 `tcp_schedule_loss_probe`, `tcp_send_loss_probe`): if
//! two round trips pass without an acknowledgement, one more packet is sent, so that a loss at the
//! end of a burst is reported by a SACK and not only by a timeout.
//!
//! Deviation from the RFC, as in Linux: for a single outstanding packet, 200 ms are added for the
//! delayed acknowledgement, regardless of the receiver's delay (RFC 8985 §7.2 leaves `WCDelAckT`
//! open and recommends 200 ms).

use sojourn_aqm::{Span, Time};

use super::episode::Reason;
use super::{Sender, State, Timer};
use crate::packet::{Block, Packet};
use crate::tcp::scoreboard::Delivery;

/// Added to two round trips: two jiffies, or RFC 8985's `WCDelAckT` for a single packet.
const SLACK: Span = Span::from_millis(2);
const WORST_DELAYED_ACK: Span = Span::from_millis(200);

/// A probe whose outcome is still unknown.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailLossProbe {
    /// `TLP.end_seq`: one past the highest segment sent when the probe had left.
    end_seq: u32,
    /// `TLP.is_retrans`: whether the probe repeated a segment.
    is_retrans: bool,
}

impl TailLossProbe {
    /// Whether a D-SACK reports this probe as a duplicate.
    fn is_reported_by(&self, dsack: Block) -> bool {
        self.is_retrans && dsack.end == self.end_seq
    }
}

impl Sender {
    /// Linux `tcp_schedule_loss_probe` requires SACK: without it, duplicates do not identify the
    /// segment that arrived.
    #[inline]
    pub(super) fn may_probe_tail(&self) -> bool {
        let allowed = self.profile.tail_probes && self.profile.sack;
        allowed && matches!(self.episode.state, State::Open | State::Cwr)
    }

    /// RFC 8985 §7.2: PTO.
    #[inline]
    pub(super) fn probe_timeout(&self) -> Span {
        let srtt = self.rtt.smoothed();
        if srtt == Span::ZERO {
            return self.profile.rto.initial;
        }
        let slack = if self.board.outstanding() == 1 { WORST_DELAYED_ACK } else { SLACK };
        srtt + srtt + slack
    }

    /// Handles the probe timer: sends new data if there is any, otherwise repeats the highest
    /// segment. There is one probe at a time, and after it the full timeout (RFC 8985 §7.3).
    pub(super) fn send_tail_probe(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        debug_assert!(self.board.outstanding() > 0, "a probe is for outstanding data");
        let last = self.board.nxt() - 1;
        let is_retrans = !self.may_send_new_segment();
        if self.tail_probe.is_some() || is_retrans && self.board.is_sacked(last) {
            return self.set_timeout_of_head(now);
        }
        self.pace(now, 1);
        if is_retrans {
            self.board.send_probe(now, last);
            self.send_again(now, last, emit);
        } else {
            self.transmit(now, emit);
            self.sent.last_at = now;
        }
        self.tail_probe = Some(TailLossProbe { end_seq: self.board.nxt(), is_retrans });
        self.timers.set(now, Timer::Retransmission, now + self.rtt.timeout());
    }

    /// Whether a probe that repeated a segment is in flight.
    pub(super) fn is_probing_with_retransmission(&self) -> bool {
        self.tail_probe.is_some_and(|probe| probe.is_retrans)
    }

    /// Ends a probe whose outcome is revealed by an acknowledgement (RFC 8985 §7.4.2, Linux
    /// `tcp_process_tlp_ack`). An acknowledgement beyond the probe without a D-SACK for it means
    /// that the probe repaired a loss: the window is reduced as for any other loss. Returns whether
    /// the D-SACK reports the probe.
    #[inline]
    pub(super) fn process_tail_probe(
        &mut self,
        ack: u32,
        delivery: &Delivery,
        dsack: Option<Block>,
    ) -> bool {
        let Some(probe) = self.tail_probe else { return false };
        let arrived_twice = dsack.is_some_and(|block| probe.is_reported_by(block));
        if ack < probe.end_seq {
            return arrived_twice;
        }
        if !probe.is_retrans || arrived_twice {
            self.tail_probe = None; // nothing was lost, or SACKs report the loss
        } else if ack > probe.end_seq {
            self.tail_probe = None;
            self.start_reduction(self.profile.on_mark, Reason::Loss);
            self.window.cwnd = self.episode.reduction.final_cwnd(&self.window);
            self.episode.undo = None;
            self.episode.state = State::Open;
        } else if !delivery.advanced && delivery.sacked == 0 {
            self.tail_probe = None; // a duplicate: both copies have arrived
        }
        arrived_twice
    }
}
