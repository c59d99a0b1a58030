//! The send window: the receiver's window, and probes while it is closed (RFC 9293 §3.8.6.1). A
//! closed window does not change the congestion window.

use sojourn_aqm::{Span, Time};

use super::{Segments, Sender, Timer};
use crate::packet::{Packet, PacketKind};

/// Linux `tcp_probe0_base`: at least the floor of the timeout.
const MIN_PROBE_INTERVAL: Span = Span::from_millis(200);

/// The receiver's window as known to the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendWindow {
    /// One past the highest segment that may be sent: SND.UNA + SND.WND.
    end: u32,
    /// While the window is closed: the interval to the next probe.
    probe_interval: Option<Span>,
}

impl Default for SendWindow {
    /// Unlimited.
    fn default() -> SendWindow {
        SendWindow { end: u32::MAX, probe_interval: None }
    }
}

impl SendWindow {
    /// One past the highest segment that may be sent.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    pub(super) fn is_probing(&self) -> bool {
        self.probe_interval.is_some()
    }
}

impl Sender {
    /// Sets the window, in segments, and the timestamp of the SYN-ACK.
    pub fn set_receive_window(&mut self, segments: u32, stamp: u32) {
        (self.send_window.end, self.echo) = (segments, stamp);
        self.note_window(segments, 0);
    }

    /// Takes the window of an acknowledgement, in segments beyond `ack`. An acknowledgement without
    /// new data can only widen the window; an old acknowledgement changes nothing (Linux
    /// `tcp_may_update_window`).
    #[inline]
    pub(super) fn update_send_window(&mut self, ack: u32, segments: u32) {
        let end = ack.saturating_add(segments);
        let una = self.board.una();
        if ack > una || ack == una && end > self.send_window.end {
            self.send_window.end = end;
        }
    }

    /// Records the largest window, which decides where PSH is set.
    #[inline]
    pub(super) fn note_window(&mut self, segments: u32, rest: u16) {
        if let Some(writes) = &mut self.writes {
            let payload = u64::from(self.segments.payload_bytes);
            writes.on_window(u64::from(segments) * payload + u64::from(rest));
        }
    }

    /// Whether there is a next segment and the receiver's window allows it.
    pub(super) fn may_send_new_segment(&self) -> bool {
        self.unsent() > 0 && self.board.nxt() < self.send_window.end
    }

    /// Whether only the receiver's window stops the flow, and no outstanding data will open it.
    #[inline]
    fn is_window_closed(&self) -> bool {
        let nxt = self.board.nxt();
        self.board.outstanding() == 0 && self.send_window.end <= nxt && nxt < self.segments.count
    }

    /// Stops probing if the window has opened.
    #[inline]
    pub(super) fn stop_zero_window_probes(&mut self) {
        if self.send_window.is_probing() && !self.is_window_closed() {
            self.send_window.probe_interval = None;
            self.timers.stop();
        }
    }

    /// Sets the timer for a probe if the window has closed.
    #[inline]
    pub(super) fn start_zero_window_probes(&mut self, now: Time) {
        if !self.send_window.is_probing() && self.is_window_closed() {
            let interval = self.rtt.timeout().max(MIN_PROBE_INTERVAL);
            self.send_window.probe_interval = Some(interval);
            self.timers.set(now, Timer::Retransmission, now + interval);
        }
    }

    /// Sends a probe; the interval to the next doubles.
    pub(super) fn probe_zero_window(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        debug_assert!(self.is_window_closed(), "only a closed window is probed");
        let max = self.profile.rto.max;
        let interval = self
            .send_window
            .probe_interval
            .map_or(MIN_PROBE_INTERVAL, |interval| (interval + interval).min(max));
        self.send_window.probe_interval = Some(interval);
        self.timers.set(now, Timer::Retransmission, now + interval);
        let Segments { flow, connection, header_bytes, .. } = self.segments;
        let old = self.board.una().wrapping_sub(1); // Linux: one byte below SND.UNA
        emit(Packet::new(PacketKind::WindowProbe, flow, connection, old, header_bytes, now));
    }
}
