//! Proportional rate reduction (RFC 6937, RFC 9937; endpoints sheet §1.8): how the window comes down
//! to its new size within one round trip.

/// One reduction episode.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// Window at the start of the episode.
    prior: u32,
    /// Packets delivered since.
    delivered: u32,
    /// Packets sent since, retransmissions included.
    sent: u32,
}

impl Prr {
    /// Starts an episode at a window of `prior` packets.
    pub fn start(prior: u32) -> Prr {
        Prr { prior, delivered: 0, sent: 0 }
    }

    /// Counts a packet sent in the episode.
    pub fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// How many packets may be sent on an acknowledgement that delivered `delivered` packets, with
    /// `in_flight` believed in the network. `safe`: it advanced the acknowledgement number and marked
    /// nothing lost.
    pub fn allowance(&mut self, delivered: u32, in_flight: u32, ssthresh: u32, safe: bool) -> u32 {
        self.delivered += delivered;
        let allowance = if in_flight > ssthresh {
            let share = u64::from(ssthresh) * u64::from(self.delivered);
            let due = share.div_ceil(u64::from(self.prior.max(1))) as u32;
            due.saturating_sub(self.sent)
        } else {
            let bound = self.delivered.saturating_sub(self.sent).max(delivered) + u32::from(safe);
            bound.min(ssthresh - in_flight)
        };
        // The fast retransmission is always allowed.
        allowance.max(u32::from(self.sent == 0))
    }
}
