//! Duplicate acknowledgements of a connection without SACK: each counts as one segment that arrived
//! above the hole.

use super::{Delivery, Scoreboard};

impl Scoreboard {
    /// Without SACK, segments acknowledged now were already counted as duplicates; they are not
    /// counted as delivered again (Linux `tcp_remove_reno_sacks`).
    pub(super) fn forget_duplicates(&mut self, delivery: &mut Delivery) {
        let acked = delivery.packets;
        delivery.packets = acked.saturating_sub(self.sacked).max(1);
        self.sacked = self.sacked.saturating_sub(acked.saturating_sub(1));
    }

    /// Clears the count of duplicates of the current acknowledgement number (Linux
    /// `tcp_reset_reno_sack`).
    pub(crate) fn reset_duplicates(&mut self) {
        debug_assert!(!self.sack, "with SACK the blocks report arrivals");
        self.sacked = 0;
    }

    /// Limits the number of duplicates. Duplicates count segments above a hole, so there are at
    /// most as many as outstanding segments that are not lost (Linux `tcp_limit_reno_sacked`).
    pub(super) fn limit_duplicates(&mut self) {
        if !self.sack {
            self.sacked = self.sacked.min(self.outstanding().saturating_sub(self.lost.max(1)));
        }
    }

    /// Counts a duplicate acknowledgement of a connection without SACK. Returns false if there were
    /// more duplicates than segments that can have arrived.
    pub(crate) fn count_duplicate(&mut self) -> bool {
        debug_assert!(!self.sack, "with SACK the blocks report arrivals");
        let possible = self.sacked + self.lost.max(1) < self.outstanding();
        self.sacked += u32::from(possible);
        possible
    }
}
