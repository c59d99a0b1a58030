//! Draws from distributions, each from a stream of its own.

use sojourn_aqm::Rng;

/// A standard normal number: the sine half of Box and Muller (1958), so that a draw always takes two
/// uniform numbers.
pub fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(rng.exponential(2.0));
    radius * libm::sin(core::f64::consts::TAU * rng.uniform())
}

/// A log-normal number with this mean and standard deviation, both positive.
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
        // Four standard errors: 4/sqrt(200 000), and 4/sqrt(2 x 200 000) of the deviation.
        assert!(mean.abs() < 0.009, "{mean}");
        assert!((deviation - 1.0).abs() < 0.0064, "{deviation}");
    }

    #[test]
    fn lognormal_numbers_have_the_mean_and_the_deviation_asked_for() {
        let (mean, deviation) = moments(|rng| lognormal(rng, 10.0, 5.0));
        assert!((mean - 10.0).abs() < 4.0 * 5.0 / libm::sqrt(DRAWS as f64), "{mean}");
        assert!((deviation / 5.0 - 1.0).abs() < 0.03, "{deviation}");
    }
}
