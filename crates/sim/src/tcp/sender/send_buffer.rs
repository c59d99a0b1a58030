//! The size of Linux's send buffer, and when a program blocked on it continues (Linux 6.1
//! tcp_input.c, `tcp_check_space`, `tcp_sndbuf_expand`; sock.h, `__sk_stream_is_writeable`; fact
//! tcp-36).

use crate::tcp::memory::{HEADERS, SHARED_INFO, SK_BUFF};
use crate::tcp::profile::{BufferRule, SendBufferRule};

/// Smallest congestion window to provide for, in segments (`TCP_INIT_CWND`).
const FEWEST: u32 = 10;

/// The send buffer of one connection, in bytes of memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendBuffer {
    size: u32,
    most: u32,
    /// Memory provided per segment of the congestion window (`tcp_sndbuf_expand`).
    per_segment: u32,
    /// The congestion window for which memory is provided.
    window: u32,
    /// Memory of a buffer of segments in addition to its payload.
    overhead: u32,
}

impl SendBuffer {
    /// The send buffer of a connection. `segment_bytes` includes TCP's options; `windows` is the
    /// number of congestion windows that it should hold.
    pub(super) fn new(
        rule: SendBufferRule,
        buffer: BufferRule,
        segment_bytes: u32,
        windows: u32,
    ) -> SendBuffer {
        let segment = (segment_bytes + HEADERS + SHARED_INFO).next_power_of_two() + SK_BUFF;
        let mut buffer = SendBuffer {
            size: rule.first.get(),
            most: rule.most,
            per_segment: segment * windows,
            window: 0,
            overhead: buffer.overhead(),
        };
        buffer.provide_for(FEWEST);
        buffer
    }

    /// Memory of a buffer of segments in addition to its payload.
    pub(super) fn overhead(&self) -> u64 {
        u64::from(self.overhead)
    }

    /// Grows for a congestion window that is not full.
    #[inline]
    pub(super) fn provide_for(&mut self, window: u32) {
        if window > self.window {
            self.window = window;
            let wanted = window.saturating_mul(self.per_segment);
            self.size = self.size.max(wanted.min(self.most));
        }
    }

    /// The room left while `queued` bytes are queued; if any room is left, another buffer may
    /// begin.
    pub(super) fn room(&self, queued: u64) -> u64 {
        u64::from(self.size).saturating_sub(queued)
    }

    /// Whether a blocked program continues: a third must be free (`sk_stream_min_wspace`).
    pub(super) fn is_writeable(&self, queued: u64) -> bool {
        queued + queued / 2 <= u64::from(self.size)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn rule(first: u32, most: u32) -> SendBufferRule {
        SendBufferRule { first: NonZeroU32::new(first).unwrap(), most }
    }

    #[test]
    fn a_buffer_provides_for_the_largest_window_that_was_not_filled() {
        let rule = rule(16_384, 4 << 20);
        let mut buffer = SendBuffer::new(rule, BufferRule::Half, 1460, 2);
        assert_eq!(buffer.size, 2 * 10 * 2304, "`tcp_init_buffer_space`");
        buffer.provide_for(100);
        buffer.provide_for(50);
        assert_eq!(buffer.size, 2 * 100 * 2304);
        buffer.provide_for(10_000);
        assert_eq!(buffer.size, 4 << 20);
    }

    #[test]
    fn a_program_goes_on_when_a_third_is_free() {
        let rule = rule(3_000_000, 3_000_000);
        let buffer = SendBuffer::new(rule, BufferRule::Half, 1460, 2);
        assert!(buffer.is_writeable(2_000_000) && !buffer.is_writeable(2_000_002));
        assert_eq!((buffer.room(2_999_999), buffer.room(3_000_000)), (1, 0));
    }
}
