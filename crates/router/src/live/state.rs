//! The state and measurements of the running router.

use sojourn_aqm::{Span, Time};
use sojourn_measure::{Interval, Probe};
use sojourn_record::Histogram;

use super::flows::FlowNumbers;
use super::path::RouterPath;
use super::plan::LivePlan;
use crate::forwarding::recorder::Recording;
use crate::laws::LoadedLaws;

/// Interval at which queues are sampled, and commands and the user are checked.
pub(super) const SAMPLE_INTERVAL: Span = Span::from_millis(100);

/// The events at both queues since the last sample.
pub(super) type Intervals = [Option<Interval>; 2];

/// The paths, and counts outside them.
pub(super) struct RouterState<'a> {
    pub(super) plan: &'a LivePlan,
    /// The loaded laws that its queues may use in addition to the registered ones.
    pub(super) laws: &'a LoadedLaws,
    pub(super) paths: [RouterPath; 2],
    /// Histogram of the lateness of departures.
    pub(super) lateness: Histogram,
    /// Packets refused by a device.
    pub(super) refused: u64,
    /// Packets discarded because they are not IP, or stay on their link.
    pub(super) foreign: u64,
    pub(super) flows: FlowNumbers,
}

impl<'a> RouterState<'a> {
    /// An empty router.
    ///
    /// # Errors
    /// Returns a sentence if a queue cannot be built.
    pub(super) fn new(plan: &'a LivePlan, laws: &'a LoadedLaws) -> Result<RouterState<'a>, String> {
        let recording = |link| Recording::Probe(Box::new(probe(plan)), link);
        let [forward, reverse] = &plan.paths;
        Ok(RouterState {
            plan,
            laws,
            paths: [
                RouterPath::new(forward, laws, plan.seed, recording(0))?,
                RouterPath::new(reverse, laws, plan.seed, recording(1))?,
            ],
            lateness: Histogram::default(),
            refused: 0,
            foreign: 0,
            flows: FlowNumbers::new(plan.packets || plan.signals),
        })
    }

    /// Samples the state of both queues.
    pub(super) fn sample(&mut self, now: Time) -> Intervals {
        self.paths.each_mut().map(|path| path.sample(now, SAMPLE_INTERVAL))
    }
}

fn probe(plan: &LivePlan) -> Probe {
    let mut probe = Probe::new(plan.paths.len(), 0, (Time::ZERO, Time::NEVER));
    probe.notes.wants_packets = plan.packets;
    probe.notes.wants_signals = plan.signals;
    let totals = probe.totals(Time::ZERO);
    probe.end_warmup(totals);
    probe
}
