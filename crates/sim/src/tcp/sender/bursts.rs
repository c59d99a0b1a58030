//! Segmentation offload: TCP hands several segments down at once, and they leave in a burst (Linux
//! 6.1 `tcp_tso_autosize`, `tcp_tso_should_defer`, `tcp_xmit_retransmit_queue`; fact tcp-44), as
//! packets or as one super-packet (fact qdisc-28).
//!
//! Deviations from Linux: lost segments that left at the same time are retransmitted together, even
//! if they were several bursts without pacing. Small queues (`tcp_small_queue_check`) are not
//! modelled: no other flow uses a sender's link, so it does not matter where packets are queued.
//! Receivers do not merge segments (GRO): behind a slower link, packets arrive one by one, and a
//! receiver that processes each on arrival has nothing to merge.

use sojourn_aqm::{Span, Time};

use super::{Sender, State, Window};
use crate::packet::Packet;
use crate::tcp::profile::Profile;

/// A burst takes 2^-10 s at the pacing rate (Linux `sk_pacing_shift`).
const BURSTS_PER_S: f64 = 1024.0;
/// Over short paths the burst is larger by a part of the largest burst. That part halves for every
/// 2^9 us of the minimum round-trip time (Linux `tcp_tso_rtt_log`).
const HALVED_EVERY_US_LOG2: u32 = 9;
/// The largest burst, in bytes (Linux `sk_gso_max_size`).
const LARGEST: u64 = 65_343;
/// A burst of at least this part of the window is never deferred (Linux `tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u32 = 3;
/// Longest deferral, and longest time since the last packet for which a burst may be deferred.
const LONGEST_WAIT: Span = Span::from_millis(1);

/// The most segments of a burst (Linux `sk_gso_max_segs`), 1 without offload.
pub(super) fn most(profile: &Profile, payload_bytes: u32) -> u32 {
    profile.offload_bytes.map_or(1, |bytes| (bytes / payload_bytes).max(1))
}

/// Appends a segment to a super-packet.
fn join(whole: &mut Option<Packet>, next: Packet) {
    match whole {
        Some(packet) => packet.append_segment(&next),
        None => *whole = Some(next),
    }
}

/// The part of the room that one burst may take, so that at least two are in flight (Linux
/// `tcp_cwnd_test`).
fn part_of(window: &Window, room: u32) -> u32 {
    room.min((window.cwnd / 2).max(1))
}

/// New data to send, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Segments for which the congestion window has room.
    pub(super) room: u32,
    /// Segments that both the receiver's window and the application allow.
    pub(super) window: u32,
    pub(super) allowed: u32,
    /// Segments left in the first buffer; `is_followed` says whether further buffers follow.
    pub(super) buffer: u32,
    pub(super) is_followed: bool,
}

/// The sender's next action with new data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// Sends this many segments.
    Burst(u32),
    /// Waits for the next acknowledgement; `by_cwnd` if it waits for room in the congestion window.
    Deferred { by_cwnd: bool },
}

impl Sender {
    /// The most segments of a burst (Linux `tcp_tso_segs`).
    pub(super) fn largest_burst(&self) -> u32 {
        let usual = || {
            let outstanding = self.board.outstanding();
            self.window.pacing_rate(outstanding, self.rtt.smoothed())
        };
        let per_s = self.cc.pacing_rate().or_else(usual).unwrap_or(0.0);
        let payload = self.segments.payload_bytes;
        let halvings =
            self.rtt.min().map_or(u64::MAX, |rtt| (rtt.as_nanos() / 1_000) >> HALVED_EVERY_US_LOG2);
        let extra = u32::try_from(halvings).ok().and_then(|halvings| LARGEST.checked_shr(halvings));
        let bytes = per_s * f64::from(payload) / BURSTS_PER_S + extra.unwrap_or(0) as f64;
        let segments = (bytes / f64::from(payload)) as u32;
        segments.max(self.cc.least_burst()).min(most(&self.profile, payload))
    }

    /// How many segments to retransmit together, from this lost one on: those that left together
    /// and are lost as well (Linux `tcp_xmit_retransmit_queue`).
    pub(super) fn lost_burst(&mut self, seq: u32) -> u32 {
        if self.profile.offload_bytes.is_none() {
            return 1;
        }
        let most = self.largest_burst().min(self.room());
        self.board.lost_together(seq, most)
    }

    /// Sends `burst` new segments as one super-packet.
    #[cold]
    pub(super) fn transmit_whole(&mut self, now: Time, burst: u32, emit: &mut impl FnMut(Packet)) {
        let mut whole = None;
        (0..burst).for_each(|_| self.transmit(now, &mut |packet| join(&mut whole, packet)));
        whole.into_iter().for_each(emit);
    }

    /// Retransmits `burst` segments from this one on as one super-packet.
    #[cold]
    pub(super) fn retransmit_whole(
        &mut self,
        now: Time,
        (seq, burst): (u32, u32),
        emit: &mut impl FnMut(Packet),
    ) {
        let mut whole = None;
        let mut add = |packet| join(&mut whole, packet);
        (seq..seq + burst).for_each(|seq| self.retransmit(now, seq, &mut add));
        whole.into_iter().for_each(emit);
    }

    /// The segments that may leave, given the congestion window's `room`, the segments `allowed`,
    /// and the most per burst.
    pub(super) fn waiting(&mut self, room: u32, allowed: u32, most: u32) -> Waiting {
        let next = self.board.nxt();
        if self.profile.bursts_cross_buffers
            && let Some(writes) = &mut self.writes
        {
            writes.grow_buffer(next, most.min(part_of(&self.window, room)));
        }
        let end = self.writes.as_mut().and_then(|writes| writes.buffer_end(next));
        Waiting {
            room,
            window: self.send_window.end().saturating_sub(next),
            allowed,
            buffer: end.map_or(self.unsent(), |end| end - next),
            is_followed: end.is_some(),
        }
    }

    /// The next burst, of at most `most` segments.
    pub(super) fn turn(&mut self, now: Time, waiting: &Waiting, most: u32) -> Turn {
        if waiting.buffer > 1 && self.may_defer(now, waiting, most) {
            let by_cwnd = waiting.room < waiting.window && waiting.room <= waiting.buffer;
            return Turn::Deferred { by_cwnd };
        }
        let part = part_of(&self.window, waiting.room);
        Turn::Burst(most.min(part).min(waiting.allowed).min(waiting.buffer))
    }

    /// Whether to defer a burst that could be larger after the next acknowledgement, which is
    /// expected soon (Linux `tcp_tso_should_defer`).
    fn may_defer(&mut self, now: Time, waiting: &Waiting, most: u32) -> bool {
        let limit = waiting.room.min(waiting.window);
        let is_whole = waiting.is_followed && limit >= waiting.buffer;
        if self.episode.state >= State::Recovery || limit >= most || is_whole {
            return false;
        }
        // With pacing, the last send time is that of the next packet.
        let paced_until = self.pacer.as_ref().map_or(Time::ZERO, |pacer| pacer.next());
        let is_pausing = now.since(self.sent.last_at.max(paced_until)) > LONGEST_WAIT;
        let offered = self.send_window.end().saturating_sub(self.board.una());
        let is_fraction = limit.saturating_mul(WINDOW_DIVISOR) >= self.window.cwnd.min(offered);
        if is_pausing || is_fraction || self.board.outstanding() == 0 {
            return false;
        }
        let srtt = self.rtt.smoothed();
        let wait = (self.board.head_sent() + srtt).since(now);
        wait <= srtt.half().min(LONGEST_WAIT)
    }
}
