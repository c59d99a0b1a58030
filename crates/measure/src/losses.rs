//! Lost datagrams, counted by send time: only those sent after the warm-up.

use std::collections::BTreeMap;

use crate::PacketKind;

/// Lost datagrams by flow.
#[derive(Clone, Debug, Default)]
pub struct DatagramLosses {
    flows: Vec<FlowLosses>,
    /// Every lost packet of the flows whose losses are noted.
    noted: BTreeMap<u32, Vec<(PacketKind, u32)>>,
    /// If links copy packets: by flow and number, copies of a datagram minus lost packets of it.
    extra: Option<Vec<Vec<i32>>>,
    /// Copied packets of the flows whose losses are noted.
    copied: Vec<(u32, PacketKind, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct FlowLosses {
    /// The first datagram that counts; datagrams are numbered from zero.
    first: u32,
    lost: u64,
}

impl DatagramLosses {
    /// Zero counters for `flows` flows; every datagram counts.
    pub fn new(flows: usize) -> DatagramLosses {
        let flows = vec![FlowLosses::default(); flows];
        DatagramLosses { flows, ..DatagramLosses::default() }
    }

    /// The same counters for links that copy packets: a datagram is lost with its last packet.
    #[must_use]
    pub fn with_copies(self) -> DatagramLosses {
        DatagramLosses { extra: Some(vec![Vec::new(); self.flows.len()]), ..self }
    }

    /// Whether links copy packets.
    #[inline]
    pub fn counts_copies(&self) -> bool {
        self.extra.is_some()
    }

    /// Counts a copy of a datagram.
    pub fn copy(&mut self, kind: PacketKind, flow: u32, seq: u32) {
        self.add_extra(flow, seq, 1);
        if self.noted.contains_key(&flow) {
            self.copied.push((flow, kind, seq));
        }
    }

    /// The packets of a flow that were copied since the last call, if its losses are noted.
    pub fn take_copied(&mut self, flow: u32) -> Vec<(PacketKind, u32)> {
        let of_flow = self.copied.iter().filter(|it| it.0 == flow).map(|it| (it.1, it.2));
        let of_flow = of_flow.collect();
        self.copied.retain(|it| it.0 != flow);
        of_flow
    }

    fn add_extra(&mut self, flow: u32, seq: u32, packets: i32) {
        let of_flow = self.extra.as_mut().and_then(|extra| extra.get_mut(flow as usize));
        if let Some(of_flow) = of_flow {
            let seq = seq as usize;
            of_flow.resize(of_flow.len().max(seq + 1), 0);
            of_flow[seq] += packets;
        }
    }

    /// Counts only datagrams of a flow that have at least this number.
    pub fn count_from(&mut self, flow: usize, first: u32) {
        self.flows[flow] = FlowLosses { first, lost: 0 };
    }

    /// Counts a lost datagram. Does nothing if no flows are counted.
    pub fn add(&mut self, kind: PacketKind, flow: u32, seq: u32) {
        self.add_extra(flow, seq, -1);
        if let Some(of_flow) = self.flows.get_mut(flow as usize).filter(|f| f.first <= seq) {
            of_flow.lost += 1;
        }
        if let Some(noted) = self.noted.get_mut(&flow) {
            noted.push((kind, seq));
        }
    }

    /// Starts noting every lost packet of a flow, for [`DatagramLosses::take_noted`].
    pub fn note(&mut self, flow: u32) {
        self.noted.entry(flow).or_default();
    }

    /// The packets of a flow that were lost since the last call, if they are noted.
    pub fn take_noted(&mut self, flow: u32) -> impl Iterator<Item = (PacketKind, u32)> {
        self.noted.get_mut(&flow).into_iter().flat_map(|noted| noted.drain(..))
    }

    /// Number of datagrams of a flow that were lost here or at the places of `other`.
    pub fn with(&self, other: &DatagramLosses, flow: usize) -> u64 {
        let (Some(here), Some(there)) = (&self.extra, &other.extra) else {
            return self.of(flow) + other.of(flow);
        };
        let first = self.flows[flow].first as usize;
        let at = |of: &[Vec<i32>], seq: usize| of[flow].get(seq).copied().unwrap_or(0);
        let end = here[flow].len().max(there[flow].len());
        (first..end).filter(|&seq| at(here, seq) + at(there, seq) < 0).count() as u64
    }

    fn of(&self, flow: usize) -> u64 {
        self.flows[flow].lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_datagrams_sent_in_the_counted_time_are_counted_lost() {
        let mut losses = DatagramLosses::new(2);
        losses.add(PacketKind::Datagram, 1, 3);
        losses.count_from(1, 5);
        [4, 5, 9].into_iter().for_each(|seq| losses.add(PacketKind::Datagram, 1, seq));
        losses.add(PacketKind::Datagram, 7, 9); // of no flow
        assert_eq!([losses.of(0), losses.of(1)], [0, 2]);
    }

    #[test]
    fn lost_packets_are_noted_for_flows_that_ask() {
        let mut losses = DatagramLosses::new(2);
        losses.note(1);
        losses.add(PacketKind::Datagram, 0, 3);
        losses.add(PacketKind::Datagram, 1, 4);
        losses.add(PacketKind::Echo, 1, 5);
        let noted: Vec<_> = losses.take_noted(1).collect();
        assert_eq!(noted, [(PacketKind::Datagram, 4), (PacketKind::Echo, 5)]);
        assert_eq!(losses.take_noted(1).count() + losses.take_noted(0).count(), 0);
    }
}
