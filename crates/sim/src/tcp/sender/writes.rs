//! The program's writes, as buffers. A Linux sender sets PSH on the segments where writes end, and
//! where a buffer is full and half of the largest window has been written since the last PSH (Linux
//! 6.1 tcp.c, `tcp_sendmsg_locked`, `tcp_push`, `forced_push`; fact tcp-33). A buffer is one
//! segment or, with segmentation offload, at most one burst (fact tcp-44).
//!
//! Deviation from Linux: a segment is full before it is sent, unless it is the last.

use std::collections::VecDeque;

use super::send_buffer::SendBuffer;

/// Bytes per write of the program (engine linux, `CHUNK_BYTES`).
const CHUNK: u64 = 128 << 10;
/// Unsent bytes above which the program may not write (`TCP_NOTSENT_LOWAT` of the same program).
const FULL: u64 = 256 << 10;

/// The queued data: sent and not acknowledged, all segments below `next`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queue {
    pub(super) una: u32,
    pub(super) next: u32,
    /// SACKed segments, the number of contiguous ranges they form, and one past the highest.
    pub(super) sacked: u32,
    pub(super) rows: u32,
    pub(super) highest: u32,
}

/// The writes of one connection.
#[derive(Clone, Debug)]
pub(super) struct Writes {
    payload: u64,
    /// The most segments of a buffer (`sk_gso_max_segs`).
    most: u32,
    /// The limit on the memory of written, unacknowledged data, if any.
    memory: Option<SendBuffer>,
    /// Bytes that are still to be written.
    left: u64,
    /// Bytes written (`write_seq`), and where PSH was set last (`pushed_seq`).
    written: u64,
    pushed: u64,
    /// Where the last buffer begins, or its unsent part.
    last_buffer: u64,
    /// With segmentation offload: the ends of the unsent buffers before it.
    ends: VecDeque<u32>,
    /// The ends of buffers that have been sent but perhaps not acknowledged.
    sent_ends: VecDeque<u32>,
    /// The largest window offered by the receiver, in bytes (`max_window`).
    largest_window: u64,
    /// One past the last whole segment written; the largest number if everything is written.
    ready: u32,
    /// The program is woken when all segments below this one have been sent.
    wakes_at: u32,
    /// The segments with PSH that may be unacknowledged. The first `sent_marks` have been sent.
    marks: VecDeque<u32>,
    sent_marks: usize,
    /// The first unsent segment with PSH.
    next_mark: u32,
    /// One past the last segment with PSH that was sent.
    past_mark: u32,
}

impl Writes {
    /// The state before the first of `left` bytes is written; a buffer takes at most `most`
    /// segments.
    pub(super) fn new(payload: u32, most: u32, memory: Option<SendBuffer>, left: u64) -> Writes {
        Writes {
            payload: u64::from(payload),
            most,
            memory,
            left,
            written: 0,
            pushed: 0,
            last_buffer: 0,
            ends: VecDeque::new(),
            sent_ends: VecDeque::new(),
            largest_window: 0,
            ready: 0,
            wakes_at: 0,
            marks: VecDeque::new(),
            sent_marks: 0,
            next_mark: u32::MAX,
            past_mark: 0,
        }
    }

    /// Adds `bytes` to write.
    pub(super) fn append(&mut self, bytes: u64) {
        self.left += bytes;
        self.settle();
    }

    /// Records that the receiver offers a window of `bytes`.
    #[inline]
    pub(super) fn on_window(&mut self, bytes: u64) {
        self.largest_window = self.largest_window.max(bytes);
    }

    /// How many of all `count` segments may be sent.
    #[inline]
    pub(super) fn available(&self, count: u32) -> u32 {
        self.ready.min(count)
    }

    /// Provides for a congestion window of `window` segments that is not full.
    #[inline]
    pub(super) fn provide_for(&mut self, window: u32) {
        if let Some(memory) = &mut self.memory {
            memory.provide_for(window);
        }
    }

    /// Whether so little data is unsent, once everything below `next` is sent, that the program may
    /// write.
    #[inline]
    pub(super) fn is_awaited(&self, next: u32) -> bool {
        next >= self.wakes_at
    }

    /// Lets the program write if there is room. Returns whether it wrote anything.
    #[cold]
    pub(super) fn wake(&mut self, queue: &Queue) -> bool {
        let queued = self.queued(queue);
        if self.memory.is_some_and(|memory| !memory.is_writeable(queued)) {
            return false;
        }
        while self.marks.front().is_some_and(|&mark| mark < queue.una) {
            self.marks.pop_front();
            self.sent_marks = self.sent_marks.saturating_sub(1);
        }
        self.find_next_mark();
        let before = self.written;
        while self.write(queue, CHUNK) {}
        self.settle();
        self.written > before
    }

    /// Memory taken by written, unacknowledged data. A contiguous range of SACKed segments is one
    /// buffer (`tcp_shift_skb_data`).
    fn queued(&mut self, queue: &Queue) -> u64 {
        let bytes = self.written.saturating_sub(u64::from(queue.una) * self.payload);
        let buffers = if self.most > 1 {
            self.bursts(queue)
        } else {
            bytes.div_ceil(self.payload).saturating_sub(u64::from(queue.sacked - queue.rows))
        };
        bytes + buffers * self.memory.map_or(0, |memory| memory.overhead())
    }

    /// The number of buffers with segmentation offload: bursts, ranges of SACKed segments, the
    /// holes before them (assumed to be one buffer each), and unsent buffers.
    fn bursts(&mut self, queue: &Queue) -> u64 {
        while self.sent_ends.front().is_some_and(|&end| end <= queue.una) {
            self.sent_ends.pop_front();
        }
        let beyond = self.sent_ends.partition_point(|&end| end <= queue.highest);
        let sent = self.sent_ends.len() - if queue.rows > 0 { beyond } else { 0 };
        let unsent = self.written.saturating_sub(u64::from(queue.next) * self.payload);
        sent as u64 + 2 * u64::from(queue.rows) + unsent.div_ceil(self.goal())
    }

    /// With segmentation offload: records that new segments up to this one leave in one burst.
    pub(super) fn on_burst(&mut self, end: u32) {
        self.sent_ends.push_back(end);
    }

    /// Makes a segment carry PSH whenever it is sent, such as the last of several that leave
    /// together (`__tcp_transmit_skb`).
    pub(super) fn push(&mut self, last: u32) {
        let is_next = (self.past_mark..=self.next_mark).contains(&last);
        let place =
            if is_next { self.sent_marks } else { self.marks.partition_point(|&mark| mark < last) };
        if self.marks.get(place) != Some(&last) {
            self.marks.insert(place, last);
            self.sent_marks += usize::from(place < self.sent_marks);
            self.find_next_mark();
        }
    }

    fn find_next_mark(&mut self) {
        self.next_mark = self.marks.get(self.sent_marks).copied().unwrap_or(u32::MAX);
    }

    /// Lets the program begin to write, while `window` segments leave in bursts.
    pub(super) fn begin(&mut self, window: u32, burst: u32) {
        let mut chunk = CHUNK;
        if self.most > 1 {
            chunk -= self.send_while_writing(chunk.min(self.left), window, burst);
        }
        let queue = Queue { next: window, ..Queue::default() };
        while self.write(&queue, chunk) {
            chunk = CHUNK;
        }
        self.settle();
    }

    /// As soon as the first buffer is full, a burst leaves, and the buffer is refilled by the same
    /// amount, which then counts as a full buffer too (`tcp_push_one`). Returns how many of the
    /// `bytes` have been written by then.
    fn send_while_writing(&mut self, bytes: u64, window: u32, burst: u32) -> u64 {
        let first = self.goal();
        if bytes <= first {
            return 0;
        }
        self.written = first;
        let mut sent = 0;
        while sent < window {
            let burst = burst.min(window - sent);
            let more = u64::from(burst) * self.payload;
            if self.written + more > bytes {
                break;
            }
            sent += burst;
            self.written += more;
            self.last_buffer += more;
            if self.written > self.pushed + self.largest_window / 2 {
                self.pushed = self.written;
            }
        }
        if self.pushed > 0 {
            self.push(self.segment(self.written - 1));
        }
        self.left -= self.written;
        self.written
    }

    /// The size of a buffer (`tcp_xmit_size_goal`, `tcp_bound_to_half_wnd`).
    fn goal(&self) -> u64 {
        let half = self.largest_window / 2 / self.payload;
        half.clamp(1, u64::from(self.most)) * self.payload
    }

    /// One past the last segment that can leave together with this one, the next to be sent; `None`
    /// if no other buffer follows.
    pub(super) fn buffer_end(&mut self, next: u32) -> Option<u32> {
        while self.ends.front().is_some_and(|&end| end <= next) {
            self.ends.pop_front();
        }
        self.ends.front().copied()
    }

    /// Grows the first buffer to `segments` segments by taking from the next one; its PSH moves
    /// with its end (Linux 7.2 `tcp_grow_skb`; fact tcp-49).
    pub(super) fn grow_buffer(&mut self, next: u32, segments: u32) {
        let Some(end) = self.buffer_end(next).filter(|&end| end < next + segments) else { return };
        let second = self.ends.get(1).copied();
        let grown = (next + segments).min(second.unwrap_or(self.segment(self.written)));
        if grown <= end {
            return;
        }
        let is_eaten = u64::from(grown) * self.payload == self.written || second == Some(grown);
        if is_eaten {
            self.ends.pop_front();
        } else {
            self.ends[0] = grown;
        }
        if second.is_none() {
            self.last_buffer = u64::from(if is_eaten { next } else { grown }) * self.payload;
        }
        if let Ok(place) = self.marks.binary_search(&(end - 1)) {
            self.marks.remove(place);
            self.find_next_mark();
            self.push(grown - 1);
        }
    }

    /// Schedules the wakeup of the program for when fewer than half of [`FULL`] bytes are unsent
    /// (`tcp_stream_memory_free`).
    fn settle(&mut self) {
        self.ready = if self.left == 0 { u32::MAX } else { self.segment(self.written) };
        self.wakes_at = match self.written.checked_sub(FULL / 2) {
            _ if self.left == 0 => u32::MAX,
            Some(sent) => self.segment(sent) + 1,
            None => 0,
        };
    }

    /// Performs one write of `bytes`, or of the rest. Returns whether there may be room for
    /// another.
    fn write(&mut self, queue: &Queue, bytes: u64) -> bool {
        let sent = u64::from(queue.next) * self.payload;
        let queued = self.queued(queue);
        let chunk = bytes.min(self.left);
        let goal = self.goal();
        // A partial segment is not sent before it is full.
        let whole_segments = self.written - self.written % self.payload;
        self.last_buffer = self.last_buffer.max(sent.min(whole_segments));
        let filled = self.written - self.last_buffer;
        let grows = (1..goal).contains(&filled) && chunk > 0;
        if grows && self.marks.back() == Some(&self.segment(self.written - 1)) {
            self.marks.pop_back(); // the buffer no longer ends there
            self.sent_marks = self.sent_marks.min(self.marks.len()); // a partial segment was sent
            self.find_next_mark();
        }
        // While there is room, a buffer is begun and then filled completely.
        let full_at =
            |bytes: u64| self.last_buffer + (bytes - self.last_buffer).next_multiple_of(goal);
        let room = full_at((sent + FULL).max(self.written)).min(self.room(queued, goal, filled));
        let (start, whole) = (self.written, self.written + chunk);
        let end = whole.min(room);
        loop {
            let after = self.written.max(self.pushed + self.largest_window / 2);
            let full = self.last_buffer + ((after - self.last_buffer) / goal + 1) * goal;
            if full > end || full >= whole {
                break;
            }
            self.fill(full, goal);
            self.mark();
        }
        if end > start {
            self.fill(end, goal);
            self.mark();
        }
        self.left -= end - start;
        chunk > 0 && end == whole
    }

    /// The byte up to which there is memory while `queued` bytes are queued: the last buffer, which
    /// holds `filled` bytes, is filled up, and further ones are begun.
    fn room(&self, queued: u64, goal: u64, filled: u64) -> u64 {
        let Some(memory) = self.memory else { return u64::MAX };
        let rest = filled.next_multiple_of(goal) - filled;
        let buffers = memory.room(queued + rest).div_ceil(goal + memory.overhead());
        self.written + rest + buffers * goal
    }

    /// Writes up to this byte.
    fn fill(&mut self, end: u64, goal: u64) {
        self.written = end;
        let full = (end - 1 - self.last_buffer) / goal;
        if self.most > 1 {
            let ends = (1..=full).map(|n| self.segment(self.last_buffer + n * goal));
            self.ends.extend(ends.collect::<Vec<u32>>());
        }
        self.last_buffer += full * goal;
    }

    /// Bytes written.
    #[cfg(test)]
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    fn segment(&self, byte: u64) -> u32 {
        (byte / self.payload) as u32
    }

    /// Sets PSH on the last segment written.
    fn mark(&mut self) {
        self.push(self.segment(self.written - 1));
        self.pushed = self.written;
    }

    /// Whether a segment that is about to be sent carries PSH. New segments are sent in order.
    #[inline]
    pub(super) fn has_push(&mut self, seq: u32) -> bool {
        debug_assert!(seq <= self.next_mark, "no mark is skipped");
        if seq == self.next_mark {
            self.sent_marks += 1;
            self.past_mark = seq + 1;
            self.find_next_mark();
            return true;
        }
        seq < self.past_mark && self.marks.binary_search(&seq).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::tcp::profile::{BufferRule, SendBufferRule};

    fn sent(next: u32) -> Queue {
        Queue { next, ..Queue::default() }
    }

    /// Fact tcp-33 lists the segments with PSH of a flow in the guest until its first loss.
    #[test]
    fn half_of_the_first_window_and_the_ends_of_writes_are_pushed() {
        let mut writes = Writes::new(1448, 1, None, u64::MAX);
        writes.on_window(65_160);
        writes.begin(10, 1);
        assert_eq!(writes.marks, [22, 45, 68, 113, 136, 159, 191]);
        assert!(!writes.is_awaited(101));
        assert_eq!(writes.written, 192 * 1448, "128 KiB and more are unsent");
        assert!(writes.is_awaited(102) && writes.wake(&sent(102)));
        assert_eq!(writes.written, 284 * 1448);
        assert_eq!(writes.marks.back(), Some(&283));
    }

    /// Fact tcp-44.
    #[test]
    fn with_offload_a_buffer_takes_half_of_the_largest_window() {
        let mut writes = Writes::new(1448, 44, None, u64::MAX);
        writes.on_window(65_160);
        writes.begin(10, 2);
        // Of 22 segments, 10 have left and were replaced.
        assert_eq!(
            [10, 31, 32, 54].map(|next| writes.buffer_end(next)),
            [32, 32, 54, 76].map(Some)
        );
        assert_eq!(writes.marks.iter().take(3).collect::<Vec<_>>(), [&31, &53, &119]);
        writes.on_window(200_000);
        writes.wake(&sent(150));
        // The last buffer began at 186, and grows too.
        assert_eq!(writes.ends.iter().rev().take(3).collect::<Vec<_>>(), [&318, &274, &230]);
    }

    /// Fact tcp-49.
    #[test]
    fn a_buffer_takes_what_a_burst_lacks_from_the_next_and_its_push_moves_with_its_end() {
        let mut writes = Writes::new(1448, 44, None, u64::MAX);
        writes.on_window(65_160);
        writes.begin(10, 2);
        writes.grow_buffer(20, 12);
        assert_eq!(writes.buffer_end(20), Some(32), "it has twelve");
        writes.grow_buffer(30, 4);
        assert_eq!([30, 34].map(|next| writes.clone().buffer_end(next)), [34, 54].map(Some));
        assert_eq!([31, 33, 53].map(|seq| writes.has_push(seq)), [false, true, true]);
        writes.grow_buffer(30, 30);
        assert_eq!([30, 54].map(|next| writes.clone().buffer_end(next)), [54, 76].map(Some));
        assert_eq!([33, 53].map(|seq| writes.has_push(seq)), [false, true]);
        // The last buffer, of 22 segments, loses its first segment and has room for one more.
        let last = *writes.ends.back().unwrap();
        assert_eq!(writes.last_buffer, u64::from(last) * 1448);
        writes.grow_buffer(last - 1, 2);
        assert_eq!(writes.last_buffer, u64::from(last + 1) * 1448);
        assert_eq!(writes.buffer_end(last - 1), Some(last + 1));
    }

    #[test]
    fn of_segments_that_leave_together_the_last_is_pushed() {
        let mut writes = Writes::new(1448, 44, None, u64::MAX);
        writes.on_window(65_160);
        writes.begin(10, 2);
        writes.push(1);
        assert_eq!([0, 1, 2, 31].map(|seq| writes.has_push(seq)), [false, true, false, true]);
    }

    /// Fact tcp-36.
    #[test]
    fn a_program_goes_on_when_a_third_of_the_memory_is_free() {
        let first = NonZeroU32::new(273_000).unwrap(); // a hundred segments
        let rule = SendBufferRule { first, most: 273_000 };
        let memory = SendBuffer::new(rule, BufferRule::Half, 1460, 2);
        let mut writes = Writes::new(1448, 1, Some(memory), u64::MAX);
        writes.on_window(65_160);
        writes.begin(10, 1);
        assert_eq!(writes.available(u32::MAX), 101);
        let all_sent = |una, sacked, rows| Queue { una, next: 101, sacked, rows, highest: 101 };
        assert!(!writes.wake(&all_sent(34, 0, 0)), "67 segments are queued");
        assert!(writes.wake(&all_sent(35, 0, 0)) && writes.available(u32::MAX) == 136);
        // 38 segments in two ranges take the memory of headers twice.
        let sacked = Queue { una: 60, next: 136, sacked: 40, rows: 2, highest: 136 };
        assert!(writes.wake(&sacked) && writes.available(u32::MAX) == 178);
    }

    #[test]
    fn the_last_segment_of_a_transfer_is_pushed() {
        let mut writes = Writes::new(1448, 1, None, 2 * 1448 + 100);
        writes.on_window(65_160);
        writes.begin(3, 1);
        assert_eq!([0, 1, 2].map(|seq| writes.has_push(seq)), [false, false, true]);
        writes.append(1_348);
        writes.wake(&sent(3));
        assert_eq!(writes.marks, [2], "the rest of the segment ends it again");
        assert!(writes.has_push(2), "retransmitted");
    }
}
