//! netem's distributions of delays.

use sojourn_aqm::{Rng, Span};
use sojourn_scenario::resolved::{NetemDistribution, NetemJitter};

/// One standard deviation in a table (Linux 6.1 `pkt_sched.h`, `NETEM_DIST_SCALE`).
const SCALE: i64 = 8192;
/// Entries of a table (iproute2 6.1 netem/normal.c: every fourth of 16,384).
const ENTRIES: u32 = 4096;

/// Extra delays of a distribution, computed as `tabledist` of Linux 6.1 `sch_netem.c`.
#[derive(Clone, Debug)]
pub(crate) struct NetemDelay {
    jitter: NetemJitter,
    /// Quantiles, in units of a standard deviation over [`SCALE`]; empty if uniform.
    table: Vec<i16>,
}

impl NetemDelay {
    pub(crate) fn new(jitter: NetemJitter) -> NetemDelay {
        let entry: Option<fn(u32) -> i64> = match jitter.distribution {
            NetemDistribution::Uniform => None,
            NetemDistribution::Normal => Some(normal),
            NetemDistribution::Pareto => Some(pareto),
            NetemDistribution::ParetoNormal => Some(|at| (normal(at) + 3 * pareto(at)) / 4),
        };
        let entries = entry.map(|of| (0..ENTRIES).map(move |at| of(at) as i16));
        NetemDelay { jitter, table: entries.map_or_else(Vec::new, Iterator::collect) }
    }

    /// The next delay. Below zero it is none, as a packet cannot leave before it arrives.
    pub(crate) fn draw(&self, rng: &mut Rng) -> Span {
        let [mean, sigma] =
            [self.jitter.mean, self.jitter.deviation].map(|span| span.as_nanos() as i64);
        let off = match self.table.len() as u64 {
            0 if sigma == 0 => 0,
            0 => rng.below(2 * sigma as u64) as i64 - sigma,
            entries => {
                let entry = i64::from(self.table[rng.below(entries) as usize]);
                let part = (sigma % SCALE) * entry;
                (part + part.signum() * SCALE / 2) / SCALE + sigma / SCALE * entry
            }
        };
        Span::from_nanos((mean + off).max(0) as u64)
    }
}

/// A quantile of the normal distribution (iproute2 6.1 netem/normal.c).
fn normal(at: u32) -> i64 {
    let below = (4.0 * f64::from(at) + 0.5) / 16_384.0;
    let (mut low, mut high) = (-4.5, 4.5);
    for _ in 0..24 {
        let middle: f64 = (low + high) / 2.0;
        match 0.5 + 0.5 * libm::erf(middle / core::f64::consts::SQRT_2) < below {
            true => low = middle,
            false => high = middle,
        }
    }
    (libm::rint(low * SCALE as f64) as i64).max(i64::from(i16::MIN))
}

/// A quantile of the Pareto distribution of shape 3 (iproute2 6.1 netem/pareto.c).
fn pareto(at: u32) -> i64 {
    let above = 1.0 - f64::from(at) / f64::from(ENTRIES);
    let quantile = (1.0 / libm::cbrt(above) - 1.5) * (4.0 / 3.0) * SCALE as f64;
    libm::rint(quantile.min(f64::from(i16::MAX))) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(distribution: NetemDistribution, mean_ms: u64) -> Vec<f64> {
        let [mean, deviation] = [mean_ms, 10].map(Span::from_millis);
        let of = NetemDelay::new(NetemJitter { mean, deviation, distribution });
        let mut rng = Rng::stream(7, "jitter", 0);
        (0..100_000).map(|_| of.draw(&mut rng).as_secs() * 1e3).collect()
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, (values.iter().map(|it| (it - mean) * (it - mean)).sum::<f64>() / n).sqrt())
    }

    /// iproute2 6.1 netem/normal.c, pareto.c, paretonormal.c: first, middle and last entries. The
    /// grid of normal.c is half a unit.
    #[test]
    fn tables_have_the_quantiles_of_iproute2s_generators() {
        let of = |distribution| {
            let [mean, deviation] = [1, 1].map(Span::from_millis);
            let table = NetemDelay::new(NetemJitter { mean, deviation, distribution }).table;
            [0, 1, 2048, 4094, 4095].map(|at| table[at])
        };
        for (distribution, known) in [
            (NetemDistribution::Normal, [-32_768, -28_307, 0, 27_159, 28_858]),
            (NetemDistribution::Pareto, [-5_461, -5_460, -2_622, 32_767, 32_767]),
            (NetemDistribution::ParetoNormal, [-12_287, -11_171, -1_966, 31_365, 31_789]),
        ] {
            let found = of(distribution);
            assert!(found.iter().zip(known).all(|(a, b)| a.abs_diff(b) <= 1), "{found:?}");
        }
    }

    #[test]
    fn delays_have_the_mean_and_deviation_of_their_distribution() {
        for (distribution, wanted_ms) in [
            (NetemDistribution::Uniform, (100.0, 10.0 / 3.0_f64.sqrt())),
            (NetemDistribution::Normal, (100.0, 10.0)),
            (NetemDistribution::Pareto, (99.67, 8.2)),
            (NetemDistribution::ParetoNormal, (99.75, 8.34)),
        ] {
            let (mean, deviation) = moments(&delays(distribution, 100));
            assert!((mean - wanted_ms.0).abs() < 0.13, "{distribution:?}: {mean}");
            assert!((deviation - wanted_ms.1).abs() < 0.3, "{distribution:?}: {deviation}");
        }
    }

    #[test]
    fn a_delay_below_zero_is_none() {
        let found = delays(NetemDistribution::Uniform, 5);
        let none = found.iter().filter(|&&ms| ms == 0.0).count() as f64 / 1e5;
        assert!((none - 0.25).abs() < 0.01 && found.iter().all(|&ms| ms < 15.0), "{none}");
    }
}
