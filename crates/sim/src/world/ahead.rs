//! Prefetches flow state before packets arrive and timers expire.
//!
//! Each pointer must be in the caches before the next can be followed, so a flow is prefetched in
//! steps while earlier packets are handled: the packet on its wire, the slot of its flow, the end
//! of the flow that it reaches, and the memory to which that end points.

use super::{FlowEnds, World};
use crate::app::stream::Needed;
use crate::path::End;
use crate::prefetch::{Prefetch, prefetch};

/// How many packets ahead of an arrival its packet, flow, end and the end's memory are prefetched.
const PACKET: usize = 16;
const FLOW: usize = 8;
const END: usize = 4;
const BEHIND_END: usize = 2;

impl World {
    /// Prefetches state for the next packets on a wire, after one has reached an end of its flow.
    pub(super) fn prefetch_flows(&self, wire: usize, end: End) {
        let wire = self.path.wire(wire);
        wire.prefetch(PACKET);
        let flow_at = |place| wire.get(place).map(|packet| &self.flows[packet.flow as usize]);
        if let Some(flow) = flow_at(FLOW) {
            prefetch(flow);
        }
        if let Some(FlowEnds::Stream(stream)) = flow_at(END).map(|flow| &flow.ends) {
            Needed::End(stream, end).near();
        }
        if let Some(FlowEnds::Stream(stream)) = flow_at(BEHIND_END).map(|flow| &flow.ends) {
            Needed::End(stream, end).far();
        }
        if let Some(flow) = self.next_flow()
            && let FlowEnds::Stream(stream) = &self.flows[flow].ends
        {
            Needed::Timers(stream).near();
        }
    }

    /// Prefetches the flow whose alarm is next. Called after another flow's alarm was due.
    pub(super) fn prefetch_next_timer(&self) {
        if let Some(flow) = self.next_flow() {
            prefetch(&self.flows[flow]);
        }
    }

    /// The flow whose alarm is next, if the next alarm belongs to a flow.
    fn next_flow(&self) -> Option<usize> {
        let slot = self.alarms.next().slot;
        (slot < self.flows.len()).then_some(slot)
    }
}
