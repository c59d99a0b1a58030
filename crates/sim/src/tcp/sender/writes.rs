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
    /// The program is woken when everything below this segment has been sent.
    wakes_at: u32,
    /// The segments with PSH that may not have been acknowledged.
    marks: VecDeque<u32>,
    /// The first of them that has not been sent, and one past the last that has.
    next_mark: u32,
    past_mark: u32,
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
            wakes_at: 0,
            marks: VecDeque::new(),
            next_mark: u32::MAX,
            past_mark: 0,
        }
    }

    /// There are so many bytes more to write.
    pub(super) fn append(&mut self, bytes: u64) {
        self.left += bytes;
        self.await_room();
    }

    /// The receiver offers a window of so many bytes.
    #[inline]
    pub(super) fn on_window(&mut self, bytes: u64) {
        self.largest_window = self.largest_window.max(bytes);
    }

    /// Everything below `next` has been sent, and everything below `una` acknowledged.
    #[inline]
    pub(super) fn on_sent(&mut self, next: u32, una: u32) {
        if next >= self.wakes_at {
            self.wake(next, una);
        }
    }

    #[cold]
    fn wake(&mut self, next: u32, una: u32) {
        while self.marks.front().is_some_and(|&mark| mark < una) {
            self.marks.pop_front();
        }
        while self.write(u64::from(next) * self.payload) {}
        self.await_room();
    }

    /// The program is woken when less than half of what leaves no room is unsent
    /// (`tcp_stream_memory_free`).
    fn await_room(&mut self) {
        self.wakes_at = match self.written.checked_sub(FULL / 2) {
            _ if self.left == 0 => u32::MAX,
            Some(sent) => self.segment(sent) + 1,
            None => 0,
        };
    }

    /// One write. Returns whether there may be room for another.
    fn write(&mut self, sent: u64) -> bool {
        let chunk = CHUNK.min(self.left);
        let begun = !self.written.is_multiple_of(self.payload);
        if begun && chunk > 0 && self.marks.back() == Some(&self.segment(self.written)) {
            self.marks.pop_back(); // the segment does not end there any more
        }
        // A segment is begun while there is room, and filled.
        let room = (sent + FULL).max(self.written).next_multiple_of(self.payload);
        let (start, whole) = (self.written, self.written + chunk);
        let end = whole.min(room);
        loop {
            let after = self.written.max(self.pushed + self.largest_window / 2);
            let full = (after / self.payload + 1) * self.payload;
            if full > end || full >= whole {
                break;
            }
            self.written = full;
            self.mark();
        }
        self.written = end;
        if end > start {
            self.mark();
        }
        self.left -= end - start;
        chunk > 0 && end == whole
    }

    /// Bytes written.
    #[cfg(test)]
    pub(super) fn written(&self) -> u64 {
        self.written
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
        self.next_mark = self.next_mark.min(last);
        self.pushed = self.written;
    }

    /// Whether a segment that is about to be sent carries PSH.
    #[inline]
    pub(super) fn has_push(&mut self, seq: u32) -> bool {
        (seq < self.past_mark || seq >= self.next_mark) && self.is_marked(seq)
    }

    #[cold]
    fn is_marked(&mut self, seq: u32) -> bool {
        let place = self.marks.partition_point(|&mark| mark < seq);
        let is_marked = self.marks.get(place) == Some(&seq);
        if seq >= self.next_mark {
            let after = place + usize::from(is_marked);
            self.next_mark = self.marks.get(after).map_or(u32::MAX, |&mark| mark);
            self.past_mark = seq + 1;
        }
        is_marked
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
        writes.on_sent(10, 0);
        assert_eq!(writes.marks, [22, 45, 68, 113, 136, 159, 191]);
        writes.on_sent(101, 0);
        assert_eq!(writes.written, 192 * 1448, "128 KiB and more are unsent");
        writes.on_sent(102, 0);
        assert_eq!(writes.written, 284 * 1448);
        assert_eq!(writes.marks.back(), Some(&283));
    }

    #[test]
    fn the_last_segment_of_a_transfer_is_pushed() {
        let mut writes = Writes::new(1448, 2 * 1448 + 100);
        writes.on_window(65_160);
        writes.on_sent(3, 0);
        assert_eq!([0, 1, 2].map(|seq| writes.has_push(seq)), [false, false, true]);
        writes.append(1_348);
        writes.on_sent(3, 0);
        assert_eq!(writes.marks, [2], "the rest of the segment ends it again");
        assert!(writes.has_push(2), "sent again");
    }
}
