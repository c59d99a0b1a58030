//! Rates that change at given times.

use sojourn_aqm::{Rate, Time};

use super::InService;

/// Rates and the times from which they hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    steps: Vec<(Time, Option<Rate>)>,
    /// What a change of rate does to the packet in service.
    pub in_service: InService,
}

impl Schedule {
    /// A schedule; `None` is an outage. The first step is at time zero, times increase strictly,
    /// and at least one step has a rate.
    pub fn new(steps: Vec<(Time, Option<Rate>)>) -> Schedule {
        assert!(steps.first().is_some_and(|&(at, _)| at == Time::ZERO), "the first step is at 0 s");
        assert!(steps.is_sorted_by(|a, b| a.0 < b.0), "times increase");
        assert!(steps.iter().any(|(_, rate)| rate.is_some()), "some step has a rate");
        Schedule { steps, in_service: InService::NewRate }
    }

    /// A schedule without outages.
    pub fn of_rates(steps: impl IntoIterator<Item = (Time, Rate)>) -> Schedule {
        Schedule::new(steps.into_iter().map(|(at, rate)| (at, Some(rate))).collect())
    }

    /// The same schedule with another rule for the packet in service.
    #[must_use]
    pub fn with_in_service(self, in_service: InService) -> Schedule {
        Schedule { in_service, ..self }
    }

    /// Its steps; `None` is an outage.
    pub fn steps(&self) -> &[(Time, Option<Rate>)] {
        &self.steps
    }

    /// All rates, without the outages.
    pub fn rates(&self) -> impl Iterator<Item = Rate> {
        self.steps.iter().filter_map(|&(_, rate)| rate)
    }

    /// The first rate that is not an outage.
    pub fn first_rate(&self) -> Rate {
        self.rates().next().expect("some step has a rate")
    }

    /// The highest rate.
    pub fn highest_rate(&self) -> Rate {
        self.rates().max().expect("some step has a rate")
    }

    /// The lowest rate; `None` if there is an outage.
    pub fn lowest_rate(&self) -> Option<Rate> {
        if self.has_outage() { None } else { self.rates().min() }
    }

    /// Whether nothing is sent for some time.
    pub fn has_outage(&self) -> bool {
        self.steps.iter().any(|(_, rate)| rate.is_none())
    }

    /// The rate at a time; in an outage, the rate before it, or the first rate.
    pub fn rate_at(&self, now: Time) -> Rate {
        let begun = self.steps.iter().take_while(|&&(from, _)| from <= now);
        begun.filter_map(|&(_, rate)| rate).last().unwrap_or_else(|| self.first_rate())
    }

    /// The capacity between two times, in billionths of a bit.
    pub fn nanobits_between(&self, from: Time, to: Time) -> u128 {
        let ends = self.steps[1..].iter().map(|&(at, _)| at).chain([Time::NEVER]);
        let parts = self.steps.iter().zip(ends).map(|(&(begin, rate), end)| {
            let span = end.min(to).since(begin.max(from));
            rate.map_or(0, |rate| u128::from(rate.as_bps()) * u128::from(span.as_nanos()))
        });
        parts.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::from_nanos(s * 1_000_000_000)
    }

    fn rate(bps: u64) -> Option<Rate> {
        Some(Rate::from_bps(bps))
    }

    /// An outage until 1 s, 300 bit/s until 3 s, an outage until 4 s, then 100 bit/s.
    fn schedule() -> Schedule {
        Schedule::new(vec![(at(0), None), (at(1), rate(300)), (at(3), None), (at(4), rate(100))])
    }

    #[test]
    fn carries_nothing_in_an_outage() {
        let bits = |from, to| schedule().nanobits_between(at(from), at(to)) / 1_000_000_000;
        assert_eq!(
            [(0, 1), (0, 2), (2, 4), (2, 6), (5, 5)].map(|(f, t)| bits(f, t)),
            [0, 300, 300, 500, 0]
        );
    }

    #[test]
    fn in_an_outage_the_rate_is_that_before_it_or_the_first_one() {
        let bps = [0, 1, 3, 4].map(|s| schedule().rate_at(at(s)).as_bps());
        assert_eq!(bps, [300, 300, 300, 100]);
        assert_eq!(schedule().first_rate().as_bps(), 300);
        assert_eq!((schedule().highest_rate().as_bps(), schedule().lowest_rate()), (300, None));
    }
}
