//! Proportional rate reduction (RFC 6937, RFC 9937, Linux 6.1 `tcp_cwnd_reduction`): the window
//! falls to the threshold in proportion to the delivered data, within about one round trip.
//!
//! Deviation from RFC 9937, as in Linux: `RecoverFS` is the congestion window at the start, not the
//! amount of data in flight (RFC 9937 §6).

/// One reduction, in the names of RFC 9937 §6.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// `RecoverFS`.
    recover_fs: u32,
    /// `prr_delivered`: packets delivered since the start.
    prr_delivered: u32,
    /// `prr_out`: packets sent since the start, retransmissions included.
    prr_out: u32,
}

impl Prr {
    /// Starts a reduction from a window of `recover_fs` packets.
    pub(crate) fn start(recover_fs: u32) -> Prr {
        Prr { recover_fs, prr_delivered: 0, prr_out: 0 }
    }

    /// Counts a packet sent during the reduction.
    pub(crate) fn on_sent(&mut self) {
        self.prr_out += 1;
    }

    /// `SndCnt`: how many packets may be sent on an acknowledgement that delivered `delivered`
    /// packets, with `in_flight` in the network. `safe_ack` means that it advanced the
    /// acknowledgement number and revealed no loss.
    pub(crate) fn on_ack(
        &mut self,
        delivered: u32,
        in_flight: u32,
        ssthresh: u32,
        safe_ack: bool,
    ) -> u32 {
        self.prr_delivered += delivered;
        let snd_cnt = if in_flight > ssthresh {
            let share = u64::from(ssthresh) * u64::from(self.prr_delivered);
            let due = share.div_ceil(u64::from(self.recover_fs.max(1))) as u32;
            due.saturating_sub(self.prr_out)
        } else {
            let conserved = self.prr_delivered.saturating_sub(self.prr_out).max(delivered);
            (conserved + u32::from(safe_ack)).min(ssthresh - in_flight)
        };
        // The fast retransmission is always allowed.
        snd_cnt.max(u32::from(self.prr_out == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(prr_delivered: u32, prr_out: u32) -> Prr {
        Prr { recover_fs: 20, prr_delivered, prr_out }
    }

    #[test]
    fn above_the_threshold_half_as_much_is_sent_as_is_delivered() {
        // ceil(prr_delivered * ssthresh / RecoverFS) - prr_out (RFC 9937 §6).
        assert_eq!(after(3, 2).on_ack(1, 11, 10, true), 0);
        assert_eq!(after(4, 2).on_ack(1, 11, 10, true), 1);
        assert_eq!(after(9, 9).on_ack(1, 11, 10, true), 0, "more was sent than is due");
    }

    #[test]
    fn at_the_threshold_and_below_the_bound_is_what_was_delivered() {
        assert_eq!(after(9, 9).on_ack(1, 10, 10, true), 0, "the window is full");
        assert_eq!(after(9, 9).on_ack(1, 6, 10, false), 1);
        assert_eq!(after(9, 9).on_ack(1, 6, 10, true), 2, "a safe acknowledgement adds one");
        assert_eq!(after(9, 5).on_ack(1, 2, 10, false), 5, "what was not yet sent");
        assert_eq!(after(9, 5).on_ack(1, 8, 10, false), 2, "at most up to the threshold");
    }

    #[test]
    fn the_first_packet_of_a_reduction_is_always_sent() {
        assert_eq!(after(0, 0).on_ack(1, 10, 10, false), 1);
        assert_eq!(after(0, 1).on_ack(1, 10, 10, false), 0);
    }
}
