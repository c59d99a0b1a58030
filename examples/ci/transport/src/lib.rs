//! The transport of this project: the sender's window, without a clock or a socket.

/// Additive increase, multiplicative decrease over packets numbered from zero.
#[derive(Debug)]
pub struct Sender {
    next: u64,
    acked: u64,
    window: f64,
    /// Losses below this number belong to an episode to which the window has responded.
    recovery: u64,
}

impl Default for Sender {
    fn default() -> Self {
        Self { next: 0, acked: 0, window: 10.0, recovery: 0 }
    }
}

impl Sender {
    /// The number of the next packet, if the window has room.
    pub fn poll(&mut self) -> Option<u64> {
        let in_flight = self.next - self.acked;
        (in_flight < self.window as u64).then(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// The receiver has packet `number`. The network keeps the order, so all earlier packets that
    /// were not acknowledged are lost.
    pub fn on_ack(&mut self, number: u64) {
        let is_lost = number > self.acked;
        if is_lost && self.acked >= self.recovery {
            self.window = (self.window / 2.0).max(2.0);
            self.recovery = self.next;
        }
        self.acked = number + 1;
        self.window += 1.0 / self.window;
    }
}
