//! One direction of a bottleneck, for code that has its own loop.

use sojourn_aqm::{Cause, Env, Evidence, Rng, Sink, Span, Stage, Time, registry};
use sojourn_link::{DelayLine, Impairment, Link, LinkObserver, Server};
use sojourn_measure::summary::{collect_queues, wire_rows};
use sojourn_measure::{BUILTIN_VARS, LinkProbe, Probe, QueueSeen, Utilisation};
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::Link as LinkPlan;

use crate::datagram::Queued;
use crate::{Admission, Ecn, Received, Report, SetupError, TestDatagram};

/// A link in virtual time: a queue with its AQM, a transmitter, and a wire.
///
/// Time is an argument and never goes backwards. The number of polls does not affect the result:
/// each event happens at its own time.
///
/// ```
/// use sojourn_testing::{Bottleneck, TestDatagram, Admission, Span, Time};
///
/// let mut link = Bottleneck::new("12mbit").delay("10ms").buffer("2p").link()?;
/// let mut send = |number| link.send(Time::ZERO, TestDatagram::new(number, 1500));
/// assert_eq!([0, 1, 2].map(&mut send), [Admission::Queued; 3]);
/// assert_eq!(send(3), Admission::Dropped);
/// // 1500 B take 1 ms at 12 Mbit/s.
/// assert_eq!(link.next(), Time::ZERO + Span::from_millis(1));
/// let first = link.poll(Time::ZERO + Span::from_millis(11)).expect("it has arrived");
/// assert_eq!((first.datagram.content, first.at), (0, Time::ZERO + Span::from_millis(11)));
/// # Ok::<(), sojourn_testing::SetupError>(())
/// ```
pub struct TestLink<T> {
    plan: LinkPlan,
    title: String,
    warmup: Option<Time>,
    link: Link<Queued<T>>,
    impairment: Option<Impairment>,
    wire: DelayLine<TestDatagram<T>>,
    probe: Probe,
    sent: u64,
    now: Time,
}

impl<T: Send + 'static> TestLink<T> {
    /// The only link of a scenario.
    pub(crate) fn new(scenario: &Resolved) -> Result<TestLink<T>, SetupError> {
        let [plan] = &scenario.links[..] else { unreachable!("a bottleneck is one link") };
        let seed = scenario.seed;
        let env = Env {
            limit: plan.limit,
            mtu_bytes: plan.queue_mtu_bytes(),
            rate: Some(plan.capacity.initial_rate()),
            salt: Rng::stream(seed, "hash", 0).next_u64(),
        };
        let queue = registry::build(&plan.queue.in_place(), &env)
            .map_err(|error| SetupError::new("links.bottleneck.queue", error))?;
        let warmup = Time::ZERO + scenario.warmup;
        Ok(TestLink {
            title: format!("{}, seed {seed}", plan.queue),
            warmup: Some(warmup),
            link: Link::new(queue, Rng::stream(seed, "queue", 0), Server::of_plan(plan)),
            impairment: Impairment::of_plan(plan, seed),
            wire: DelayLine::new(plan.delay),
            probe: Probe::new(1, 0, (warmup, Time::NEVER)),
            plan: plan.clone(),
            sent: 0,
            now: Time::ZERO,
        })
    }

    /// Sends a datagram.
    ///
    /// # Panics
    /// If `now` is earlier than in a previous call, or the datagram is larger than the MTU.
    pub fn send(&mut self, now: Time, datagram: TestDatagram<T>) -> Admission {
        let mtu = self.plan.mtu_bytes - self.plan.framing_bytes;
        assert!(
            datagram.bytes <= mtu,
            "a datagram of {} B exceeds the MTU of {mtu} B; set it with `Bottleneck::mtu`",
            datagram.bytes
        );
        self.serve(now);
        let bytes = self.plan.bytes_of(datagram.bytes);
        let packet = Queued::new(datagram, self.sent, bytes);
        let mut seen = Observer {
            probe: self.probe.at_link(now, 0),
            number: self.sent,
            admission: Admission::Queued,
        };
        seen.probe.arrived();
        self.link.enqueue(now, packet, &mut seen);
        self.sent += 1;
        seen.admission
    }

    /// The next datagram that has arrived by `now`.
    ///
    /// # Panics
    /// If `now` is earlier than in a previous call.
    pub fn poll(&mut self, now: Time) -> Option<Received<T>> {
        self.serve(now);
        let (at, datagram) = self.wire.pop_due(now)?;
        Some(Received { at, datagram })
    }

    /// When to poll again, unless a datagram is sent earlier; [`Time::NEVER`] if the link is empty.
    pub fn next(&self) -> Time {
        self.link.next_service().min(self.wire.next_arrival())
    }

    /// Ends the link and returns its metrics. Queue delays, drops and marks are counted until
    /// `end`.
    ///
    /// # Panics
    /// If `end` is not later than the warm-up, or earlier than in a previous call.
    pub fn finish(mut self, end: Time) -> Report {
        self.serve(end);
        assert!(
            self.warmup.is_none() && end > self.probe.links[0].at_warmup.at,
            "the end is not later than the warm-up"
        );
        let mut left = Vec::new();
        self.link.drain(end, &mut Ignore, |packet, enqueued| left.push((packet, enqueued)));
        for (packet, enqueued) in left {
            self.probe.at_link::<true>(end, 0).waiting(&packet, enqueued);
        }
        let totals = self.probe.links[0].totals(end, self.link.reserve(end));
        let used = Utilisation::of(&self.plan).used(&self.probe.links[0].at_warmup, &totals);
        let name = self.plan.name.clone();
        let seen = QueueSeen { name, used: Some(used), vars: BUILTIN_VARS.to_vec() };
        let counted = end.since(self.probe.links[0].at_warmup.at).as_secs();
        let mut run = collect_queues(self.probe, vec![seen], counted);
        if let Some((offered, lost)) = self.impairment.map(|impairment| impairment.counted()) {
            run.summary.extend(wire_rows(&self.plan.name, offered, lost));
        }
        Report::new(format!("{}, {} s", self.title, end.as_secs()), run.summary, run.warnings)
    }

    /// Handles all events due by `now`.
    fn serve(&mut self, now: Time) {
        assert!(now < Time::NEVER, "nothing is due: `next` returned `Time::NEVER`");
        assert!(now >= self.now, "time goes backwards, from {:?} to {now:?}", self.now);
        self.now = now;
        if let Some(warmup) = self.warmup.take_if(|warmup| *warmup <= now) {
            self.serve_link(warmup);
            let totals = self.probe.links[0].totals(warmup, self.link.reserve(warmup));
            self.probe.end_warmup([totals]);
            if let Some(impairment) = &mut self.impairment {
                impairment.end_warmup();
            }
        }
        self.serve_link(now);
    }

    /// At equal times the server comes before the discipline's timer, as in the simulator.
    fn serve_link(&mut self, now: Time) {
        loop {
            let (service, timer) = (self.link.next_service(), self.link.next_timer());
            let due = service.min(timer);
            if due > now {
                return;
            }
            if service > due {
                self.link.on_timer(due);
                continue;
            }
            let mut seen = Observer {
                probe: self.probe.at_link(due, 0),
                number: u64::MAX,
                admission: Admission::Queued,
            };
            let (wire, impairment) = (&mut self.wire, &mut self.impairment);
            self.link.on_service(due, &mut seen, |packet| {
                let mut datagram = packet.datagram;
                let Some(impairment) = impairment else {
                    wire.insert(due, datagram);
                    return;
                };
                if impairment.bleaches() {
                    datagram.ecn = Ecn::NotEct;
                }
                if let Some(start) = impairment.pass(due, datagram.bytes) {
                    wire.insert(start, datagram);
                }
            });
        }
    }
}

/// Reports to the probe, and records the admission of one datagram.
struct Observer<'a> {
    probe: LinkProbe<'a, true>,
    number: u64,
    admission: Admission,
}

impl<T> Sink<Queued<T>> for Observer<'_> {
    fn dropped(&mut self, packet: Queued<T>, enqueued: Time, stage: Stage, cause: Cause) {
        if packet.number == self.number {
            self.admission = Admission::Dropped;
        }
        self.probe.dropped(&packet, enqueued, stage, cause);
    }

    fn marked(&mut self, packet: &mut Queued<T>, enqueued: Time, stage: Stage, cause: Cause) {
        self.probe.marked(packet, enqueued, stage, cause);
        if packet.number == self.number && packet.is_marked() {
            self.admission = Admission::Marked;
        }
    }
}

impl<T> LinkObserver<Queued<T>> for Observer<'_> {
    fn departed(&mut self, packet: &Queued<T>, enqueued: Time) {
        self.probe.departed(packet, enqueued);
    }

    fn busy(&mut self, bytes: u32, overhead: u32, span: Span) {
        self.probe.busy(bytes, overhead, span);
    }

    fn carried(&mut self, bytes: u32) {
        self.probe.carried(bytes);
    }
}

/// Ignores the drops made by emptying a queue at the end, which are not part of the run.
struct Ignore;

impl<T> Sink<Queued<T>> for Ignore {
    fn dropped(&mut self, _: Queued<T>, _: Time, _: Stage, _: Cause) {}
    fn marked(&mut self, _: &mut Queued<T>, _: Time, _: Stage, _: Cause) {}
    fn evidence(&mut self, _: Evidence<'_>) {}
}
