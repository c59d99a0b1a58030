//! Lost datagrams, counted by send time: only those sent in the counted time.

/// Lost datagrams by flow.
#[derive(Clone, Debug, Default)]
pub struct DatagramLosses {
    flows: Vec<FlowLosses>,
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
        DatagramLosses { flows: vec![FlowLosses::default(); flows] }
    }

    /// Counts only datagrams of a flow from this number on.
    pub fn count_from(&mut self, flow: usize, first: u32) {
        self.flows[flow] = FlowLosses { first, lost: 0 };
    }

    /// Counts a lost datagram. Does nothing if no flows are counted.
    pub fn add(&mut self, flow: u32, seq: u32) {
        if let Some(of_flow) = self.flows.get_mut(flow as usize).filter(|f| f.first <= seq) {
            of_flow.lost += 1;
        }
    }

    /// How many datagrams of a flow were lost.
    pub fn of(&self, flow: usize) -> u64 {
        self.flows[flow].lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_datagrams_sent_in_the_counted_time_are_counted_lost() {
        let mut losses = DatagramLosses::new(2);
        losses.add(1, 3);
        losses.count_from(1, 5);
        [4, 5, 9].into_iter().for_each(|seq| losses.add(1, seq));
        losses.add(7, 9); // of no flow
        assert_eq!([losses.of(0), losses.of(1)], [0, 2]);
    }
}
