//! The sizes of the packets that COBALT drops in one call.

use alloc::vec::Vec;

use crate::law::{Cause, Evidence, Stage};
use crate::packet::Packet;
use crate::qdisc::Sink;
use crate::time::Time;

/// Records the sizes of dropped packets and forwards all calls.
pub(super) struct NotesSizes<'a, P> {
    pub(super) sink: &'a mut dyn Sink<P>,
    pub(super) sizes: &'a mut Vec<u32>,
}

impl<P: Packet> Sink<P> for NotesSizes<'_, P> {
    fn dropped(&mut self, packet: P, enqueued: Time, stage: Stage, cause: Cause) {
        self.sizes.push(packet.bytes());
        self.sink.dropped(packet, enqueued, stage, cause);
    }
    fn marked(&mut self, packet: &mut P, enqueued: Time, stage: Stage, cause: Cause) {
        self.sink.marked(packet, enqueued, stage, cause);
    }
    fn evidence(&mut self, evidence: Evidence<'_>) {
        self.sink.evidence(evidence);
    }
}
