//! The share of a link's capacity that was used, and the rate that it carried.

use std::sync::Arc;

use sojourn_aqm::{Rate, Span};
use sojourn_link::Opportunities;
use sojourn_scenario::resolved::{Bucket, Capacity, InService, Link, Schedule};

use crate::{LinkTotals, PacketInService};

/// A link, and the capacity to which its use is compared.
#[derive(Clone, Debug)]
pub struct Utilisation {
    link: String,
    capacity: Against,
}

#[derive(Clone, Debug)]
enum Against {
    /// The elapsed time, at a rate of at most `peak`.
    Time { peak: Rate },
    /// The elapsed time, of a transmitter without a fixed rate.
    Airtime,
    /// The tokens of a bucket, or the time of the line behind it, whichever is scarcer.
    Tokens { rate: Rate, line: Rate },
    /// The capacity of its schedule of rates.
    Rates(Schedule),
    /// The capacity of its recorded opportunities.
    Opportunities(Opportunities),
}

/// How a link was used between two times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkUse {
    /// Share of the capacity, at most 1.
    pub utilisation: f64,
    /// Carried rate in bit/s.
    pub throughput: f64,
}

const GIGA: i128 = 1_000_000_000;

impl Utilisation {
    /// How to measure the use of a link.
    pub fn of(link: &Link) -> Utilisation {
        let capacity = match &link.capacity {
            Capacity::Trace(trace) => Against::Opportunities(Opportunities::new(Arc::clone(trace))),
            Capacity::Bucket(Bucket { rate, line, .. }) => {
                Against::Tokens { rate: *rate, line: *line }
            }
            Capacity::Constant(rate) => Against::Time { peak: *rate },
            Capacity::Schedule(schedule) => Against::Rates(schedule.clone()),
            Capacity::Wireless { .. } => Against::Airtime,
        };
        Utilisation { link: link.name.clone(), capacity }
    }

    /// For a link that never exceeds a rate.
    pub fn of_rate(link: &str, peak: Rate) -> Utilisation {
        Utilisation { link: link.to_owned(), capacity: Against::Time { peak } }
    }

    /// For a link with a schedule of rates.
    pub fn of_schedule(link: &str, schedule: Schedule) -> Utilisation {
        Utilisation { link: link.to_owned(), capacity: Against::Rates(schedule) }
    }

    /// For a link that sends at recorded opportunities.
    pub fn of_recording(link: &str, opportunities: Opportunities) -> Utilisation {
        Utilisation { link: link.to_owned(), capacity: Against::Opportunities(opportunities) }
    }

    /// The use of the link between two times, given its totals at both.
    ///
    /// # Panics
    /// If it carried more than it can, which only a bug can cause.
    pub fn used(&self, from: &LinkTotals, to: &LinkTotals) -> LinkUse {
        let seconds = to.at.since(from.at).as_secs();
        let carried = to.carried.since(from.carried);
        let of_time = carried.busy.as_secs() / seconds;
        let utilisation = match &self.capacity {
            Against::Time { peak } => {
                self.check_rate(carried.bits, *peak, from, to);
                of_time
            }
            Against::Airtime => of_time,
            Against::Tokens { rate, line } => {
                self.check_rate(carried.bits, *line, from, to);
                let (passed, could) = tokens(*rate, from, to);
                of_time.max(passed as f64 / could as f64)
            }
            Against::Rates(schedule) => return self.used_of(schedule, from, to),
            Against::Opportunities(opportunities) => {
                let offered = offered(opportunities, from, to);
                let bits = offered.max(1) * u64::from(opportunities.bytes()) * 8;
                carried.bits as f64 / bits as f64
            }
        };
        assert!(
            utilisation <= 1.0,
            "links.{}: used {utilisation} of its capacity between {} and {} s: {carried:?}",
            self.link,
            from.at.as_secs(),
            to.at.as_secs(),
        );
        LinkUse { utilisation, throughput: carried.bits as f64 / seconds }
    }

    /// Whether the link could have carried anything between two times, given its totals at both.
    pub fn could_carry(&self, from: &LinkTotals, to: &LinkTotals) -> bool {
        match &self.capacity {
            Against::Rates(schedule) => schedule.nanobits_between(from.at, to.at) > 0,
            Against::Opportunities(opportunities) => offered(opportunities, from, to) > 0,
            Against::Time { .. } | Against::Airtime | Against::Tokens { .. } => true,
        }
    }

    /// Use of the capacity of a schedule, including bytes added by the line. A packet that finishes
    /// at its old rate may exceed the capacity.
    fn used_of(&self, schedule: &Schedule, from: &LinkTotals, to: &LinkTotals) -> LinkUse {
        let [(bits, on_line), (bits_before, on_line_before)] =
            [to, from].map(|totals| carried_by(schedule, totals));
        let (bits, on_line) = (bits - bits_before, on_line - on_line_before);
        let could = schedule.nanobits_between(from.at, to.at) as f64 / GIGA as f64;
        // A transmission ends at a whole nanosecond, rounded down, and so does each change of rate.
        let nanos = 2 + schedule.steps().len();
        let allowed = could + 2.0 + nanos as f64 * schedule.highest_rate().as_bps() as f64 / 1e9;
        assert!(
            schedule.in_service == InService::OldRate || on_line <= allowed,
            "links.{}: carried {on_line} bit between {} and {} s of {could}",
            self.link,
            from.at.as_secs(),
            to.at.as_secs(),
        );
        let utilisation = if on_line > 0.0 { on_line / could.max(on_line) } else { 0.0 };
        LinkUse { utilisation, throughput: bits / to.at.since(from.at).as_secs() }
    }

    /// A transmission takes whole nanoseconds, rounded down, so one extra nanosecond is allowed.
    /// One extra bit is allowed too, because a bit that was partially carried before counts in
    /// full.
    fn check_rate(&self, bits: u64, peak: Rate, from: &LinkTotals, to: &LinkTotals) {
        let nanos = i128::from(to.at.since(from.at).as_nanos()) + 1;
        assert!(
            i128::from(bits) * GIGA <= nanos * i128::from(peak.as_bps()) + GIGA,
            "links.{}: carried {bits} bit between {} and {} s at no more than {} bit/s",
            self.link,
            from.at.as_secs(),
            to.at.as_secs(),
            peak.as_bps(),
        );
    }
}

/// Recorded opportunities between two times.
fn offered(opportunities: &Opportunities, from: &LinkTotals, to: &LinkTotals) -> u64 {
    let until = |totals: &LinkTotals| {
        let moment = Span::from_nanos(u64::from(totals.includes_at));
        opportunities.count_until(totals.at + moment)
    };
    until(to) - until(from)
}

/// Bits that a link with a schedule had carried by a time, as counted by the queue and by the line.
/// The current transmission counts by the work done.
fn carried_by(schedule: &Schedule, totals: &LinkTotals) -> (f64, f64) {
    let PacketInService { bytes, overhead, began, .. } = totals.present;
    let end = totals.present.end();
    let all = (totals.carried.bits + totals.bits_to_come) as f64;
    let to_come = if end <= totals.at {
        0.0
    } else if schedule.in_service == InService::OldRate {
        end.since(totals.at).as_secs() / end.since(began).as_secs()
    } else {
        let done = schedule.nanobits_between(began, totals.at) as f64 / GIGA as f64;
        (1.0 - done / (f64::from(bytes + overhead) * 8.0)).max(0.0)
    };
    let of_packet = |bytes: u32| f64::from(bytes) * 8.0 * to_come;
    let on_line = all + totals.carried.overhead_bits as f64 - of_packet(bytes + overhead);
    (all - of_packet(bytes), on_line)
}

/// Tokens of a bucket between two times, in billionths of a bit: the tokens of everything carried,
/// and the tokens available. The available tokens are those of bytes that had passed the bucket but
/// were not yet carried, the bucket's contents, the inflow, and the bucket's debt at the end.
fn tokens(rate: Rate, from: &LinkTotals, to: &LinkTotals) -> (i128, i128) {
    let of = |totals: &LinkTotals| {
        let reserve = totals.reserve.expect("the reserve of a bucket is known");
        let sending = totals.present.bits_to_come(totals.at, reserve.sending_bytes);
        let to_come = i128::from(reserve.passed_bytes) * 8 + i128::from(sending);
        (reserve, to_come)
    };
    let ((before, to_come_before), (after, to_come)) = (of(from), of(to));
    let taken = i128::from(after.taken_bytes - before.taken_bytes) * 8;
    let accrued = i128::from(rate.as_bps()) * i128::from(to.at.since(from.at).as_nanos());
    let lent = i128::from((-after.tokens).max(0));
    let could = to_come_before * GIGA + i128::from(before.tokens) + accrued + lent;
    ((to_come_before + taken - to_come) * GIGA, could)
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::Time;
    use sojourn_link::TokenReserve;
    use sojourn_scenario::resolved::Trace;

    use super::*;
    use crate::Carried;

    /// Totals at 1 s, and two seconds later after carrying these amounts.
    fn totals(busy_ms: u64, bits: u64) -> (LinkTotals, LinkTotals) {
        let at =
            |s: u64| LinkTotals { at: Time::ZERO + Span::from_secs(s), ..LinkTotals::default() };
        let carried =
            |ms, bits| Carried { busy: Span::from_millis(ms), bits, ..Carried::default() };
        let then = LinkTotals { carried: carried(700, 9_000), ..at(1) };
        (then, LinkTotals { carried: carried(700 + busy_ms, 9_000 + bits), ..at(3) })
    }

    fn used(link: &Utilisation, (from, to): (LinkTotals, LinkTotals)) -> LinkUse {
        link.used(&from, &to)
    }

    fn steady(bps: u64) -> Utilisation {
        Utilisation::of_rate("b", Rate::from_bps(bps))
    }

    fn bucket(bps: u64, line_bps: u64) -> Utilisation {
        let (rate, line) = (Rate::from_bps(bps), Rate::from_bps(line_bps));
        Utilisation { link: "b".into(), capacity: Against::Tokens { rate, line } }
    }

    /// A bucket with these contents, in bits, after packets took `taken_bytes`; 500 bytes are in
    /// service.
    fn reserve(bits: i64, taken_bytes: u64, passed_bytes: u64) -> Option<TokenReserve> {
        let tokens = bits * 1_000_000_000;
        Some(TokenReserve { tokens, taken_bytes, passed_bytes, sending_bytes: 500 })
    }

    #[test]
    fn a_server_is_used_while_it_is_busy() {
        let found = used(&steady(10_000), totals(500, 3_000));
        assert_eq!(found, LinkUse { utilisation: 0.25, throughput: 1_500.0 });
    }

    #[test]
    #[should_panic(expected = "links.b: carried 20002 bit between 1 and 3 s at no more than 10000")]
    fn more_than_the_rate_is_a_bug_that_names_link_and_figures() {
        used(&steady(10_000), totals(2_000, 20_002));
    }

    #[test]
    #[should_panic(expected = "links.b: used 1.5 of its capacity")]
    fn more_than_all_the_time_is_a_bug_that_names_link_and_figures() {
        used(&steady(10_000), totals(3_000, 0));
    }

    fn scheduled(steps: &[(u64, u64)], in_service: InService) -> Utilisation {
        let rate = |bps| (bps > 0).then(|| Rate::from_bps(bps));
        let steps = steps.iter().map(|&(s, bps)| (Time::ZERO + Span::from_secs(s), rate(bps)));
        let schedule = Schedule::new(steps.collect()).with_in_service(in_service);
        Utilisation { link: "b".into(), capacity: Against::Rates(schedule) }
    }

    /// 10 and 30 kbit/s, for a second each.
    #[test]
    fn a_schedule_is_used_by_what_its_rates_could_carry() {
        let link = scheduled(&[(0, 10_000), (2, 30_000)], InService::NewRate);
        let found = used(&link, totals(500, 8_000));
        assert_eq!(found, LinkUse { utilisation: 0.2, throughput: 4_000.0 });
        let (from, to) = totals(500, 8_000);
        let overhead = Carried { overhead_bits: 4_000, ..to.carried };
        let found = used(&link, (from, LinkTotals { carried: overhead, ..to }));
        assert_eq!(found, LinkUse { utilisation: 0.3, throughput: 4_000.0 });
    }

    #[test]
    fn an_outage_is_neither_used_nor_offered() {
        let link = scheduled(&[(0, 10_000), (1, 0)], InService::NewRate);
        assert_eq!(used(&link, totals(2_000, 0)).utilisation, 0.0);
    }

    #[test]
    #[should_panic(expected = "links.b: carried 8000 bit between 1 and 3 s of 2000")]
    fn more_than_a_schedule_offers_is_a_bug_that_names_link_and_figures() {
        used(&scheduled(&[(0, 1_000)], InService::NewRate), totals(500, 8_000));
    }

    #[test]
    fn a_packet_that_finishes_at_its_old_rate_may_use_more_than_the_schedule_offers() {
        let link = scheduled(&[(0, 1_000)], InService::OldRate);
        assert_eq!(used(&link, totals(500, 8_000)).utilisation, 1.0);
    }

    /// 1000 B begin at 0.5 s at 8 kbit/s; 500 B are sent when counting and an outage begin at 1 s;
    /// the other 500 B follow from 2 s on.
    #[test]
    fn a_packet_in_service_counts_by_the_work_that_is_done() {
        let link = scheduled(&[(0, 8_000), (1, 0), (2, 8_000)], InService::NewRate);
        let began = Time::ZERO + Span::from_millis(500);
        let span = Span::from_secs(2);
        let present = PacketInService { bytes: 1_000, overhead: 0, span, began };
        let mut sent = crate::transmissions::Transmissions::default();
        sent.begin(began, (1_000, 0), span);
        let of = |s: u64| {
            if s == 0 {
                return LinkTotals::default();
            }
            let at = Time::ZERO + Span::from_secs(s);
            let (carried, bits_to_come) = (sent.until(at), sent.bits_to_come(at));
            LinkTotals { at, carried, present, bits_to_come, ..LinkTotals::default() }
        };
        let found = |from, to| used(&link, (of(from), of(to)));
        assert_eq!(found(0, 1), LinkUse { utilisation: 0.5, throughput: 4_000.0 });
        assert_eq!(found(1, 2), LinkUse { utilisation: 0.0, throughput: 0.0 });
        assert_eq!(found(2, 3), LinkUse { utilisation: 0.5, throughput: 4_000.0 });
    }

    /// 400 kbit/s for two seconds, plus the initial contents of the bucket and its debt at the end.
    #[test]
    fn a_token_bucket_is_used_by_what_it_let_pass() {
        let of = |bits: u64, tokens: [i64; 2], passed_bytes: u64, bits_to_come: u64| {
            // Here the line counts fewer bytes than the bucket does.
            let (from, to) = totals(100, bits / 2);
            let taken_bytes = (bits - bits_to_come) / 8 - passed_bytes;
            let from = LinkTotals { reserve: reserve(tokens[0], 0, passed_bytes), ..from };
            let to = LinkTotals { reserve: reserve(tokens[1], taken_bytes, 0), ..to };
            // A bit of the packet in service takes a microsecond.
            let span = Span::from_micros(4_000);
            let began = Time::from_nanos(from.at.as_nanos() - 1_000 * (4_000 - bits_to_come));
            let present = PacketInService { bytes: 250, overhead: 0, span, began };
            used(&bucket(400_000, 10_000_000), (LinkTotals { present, ..from }, to)).utilisation
        };
        assert_eq!(of(400_000, [0, 0], 0, 0), 0.5);
        assert_eq!(of(1_000_000, [200_000, 0], 0, 0), 1.0);
        assert_eq!(of(1_000_000, [200_000, 200_000], 0, 0), 1.0);
        assert_eq!(of(900_000, [0, -100_000], 0, 0), 1.0);
        assert_eq!(of(700_000, [-100_000, 0], 0, 0), 1.0);
        assert_eq!(of(810_000, [0, 0], 1_000, 2_000), 1.0);
    }

    #[test]
    fn a_bucket_as_fast_as_its_line_is_used_as_the_line_is() {
        let (from, to) = totals(2_000, 19_000_000);
        let with = |totals| LinkTotals { reserve: reserve(0, 0, 0), ..totals };
        let found = used(&bucket(10_000_000, 10_000_000), (with(from), with(to)));
        assert_eq!(found, LinkUse { utilisation: 1.0, throughput: 9_500_000.0 });
    }

    #[test]
    fn a_recorded_link_is_used_by_what_its_opportunities_carried() {
        let trace = Trace {
            file: String::new(),
            sha256: String::new(),
            opportunities_ms: vec![500],
            opportunity_bytes: 1_000,
        };
        let recorded = Utilisation::of_recording("b", Opportunities::new(Arc::new(trace)));
        // Opportunities are at 1, 1.5, 2 and 2.5 s.
        assert_eq!(used(&recorded, totals(0, 24_000)).utilisation, 0.75);
    }
}
