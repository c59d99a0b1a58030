//! Acknowledgements before and after the program reads (Linux 6.1 `tcp_rcv_established` queues a
//! segment, decides, and wakes the program; `tcp_recvmsg` reads and decides again).

use sojourn_aqm::Time;

use super::Receiver;

impl Receiver {
    /// Whether a segment in order is acknowledged before the program reads it (Linux
    /// `__tcp_ack_snd_check`).
    #[inline]
    pub(super) fn is_answered_unread(&mut self, now: Time, now_due: bool, had_holes: bool) -> bool {
        let mut is_due = now_due;
        if self.acks.are_enough(self.unacknowledged) {
            let (is_low, keeps_size) = self.window.is_low_and_keeps_size();
            if is_low {
                self.acks.on_low_buffer();
            }
            is_due |= keeps_size;
        }
        if is_due || self.acks.is_quick() {
            return true;
        }
        match self.beyond.is_empty() {
            true => had_holes,
            // The segment counts as a duplicate.
            false => self.acks.is_duplicate_due(now, self.next, self.rtt.mean()),
        }
    }

    /// Lets the program read. Returns whether that causes an acknowledgement (Linux
    /// `tcp_cleanup_rbuf`); otherwise the timer is set.
    #[inline]
    pub(super) fn is_answered_read(&mut self, now: Time) -> bool {
        let whole = self.beyond.is_empty();
        self.read(now);
        if self.acks.is_pushed() && whole || self.window.has_doubled(self.next) {
            return true;
        }
        match whole {
            true => self.acks.is_due_after(now, self.unacknowledged),
            false => self.acks.are_enough(self.unacknowledged),
        }
    }

    /// Lets the program read the in-order data.
    #[inline]
    pub(super) fn read(&mut self, now: Time) {
        if self.window.is_unread() {
            let rtt = self.rtt.mean().or(self.acks.rtt());
            self.window.on_read(now, self.next, rtt);
        }
    }

    /// Whether the program, reading after an acknowledgement, has made room for twice the window
    /// announced in it, so that another is due (Linux `tcp_cleanup_rbuf`).
    #[inline]
    pub fn owes_window(&self) -> bool {
        self.owes_window
    }
}
