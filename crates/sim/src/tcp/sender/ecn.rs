//! ECN at the sender: marks reported by acknowledgements, and the CWR flag (RFC 3168 §6.1.2,
//! RFC 9768).

use super::{Segments, Sender};
use crate::cc::{Ack, Feedback};
use crate::packet::Packet;
use crate::tcp::accecn::AccEcnFeedback;

/// The sender's side of ECN feedback.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnState {
    /// The decoder of accurate feedback, if it was negotiated.
    pub(super) accurate: Option<AccEcnFeedback>,
    /// Whether the next new segment carries CWR.
    pub(super) send_cwr: bool,
    /// Packets reported to have arrived with CE.
    pub(super) delivered_ce: u32,
}

impl EcnState {
    pub(super) fn new(segments: &Segments) -> EcnState {
        let decoder = || AccEcnFeedback::new(segments.payload_bytes);
        EcnState { accurate: segments.accurate.then(decoder), send_cwr: false, delivered_ce: 0 }
    }
}

impl Sender {
    /// Handles a report that the SYN-ACK arrived with CE (RFC 9768 §3.2.2.1).
    pub fn on_marked_handshake(&mut self) {
        if let Some(feedback) = &mut self.ecn.accurate {
            feedback.note_marked_handshake();
            self.ecn.delivered_ce += 1;
        }
    }

    /// Returns how many packets an acknowledgement reports as marked; with classic feedback, one or
    /// none. `is_newer` means that its timestamp is newer than all earlier ones. A mark forbids an
    /// undo, because the window was reduced for congestion. Inlined into both callers, because a
    /// call costs 0.3 % of a run with many losses.
    #[inline(always)]
    pub(super) fn process_ecn_feedback(
        &mut self,
        ack: &Packet,
        acked: &Ack,
        delivered: u32,
        is_newer: bool,
    ) -> u32 {
        if self.segments.ecn && self.needs.feedback == Feedback::Runs {
            self.cc.on_echo(acked, ack.signal);
        }
        let marks = match &mut self.ecn.accurate {
            Some(feedback) => feedback.read(ack.ace, ack.ce_bytes, delivered, is_newer),
            None => u32::from(ack.signal),
        };
        if self.ecn.accurate.is_some() {
            self.ecn.delivered_ce = self.ecn.delivered_ce.wrapping_add(marks);
        }
        if self.segments.ecn
            && marks > 0
            && let Some(undo) = &mut self.episode.undo
        {
            undo.forbid();
        }
        marks
    }

    /// After a reduction: with classic feedback, the next new segment carries CWR (RFC 3168
    /// §6.1.2).
    pub(super) fn queue_cwr(&mut self) {
        self.ecn.send_cwr = self.segments.ecn && self.ecn.accurate.is_none();
    }
}
