//! Starlink: rate and delay change every 15 s.

use sojourn_aqm::{Rate, Rng, Span};

use super::{Generated, LinkTemplate, Template};
use crate::document::capacity::{Capacity, InService, Schedule, Varying};
use crate::document::quantities::{SpanText, StepRateText};
use crate::document::wire::{Delay, DelaySchedule, VaryingDelay};
use crate::draw;

pub(super) const KIND: LinkTemplate = LinkTemplate {
    name: "starlink",
    text: "Rate and round trip are drawn for each slot of 15 s; a run begins with a minute. Each \
           direction has half of the round trip; with one seed both change alike. Left out: gaps \
           and losses at changes, and the scheduling within a slot, whose distributions are not \
           published. That a slot's rate is log-normal, and its spread, are our choice.",
    sources: "slots: Tanveer et al. 2023; round trips: Michel et al. 2022; rates: Ookla 2022",
    takes: &["direction", "seed"],
    needs_rate: false,
    generate,
};

/// The global scheduler assigns satellites at these seconds of a minute: 12, 27, 42, 57 (Tanveer et
/// al. 2023).
const FIRST_S: u64 = 12;
const SLOT_S: u64 = 15;
/// Medians of the United States in the fourth quarter of 2021 (Ookla 2022), in Mbit/s.
const DOWN_MBIT: f64 = 104.97;
const UP_MBIT: f64 = 12.04;
/// Our choice: quartiles at 0.76 and 1.31 times the median.
const RATE_SIGMA: f64 = 0.4;
/// Round trips to anchors in Europe: at least 20 ms, quartiles 40, 50 and 60 ms (Michel et al.
/// 2022). We use 20 ms plus a log-normal time with quartiles of 21, 30 and 42 ms.
const LEAST_RTT_MS: f64 = 20.0;
const MEDIAN_EXTRA_MS: f64 = 30.0;
const RTT_SIGMA: f64 = 0.5;

fn generate(template: &Template, duration: Span) -> Result<Generated, String> {
    let (way, median) = if template.is_up { ("up", UP_MBIT) } else { ("down", DOWN_MBIT) };
    let mut rates = Rng::stream(template.seed, &format!("starlink/{way}"), 0);
    let mut trips = Rng::stream(template.seed, "starlink/rtt", 0);
    let starts = std::iter::once(0).chain((FIRST_S..).step_by(SLOT_S as usize));
    let (mut rate_steps, mut delay_steps) = (Vec::new(), Vec::new());
    let starts = starts.map(Span::from_secs);
    for start in starts.take_while(|start| *start == Span::ZERO || *start < duration) {
        let mbit = median * libm::exp(RATE_SIGMA * draw::normal(&mut rates));
        let rate = Rate::from_bps((mbit * 1e3) as u64 * 1_000);
        rate_steps.push((SpanText(start), StepRateText(Some(rate))));
        let extra_ms = MEDIAN_EXTRA_MS * libm::exp(RTT_SIGMA * draw::normal(&mut trips));
        let delay = Span::from_micros(((LEAST_RTT_MS + extra_ms) * 500.0) as u64);
        delay_steps.push((SpanText(start), SpanText(delay)));
    }
    let schedule = Schedule { steps: rate_steps, in_service: InService::NewRate };
    let delays = DelaySchedule { steps: delay_steps, reorder: false };
    let delay = Some(Delay::Varying(VaryingDelay::Schedule(delays)));
    Ok(Generated { delay, ..Generated::at(Capacity::Varying(Varying::Schedule(schedule))) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str, seconds: u64) -> (Vec<(u64, f64)>, Vec<f64>) {
        let template = Template::parse(text).unwrap();
        let generated = generate(&template, Span::from_secs(seconds)).unwrap();
        let Capacity::Varying(Varying::Schedule(rates)) = generated.rate else { panic!("rates") };
        let Some(Delay::Varying(VaryingDelay::Schedule(delays))) = generated.delay else {
            panic!("delays")
        };
        let mbit = |rate: StepRateText| rate.0.unwrap().as_bps() as f64 / 1e6;
        let rates =
            rates.steps.iter().map(|(at, rate)| (at.0.as_nanos() / 1_000_000_000, mbit(*rate)));
        (rates.collect(), delays.steps.iter().map(|(_, delay)| 2e3 * delay.0.as_secs()).collect())
    }

    fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
        values.sort_by(f64::total_cmp);
        [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 0.04, "{found}, not {expected}");
    }

    #[test]
    fn slots_begin_at_the_published_seconds_of_a_minute() {
        let at: Vec<u64> = steps("starlink", 130).0.iter().map(|(at, _)| *at).collect();
        assert_eq!(at, [0, 12, 27, 42, 57, 72, 87, 102, 117]);
    }

    #[test]
    fn rates_and_round_trips_have_the_published_quantiles() {
        let day = 30 * 86_400;
        let (down, trips) = steps("starlink:seed=3", day);
        let (up, same) = steps("starlink:direction=up,seed=3", day);
        let median = |rates: Vec<(u64, f64)>| quartiles(rates.iter().map(|row| row.1).collect())[1];
        assert_near(median(down), 104.97);
        assert_near(median(up), 12.04);
        assert_eq!(trips, same, "both directions change alike");
        for (found, published) in quartiles(trips.clone()).into_iter().zip([40.0, 50.0, 60.0]) {
            assert_near(found, published);
        }
        assert!(trips.iter().all(|&rtt_ms| rtt_ms >= 20.0));
    }

    #[test]
    fn a_longer_run_has_the_same_slots_at_its_beginning() {
        let ((short, _), (long, _)) = (steps("starlink", 60), steps("starlink", 600));
        assert_eq!(short[..], long[..short.len()]);
    }
}
