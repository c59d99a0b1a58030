//! A line sends packets one after the other, at a rate that may change at given times.

use sojourn_aqm::{Rate, Time};
use sojourn_scenario::resolved::{InService, Schedule};

use crate::Transmitter;

/// A line of one rate, or of a schedule.
#[derive(Clone, Debug)]
pub struct Line {
    /// The transmitter at the current rate or, in an outage, at the rate before it.
    transmitter: Transmitter,
    is_out: bool,
    /// Ordered by time.
    changes: Vec<(Time, Option<Rate>)>,
    /// Number of changes that the transmitter has made; with a packet in service, the number at the
    /// end of that service.
    made: usize,
    /// How many changes have been reported.
    reported: usize,
    /// The rate at which the packet in service is sent after a change. Fact link-2 describes the
    /// old rate.
    in_service: InService,
    /// Whether the current rate will never change and has been reported.
    is_settled: bool,
}

impl From<Rate> for Line {
    fn from(rate: Rate) -> Line {
        Line {
            transmitter: Transmitter::new(rate),
            is_out: false,
            changes: Vec::new(),
            made: 0,
            reported: 0,
            in_service: InService::NewRate,
            is_settled: true,
        }
    }
}

impl From<&Schedule> for Line {
    fn from(schedule: &Schedule) -> Line {
        let (first, later) = schedule.steps().split_first().expect("a schedule has a step");
        let is_out = first.1.is_none();
        Line {
            is_out,
            changes: later.to_vec(),
            in_service: schedule.in_service,
            is_settled: later.is_empty() && !is_out,
            ..Line::from(schedule.first_rate())
        }
    }
}

impl Line {
    /// Whether its rate will no longer change.
    #[inline(always)]
    pub(crate) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Makes the changes due by `now`, and reports the new rates. No packet may be in service.
    #[cold]
    pub(crate) fn change(&mut self, now: Time, mut report: impl FnMut(Rate)) {
        while let Some(&(_, rate)) = self.changes.get(self.made).filter(|(at, _)| *at <= now) {
            self.make(rate);
        }
        for (_, rate) in &self.changes[self.reported..self.made] {
            rate.iter().copied().for_each(&mut report);
        }
        self.reported = self.made;
        self.is_settled = self.made == self.changes.len() && !self.is_out;
    }

    /// When the current outage ends (`NEVER` if it does not); `None` outside an outage.
    pub(crate) fn outage_end(&self) -> Option<Time> {
        let ends = |&&(_, rate): &&(Time, Option<Rate>)| rate.is_some();
        let end = || self.changes[self.made..].iter().find(ends).map_or(Time::NEVER, |&(at, _)| at);
        self.is_out.then(end)
    }

    /// When a packet of `bytes` whose service begins now will have been sent; `NEVER` if an endless
    /// outage comes first.
    #[inline]
    pub fn send(&mut self, now: Time, bytes: u32) -> Time {
        if self.is_settled {
            return now + self.transmitter.next(bytes);
        }
        self.send_over_changes(now, bytes)
    }

    #[cold]
    fn send_over_changes(&mut self, now: Time, bytes: u32) -> Time {
        while let Some(&(_, rate)) = self.changes.get(self.made).filter(|(at, _)| *at <= now) {
            self.make(rate);
        }
        let (mut work, mut from) = (self.transmitter.work(bytes), now);
        loop {
            let change = self.changes.get(self.made).copied();
            if !self.is_out {
                let end = from + self.transmitter.time_for(work);
                let finishes =
                    self.in_service == InService::OldRate || change.is_none_or(|(at, _)| at >= end);
                if finishes {
                    self.transmitter.carry_remainder_of(work);
                    return end;
                }
            }
            let Some((at, rate)) = change else { return Time::NEVER };
            work -= if self.is_out { 0 } else { self.transmitter.work_in(at.since(from)) };
            from = at;
            self.make(rate);
        }
    }

    /// Makes the next change.
    fn make(&mut self, rate: Option<Rate>) {
        self.made += 1;
        self.is_out = rate.is_none();
        if let Some(rate) = rate {
            self.transmitter = Transmitter::new(rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::from_nanos(us * 1_000)
    }

    /// The steps are in microseconds and Mbit/s; 0 is an outage. At 8 Mbit/s a byte takes a
    /// microsecond.
    fn line(steps: &[(u64, u64)], in_service: InService) -> Line {
        let rate = |mbit| (mbit > 0).then(|| Rate::from_bps(mbit * 1_000_000));
        let steps = steps.iter().map(|&(us, mbit)| (at(us), rate(mbit))).collect();
        Line::from(&Schedule::new(steps).with_in_service(in_service))
    }

    #[test]
    fn the_rest_of_a_packet_is_sent_at_the_new_rate() {
        let mut line = line(&[(0, 8), (600, 4), (1_000, 80)], InService::NewRate);
        // 600 B are sent, then 200 B, then 200 B in 20 us.
        assert_eq!(line.send(at(0), 1_000), at(1_020));
        assert_eq!(line.send(at(1_020), 1_000), at(1_120));
    }

    #[test]
    fn a_packet_in_service_finishes_at_its_old_rate_if_the_schedule_says_so() {
        let mut line = line(&[(0, 8), (600, 4), (1_000, 80)], InService::OldRate);
        assert_eq!(line.send(at(0), 1_000), at(1_000));
        assert_eq!(line.send(at(1_000), 1_000), at(1_100));
    }

    #[test]
    fn in_an_outage_the_packet_in_service_waits() {
        let mut line = line(&[(0, 8), (600, 0), (5_000, 0), (9_000, 8)], InService::NewRate);
        assert_eq!(line.send(at(0), 1_000), at(9_400));
        assert_eq!(line.send(at(9_400), 100), at(9_500));
    }

    #[test]
    fn after_the_last_outage_nothing_is_sent() {
        let mut line = line(&[(0, 8), (600, 0)], InService::NewRate);
        assert_eq!(line.send(at(0), 600), at(600));
        assert_eq!(line.send(at(600), 1), Time::NEVER);
        assert_eq!(line.outage_end(), Some(Time::NEVER));
    }

    #[test]
    fn a_line_may_begin_with_an_outage() {
        let mut line = line(&[(0, 0), (600, 8)], InService::NewRate);
        assert_eq!(line.outage_end(), Some(at(600)));
        assert_eq!(line.send(at(0), 100), at(700));
    }

    /// The capacity of a schedule is exact to one nanosecond per change.
    #[test]
    fn packets_back_to_back_carry_what_the_schedule_can() {
        let steps = (0..200).map(|i| (at(i * 777), Some(Rate::from_bps(1_000_003 * (1 + i % 7)))));
        let schedule = Schedule::new(steps.collect());
        let (mut line, mut now, mut bits) = (Line::from(&schedule), Time::ZERO, 0);
        for bytes in [40, 1500, 576, 1].into_iter().cycle().take(100) {
            now = line.send(now, bytes);
            bits += u128::from(bytes) * 8_000_000_000;
        }
        let could = schedule.nanobits_between(Time::ZERO, now);
        assert!(bits.abs_diff(could) <= 201 * 7_000_021, "{bits} {could}");
    }
}
