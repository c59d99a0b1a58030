//! Events at fixed times of a run.

use sojourn_aqm::{Span, Time};

use crate::plan::{Bottleneck, Command, Plan};

/// Interval in nanoseconds at which the capture sockets are emptied: packets queued there cannot be
/// merged in a receiver (fact linux-38).
const DRAIN_NS: u64 = 1_000_000;
/// The number of progress reports in a run.
const PROGRESS_REPORTS: u64 = 100;
/// The longest interval between progress reports with user programs, in nanoseconds.
const LOOK_NS: u64 = 100_000_000;

/// A time that occurs once or repeats.
pub(super) struct ScheduledTime {
    next: Time,
    every: Option<Span>,
}

impl ScheduledTime {
    fn every(ns: u64) -> ScheduledTime {
        let span = Span::from_nanos(ns.max(1));
        ScheduledTime { next: Time::ZERO + span, every: Some(span) }
    }

    fn once(at_ns: u64) -> ScheduledTime {
        ScheduledTime { next: Time::from_nanos(at_ns), every: None }
    }

    fn never() -> ScheduledTime {
        ScheduledTime { next: Time::NEVER, every: None }
    }

    /// Whether the time is due; if so, advances to the next time.
    pub(super) fn take(&mut self, now: Time) -> bool {
        if self.next > now {
            return false;
        }
        self.next = self.every.map_or(Time::NEVER, |span| self.next + span);
        true
    }
}

/// The fixed times of a run.
pub(super) struct Schedule {
    pub(super) drain: ScheduledTime,
    pub(super) warmup: ScheduledTime,
    pub(super) sample: ScheduledTime,
    pub(super) bin: ScheduledTime,
    pub(super) progress: ScheduledTime,
    pub(super) end: Time,
    /// The index of the next change of the kernel's bottleneck, and its time.
    change: usize,
    change_at: Time,
}

impl Schedule {
    pub(super) fn new(plan: &Plan) -> Schedule {
        let changes = match &plan.bottleneck {
            Bottleneck::Kernel { changes } => Some(changes),
            Bottleneck::Sojourn(_) => None,
        };
        let captures =
            changes.is_some() || plan.sender_capture.is_some() || plan.header_captures.is_some();
        let samples = plan.sample_flows || plan.sample_law;
        let every = |ns: u64, wanted: bool| match wanted {
            true => ScheduledTime::every(ns),
            false => ScheduledTime::never(),
        };
        // A capture observes the packets of programs, even if our router records the link.
        let drain_ns = if captures { DRAIN_NS } else { LOOK_NS };
        Schedule {
            drain: every(drain_ns, captures || plan.programs.is_some()),
            warmup: ScheduledTime::once(plan.warmup_ns),
            sample: every(plan.sample_ns, samples),
            bin: plan.bins_ns.map_or(ScheduledTime::never(), ScheduledTime::every),
            progress: ScheduledTime::every(progress_ns(plan)),
            end: Time::from_nanos(plan.duration_ns),
            change: 0,
            change_at: changes.map_or(Time::NEVER, |changes| time_of(changes, 0)),
        }
    }

    /// The next change of the bottleneck, if due.
    pub(super) fn take_change<'a>(
        &mut self,
        changes: &'a [(u64, Command)],
        now: Time,
    ) -> Option<&'a Command> {
        if self.change_at > now {
            return None;
        }
        let (_, command) = changes.get(self.change)?;
        self.change += 1;
        self.change_at = time_of(changes, self.change);
        Some(command)
    }

    /// The earliest of all.
    pub(super) fn next(&self) -> Time {
        let times = [&self.drain, &self.warmup, &self.sample, &self.bin, &self.progress];
        let times = times.into_iter().map(|scheduled| scheduled.next);
        times.chain([self.change_at, self.end]).min().expect("there is an end")
    }
}

/// The user's programs are checked at least ten times a second.
fn progress_ns(plan: &Plan) -> u64 {
    let usual_ns = plan.duration_ns / PROGRESS_REPORTS;
    if plan.programs.is_some() { usual_ns.min(LOOK_NS) } else { usual_ns }
}

fn time_of(changes: &[(u64, Command)], index: usize) -> Time {
    changes.get(index).map_or(Time::NEVER, |(at, _)| Time::from_nanos(*at))
}
