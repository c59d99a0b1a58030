//! The receive buffer of Linux 6.1 or 7.2, in bytes of memory, and the window derived from it
//! (tcp_input.c, `tcp_grow_window`, `tcp_rcv_space_adjust`; tcp_output.c, `__tcp_select_window`,
//! `tcp_select_window`). Segment numbers are those of the simulator; all segments are full.
//!
//! Deviations from Linux: a segment whose payload is smaller than its overhead grows the window
//! like any other (`__tcp_grow_window` may refuse it), and the buffer never overflows
//! (`tcp_clamp_window`). In 7.2, a requested window above 4 GiB is not taken modulo 2^32.

use sojourn_aqm::{Span, Time};
use sojourn_scenario::resolved::FIRST_BUFFER_BYTES;

use super::memory::{HEADERS, SHARED_INFO, SK_BUFF, Share};
use super::profile::BufferRule;
use super::waiting_buffers::{MOST_FRAGMENTS, Released, WaitingBuffers};
use crate::prefetch::{Prefetch, prefetch};

/// Largest scale of a window (RFC 7323 §2.3).
const MAX_SCALE: u32 = 14;
/// Segments per round trip that Linux assumes before it has measured (`tcp_init_buffer_space`).
pub(super) const FIRST_SPACE: u32 = 10;
/// Segments that Linux adds for variations (`tcp_rcv_space_adjust`).
const CUSHION: u64 = 16;
/// Upper bound on the bytes counted per round trip (an `int` in Linux).
const MOST_COPIED: u32 = i32::MAX as u32;
const MICROSECOND_NS: u64 = 1000;

/// The window after a round trip in which `copied` arrived, at most `space` in earlier ones: twice
/// `copied` plus a cushion, to leave room for losses, and more because the sender's window grows
/// for another round trip (Linux `tcp_rcv_space_adjust`). A segment is `segment` units.
pub(super) fn window_after(copied: u32, space: u32, segment: u64) -> u64 {
    let window = 2 * u64::from(copied) + CUSHION * segment;
    let growth = window * u64::from(copied - space) / u64::from(space);
    window + 2 * growth
}

/// The buffer of one receiver.
#[derive(Clone, Debug)]
pub(super) struct ReceiveBuffer {
    rule: BufferRule,
    /// Payload of a segment, and the memory that it takes in addition.
    payload: u16,
    overhead: u16,
    share: Share,
    /// The scale of the window field.
    scale: u8,
    /// Its size (`sk_rcvbuf`), and the largest (`tcp_rmem[2]`).
    size: u32,
    most: u32,
    /// The window of the whole buffer (`window_clamp`) and its offered part (`rcv_ssthresh`).
    clamp: u32,
    offered: u32,
    /// The last announced window (`rcv_wnd`), and its right edge, modulo 2^32.
    window: u32,
    edge: u32,
    /// Memory of the out-of-order segments in bytes, and the number after the last of them.
    held: u32,
    held_to: u32,
    /// The buffers that hold them, allocated when first needed.
    waiting: Option<Box<WaitingBuffers>>,
    /// Segments in the first buffer to be read after a hole was filled.
    first_read: u32,
    /// The room with zero and with one unread segment, which are nearly all cases.
    rooms: [u32; 2],
    /// Bytes that arrived in the last round trip (`rcvq_space`), and the segment and time, in whole
    /// microseconds, at which the current one began.
    space: u32,
    start: u32,
    since: Time,
}

impl ReceiveBuffer {
    /// The buffer of a new connection (`tcp_select_initial_window`, `tcp_init_buffer_space`).
    pub(super) fn new(rule: BufferRule, payload: u32, most: u32) -> ReceiveBuffer {
        let size = (FIRST_BUFFER_BYTES as u32).min(most);
        let share = Share::half(rule);
        let full = share.window_of(size);
        let whole = if full > payload { full - full % payload } else { full };
        let window = whole.min(u32::from(u16::MAX));
        let clamp = full.saturating_sub(payload).max(2 * payload).min(full);
        let offered = window.min(clamp);
        let largest = whole.max(most).max(rule.rmem_max());
        let mut buffer = ReceiveBuffer {
            rule,
            payload: payload as u16,
            overhead: rule.overhead() as u16,
            share,
            scale: largest.ilog2().saturating_sub(15).min(MAX_SCALE) as u8,
            size,
            most,
            clamp,
            offered,
            window,
            edge: window,
            held: 0,
            held_to: 0,
            waiting: None,
            first_read: 1,
            rooms: [0; 2],
            space: offered.min(FIRST_SPACE * payload),
            start: 0,
            since: Time::ZERO,
        };
        buffer.note_rooms();
        buffer
    }

    /// Called when the connection opens: starts the first round trip. Linux 7.2 learns the
    /// payload's share of the memory from the first segment; no window is announced before.
    pub(super) fn on_established(&mut self, now: Time) {
        self.since = whole_micros(now);
        if self.rule == BufferRule::Payload {
            self.share = Share::of_payload(self.payload(), self.payload() + self.overhead());
            self.resize(self.size);
        }
    }

    #[inline]
    fn payload(&self) -> u32 {
        u32::from(self.payload)
    }

    #[inline]
    fn overhead(&self) -> u32 {
        u32::from(self.overhead)
    }

    /// The unit of the window field.
    #[inline]
    fn unit(&self) -> u32 {
        1 << self.scale
    }

    #[inline]
    fn rounded_up(&self, window: u32) -> u32 {
        (window + self.unit() - 1) >> self.scale << self.scale
    }

    /// The last announced window, in segments.
    #[inline]
    pub(super) fn segments(&self) -> u32 {
        self.window / self.payload()
    }

    /// The currently offered window, in segments.
    #[inline]
    pub(super) fn offered(&self) -> u32 {
        self.offered / self.payload()
    }

    /// The window allowed by the free memory with `unread` unread segments (Linux `tcp_space`).
    #[inline]
    fn room(&self, unread: u32) -> u32 {
        let room = self.rooms.get(unread as usize).copied();
        room.unwrap_or_else(|| self.room_next_to(unread))
    }

    /// Updates the rooms after a change of the size or of the memory in use.
    #[inline]
    fn note_rooms(&mut self) {
        self.rooms = [self.room_next_to(0), self.room_next_to(1)];
    }

    fn room_next_to(&self, unread: u32) -> u32 {
        self.share.window_of(self.size.saturating_sub(self.held + self.memory(unread)))
    }

    /// Memory of this many consecutive segments: later ones add only their payload to the memory of
    /// the first, up to a limit (Linux `tcp_try_coalesce`).
    #[inline]
    fn memory(&self, segments: u32) -> u32 {
        let rows = match segments {
            0 => 0,
            1..=MOST_FRAGMENTS => 1, // nearly always
            _ => segments.div_ceil(MOST_FRAGMENTS),
        };
        segments * self.payload() + rows * self.overhead()
    }

    /// Whether this room is less than half of the window (Linux `__tcp_select_window`, which then
    /// ends quick acknowledgements).
    #[inline]
    fn is_little(&self, room: u32) -> bool {
        room < self.clamp >> 1
    }

    /// Whether there is little room, and whether the window to announce is no smaller than the last
    /// one.
    #[inline]
    pub(super) fn is_low_and_keeps_size(&self, unread: u32) -> (bool, bool) {
        let room = self.room(unread);
        (self.is_little(room), self.select_of(room) >= self.window)
    }

    /// The window to announce, disregarding the last one (Linux `__tcp_select_window`).
    #[inline]
    fn select(&self, unread: u32) -> u32 {
        self.select_of(self.room(unread))
    }

    /// [`ReceiveBuffer::select`] for a given room.
    #[inline]
    fn select_of(&self, mut room: u32) -> u32 {
        if self.is_little(room) {
            room -= room % self.unit();
            if room < self.share.window_of(self.size) >> 4 || room < self.payload() {
                return 0;
            }
        }
        self.rounded_up(room.min(self.offered))
    }

    /// The remainder of the last announced window (Linux `tcp_receive_window`).
    #[inline]
    fn left(&self, next: u32) -> u32 {
        (self.edge.wrapping_sub(self.byte(next)) as i32).max(0) as u32
    }

    /// The byte number of a segment, modulo 2^32.
    #[inline]
    fn byte(&self, segment: u32) -> u32 {
        segment.wrapping_mul(self.payload())
    }

    /// Announces a window, never reducing its right edge (Linux `tcp_select_window`). Returns it in
    /// segments and remaining bytes, computed together to save a division, and whether there is
    /// little room.
    #[inline]
    pub(super) fn announce(&mut self, next: u32, unread: u32) -> (u32, u16, bool) {
        let room = self.room(unread);
        let (selected, left) = (self.select_of(room), self.left(next));
        let window = if selected < left { self.rounded_up(left) } else { selected };
        self.window = window.min(u32::from(u16::MAX) << self.scale);
        self.edge = self.byte(next).wrapping_add(self.window);
        (self.segments(), (self.window % self.payload()) as u16, self.is_little(room))
    }

    /// Whether the window to announce is at least twice the remainder of the last one, and that
    /// remainder is at most half of the whole window.
    #[inline]
    pub(super) fn has_doubled(&self, next: u32, unread: u32) -> bool {
        let left = self.left(next);
        2 * left <= self.clamp && {
            let selected = self.select(unread);
            selected > 0 && selected >= 2 * left
        }
    }

    /// Stores a segment beyond the next expected; `follows` says whether it directly follows
    /// another. If `unread` is given, returns whether the window has grown for it. At that point
    /// the segment's memory is already counted only if the segment joined the buffer of that other
    /// segment (Linux `tcp_data_queue_ofo`; fact tcp-53).
    #[inline]
    pub(super) fn on_waiting(&mut self, seq: u32, follows: bool, unread: Option<u32>) -> bool {
        let payload = self.payload();
        let joins = self.waiting.get_or_insert_default().add(seq, follows, payload);
        if joins {
            self.hold(payload);
        }
        let has_grown = unread.is_some_and(|unread| self.on_segment(unread));
        if !joins {
            self.hold(payload + self.overhead());
        }
        has_grown
    }

    #[inline]
    fn hold(&mut self, bytes: u32) {
        self.held += bytes;
        self.note_rooms();
    }

    /// Moves out-of-order segments below `next` to the in-order data behind segment `filling`.
    #[inline]
    pub(super) fn on_released(&mut self, filling: u32, next: u32) {
        let payload = self.payload();
        let waiting = self.waiting.as_mut().expect("released segments were stored before");
        let Released { buffers, first } = waiting.release(filling, next, payload);
        self.held -= (next - filling - 1) * payload + buffers * self.overhead();
        self.first_read = first;
        self.note_rooms();
    }

    /// How many of `unread` segments are in the buffer to be read first.
    #[inline]
    pub(super) fn first_of(&self, unread: u32) -> u32 {
        self.first_read.min(unread)
    }

    /// Handles an arrived segment (Linux `tcp_grow_window`). A segment in order is included in
    /// `unread`. Returns whether the window has grown for it.
    #[inline]
    pub(super) fn on_segment(&mut self, unread: u32) -> bool {
        if self.offered >= self.clamp {
            return false;
        }
        let room = self.clamp.min(self.room(unread));
        if self.offered >= room {
            return false;
        }
        self.offered = (self.offered + 2 * self.payload()).min(room);
        true
    }

    /// Whether the program has been reading for a round trip, so that its reads are evaluated
    /// (Linux `tcp_rcv_space_adjust`).
    #[inline]
    pub(super) fn is_round_trip_over(&self, now: Time, rtt: Option<Span>) -> bool {
        let passed = now.as_nanos() - self.since.as_nanos();
        rtt.is_some_and(|rtt| {
            let rtt = rtt.as_nanos();
            passed + MICROSECOND_NS > rtt && passed / MICROSECOND_NS >= rtt / MICROSECOND_NS
        })
    }

    /// Ends a round trip: the program has read everything below `next`, but not yet the `unread`
    /// segments behind it.
    pub(super) fn on_round_trip(&mut self, now: Time, next: u32, unread: u32) {
        let mut segments = next - self.start;
        if self.rule == BufferRule::Payload {
            segments = segments.saturating_sub(unread);
        }
        let copied = segments.saturating_mul(self.payload()).min(MOST_COPIED);
        if copied > self.space {
            self.enlarge(copied, next + unread);
            self.space = copied;
        }
        (self.start, self.since) = (next, whole_micros(now));
    }

    /// Provides memory for out-of-order segments, the last of which ends at `end`: in 7.2 the
    /// buffer has room for them and for the data of two round trips (`tcp_data_queue_ofo`,
    /// `tcp_rcvbuf_grow`; fact tcp-46).
    #[inline]
    pub(super) fn provide_for_gap(&mut self, next: u32, end: u32) {
        if self.rule == BufferRule::Payload {
            self.held_to = end;
            let window = 2 * u64::from(self.space) + self.held_span(next);
            self.grow_to(self.share.memory_for(window));
        }
    }

    /// Bytes from the next expected segment to the end of the out-of-order ones.
    fn held_span(&self, next: u32) -> u64 {
        u64::from(self.held_to.saturating_sub(next)) * u64::from(self.payload)
    }

    /// Memory provided by 6.1 per segment (`rcvmem` of `tcp_rcv_space_adjust`).
    fn per_segment(&self) -> u32 {
        let mut bytes = self.payload() + HEADERS + SK_BUFF + SHARED_INFO;
        while self.share.window_of(bytes) < self.payload() {
            bytes += 128; // as Linux does
        }
        bytes
    }

    /// Grows the buffer after `copied` bytes, more than ever before, in a round trip; `next` is the
    /// next expected segment.
    fn enlarge(&mut self, copied: u32, next: u32) {
        let payload = u64::from(self.payload);
        let size = match self.rule {
            BufferRule::Half => {
                let segments = window_after(copied, self.space, payload) / payload;
                segments * u64::from(self.per_segment())
            }
            // As `Half`, without the cushion (`tcp_rcvbuf_grow`).
            BufferRule::Payload => {
                let (window, space) = (2 * u64::from(copied), u64::from(self.space));
                let more = (2 * window).saturating_mul(u64::from(copied) - space) / space;
                self.share.memory_for(window + more + self.held_span(next))
            }
        };
        self.grow_to(size);
    }

    #[inline]
    fn grow_to(&mut self, size: u64) {
        let size = size.min(u64::from(self.most)) as u32;
        if size > self.size {
            self.resize(size);
        }
    }

    fn resize(&mut self, size: u32) {
        self.size = size;
        self.clamp = self.share.window_of(size);
        self.note_rooms();
    }
}

/// Rounds down to a microsecond (Linux `tcp_mstamp`).
fn whole_micros(time: Time) -> Time {
    Time::ZERO + Span::from_micros(time.as_nanos() / MICROSECOND_NS)
}

impl Prefetch for ReceiveBuffer {
    fn far(&self) {
        self.waiting.iter().for_each(|waiting| prefetch(&**waiting));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(100);

    fn buffer() -> ReceiveBuffer {
        ReceiveBuffer::new(BufferRule::Half, 1448, 16 << 20)
    }

    /// Fact tcp-30.
    #[test]
    fn the_first_window_holds_a_segment_more_than_the_next() {
        let mut buffer = buffer();
        assert_eq!(buffer.segments(), 45, "65160 B in the answer to the SYN");
        assert_eq!(buffer.announce(1, 1), (44, 800, false));
        assert_eq!(buffer.window, 126 * 512, "64088 B in units of 512");
        assert!(!buffer.on_segment(1), "the first window fills the first buffer");
    }

    /// Fact tcp-31.
    #[test]
    fn every_segment_adds_two_until_one_segment_less_than_the_buffer_is_offered() {
        let mut buffer = buffer();
        // After a round trip of 10 segments, one of 16 asks for room for 105 segments of 2920 B.
        buffer.on_round_trip(Time::ZERO + RTT, 16, 0);
        assert_eq!((buffer.size, buffer.clamp), (105 * 2920, 105 * 1460));
        let grown = (0..1_000).filter(|_| buffer.on_segment(1)).count();
        assert_eq!((grown, buffer.offered), (31, 105 * 1460 - 1364));
        // An out-of-order segment is not unread data.
        assert!(buffer.on_segment(0));
        assert_eq!(buffer.offered, 105 * 1460);
    }

    fn buffer_of_7_2() -> ReceiveBuffer {
        let mut buffer = ReceiveBuffer::new(BufferRule::Payload, 1448, 16 << 20);
        buffer.on_established(Time::ZERO);
        buffer
    }

    /// Fact tcp-45.
    #[test]
    fn in_linux_7_2_the_share_of_a_segment_that_is_payload_is_window() {
        let mut buffer = buffer_of_7_2();
        assert_eq!((buffer.segments(), buffer.clamp), (45, 80_896), "158 of 256 of 128 KiB");
        let grown = (0..1_000).filter(|_| buffer.on_segment(1)).count();
        assert_eq!((grown, buffer.offered), (6, 79_449), "but for a segment of 2344 B");
        // After a round trip of 10 segments, one of 16 asks for 46336 B, and 55603 B for growth,
        // without a cushion.
        buffer.on_round_trip(Time::ZERO + RTT, 16, 0);
        assert_eq!((buffer.size, buffer.clamp), (101_939 * 256 / 158, 101_938));
    }

    /// Fact tcp-46.
    #[test]
    fn in_linux_7_2_queued_bytes_have_room_and_unread_bytes_count_for_the_next() {
        let mut buffer = buffer_of_7_2();
        buffer.provide_for_gap(1, 31);
        assert_eq!(buffer.size, 128 << 10, "twice 10 segments and 30 fit");
        buffer.provide_for_gap(1, 101);
        assert_eq!(buffer.size, (20 + 100) * 1448 * 256 / 158);
        // A round trip of 60 segments follows one of 10, while segments up to 101 are still out of
        // order.
        buffer.on_round_trip(Time::ZERO + RTT, 60, 0);
        assert_eq!(buffer.size, (2 * 60 + 4 * 60 * 50 / 10 + 41) * 1448 * 256 / 158);
        let grows_with = |unread| {
            let mut buffer = buffer_of_7_2();
            buffer.on_round_trip(Time::ZERO + RTT, 16, unread);
            buffer.space > 10 * 1448
        };
        assert_eq!([0, 5, 6].map(grows_with), [true, true, false]);
        let mut older = ReceiveBuffer::new(BufferRule::Half, 1448, 16 << 20);
        older.provide_for_gap(1, 101);
        assert_eq!(older.size, 128 << 10);
    }

    #[test]
    fn autotuning_keeps_ahead_of_slow_start() {
        let mut buffer = ReceiveBuffer::new(BufferRule::Half, 1448, 6 << 20);
        let (mut now, mut next, mut window) = (Time::ZERO, 0, 10);
        while next < 10_000 {
            now += RTT;
            next += window;
            assert!(buffer.is_round_trip_over(now, Some(RTT)));
            buffer.on_round_trip(now, next, 0);
            for _ in 0..window {
                buffer.on_segment(1);
            }
            window = (2 * window).min(2_000);
            let (announced, ..) = buffer.announce(next, 0);
            assert!(announced >= window, "{announced} for {window}");
        }
        assert_eq!((buffer.clamp, buffer.offered), (3 << 20, (3 << 20) - 1364));
    }

    #[test]
    fn a_round_trip_is_over_in_the_microsecond_in_which_its_time_has_passed() {
        let mut buffer = buffer();
        buffer.on_established(Time::from_nanos(5_999));
        let is_over = |ns, rtt| buffer.is_round_trip_over(Time::from_nanos(ns), rtt);
        assert!(!is_over(100_004_999, Some(RTT)));
        assert!(is_over(100_005_000, Some(RTT)));
        assert!(is_over(100_005_000, Some(RTT + Span::from_nanos(999))));
        assert!(!is_over(200_000_000, None), "it is not known");
    }

    #[test]
    fn more_bytes_in_a_round_trip_than_can_be_counted_fill_the_largest_buffer() {
        let mut buffer = ReceiveBuffer::new(BufferRule::Half, 1448, u32::MAX);
        buffer.on_round_trip(Time::ZERO + RTT, u32::MAX, 0);
        assert_eq!((buffer.size, buffer.space), (u32::MAX, MOST_COPIED));
    }

    /// Stores a segment out of order, directly behind another or not.
    fn wait(buffer: &mut ReceiveBuffer, seq: u32, follows: bool) {
        buffer.on_waiting(seq, follows, None);
    }

    /// Linux `tcp_select_window`: the right edge stays while queued segments take up the room.
    #[test]
    fn behind_a_hole_the_window_opens_only_as_far_as_there_is_room_and_takes_nothing_back() {
        let mut buffer = buffer();
        buffer.announce(0, 0);
        let edge = |buffer: &mut ReceiveBuffer, next, unread| {
            buffer.announce(next, unread);
            buffer.edge
        };
        // All but every fifth of 40 segments arrive: eight runs take 56576 B, and 37248 B of window
        // remain.
        (0..40).filter(|seq| seq % 5 > 0).for_each(|seq| wait(&mut buffer, seq, seq % 5 > 1));
        assert!(!buffer.is_low_and_keeps_size(0).1);
        assert_eq!(edge(&mut buffer, 0, 0), 65_536, "65160 B in units of 512");
        // Filling a hole releases four segments; its acknowledgement keeps the edge, rounded up to
        // 512.
        buffer.on_released(0, 5);
        assert_eq!(edge(&mut buffer, 5, 5), 5 * 1448 + 58_368);
        // With all holes filled there is room again once the program has read.
        (1..8).for_each(|row| buffer.on_released(5 * row, 5 * row + 5));
        assert!(buffer.has_doubled(40, 0));
        assert_eq!(edge(&mut buffer, 40, 40), 40 * 1448 + 34_816);
        assert!(!buffer.has_doubled(40, 0));
        assert_eq!(edge(&mut buffer, 40, 0), 40 * 1448 + 64_512);
    }

    /// Linux `__tcp_select_window`.
    #[test]
    fn a_buffer_with_less_than_a_sixteenth_free_announces_nothing_new() {
        let mut buffer = buffer();
        (1..84).for_each(|seq| wait(&mut buffer, seq, seq > 1));
        assert_eq!(buffer.select(0), 0, "2244 B are less than 4096");
        assert_eq!(buffer.announce(10, 0).0, 35, "65160 - 14480 B are left");
    }
}
