//! An integer histogram of nanoseconds whose size does not depend on the number of values.
//!
//! Counts are exact integers. Bins are one microsecond wide up to 2.048 ms and from there 1/1024 to
//! 1/2048 of the value, so a quantile is known to better than 0.1 %; mean and maximum are exact.

/// Bins per octave, as a power of two.
const SUB_BITS: u32 = 10;

/// Nanoseconds in the narrowest bin.
const GRAIN_NS: u64 = 1_000;

/// A distribution of spans in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
    max_ns: u64,
}

impl Histogram {
    /// Adds one value.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        let bin = bin_of(ns);
        if bin >= self.counts.len() {
            self.counts.resize((bin + 1).next_power_of_two(), 0);
        }
        self.counts[bin] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds all values of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean in nanoseconds; none without values.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The largest value; none without values.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// The smallest value that at least the fraction `q` of all values do not exceed, as the middle
    /// of its bin; none without values. `q` is in 0..=1.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        assert!((0.0..=1.0).contains(&q), "a quantile is a fraction");
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut below = 0;
        for (bin, &count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank {
                let middle = lower_edge(bin).midpoint(lower_edge(bin + 1));
                return Some(middle.min(self.max_ns));
            }
        }
        None
    }

    /// The bins that are not empty, as (upper edge in nanoseconds, count).
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        let filled = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        filled.map(|(bin, &count)| (lower_edge(bin + 1), count))
    }
}

/// The bin of a value: linear up to 2^(SUB_BITS + 1) grains, then logarithmic with linear steps.
#[inline]
fn bin_of(ns: u64) -> usize {
    let grains = ns / GRAIN_NS;
    let octave = (u64::BITS - grains.leading_zeros()).saturating_sub(SUB_BITS + 1);
    ((u64::from(octave) << SUB_BITS) + (grains >> octave)) as usize
}

/// The smallest value of a bin.
fn lower_edge(bin: usize) -> u64 {
    let octave = ((bin as u64) >> SUB_BITS).saturating_sub(1);
    (((bin as u64) - (octave << SUB_BITS)) << octave) * GRAIN_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bin() {
        for ns in (0..60).flat_map(|shift| [(1u64 << shift) - 1, 1 << shift, (1 << shift) + 12_345])
        {
            let bin = bin_of(ns);
            assert!(lower_edge(bin) <= ns && ns < lower_edge(bin + 1), "{ns} in bin {bin}");
        }
    }

    #[test]
    fn bins_are_narrower_than_a_thousandth() {
        for bin in 2048..40_000 {
            let width = lower_edge(bin + 1) - lower_edge(bin);
            assert!(width as f64 <= lower_edge(bin) as f64 / 1000.0, "bin {bin}");
        }
    }

    #[test]
    fn quantiles_of_a_uniform_ramp_are_right_to_a_thousandth() {
        let mut histogram = Histogram::default();
        (1..=100_000u64).for_each(|i| histogram.add(i * 10_000));
        for q in [0.05, 0.5, 0.95, 0.99] {
            let exact = q * 1e9;
            let found = histogram.quantile_ns(q).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 1e-3, "{q}: {found} for {exact}");
        }
        assert_eq!(histogram.max_ns(), Some(1_000_000_000));
        assert_eq!(histogram.mean_ns(), Some(500_005_000.0));
    }
}
