//! The video of a call: a camera at the server and a screen at the client.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_endpoint::{FrameNumber, Peer, VideoFrame};
use sojourn_measure::{FrameCounts, Frames};
use sojourn_scenario::draw;
use sojourn_scenario::resolved::Sizes;

use super::EndpointFlow;
use crate::app::Outbox;

/// The video of a flow.
pub(crate) struct VideoCall {
    sizes: Sizes,
    interval: Span,
    rng: Rng,
    /// Frames that were sent.
    sent: FrameNumber,
    /// When the camera takes the next frame.
    pub(super) next: Time,
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
    pub(super) fn take(&mut self) -> VideoFrame {
        self.next += self.interval;
        let most_bytes = draw::size(&mut self.rng, &self.sizes);
        VideoFrame { number: self.sent, most_bytes, interval: self.interval }
    }

    /// The library sends the frame that is due.
    pub(super) fn on_sent(&mut self, now: Time) {
        self.frames.on_sent(now, self.sent);
        self.sent += 1;
    }
}

impl EndpointFlow {
    /// When the camera takes the next frame.
    pub(super) fn next_frame(&self) -> Time {
        self.video.as_ref().map_or(Time::NEVER, |video| video.next)
    }

    /// Counts frames from now on.
    pub(crate) fn count_from(&mut self, now: Time) {
        if let Some(video) = &mut self.video {
            video.frames.count_from(now);
        }
    }

    /// The frames shown by `end`.
    pub(crate) fn take_frames(&mut self, end: Time) -> Option<FrameCounts> {
        self.video.take().map(|video| video.frames.finish(end))
    }

    /// The camera takes a frame.
    pub(super) fn film(&mut self, out: &mut Outbox<'_>) {
        let now = out.now;
        let Some(video) = &mut self.video else { return };
        let frame = video.take();
        let sent = self.server.end.call(now, "send_frame", |end| end.send_frame(now, frame));
        match sent.unwrap_or(0) {
            0 => {}
            bytes if bytes > frame.most_bytes => {
                let why = format!("{bytes} bytes of a frame of {}", frame.most_bytes);
                self.server.end.fail(now, "send_frame", &why);
            }
            _ => video.on_sent(now),
        }
        self.act(Peer::Server, out);
        self.server.set_due(now);
    }

    /// The screen shows a frame.
    pub(super) fn show(&mut self, number: FrameNumber, out: &mut Outbox<'_>) {
        let shown = self.video.as_mut().and_then(|it| it.frames.on_arrival(out.now, number));
        if let Some(delay) = shown
            && let Some(counted) = out.counted()
        {
            counted.frame_delay.add(delay.as_nanos());
        }
    }
}
