//! What comes at fixed times of a run.

use sojourn_aqm::{Span, Time};

use super::{DRAIN_NS, TELLINGS};
use crate::plan::{Bottleneck, Command, Plan};

/// Something that repeats, or happens once.
pub struct Beat {
    next: Time,
    every: Option<Span>,
}

impl Beat {
    fn every(ns: u64) -> Beat {
        let span = Span::from_nanos(ns.max(1));
        Beat { next: Time::ZERO + span, every: Some(span) }
    }

    fn once(at_ns: u64) -> Beat {
        Beat { next: Time::from_nanos(at_ns), every: None }
    }

    fn never() -> Beat {
        Beat { next: Time::NEVER, every: None }
    }

    /// Whether it is due; then it waits for its next time.
    pub fn take(&mut self, now: Time) -> bool {
        if self.next > now {
            return false;
        }
        self.next = self.every.map_or(Time::NEVER, |span| self.next + span);
        true
    }
}

/// All of them.
pub struct Due {
    pub drain: Beat,
    pub warmup: Beat,
    pub sample: Beat,
    pub bin: Beat,
    pub telling: Beat,
    /// The next change of the kernel's bottleneck, by place, and when it comes.
    pub change: usize,
    change_at: Time,
    pub end: Time,
}

impl Due {
    pub fn new(plan: &Plan) -> Due {
        let kernel = matches!(plan.bottleneck, Bottleneck::Kernel { .. });
        let records = kernel || plan.watch.is_some();
        let mut due = Due {
            drain: if records { Beat::every(DRAIN_NS) } else { Beat::never() },
            warmup: Beat::once(plan.warmup_ns),
            sample: if plan.sample_flows || plan.sample_law {
                Beat::every(plan.sample_ns)
            } else {
                Beat::never()
            },
            bin: plan.bins_ns.map_or(Beat::never(), Beat::every),
            telling: Beat::every(plan.duration_ns / TELLINGS),
            change: 0,
            change_at: Time::NEVER,
            end: Time::from_nanos(plan.duration_ns),
        };
        if let Bottleneck::Kernel { changes } = &plan.bottleneck {
            due.change_at = at(changes, 0);
        }
        due
    }

    /// The change that was due is done.
    pub fn change(&mut self, changes: &[(u64, Command)]) {
        self.change += 1;
        self.change_at = at(changes, self.change);
    }

    pub fn next(&self) -> Time {
        let beats = [&self.drain, &self.warmup, &self.sample, &self.bin, &self.telling];
        let beats = beats.into_iter().map(|beat| beat.next);
        beats.chain([self.change_at, self.end]).min().expect("there is an end")
    }
}

fn at(changes: &[(u64, Command)], place: usize) -> Time {
    changes.get(place).map_or(Time::NEVER, |(at, _)| Time::from_nanos(*at))
}
