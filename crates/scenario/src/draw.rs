//! Draws from the distributions that a scenario can name.

use sojourn_aqm::{Rng, Span, Time};

use crate::resolved::{Arrivals, FlowGroup, Shape, Sizes, Transfers};

/// How often a size outside its limits is drawn again before the nearest limit is used. If a
/// distribution's mean is within the limits, the nearest limit is hardly ever used.
const DRAWS_AGAIN: u32 = 1_000;

/// Draws a size in bytes.
pub fn size(rng: &mut Rng, sizes: &Sizes) -> u64 {
    let (shape, min, max) = match sizes {
        Sizes::List(sizes) => return sizes[rng.below(sizes.len() as u64) as usize],
        Sizes::Drawn { shape, min, max } => (*shape, *min, *max),
    };
    let mut drawn = 0.0;
    for _ in 0..DRAWS_AGAIN {
        drawn = match shape {
            Shape::Uniform => return min + rng.below(max - min + 1),
            Shape::Exponential(mean) => rng.exponential(mean),
            Shape::LogNormal(mean, deviation) => lognormal(rng, mean, deviation),
            Shape::Pareto(shape) => pareto(rng, shape, min as f64),
        };
        if drawn >= min as f64 && drawn < (max + 1) as f64 {
            return drawn as u64;
        }
    }
    if drawn < min as f64 { min } else { max }
}

/// Draws a start time, uniform from the first time (inclusive) to the second (exclusive). If they
/// are equal, returns that time.
fn start((earliest, latest): (Span, Span), rng: &mut Rng) -> Time {
    let range = (latest - earliest).as_nanos();
    let drawn = if range > 0 { rng.below(range) } else { 0 };
    Time::ZERO + earliest + Span::from_nanos(drawn)
}

/// Draws the time between two arrivals of the given mean.
pub fn gap(rng: &mut Rng, mean: Span, arrivals: Arrivals) -> Span {
    match arrivals {
        Arrivals::Constant => mean,
        Arrivals::Uniform => mean.half() + Span::from_nanos(rng.below(mean.as_nanos())),
        Arrivals::Poisson => exponential(rng, mean),
    }
}

/// Draws an exponential time of the given mean.
pub fn exponential(rng: &mut Rng, mean: Span) -> Span {
    Span::from_secs_f64(rng.exponential(mean.as_secs()))
}

/// The start times of the flows of a group, member by member.
#[derive(Debug)]
pub struct Starts<'a> {
    group: &'a FlowGroup,
    seed: u64,
    member: u32,
    /// The last arrival, and the random stream of the gaps.
    arrival: (Time, Rng),
}

impl Starts<'_> {
    /// The start times of a group in a run with the given seed.
    pub fn new(seed: u64, group: &FlowGroup) -> Starts<'_> {
        let gaps = Rng::stream(seed, &format!("{}/arrivals", group.name), 0);
        Starts { group, seed, member: 0, arrival: (Time::ZERO + group.start.0, gaps) }
    }
}

impl Iterator for Starts<'_> {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        let Starts { group, seed, member, arrival: (arrival, gaps) } = self;
        let place = *member;
        if place == group.count {
            return None;
        }
        *member += 1;
        Some(match group.app.transfers() {
            Some(Transfers::Drawn { every, arrivals, .. }) => {
                *arrival += gap(gaps, *every, *arrivals);
                *arrival
            }
            Some(Transfers::Recorded(recording)) => *arrival + recording.amounts[place as usize].0,
            None => {
                let purpose = format!("{}/start", group.name);
                start(group.start, &mut Rng::stream(*seed, &purpose, u64::from(place)))
            }
        })
    }
}

/// Draws a number from a Pareto distribution of the given shape, at least `scale`.
pub fn pareto(rng: &mut Rng, shape: f64, scale: f64) -> f64 {
    scale / libm::pow(1.0 - rng.uniform(), 1.0 / shape)
}

/// Draws a standard normal number: the sine half of Box and Muller (1958), so that each draw takes
/// two uniform numbers.
pub fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(rng.exponential(2.0));
    radius * libm::sin(core::f64::consts::TAU * rng.uniform())
}

/// Draws a log-normal number with the given mean and standard deviation, both positive.
pub fn lognormal(rng: &mut Rng, mean: f64, deviation: f64) -> f64 {
    let ratio = deviation / mean;
    let variance = libm::log(1.0 + ratio * ratio);
    let centre = libm::log(mean) - variance / 2.0;
    libm::exp(centre + libm::sqrt(variance) * normal(rng))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    #[test]
    fn gaps_have_their_mean_and_the_variation_of_their_kind() {
        let every = Span::from_millis(20);
        let of = |arrivals| moments(|rng| gap(rng, every, arrivals).as_secs() / 0.02);
        assert_eq!(of(Arrivals::Constant), (1.0, 0.0));
        let (mean, deviation) = of(Arrivals::Poisson);
        assert!((mean - 1.0).abs() < 0.01 && (deviation - 1.0).abs() < 0.02, "{mean} {deviation}");
        let (mean, deviation) = of(Arrivals::Uniform);
        let even = 1.0 / libm::sqrt(12.0);
        assert!((mean - 1.0).abs() < 0.01 && (deviation - even).abs() < 0.01, "{deviation}");
    }

    fn moments(draw: impl Fn(&mut Rng) -> f64) -> (f64, f64) {
        let mut rng = Rng::stream(1, "draw", 0);
        let values: Vec<f64> = (0..DRAWS).map(|_| draw(&mut rng)).collect();
        let mean = values.iter().sum::<f64>() / DRAWS as f64;
        let square = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / DRAWS as f64;
        (mean, libm::sqrt(square))
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_deviation_one() {
        let (mean, deviation) = moments(normal);
        // The bounds are four standard errors: 4/sqrt(200 000) for the mean, 4/sqrt(2 x 200 000)
        // for the deviation.
        assert!(mean.abs() < 0.009, "{mean}");
        assert!((deviation - 1.0).abs() < 0.0064, "{deviation}");
    }

    #[test]
    fn sizes_stay_within_their_limits_and_have_their_means() {
        let drawn = |shape, min, max| {
            let sizes = Sizes::Drawn { shape, min, max };
            let mut rng = Rng::stream(1, "sizes", 0);
            let values: Vec<u64> = (0..DRAWS).map(|_| size(&mut rng, &sizes)).collect();
            assert!(values.iter().all(|value| (min..=max).contains(value)));
            values.iter().sum::<u64>() as f64 / DRAWS as f64
        };
        let uniform = drawn(Shape::Uniform, 1_000, 3_000);
        assert!((uniform - 2_000.0).abs() < 4.0 * 577.0 / libm::sqrt(DRAWS as f64), "{uniform}");
        let exponential = drawn(Shape::Exponential(1_000.0), 1, 1_000_000);
        assert!((exponential - 1_000.0).abs() < 10.0, "{exponential}");
        // Pareto of shape 2 between L and H, redrawn when outside: mean 2 L H / (L + H).
        let pareto = drawn(Shape::Pareto(2.0), 1_000, 100_000);
        assert!((pareto / (2.0 * 100_000.0 / 101.0) - 1.0).abs() < 0.02, "{pareto}");
        // The web model's main object: its limits reduce the mean by at most a tenth.
        let main = drawn(Shape::LogNormal(10_710.0, 25_032.0), 100, 2_000_000);
        assert!((0.9..1.02).contains(&(main / 10_710.0)), "{main}");
    }

    #[test]
    fn both_limits_of_a_uniform_size_are_drawn() {
        let mut rng = Rng::stream(1, "sizes", 0);
        let sizes = Sizes::Drawn { shape: Shape::Uniform, min: 5, max: 7 };
        let mut drawn: Vec<u64> = (0..100).map(|_| size(&mut rng, &sizes)).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, [5, 6, 7]);
    }

    #[test]
    fn a_list_is_drawn_from_evenly() {
        let sizes = Sizes::List(vec![15_000, 44_000, 73_000, 102_000]);
        let mut rng = Rng::stream(1, "sizes", 0);
        let mean = (0..DRAWS).map(|_| size(&mut rng, &sizes)).sum::<u64>() as f64 / DRAWS as f64;
        assert!((mean - 58_500.0).abs() < 4.0 * 32_420.0 / libm::sqrt(DRAWS as f64), "{mean}");
    }

    #[test]
    fn lognormal_numbers_have_the_mean_and_the_deviation_asked_for() {
        let (mean, deviation) = moments(|rng| lognormal(rng, 10.0, 5.0));
        assert!((mean - 10.0).abs() < 4.0 * 5.0 / libm::sqrt(DRAWS as f64), "{mean}");
        assert!((deviation / 5.0 - 1.0).abs() < 0.03, "{deviation}");
    }
}
