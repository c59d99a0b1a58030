//! The frames of a call: a camera or a microphone at the server, a screen or a loudspeaker at the
//! client.

mod video;
mod voice;

use sojourn_aqm::Time;
use sojourn_endpoint::{FrameNumber, Peer};
use sojourn_measure::FrameCounts;

pub(crate) use self::video::VideoCall;
pub(crate) use self::voice::VoiceCall;
use super::{Application, EndpointFlow};
use crate::app::Outbox;

impl EndpointFlow {
    /// Counts frames from now on.
    pub(crate) fn count_from(&mut self, now: Time) {
        match &mut self.application {
            Application::Video(video) => video.frames.count_from(now),
            Application::Voice(voice) => voice.count_from(now),
            Application::Requests(_) => {}
        }
    }

    /// The frames of video shown by `end`.
    pub(crate) fn take_frames(&mut self, end: Time) -> Option<FrameCounts> {
        match &mut self.application {
            Application::Video(video) => Some(std::mem::take(&mut video.frames).finish(end)),
            Application::Voice(_) | Application::Requests(_) => None,
        }
    }

    /// Frames of voice since the warm-up: those that have arrived, and those that were lost.
    pub(crate) fn voice_counts(&self) -> (u64, u64) {
        match &self.application {
            Application::Voice(voice) => voice.counts(),
            Application::Requests(_) | Application::Video(_) => (0, 0),
        }
    }

    /// The server is connected: its microphone begins.
    pub(super) fn begin_voice(&mut self, now: Time) {
        if let Application::Voice(voice) = &mut self.application {
            voice.next = now;
        }
    }

    /// Offers the frame that is due to the library.
    pub(super) fn send_frame(&mut self, out: &mut Outbox<'_>) {
        let now = out.now;
        let frame = match &mut self.application {
            Application::Video(video) => video.take(),
            Application::Voice(voice) => voice.take(),
            Application::Requests(_) => return,
        };
        let sent = self.server.end.call(now, "send_frame", |end| end.send_frame(now, frame));
        let sent = sent.unwrap_or(0);
        match &mut self.application {
            _ if sent > frame.most_bytes => {
                let why = format!("{sent} bytes of a frame of {}", frame.most_bytes);
                self.server.end.fail(now, "send_frame", &why);
            }
            Application::Video(video) if sent > 0 => video.on_sent(now),
            Application::Voice(voice) => voice.on_sent(now, sent > 0),
            Application::Video(_) | Application::Requests(_) => {}
        }
        self.act(Peer::Server, out);
        self.server.set_due(now);
    }

    /// A frame is complete at the client.
    pub(super) fn on_frame(&mut self, number: FrameNumber, out: &mut Outbox<'_>) {
        let now = out.now;
        match &mut self.application {
            Application::Video(video) => {
                if let Some(delay) = video.frames.on_arrival(now, number)
                    && let Some(counted) = out.counted()
                {
                    counted.frame_delay.add(delay.as_nanos());
                }
            }
            Application::Voice(voice) => {
                let Some((bytes, delay)) = voice.on_arrival(now, number) else { return };
                self.delivered_bytes += bytes;
                if let Some((delay, counted)) = delay.zip(out.counted()) {
                    counted.one_way.add(delay.as_nanos());
                }
            }
            Application::Requests(_) => {}
        }
    }
}
