//! netem's slots.

use sojourn_aqm::{Rng, Time};
use sojourn_scenario::resolved::Slots;

use crate::netem_delay::NetemDelay;

/// The next slot, as `get_slot_next` and `netem_dequeue` of Linux 6.1 `sch_netem.c` keep it.
#[derive(Debug)]
pub(crate) struct SlotState {
    until: NetemDelay,
    packets: u64,
    bytes: u64,
    /// When the slot begins, and what it can still hold.
    begins: Time,
    packets_left: u64,
    bytes_left: u64,
}

impl SlotState {
    pub(crate) fn new(slots: Slots) -> SlotState {
        let packets = slots.packets.map_or(u64::MAX, u64::from);
        let bytes = slots.bytes.unwrap_or(u64::MAX);
        let until = NetemDelay::new(slots.until);
        let (packets_left, bytes_left) = (packets, bytes);
        SlotState { until, packets, bytes, begins: Time::ZERO, packets_left, bytes_left }
    }

    /// When a packet leaves that could leave at `t`. Packets come in order.
    pub(crate) fn pass(&mut self, t: Time, bytes: u32, rng: &mut Rng) -> Time {
        if self.begins < t {
            self.next_after(t, rng);
        }
        let leaves = self.begins;
        self.packets_left = self.packets_left.saturating_sub(1);
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(bytes));
        if self.packets_left == 0 || self.bytes_left == 0 {
            self.next_after(leaves, rng);
        }
        leaves
    }

    fn next_after(&mut self, t: Time, rng: &mut Rng) {
        self.begins = t + self.until.draw(rng);
        (self.packets_left, self.bytes_left) = (self.packets, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::Span;
    use sojourn_scenario::resolved::{NetemDistribution, NetemJitter};

    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Milliseconds at which packets of 1000 B leave that come at these.
    fn leaves(slots: Slots, at_ms: &[u64]) -> Vec<u64> {
        let (mut state, mut rng) = (SlotState::new(slots), Rng::stream(7, "jitter", 0));
        let pass = |&at: &u64| state.pass(ms(at), 1000, &mut rng).as_nanos() / 1_000_000;
        at_ms.iter().map(pass).collect()
    }

    fn every_10_ms(packets: Option<u32>, bytes: Option<u64>) -> Slots {
        let distribution = NetemDistribution::Uniform;
        let (mean, deviation) = (Span::from_millis(10), Span::ZERO);
        Slots { until: NetemJitter { mean, deviation, distribution }, packets, bytes }
    }

    /// Linux 6.1 sch_netem.c, netem_dequeue: a packet that comes after a slot has begun waits for
    /// the next one, which begins a delay after this packet.
    #[test]
    fn packets_that_come_before_a_slot_leave_when_it_begins() {
        assert_eq!(leaves(every_10_ms(None, None), &[1, 5, 11, 12, 30]), [11, 11, 11, 22, 40]);
    }

    #[test]
    fn a_full_slot_is_followed_by_another() {
        assert_eq!(leaves(every_10_ms(Some(2), None), &[1, 1, 1, 1, 1]), [11, 11, 21, 21, 31]);
        // The packet that reaches the limit still leaves.
        assert_eq!(leaves(every_10_ms(None, Some(1500)), &[1, 1, 1, 1]), [11, 11, 21, 21]);
    }

    #[test]
    fn slots_come_after_times_of_the_distribution() {
        let until = NetemJitter {
            mean: Span::from_millis(5),
            deviation: Span::from_millis(3),
            distribution: NetemDistribution::Uniform,
        };
        let at: Vec<u64> = (0..1_000).map(|packet| 100 * packet).collect();
        let slots = Slots { until, packets: Some(1), bytes: None };
        let waits = leaves(slots, &at).into_iter().zip(&at).map(|(leaves, at)| leaves - at);
        // The first slot begins at once.
        let waits: Vec<u64> = waits.skip(1).collect();
        assert_eq!([waits.iter().min(), waits.iter().max()], [Some(&2), Some(&7)]);
    }
}
