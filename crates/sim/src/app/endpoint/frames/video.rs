//! The video of a call: a camera at the server and a screen at the client.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_endpoint::{FrameNumber, MediaFrame};
use sojourn_measure::Frames;
use sojourn_scenario::draw;
use sojourn_scenario::resolved::Sizes;

/// The video of a flow.
pub(crate) struct VideoCall {
    sizes: Sizes,
    interval: Span,
    rng: Rng,
    /// Frames that were sent.
    sent: FrameNumber,
    /// When the camera takes the next frame.
    pub(in crate::app::endpoint) next: Time,
    /// Frames sent and shown.
    pub(super) frames: Frames,
}

impl VideoCall {
    /// Frames of these sizes at the best quality, one per interval.
    pub(crate) fn new(sizes: Sizes, interval: Span, rng: Rng) -> VideoCall {
        let (next, frames) = (Time::NEVER, Frames::default());
        VideoCall { sizes, interval, rng, sent: 0, next, frames }
    }

    /// The frame that is due.
    pub(super) fn take(&mut self) -> MediaFrame {
        self.next += self.interval;
        let most_bytes = draw::size(&mut self.rng, &self.sizes);
        MediaFrame { number: self.sent, most_bytes, interval: self.interval }
    }

    /// The library sends the frame that is due.
    pub(super) fn on_sent(&mut self, now: Time) {
        self.frames.on_sent(now, self.sent);
        self.sent += 1;
    }
}
