//! LTE: a rate that fades, grants, retransmissions and handovers.

use sojourn_aqm::{Rate, Rng, Span};

use super::{Generated, LinkTemplate, Template};
use crate::document::capacity::{Capacity, InService, Schedule, Varying};
use crate::document::quantities::{SpanText, StepRateText};
use crate::document::wire::BlocksJitter;
use crate::draw;

pub(super) const KIND: LinkTemplate = LinkTemplate {
    name: "lte",
    text: "A rate with median `rate` that changes every 100 ms, and blocks of 1 ms, of which a \
           tenth is sent again 8 ms later and holds up those behind it. Up, a packet after a pause \
           waits for an opportunity to request a grant, every `request` (10ms). Every `handover`, \
           nothing is sent for 49.5 ms, and the new cell's rate is drawn. Left out: second \
           retransmissions, losses, idle modes (DRX), and the core network. The wait is on the \
           wire.",
    sources: "times: 3GPP TR 36.881; retransmissions: 3GPP TS 36.213; medians: Huang et al. 2012; \
              spread: fact link-10",
    takes: &["direction", "seed", "rate", "request", "handover"],
    needs_rate: false,
    generate,
};

/// Median throughput (Huang et al. 2012), in Mbit/s.
const DOWN_MBIT: f64 = 13.0;
const UP_MBIT: f64 = 6.0;
/// The square root of the rate is normal and follows a first-order autoregression (fact link-10):
/// its standard deviation as a share of its median, and its coefficient.
const DEVIATION: f64 = 0.37;
const MEMORY_S: f64 = 2.0;
const STEP: Span = Span::from_millis(100);
/// More steps would need too much memory.
const LONGEST: Span = Span::from_secs(86_400);

/// A transmission time interval, and the round trip of a retransmission: there are eight processes
/// (3GPP TS 36.213 §8).
const TTI: Span = Span::from_millis(1);
const HARQ_ROUND_TRIP: Span = Span::from_millis(8);
/// The block error rate of first transmissions that link adaptation aims at (3GPP TS 36.213
/// §7.2.3).
const FIRST_ERRORS: f64 = 0.1;
/// Processing 3 ms, transmission 1 ms, decoding 3 ms (3GPP TR 36.881).
const DOWN: Span = Span::from_millis(7);
/// Time from the request to the use of its grant: request 1 ms, its decoding 3 ms, grant 1 ms, its
/// decoding 3 ms (3GPP TR 36.881).
const UNTIL_GRANTED: Span = Span::from_millis(8);
/// Transmission 1 ms and decoding 3 ms (3GPP TR 36.881).
const SENT: Span = Span::from_millis(4);
/// The usual time from one opportunity for a request to the next (3GPP TR 36.881).
const REQUEST: Span = Span::from_millis(10);
/// A typical handover (3GPP TR 36.881).
const INTERRUPTION: Span = Span::from_micros(49_500);

fn generate(template: &Template, duration: Span) -> Result<Generated, String> {
    let median = if template.is_up { UP_MBIT } else { DOWN_MBIT };
    let median = template.rate.map_or(median * 1e6, |rate| rate.as_bps() as f64);
    let rate = fading(template, duration, median, INTERRUPTION)?;
    let periods_ms = [1, 2, 5, 10, 20, 40, 80]; // 3GPP TS 36.213, Table 10.1.5-1
    let request = template.request.unwrap_or(REQUEST);
    if !periods_ms.map(Span::from_millis).contains(&request) {
        return Err(format!("request `{request}` is not 1, 2, 5, 10, 20, 40 or 80 ms"));
    }
    let radio = BlocksJitter {
        retransmit: FIRST_ERRORS,
        round_trip: SpanText(HARQ_ROUND_TRIP),
        ..BlocksJitter::every(TTI)
    };
    let (least, radio) = match template.is_up {
        false => (DOWN, radio),
        true => {
            let (request, pause) = (Some(SpanText(request)), SpanText(UNTIL_GRANTED));
            (UNTIL_GRANTED + SENT, BlocksJitter { request, pause, ..radio })
        }
    };
    Ok(Generated::at(rate).granted(least, radio))
}

/// A rate with a median in bit/s that fades, and is interrupted at each handover.
pub(super) fn fading(
    template: &Template,
    duration: Span,
    median: f64,
    interruption: Span,
) -> Result<Capacity, String> {
    let handover = template.handover.unwrap_or(duration.max(STEP));
    if handover < STEP || template.handover.is_some_and(|every| !is_multiple(every, STEP)) {
        return Err(format!("handover `{handover}` is not a multiple of {STEP}"));
    }
    if duration > LONGEST {
        let name = template.name;
        return Err(format!("`{name}` is generated for at most a day; write a shorter duration"));
    }
    let steps = rates(template, duration, median, handover, interruption);
    Ok(Capacity::Varying(Varying::Schedule(Schedule { steps, in_service: InService::NewRate })))
}

fn is_multiple(span: Span, of: Span) -> bool {
    span.as_nanos().is_multiple_of(of.as_nanos())
}

/// Rates and the times from which they hold.
fn rates(
    template: &Template,
    end: Span,
    median: f64,
    handover: Span,
    interruption: Span,
) -> Vec<(SpanText, StepRateText)> {
    let way = if template.is_up { "up" } else { "down" };
    let mut rng = Rng::stream(template.seed, &format!("{}/{way}", template.name), 0);
    let kept = libm::exp(-STEP.as_secs() / MEMORY_S);
    let drawn = libm::sqrt(1.0 - kept * kept);
    let mut level = draw::normal(&mut rng);
    let mut steps = Vec::new();
    let starts = (0..).map(|step| STEP.times(step));
    for start in starts.take_while(|start| *start == Span::ZERO || *start < end) {
        let mut from = start;
        let normal = draw::normal(&mut rng);
        if start > Span::ZERO && is_multiple(start, handover) {
            steps.push((SpanText(start), StepRateText(None)));
            (from, level) = (start + interruption, normal);
        } else {
            level = kept * level + drawn * normal;
        }
        let root = 1.0 + DEVIATION * level;
        let kbit = (median * root * root / 1e3) as u64;
        steps.push((SpanText(from), StepRateText(Some(Rate::from_bps(kbit.max(1) * 1_000)))));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::wire::Jitter;

    fn generated(text: &str, seconds: u64) -> Result<Generated, String> {
        generate(&Template::parse(text).unwrap(), Span::from_secs(seconds))
    }

    fn steps(text: &str, seconds: u64) -> Vec<(SpanText, StepRateText)> {
        let Capacity::Varying(Varying::Schedule(rates)) = generated(text, seconds).unwrap().rate
        else {
            panic!("rates")
        };
        rates.steps
    }

    /// Mbit/s in steps of 100 ms, without outages.
    fn mbit(text: &str, seconds: u64) -> Vec<f64> {
        let rates = steps(text, seconds).into_iter().filter_map(|(_, rate)| rate.0);
        rates.map(|rate| rate.as_bps() as f64 / 1e6).collect()
    }

    /// The correlation of values with those `later` steps later.
    fn correlation(values: &[f64], later: usize) -> f64 {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let product = |by: usize| {
            let pairs = values.iter().zip(&values[by..]);
            pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / (count - by as f64)
        };
        product(later) / product(0)
    }

    #[test]
    fn rates_have_the_published_medians() {
        let published =
            [("lte:seed=2", 13.0), ("lte:direction=up", 6.0), ("lte:rate=40mbit", 40.0)];
        for (text, published) in published {
            let mut rates = mbit(text, 20_000);
            rates.sort_by(f64::total_cmp);
            let median = rates[rates.len() / 2];
            assert!((median / published - 1.0).abs() < 0.05, "{text}: {median}");
        }
    }

    /// Fact link-10: the quantiles of two recorded links, as shares of the median, lie within these
    /// ranges.
    #[test]
    fn rates_vary_as_in_recorded_links() {
        let rates = mbit("lte:seed=3", 86_400);
        let mut sorted = rates.clone();
        sorted.sort_by(f64::total_cmp);
        let quantile = |share: f64| sorted[(share * sorted.len() as f64) as usize];
        let recorded = [(0.1, 0.25..0.29), (0.25, 0.54..0.61), (0.75, 1.53..1.61), (0.9, 2.0..2.4)];
        for (share, range) in recorded {
            let found = quantile(share) / quantile(0.5);
            assert!(range.contains(&found), "{share}: {found}");
        }
        let roots: Vec<f64> = rates.iter().map(|rate| rate.sqrt()).collect();
        let after_a_second = correlation(&roots, 10);
        assert!((0.56..0.65).contains(&after_a_second), "{after_a_second}");
    }

    #[test]
    fn a_handover_stops_the_link_for_49_5_ms() {
        let steps = steps("lte:handover=2s", 5);
        let outages: Vec<usize> =
            (0..steps.len()).filter(|&step| steps[step].1.0.is_none()).collect();
        let times = |of: &dyn Fn(usize) -> usize| -> Vec<u64> {
            outages.iter().map(|&step| steps[of(step)].0.0.as_nanos() / 100_000).collect()
        };
        assert_eq!(times(&|step| step), [20_000, 40_000]);
        assert_eq!(times(&|step| step + 1), [20_495, 40_495]);
        assert_eq!(times(&|step| step + 2), [21_000, 41_000]);
        assert_eq!(steps[0].0.0, Span::ZERO);
    }

    #[test]
    fn packets_take_the_times_of_3gpp() {
        let of = |text: &str| {
            let found = generated(text, 1).unwrap();
            let Some(Jitter::Blocks(blocks)) = found.jitter else { panic!("blocks") };
            (found.delay.unwrap().least(), blocks)
        };
        let ms = Span::from_millis;
        let (least, blocks) = of("lte");
        // With half a TTI of alignment, this is 7.5 ms.
        assert_eq!((least, blocks.every.0, blocks.request), (ms(7), ms(1), None));
        let (least, blocks) = of("lte:direction=up,request=5ms");
        // With half a period of requests, this is 14.5 ms.
        assert_eq!((least, blocks.request.unwrap().0, blocks.pause.0), (ms(12), ms(5), ms(8)));
        assert_eq!((blocks.retransmit, blocks.round_trip.0), (0.1, ms(8)));
    }

    #[test]
    fn what_lte_does_not_have_is_refused() {
        for (text, words) in [
            ("lte:request=3ms", "5, 10, 20, 40 or 80 ms"),
            ("lte:handover=0s", "a multiple of 100ms"),
            ("lte:handover=150ms", "a multiple of 100ms"),
        ] {
            let Err(error) = generated(text, 1) else { panic!("{text}") };
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(generated("lte", 86_401).is_err_and(|error| error.contains("at most a day")));
    }

    #[test]
    fn a_longer_run_has_the_same_rates_at_its_beginning() {
        let (short, long) = (mbit("lte", 10), mbit("lte", 30));
        assert_eq!(short[..], long[..short.len()]);
    }
}
