//! The wire behind a link, with real packets. Its losses and extra delays are the simulator's own
//! random draws, one for each packet in the order in which packets leave the link. It reads no
//! clock.

use serde::{Deserialize, Serialize};
use sojourn_aqm::{Span, Time};
use sojourn_link::{DelayLine, Impairment, Impairs};

use super::raw_packet::InFlightPacket;
use crate::plan::WirePlan;

/// A wire.
#[derive(Debug)]
pub struct Wire {
    /// `None`: the wire only forwards packets.
    impairment: Option<Impairment>,
    /// The end of the warm-up; `None` once it is over.
    warmup: Option<Time>,
    /// Packets to which the impairment was applied.
    seen: u64,
    /// The delay line; it adds no delay of its own.
    line: DelayLine<InFlightPacket>,
}

/// The packets of a wire, counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WireCounts {
    /// Packets of known flows that entered it since the start.
    pub seen: u64,
    /// The packets among them that entered since the warm-up.
    pub offered: u64,
    /// The number of these packets that it lost.
    pub lost: u64,
}

impl Wire {
    /// An empty wire.
    pub fn new(plan: Option<&WirePlan>, seed: u64, warmup: Time) -> Wire {
        let impairment = plan.and_then(|wire| {
            let (loss, changes) = (wire.loss.clone(), wire.changes.clone());
            let (jitter, reorder, corrupt) = (wire.jitter.clone(), wire.reorder, wire.corrupt);
            let does = Impairs { loss, jitter, changes, reorder, corrupt, bleaches: false };
            Impairment::behind(&wire.link, seed, does)
        });
        let line = DelayLine::new(Span::ZERO);
        Wire { impairment, warmup: Some(warmup), seen: 0, line }
    }

    /// Handles a packet that enters now. Packets outside the scenario's flows pass unimpaired and
    /// use no random draw, so that the other packets get the same draws as in the simulator.
    pub fn enter(&mut self, now: Time, packet: InFlightPacket) {
        self.end_warmup_by(now);
        let mut start = now;
        if let Some(impairment) = self.impairment.as_mut().filter(|_| packet.flow != u32::MAX) {
            self.seen += 1;
            let Some(later) = impairment.pass(now, packet.bytes.len() as u32) else { return };
            start = later;
        }
        self.line.insert(start, packet);
    }

    /// When the next packet leaves.
    pub fn next_timer(&self) -> Time {
        self.line.next_arrival()
    }

    /// The next packet that has left by `now`, with its departure time.
    pub fn leave(&mut self, now: Time) -> Option<(Time, InFlightPacket)> {
        self.line.pop_due(now)
    }

    /// The counts at the end of the run; `None` if the wire only forwards packets.
    pub fn counts(&mut self, end: Time) -> Option<WireCounts> {
        self.end_warmup_by(end);
        let (offered, lost) = self.impairment.as_ref()?.counted();
        Some(WireCounts { seen: self.seen, offered, lost })
    }

    /// Restarts the counts at the end of the warm-up.
    fn end_warmup_by(&mut self, now: Time) {
        if self.warmup.take_if(|warmup| *warmup <= now).is_some()
            && let Some(impairment) = &mut self.impairment
        {
            impairment.end_warmup();
        }
    }
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::resolved::{Extra, Jitter, Loss};

    use super::*;

    const MS: u64 = 1_000_000;

    fn wire(loss: Option<Loss>, jitter: Option<Jitter>) -> Wire {
        let plan = WirePlan { loss, jitter, ..WirePlan::of("bottleneck") };
        Wire::new(Some(&plan), 7, Time::from_nanos(10 * MS))
    }

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * MS)
    }

    fn packet(flow: u32) -> InFlightPacket {
        InFlightPacket { bytes: vec![0; 40], flow }
    }

    /// The departure times of packets that enter at intervals of one millisecond.
    fn passed(mut wire: Wire, packets: u64) -> Vec<u64> {
        (0..packets).for_each(|at| wire.enter(ms(at), packet(0)));
        std::iter::from_fn(|| wire.leave(Time::NEVER)).map(|(at, _)| at.as_nanos()).collect()
    }

    #[test]
    fn the_nth_packet_gets_the_same_random_draws_as_in_the_simulator() {
        let loss = Some(Loss::GilbertElliott { enter: 0.1, leave: 0.3, bad: 0.9, good: 0.01 });
        let jitter = Some(Jitter { extra: Extra::Uniform(Span::from_millis(5)), reorder: true });
        let does = Impairs { loss: loss.clone(), jitter: jitter.clone(), ..Impairs::default() };
        let mut simulated = Impairment::behind("bottleneck", 7, does).unwrap();
        let times = (0..500).filter_map(|ms| simulated.pass(Time::from_nanos(ms * MS), 100));
        let mut times: Vec<u64> = times.map(Time::as_nanos).collect();
        assert!(times.len() < 450 && !times.is_sorted());
        times.sort_unstable();
        assert_eq!(passed(wire(loss, jitter), 500), times);
    }

    #[test]
    fn packets_are_counted_from_the_warm_up_on() {
        let mut wire = wire(Some(Loss::Bernoulli(1.0)), None);
        (0..30).for_each(|at| wire.enter(ms(at), packet(0)));
        let counts = wire.counts(Time::from_nanos(30 * MS));
        assert_eq!(counts, Some(WireCounts { seen: 30, offered: 20, lost: 20 }));
    }

    #[test]
    fn packets_of_no_flow_pass_and_use_no_random_draw() {
        let mut wire = wire(Some(Loss::Bernoulli(1.0)), None);
        wire.enter(ms(1), packet(u32::MAX));
        assert_eq!(wire.leave(ms(1)), Some((ms(1), packet(u32::MAX))));
        assert_eq!(wire.counts(Time::NEVER).map(|counts| counts.seen), Some(0));
    }

    #[test]
    fn a_wire_without_loss_and_jitter_passes_packets_on_and_counts_nothing() {
        let mut wire = Wire::new(None, 7, Time::ZERO);
        (0..3).for_each(|flow| wire.enter(ms(1), packet(flow)));
        let flows: Vec<u32> =
            std::iter::from_fn(|| wire.leave(ms(1))).map(|(_, p)| p.flow).collect();
        assert_eq!((flows, wire.counts(Time::NEVER)), (vec![0, 1, 2], None));
    }
}
