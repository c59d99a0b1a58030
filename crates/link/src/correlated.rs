//! netem's random draws.

use sojourn_aqm::Rng;

/// Draws of 32 bits, of which each may be a weighted mean of a new number and the draw before it
/// (Linux 6.1 `sch_netem.c`, `get_crandom`). Such a mean varies less, so draws are rarely small.
#[derive(Clone, Debug)]
pub(crate) struct Correlated {
    weight: u32,
    last: u32,
    rng: Rng,
}

impl Correlated {
    /// Draws of a stream; the correlation is the weight of the draw before.
    pub(crate) fn new(correlation: f64, mut rng: Rng) -> Correlated {
        let last = draw(&mut rng);
        Correlated { weight: share(correlation), last, rng }
    }

    /// The next draw.
    pub(crate) fn next(&mut self) -> u32 {
        let value = draw(&mut self.rng);
        if self.weight == 0 {
            return value;
        }
        let rho = u64::from(self.weight) + 1;
        // At most (2^32 - 1) 2^32.
        let sum = u64::from(value) * ((1 << 32) - rho) + u64::from(self.last) * rho;
        self.last = (sum >> 32) as u32;
        self.last
    }
}

/// An event that happens to packets at random, as netem draws it.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    /// The largest draw at which it happens; at zero it never happens.
    most: u32,
    draws: Correlated,
}

impl Chance {
    /// An event of this probability.
    pub(crate) fn new(rate: f64, correlation: f64, rng: Rng) -> Chance {
        Chance { most: share(rate), draws: Correlated::new(correlation, rng) }
    }

    /// Whether it happens to the next packet (Linux 6.1 `sch_netem.c`, `netem_enqueue`).
    pub(crate) fn happens(&mut self) -> bool {
        self.most > 0 && self.draws.next() <= self.most
    }
}

/// A probability as netem writes it (iproute2 6.1 tc/q_netem.c, set_percent).
fn share(p: f64) -> u32 {
    (p * f64::from(u32::MAX) + 0.5) as u32
}

fn draw(rng: &mut Rng) -> u32 {
    (rng.next_u64() >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.1 sch_netem.c, tabledist: a delay is the remainder of a draw by twice the jitter, or
    /// the entry of a table of 4096 at the remainder of a draw.
    #[test]
    fn delays_from_remainders_of_correlated_draws_are_independent() {
        for (correlation, divisor) in [(0.25, 20_000_000), (0.9, 20_000_000), (0.9, 4_096)] {
            let mut draws = Correlated::new(correlation, Rng::stream(7, "delay", 0));
            let rest = |draw: u32| f64::from(draw % divisor) / f64::from(divisor) - 0.5;
            let found: Vec<f64> = (0..100_000).map(|_| rest(draws.next())).collect();
            let pairs = found.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
            let squares = found.iter().map(|it| it * it).sum::<f64>();
            // Four standard errors of a correlation of 100,000 pairs.
            assert!((pairs / squares).abs() < 4.0 / 100_000_f64.sqrt(), "{correlation} {divisor}");
            let mean = found.iter().sum::<f64>() / 1e5;
            assert!(mean.abs() < 4.0 * (1.0 / 12.0 / 1e5_f64).sqrt(), "{mean}");
        }
    }
}
