//! One path through the router: a link with its queue, a wire that may lose packets or delay them
//! unevenly, and a delay line. It reads no clock.

use sojourn_aqm::{Span, Time};
use sojourn_link::DelayLine;
use sojourn_measure::Interval;

use super::plan::PathPlan;
use crate::forwarding::raw_packet::InFlightPacket;
use crate::forwarding::recorder::Recording;
use crate::forwarding::router_link::RouterLink;
use crate::forwarding::wire::{Wire, WireCounts};
use crate::laws::LoadedLaws;

/// One path.
pub struct RouterPath {
    link: Option<RouterLink>,
    wire: Option<Wire>,
    line: DelayLine<InFlightPacket>,
    /// Packets and bytes that have left it.
    passed: (u64, u64),
}

impl RouterPath {
    /// An empty path whose link reports to `recording`.
    ///
    /// # Errors
    /// Returns a sentence if the queue cannot be built.
    pub fn new(
        plan: &PathPlan,
        laws: &LoadedLaws,
        seed: u64,
        recording: Recording,
    ) -> Result<RouterPath, String> {
        let link = plan.link.as_ref().map(|link| RouterLink::new(link, laws, seed, recording));
        Ok(RouterPath {
            link: link.transpose()?.map(RouterLink::with_ipv6),
            wire: plan.wire.as_ref().map(|wire| Wire::new(Some(wire), seed, Time::ZERO)),
            line: DelayLine::new(Span::from_nanos(plan.delay_ns)),
            passed: (0, 0),
        })
    }

    /// Handles an arrival. Earlier due events are handled first, so that a late host never dequeues
    /// a packet at a time before its arrival.
    pub fn arrive(&mut self, now: Time, bytes: Vec<u8>, flow: u32) {
        self.serve(now);
        match &mut self.link {
            Some(link) => link.arrive(now, bytes, flow),
            None => InFlightPacket { bytes, flow }.enter(now, &mut self.line),
        }
    }

    /// When it wants [`RouterPath::leave`].
    pub fn next_timer(&self) -> Time {
        let link = self.link.as_ref().map_or(Time::NEVER, RouterLink::next_timer);
        let wire = self.wire.as_ref().map_or(Time::NEVER, Wire::next_timer);
        link.min(wire).min(self.line.next_arrival())
    }

    /// The next packet that has left the path by `now`, with its departure time.
    pub fn leave(&mut self, now: Time) -> Option<(Time, InFlightPacket)> {
        self.serve(now);
        let (due, packet) = self.line.pop_due(now)?;
        self.passed.0 += 1;
        self.passed.1 += packet.bytes.len() as u64;
        Some((due, packet))
    }

    /// Handles everything due at its link and its wire by `now`.
    fn serve(&mut self, now: Time) {
        let (wire, line) = (&mut self.wire, &mut self.line);
        if let Some(link) = self.link.as_mut().filter(|link| link.next_timer() <= now) {
            link.on_timer(now, |due, packet| match wire {
                Some(wire) => wire.enter(due, packet),
                None => packet.enter(due, line),
            });
        }
        while let Some((due, packet)) = wire.as_mut().and_then(|wire| wire.leave(now)) {
            packet.enter(due, line);
        }
    }

    /// The packets that its wire was offered and lost; `None` without such a wire.
    pub fn wire_counts(&mut self, end: Time) -> Option<WireCounts> {
        self.wire.as_mut()?.counts(end)
    }

    /// Packets and bytes that have left it.
    pub fn passed(&self) -> (u64, u64) {
        self.passed
    }

    /// Its link, if it has one.
    pub fn link(&self) -> Option<&RouterLink> {
        self.link.as_ref()
    }

    /// Samples the state of its queue; returns the events since the last sample.
    pub fn sample(&mut self, now: Time, every: Span) -> Option<Interval> {
        self.link.as_mut()?.sample(now, every)
    }

    /// Ends it and returns the recording of its link.
    pub fn into_recording(self) -> Option<Recording> {
        self.link.map(RouterLink::into_recording)
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::CustomLaws;
    use sojourn_scenario::resolved::{DelayChanges, Loss};

    use super::*;
    use crate::live::options::Options;
    use crate::plan::WirePlan;

    fn path(options: &str) -> RouterPath {
        let plan =
            serde_json::from_str::<Options>(options).unwrap().plan(None, CustomLaws::NONE).unwrap();
        RouterPath::new(&plan.paths[0], &LoadedLaws::default(), 1, Recording::Off).unwrap()
    }

    /// A datagram of 1250 bytes.
    fn packet() -> Vec<u8> {
        let mut bytes = vec![0u8; 1250];
        (bytes[0], bytes[9]) = (0x45, 17);
        bytes[2..4].copy_from_slice(&1250u16.to_be_bytes());
        bytes
    }

    #[test]
    fn a_packet_leaves_after_queue_serialisation_and_delay() {
        let mut path = path(r#"{ "forward": { "rate": "10mbit", "delay": "20ms" } }"#);
        (0..2).for_each(|_| path.arrive(Time::ZERO, packet(), 0));
        assert_eq!(path.next_timer(), Time::from_nanos(1_000_000));
        assert!(path.leave(Time::from_nanos(20_999_999)).is_none());
        let (due, first) = path.leave(Time::from_nanos(21_000_000)).unwrap();
        assert_eq!((due.as_nanos(), first.bytes), (21_000_000, packet()));
        assert_eq!(path.next_timer(), Time::from_nanos(22_000_000));
        assert_eq!(path.passed, (1, 1250));
    }

    /// The clock is read for every packet, so a due time may fall between two arrivals.
    #[test]
    fn a_late_host_dequeues_no_packet_before_its_arrival() {
        let mut path = path(r#"{ "forward": { "rate": "10mbit" } }"#);
        let ms = |ms: u64| Time::from_nanos(ms * 1_000_000);
        path.arrive(ms(0), packet(), 0);
        path.arrive(ms(5), packet(), 0); // the first left at 1 ms, not taken yet
        let left: Vec<_> = std::iter::from_fn(|| path.leave(ms(9)).map(|(due, _)| due)).collect();
        assert_eq!(left, [ms(1), ms(6)]);
    }

    #[test]
    fn a_path_without_a_rate_delays_and_never_queues() {
        let mut path = path(r#"{ "forward": { "delay": "5ms" } }"#);
        (0..1000).for_each(|_| path.arrive(Time::ZERO, packet(), 0));
        let out = std::iter::from_fn(|| path.leave(Time::from_nanos(5_000_000))).count();
        assert_eq!(out, 1000);
    }

    /// Tests a wire that loses every packet, and one whose delay falls so that packets overtake.
    #[test]
    fn a_wire_loses_and_reorders_packets() {
        let plan = |wire: WirePlan| PathPlan {
            name: "forward".to_owned(),
            link: None,
            delay_ns: 1_000_000,
            wire: Some(wire),
        };
        let of = |plan: PathPlan| {
            let options = r#"{ "forward": { "rate": "10mbit" } }"#;
            let options = serde_json::from_str::<Options>(options).unwrap();
            let link = options.plan(None, CustomLaws::NONE).unwrap().paths[0].link.clone();
            let plan = PathPlan { link, ..plan };
            RouterPath::new(&plan, &LoadedLaws::default(), 1, Recording::Off).unwrap()
        };
        let none = WirePlan::of("x");
        let ms = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let lossy = WirePlan { loss: Some(Loss::Bernoulli(1.0)), ..none.clone() };
        let mut lossy = of(plan(lossy));
        lossy.arrive(ms(0), packet(), 0);
        assert!(lossy.leave(ms(100)).is_none());
        let counts = lossy.wire_counts(ms(100)).unwrap();
        assert_eq!((counts.offered, counts.lost), (1, 1));
        let above_least = vec![(ms(0), Span::from_millis(9)), (ms(2), Span::ZERO)];
        let changes = Some(DelayChanges { above_least, reorder: true });
        let mut falling = of(plan(WirePlan { changes, ..none }));
        falling.arrive(ms(0), packet(), 1); // leaves the link at 1 ms
        falling.arrive(ms(1), packet(), 2); // and this one at 2 ms
        let left = std::iter::from_fn(|| falling.leave(ms(100)));
        let left: Vec<_> = left.map(|(due, packet)| (due, packet.flow)).collect();
        assert_eq!(left, [(ms(3), 2), (ms(11), 1)]);
    }
}
