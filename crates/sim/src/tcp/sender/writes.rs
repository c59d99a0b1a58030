//! Where a program's writes end: a Linux sender marks those segments with PSH, and others where
//! half of the largest window has been written since the last (Linux 6.1 tcp.c,
//! `tcp_sendmsg_locked`, `tcp_push`, `forced_push`; fact tcp-33).
//!
//! Deviations from Linux: a segment is full before it is sent, unless it is the last; with
//! segmentation offload Linux looks at the window only where a burst is full.

use std::collections::VecDeque;

/// What the program writes at a time, in bytes (engine linux, `CHUNK_BYTES`).
const CHUNK: u64 = 128 << 10;
/// Unsent bytes that leave no room (`TCP_NOTSENT_LOWAT` of the same program).
const FULL: u64 = 256 << 10;

/// The writes of one connection.
#[derive(Clone, Debug)]
pub(super) struct Writes {
    payload: u64,
    /// Bytes that are still to be written.
    left: u64,
    /// Bytes written (`write_seq`), and where PSH was set last (`pushed_seq`).
    written: u64,
    pushed: u64,
    /// The largest window that the receiver has offered, in bytes (`max_window`).
    largest_window: u64,
    /// The segments with PSH that have not been acknowledged.
    marks: VecDeque<u32>,
}

impl Writes {
    /// Nothing is written yet of so many bytes.
    pub(super) fn new(payload: u32, left: u64) -> Writes {
        Writes {
            payload: u64::from(payload),
            left,
            written: 0,
            pushed: 0,
            largest_window: 0,
            marks: VecDeque::new(),
        }
    }

    /// There are so many bytes more to write.
    pub(super) fn append(&mut self, bytes: u64) {
        self.left += bytes;
    }

    /// The receiver offers a window of so many bytes.
    #[inline]
    pub(super) fn on_window(&mut self, bytes: u64) {
        self.largest_window = self.largest_window.max(bytes);
    }

    /// Everything below this segment has been acknowledged.
    #[inline]
    pub(super) fn on_acked(&mut self, una: u32) {
        while self.marks.front().is_some_and(|&mark| mark < una) {
            self.marks.pop_front();
        }
    }

    /// Everything below this segment has been sent: the program is woken when less than half of
    /// what leaves no room is unsent (`tcp_stream_memory_free`).
    #[inline]
    pub(super) fn on_sent(&mut self, next: u32) {
        let sent = u64::from(next) * self.payload;
        if 2 * self.written.saturating_sub(sent) < FULL {
            while self.write(sent) {}
        }
    }

    /// One write. Returns whether there may be room for another.
    fn write(&mut self, sent: u64) -> bool {
        let chunk = CHUNK.min(self.left);
        let begun = !self.written.is_multiple_of(self.payload);
        if begun && chunk > 0 && self.marks.back() == Some(&self.segment(self.written)) {
            self.marks.pop_back(); // the segment does not end there any more
        }
        let mut left = chunk;
        while left > 0 {
            let filled = self.written % self.payload;
            if filled == 0 && self.written >= sent + FULL {
                break;
            }
            let part = left.min(self.payload - filled);
            self.written += part;
            left -= part;
            let full = self.written.is_multiple_of(self.payload);
            if left > 0 && full && self.written > self.pushed + self.largest_window / 2 {
                self.mark();
            }
        }
        if left < chunk {
            self.mark();
        }
        self.left -= chunk - left;
        chunk > 0 && left == 0
    }

    fn segment(&self, byte: u64) -> u32 {
        (byte / self.payload) as u32
    }

    /// The last segment written gets PSH.
    fn mark(&mut self) {
        let last = self.segment(self.written - 1);
        if self.marks.back() != Some(&last) {
            self.marks.push_back(last);
        }
        self.pushed = self.written;
    }

    /// Whether a segment carries PSH.
    #[inline]
    pub(super) fn has_push(&self, seq: u32) -> bool {
        self.marks.binary_search(&seq).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fact tcp-33: the segments with PSH of a flow in the guest until its first loss.
    #[test]
    fn half_of_the_first_window_and_the_ends_of_writes_are_pushed() {
        let mut writes = Writes::new(1448, u64::MAX);
        writes.on_window(65_160);
        writes.on_sent(10);
        assert_eq!(writes.marks, [22, 45, 68, 113, 136, 159, 191]);
        writes.on_sent(101);
        assert_eq!(writes.written, 192 * 1448, "128 KiB and more are unsent");
        writes.on_sent(102);
        assert_eq!(writes.written, 284 * 1448);
        assert_eq!(writes.marks.back(), Some(&283));
    }

    #[test]
    fn the_last_segment_of_a_transfer_is_pushed() {
        let mut writes = Writes::new(1448, 2 * 1448 + 100);
        writes.on_window(65_160);
        writes.on_sent(3);
        assert_eq!([0, 1, 2].map(|seq| writes.has_push(seq)), [false, false, true]);
        writes.append(1_348);
        writes.on_sent(3);
        assert_eq!(writes.marks, [2], "the rest of the segment ends it again");
        writes.on_acked(3);
        assert!(!writes.has_push(2));
    }
}
