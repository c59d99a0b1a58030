//! The pipe count of ns-2's Sack1 (endpoints sheet §1.7): the window is reduced at once, and sending
//! waits until so much has left the network.

/// Duplicates that start a recovery, which have left the pipe.
const DUPLICATES: u32 = 3;

/// One recovery.
#[derive(Clone, Copy, Debug)]
pub struct Pipe {
    packets: u32,
    retransmitted: bool,
}

impl Pipe {
    /// Starts with `outstanding` packets sent and not acknowledged.
    pub fn start(outstanding: u32) -> Pipe {
        Pipe { packets: outstanding.saturating_sub(DUPLICATES), retransmitted: false }
    }

    /// A duplicate stands for one packet that has arrived. A partial acknowledgement stands for two,
    /// the retransmission and the original it replaces, so as not to do worse than slow start.
    pub fn on_ack(&mut self, advanced: bool) {
        if self.retransmitted {
            self.packets = self.packets.saturating_sub(if advanced { 2 } else { 1 });
        }
    }

    /// Counts a packet sent; the first, the fast retransmission, is not counted.
    pub fn on_sent(&mut self) {
        self.packets += u32::from(self.retransmitted);
        self.retransmitted = true;
    }

    /// How many may be sent under a window.
    pub fn room(&self, cwnd: u32) -> u32 {
        let fast = u32::from(!self.retransmitted);
        cwnd.saturating_sub(self.packets).max(fast)
    }
}
