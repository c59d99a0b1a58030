//! Frames of video in datagrams, reassembled at the receiver.
//!
//! A frame is shown when its last packet has arrived, unless a later frame has been shown. Freezes
//! are those of `freezeCount` (W3C webrtc-stats), which considers the time between two shown
//! frames. Deviation: the time from the last frame to the end of the run or of the flow may also be
//! a freeze; otherwise a call that freezes forever would count no freeze.

use std::collections::VecDeque;

use sojourn_aqm::{Span, Time};

use crate::metrics::{self, Metric};

/// The average covers this number of gaps between frames.
const GAPS: usize = 30;
/// A freeze is a gap of at least three times the average that is also at least 150 ms longer than
/// it.
const FREEZE_FACTOR: u64 = 3;
const FREEZE_EXCESS_NS: u64 = 150_000_000;

#[derive(Clone, Copy, Debug)]
struct Frame {
    sent: Time,
    /// The number of the frame's first packet.
    first: u32,
    packets: u32,
    arrived: u32,
}

/// The frames of a flow.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// Frames that may still be shown, oldest first.
    under_way: VecDeque<Frame>,
    shown_at: Option<Time>,
    /// The last gaps between frames shown.
    gaps: VecDeque<Span>,
    counted_from: Time,
    counts: FrameCounts,
}

/// Counts of the frames shown by receivers of video after the warm-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameCounts {
    /// Flows that showed a frame.
    calls: u32,
    /// Frames shown.
    shown: u64,
    /// Frames that were incomplete when a later one was shown.
    skipped: u64,
    /// Freezes that ended after the warm-up or lasted until the end.
    freezes: u64,
    /// Total duration of the freezes.
    frozen: Span,
    /// Time from the first frame shown to the end.
    watched: Span,
}

impl Frames {
    /// Starts counting now.
    pub fn count_from(&mut self, now: Time) {
        self.counted_from = now;
        self.counts = FrameCounts::default();
    }

    /// Records a sent packet of a frame; packets sent at one time are one frame.
    pub fn on_sent(&mut self, now: Time, number: u32) {
        match self.under_way.back_mut() {
            Some(frame) if frame.sent == now => frame.packets += 1,
            _ => {
                self.under_way.push_back(Frame { sent: now, first: number, packets: 1, arrived: 0 })
            }
        }
    }

    /// Records an arriving packet. Returns the delay of the frame that it completes and shows.
    pub fn on_arrival(&mut self, now: Time, number: u32) -> Option<Span> {
        let place = self.under_way.partition_point(|frame| frame.first <= number).checked_sub(1)?;
        let frame = &mut self.under_way[place];
        frame.arrived += 1;
        if frame.arrived < frame.packets {
            return None;
        }
        let delay = now.since(frame.sent);
        self.under_way.drain(..=place);
        self.counts.skipped += place as u64;
        self.counts.shown += 1;
        if let Some(before) = self.shown_at.replace(now) {
            self.judge(before, now);
            if self.gaps.len() == GAPS {
                self.gaps.pop_front();
            }
            self.gaps.push_back(now.since(before));
        }
        Some(delay)
    }

    /// Counts the time between two frames, and a freeze if it is long enough.
    fn judge(&mut self, before: Time, now: Time) {
        let from = before.max(self.counted_from);
        if now <= from {
            return;
        }
        self.counts.watched = self.counts.watched + now.since(from);
        let (gap, count) = (now.since(before).as_nanos(), self.gaps.len() as u64);
        let sum: u64 = self.gaps.iter().map(|gap| gap.as_nanos()).sum();
        let is_long =
            gap * count >= FREEZE_FACTOR * sum && gap * count >= sum + FREEZE_EXCESS_NS * count;
        if count > 0 && is_long {
            self.counts.freezes += 1;
            self.counts.frozen = self.counts.frozen + now.since(from);
        }
    }

    /// Counts of the frames shown by `end`, when the run or the flow ends.
    pub fn finish(mut self, end: Time) -> FrameCounts {
        if let Some(before) = self.shown_at {
            self.judge(before, end);
            self.counts.calls = 1;
        }
        self.counts
    }
}

impl FrameCounts {
    /// Adds the counts of another flow.
    pub fn add(&mut self, other: &FrameCounts) {
        self.calls += other.calls;
        self.shown += other.shown;
        self.skipped += other.skipped;
        self.freezes += other.freezes;
        self.frozen = self.frozen + other.frozen;
        self.watched = self.watched + other.watched;
    }

    /// Writes the rows; writes nothing if no frame was shown.
    pub(crate) fn summarise(&self, row: &mut impl FnMut(&Metric, f64)) {
        let decided = self.shown + self.skipped;
        if decided > 0 {
            row(&metrics::FRAMES_SKIPPED, self.skipped as f64 / decided as f64);
        }
        if self.watched > Span::ZERO {
            row(&metrics::FREEZES, self.freezes as f64 / f64::from(self.calls));
            row(&metrics::FROZEN_SHARE, self.frozen.as_secs() / self.watched.as_secs());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Frames of two packets that are sent together and arrive together: (sent, arrived).
    fn call(frames: &[(u64, u64)]) -> Frames {
        let mut call = Frames::default();
        for (number, &(sent, _)) in (0..).zip(frames) {
            (0..2).for_each(|part| call.on_sent(ms(sent), 2 * number + part));
        }
        for (number, &(_, arrived)) in (0..).zip(frames) {
            (0..2).for_each(|part| {
                call.on_arrival(ms(arrived), 2 * number + part);
            });
        }
        call
    }

    #[test]
    fn a_frame_is_shown_with_its_last_packet_unless_a_later_one_was() {
        let mut call = Frames::default();
        for (number, sent) in [0, 0, 40, 40, 80].into_iter().enumerate() {
            call.on_sent(ms(sent), number as u32);
        }
        let arrivals = [(85, 1), (90, 4), (91, 0), (92, 2), (93, 3)];
        let shown = arrivals.map(|(at, number)| call.on_arrival(ms(at), number));
        let third = Some(Span::from_millis(10));
        assert_eq!(shown, [None, third, None, None, None]);
        let counts = call.finish(ms(100));
        assert_eq!((counts.shown, counts.skipped), (1, 2));
    }

    /// With gaps of 40 ms a freeze lasts at least 190 ms (150 ms more), because three gaps are only
    /// 120 ms.
    #[test]
    fn a_freeze_is_three_gaps_and_150_ms_longer_than_one() {
        let even: Vec<(u64, u64)> = (0..10).map(|n| (40 * n, 40 * n + 10)).collect();
        let with = |gap: u64| {
            let last = even.last().copied().expect("there are ten").1 + gap;
            let counts = call(&[&even[..], &[(400, last)]].concat()).finish(ms(last));
            (counts.freezes, counts.frozen, counts.watched)
        };
        let ms = Span::from_millis;
        assert_eq!(with(189), (0, Span::ZERO, ms(360 + 189)));
        assert_eq!(with(190), (1, ms(190), ms(360 + 190)));
    }

    /// With gaps of 100 ms, three gaps exceed 100 ms plus 150 ms.
    #[test]
    fn a_freeze_of_slow_video_is_three_gaps() {
        let even: Vec<(u64, u64)> = (0..10).map(|n| (100 * n, 100 * n + 10)).collect();
        let freezes = |end: u64| call(&even).finish(ms(910 + end)).freezes;
        assert_eq!([freezes(299), freezes(300)], [0, 1]);
    }

    /// The average covers 30 gaps: earlier gaps of 90 ms, then 30 gaps of 40 ms.
    #[test]
    fn old_gaps_leave_the_average() {
        let mut frames: Vec<(u64, u64)> = (0..10).map(|n| (90 * n, 90 * n + 10)).collect();
        frames.extend((1..=30).map(|n| (810 + 40 * n, 820 + 40 * n)));
        let freezes = |gap: u64| call(&frames).finish(ms(2_020 + gap)).freezes;
        assert_eq!([freezes(189), freezes(190)], [0, 1]);
    }

    #[test]
    fn a_freeze_that_began_in_the_warm_up_counts_with_its_rest() {
        let even: Vec<(u64, u64)> = (0..10).map(|n| (40 * n, 40 * n + 10)).collect();
        let mut frozen = call(&even);
        frozen.count_from(ms(470));
        let counts = frozen.finish(ms(670));
        assert_eq!((counts.freezes, counts.frozen), (1, Span::from_millis(200)));
        let mut rows = Vec::new();
        counts.summarise(&mut |metric, value| rows.push((metric.name, value)));
        assert_eq!(rows, [("freezes", 1.0), ("frozen_share", 1.0)]);
    }
}
