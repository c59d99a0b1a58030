//! The voice of a call: a frame every 20 ms from the server, which the library sends as a datagram.

use std::collections::BTreeMap;

use sojourn_aqm::{Span, Time};
use sojourn_endpoint::{FrameNumber, MediaFrame};

/// Time between frames: the default of RFC 3551 §4.2 for G.711 and G.729.
const INTERVAL: Span = Span::from_millis(20);

/// The voice of a flow.
#[derive(Debug)]
pub(crate) struct VoiceCall {
    bytes: u64,
    /// When the next frame is due.
    pub(in crate::app::endpoint) next: Time,
    /// Frames that were sent.
    sent: FrameNumber,
    /// When the frames were sent that have not arrived.
    missing: BTreeMap<FrameNumber, Time>,
    counted_from: Time,
    /// Frames that were due after the warm-up: those that have arrived, and those that the library
    /// did not send.
    arrived: u64,
    refused: u64,
    /// The number after the highest of the frames that have arrived.
    above: FrameNumber,
}

impl VoiceCall {
    /// A call with frames of `bytes`.
    pub(crate) fn new(bytes: u32) -> VoiceCall {
        VoiceCall {
            bytes: u64::from(bytes),
            next: Time::NEVER,
            sent: 0,
            missing: BTreeMap::new(),
            counted_from: Time::ZERO,
            arrived: 0,
            refused: 0,
            above: 0,
        }
    }

    /// The frame that is due.
    pub(super) fn take(&mut self) -> MediaFrame {
        self.next += INTERVAL;
        MediaFrame { number: self.sent, most_bytes: self.bytes, interval: INTERVAL }
    }

    /// The library sends the frame that is due, or does not.
    pub(super) fn on_sent(&mut self, now: Time, is_sent: bool) {
        if is_sent {
            self.missing.insert(self.sent, now);
            self.sent += 1;
        } else {
            self.refused += u64::from(now >= self.counted_from);
        }
    }

    /// A frame arrives. Returns its bytes, and its delay unless it was sent during the warm-up;
    /// `None` for a copy.
    pub(super) fn on_arrival(
        &mut self,
        now: Time,
        number: FrameNumber,
    ) -> Option<(u64, Option<Span>)> {
        let sent = self.missing.remove(&number)?;
        self.above = self.above.max(number + 1);
        let is_counted = sent >= self.counted_from;
        self.arrived += u64::from(is_counted);
        Some((self.bytes, is_counted.then(|| now.since(sent))))
    }

    /// Starts counting frames that are sent from now on.
    pub(super) fn count_from(&mut self, now: Time) {
        (self.counted_from, self.arrived, self.refused) = (now, 0, 0);
    }

    /// Frames sent after the warm-up that have arrived, and those that were lost: a later one has
    /// arrived, or the library did not send them.
    pub(super) fn counts(&self) -> (u64, u64) {
        let overtaken = self.missing.range(..self.above);
        let lost = overtaken.filter(|(_, sent)| **sent >= self.counted_from).count() as u64;
        (self.arrived, lost + self.refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_frame_that_a_later_one_has_overtaken_is_lost_until_it_arrives() {
        let mut call = VoiceCall::new(172);
        call.next = Time::ZERO;
        for place in 0..5 {
            call.take();
            call.on_sent(ms(20 * place), place != 2);
        }
        assert_eq!(call.on_arrival(ms(90), 2), Some((172, Some(Span::from_millis(30)))));
        assert_eq!(call.counts(), (1, 3), "two are overtaken, one was not sent, one is under way");
        assert_eq!(call.on_arrival(ms(95), 1), Some((172, Some(Span::from_millis(75)))));
        assert_eq!(call.on_arrival(ms(96), 1), None, "a copy");
        assert_eq!(call.counts(), (2, 2));
    }
}
