//! The pipe count of ns-2.35's Sack1 agent (`tcp-sack1.cc`; Fall and Floyd 1996 §4): the window is
//! reduced at once, and sending pauses until enough packets have left the network.

/// Duplicates that start a recovery (`numdupacks_`); each means that a packet has left the pipe.
const DUPLICATES: u32 = 3;

/// One recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pipe {
    packets: u32,
    retransmitted: bool,
}

impl Pipe {
    /// Starts with `outstanding` packets sent and not acknowledged.
    pub(crate) fn start(outstanding: u32) -> Pipe {
        Pipe { packets: outstanding.saturating_sub(DUPLICATES), retransmitted: false }
    }

    /// A duplicate means that one packet has left the pipe. A partial acknowledgement means that
    /// two packets have left, the retransmission and the lost original, so recovery is no slower
    /// than slow start (Fall and Floyd 1996 §4).
    pub(crate) fn on_ack(&mut self, advanced: bool) {
        if self.retransmitted {
            self.packets = self.packets.saturating_sub(if advanced { 2 } else { 1 });
        }
    }

    /// Counts a packet sent, except the first one, which is the fast retransmission.
    pub(crate) fn on_sent(&mut self) {
        self.packets += u32::from(self.retransmitted);
        self.retransmitted = true;
    }

    /// How many packets may be sent under a window of `cwnd`.
    pub(crate) fn room(&self, cwnd: u32) -> u32 {
        let fast = u32::from(!self.retransmitted);
        cwnd.saturating_sub(self.packets).max(fast)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_waits_until_the_pipe_has_room() {
        let mut pipe = Pipe::start(20);
        assert_eq!(pipe.room(10), 1, "the fast retransmission does not wait");
        pipe.on_ack(false);
        assert_eq!(pipe.packets, 17, "the pipe counts from the fast retransmission on");
        pipe.on_sent();
        assert_eq!((pipe.packets, pipe.room(10), pipe.room(18)), (17, 0, 1));
        pipe.on_ack(false);
        pipe.on_ack(true);
        assert_eq!(pipe.packets, 14, "one for a duplicate, two for a partial acknowledgement");
        pipe.on_sent();
        assert_eq!(pipe.packets, 15);
    }
}
