//! An integer histogram of nanoseconds whose size does not depend on the number of values.
//!
//! Counts are exact integers. Bins are one microsecond wide up to 2.048 ms, and above that 1/1024
//! to 1/2048 of the value. Zero, which is common for queues, has a separate bin. Smallest value,
//! largest value and mean are exact. Values are assumed to be evenly spread within a bin. So
//! quantiles change with every count, and are accurate to better than 0.1 %.
//!
//! Why not a sketch: HDR Histogram has the same bins; DDSketch (Masson, Rim and Lee 2019) bounds
//! the same relative error with other bins; a t-digest (Dunning and Ertl 2019) depends on the order
//! of merging, so results would not be reproducible byte for byte.

/// Bins per octave, as a power of two.
const SUB_BITS: u32 = 10;

/// Bins are allocated by the octave.
const BLOCK: usize = 1 << SUB_BITS;

/// Bins in a page of memory. Pages without values are not written and so take no memory: the delays
/// of a queue seldom cover more than two octaves.
const PAGE: usize = 512;

/// Nanoseconds in the narrowest bin.
const GRAIN_NS: u64 = 1_000;

/// A distribution of spans in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Number of zeros, which are not in `counts`.
    zeros: u64,
    counts: Vec<u64>,
    sum_ns: u128,
    /// The smallest nonzero value.
    min_ns: u64,
    max_ns: u64,
}

/// A bin that is not empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bin {
    /// Its lower edge in nanoseconds; for the first bin, the smallest value.
    pub lower_ns: u64,
    /// Its upper edge in nanoseconds; for the last bin, the largest value. Equal to the lower edge
    /// if all values in the bin are equal to it.
    pub upper_ns: u64,
    /// Number of values in the bin.
    pub count: u64,
}

impl Histogram {
    /// Adds one value.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        if ns == 0 {
            self.zeros += 1;
            return;
        }
        let bin = bin_of(ns);
        match self.counts.get_mut(bin) {
            Some(count) => *count += 1,
            None => self.count_in_new(bin),
        }
        self.sum_ns += u128::from(ns);
        // `max_ns` is 0 before the first value, so the first value exceeds it.
        if ns > self.max_ns || ns < self.min_ns {
            self.widen(ns);
        }
    }

    /// Counts a value whose bin is beyond the allocated bins.
    #[cold]
    fn count_in_new(&mut self, bin: usize) {
        let mut counts = vec![0; (bin / BLOCK + 1) * BLOCK];
        let pairs = counts.chunks_exact_mut(PAGE).zip(self.counts.chunks_exact(PAGE));
        pairs.filter(|(_, old)| old.iter().any(|&count| count > 0)).for_each(|(new, old)| {
            new.copy_from_slice(old);
        });
        self.counts = counts;
        self.counts[bin] = 1;
    }

    /// Extends the range for a value below or above all earlier ones. Out of line, because it is
    /// rare.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, ns: u64) {
        self.max_ns = self.max_ns.max(ns);
        self.min_ns = if self.min_ns == 0 { ns } else { self.min_ns.min(ns) };
    }

    /// The number of values, summed over the bins.
    pub fn count(&self) -> u64 {
        self.zeros + self.counts.iter().sum::<u64>()
    }

    /// The mean in nanoseconds; `None` without values.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }

    /// The largest value; `None` without values.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max_ns)
    }

    /// The smallest number that a fraction `q` of all values do not exceed, interpolated within its
    /// bin; `None` without values. `q` is in 0..=1; 0 gives the smallest value and 1 the largest.
    pub fn quantile_ns(&self, q: f64) -> Option<f64> {
        assert!((0.0..=1.0).contains(&q), "a quantile is a fraction");
        let rank = q * self.count() as f64;
        let mut below = 0;
        for Bin { lower_ns, upper_ns, count } in self.bins() {
            if (below + count) as f64 >= rank {
                let into_bin = (rank - below as f64) / count as f64;
                return Some(lower_ns as f64 + (upper_ns - lower_ns) as f64 * into_bin);
            }
            below += count;
        }
        None
    }

    /// The nonempty bins, in order.
    pub fn bins(&self) -> impl Iterator<Item = Bin> {
        let zero = Bin { lower_ns: 0, upper_ns: 0, count: self.zeros };
        let others = self.counts.iter().enumerate().map(|(bin, &count)| Bin {
            lower_ns: lower_edge(bin).max(self.min_ns),
            upper_ns: lower_edge(bin + 1).min(self.max_ns),
            count,
        });
        std::iter::once(zero).chain(others).filter(|bin| bin.count > 0)
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

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|ns| histogram.add(ns));
        histogram
    }

    #[test]
    fn quantiles_of_a_uniform_ramp_are_right_to_one_of_its_steps() {
        let histogram = of((1..=100_000).map(|i| i * 10_000));
        for q in [0.05, 0.5, 0.95, 0.99] {
            let found = histogram.quantile_ns(q).unwrap();
            assert!((found - q * 1e9).abs() <= 10_000.0, "{q}: {found}");
        }
        assert_eq!(histogram.max_ns(), Some(1_000_000_000));
        assert_eq!(histogram.mean_ns(), Some(500_005_000.0));
    }

    #[test]
    fn ten_thousand_million_values_and_one_have_an_exact_count_and_mean() {
        const BEFORE: u64 = 10_000_000_000;
        let mut histogram = of([2_000_000_000]);
        histogram.counts[bin_of(2_000_000_000)] = BEFORE;
        histogram.sum_ns = u128::from(BEFORE) * 2_000_000_000;
        histogram.add(2_000_000_000);
        assert_eq!(histogram.count(), BEFORE + 1);
        assert_eq!(histogram.mean_ns(), Some(2e9));
        assert_eq!(histogram.quantile_ns(0.999), Some(2e9));
    }

    /// The range 15.000 to 15.008 ms is one bin. When each value counted as the middle of its bin,
    /// these two medians were equal, and an interval over such seeds had width zero.
    #[test]
    fn medians_in_one_bin_differ_where_the_values_do() {
        let one = of([14_000_000, 15_001_000, 15_002_000, 15_003_000, 16_000_000]);
        let other = of([15_001_000, 15_002_000, 15_003_000, 16_000_000, 17_000_000]);
        let medians = [&one, &other].map(|histogram| histogram.quantile_ns(0.5).unwrap());
        assert!(medians.iter().all(|ns| (15_000_000.0..15_008_000.0).contains(ns)), "{medians:?}");
        assert!(medians[1] > medians[0] + 1_000.0, "{medians:?}");
    }

    #[test]
    fn the_outermost_quantiles_are_the_smallest_and_the_largest_value() {
        let histogram = of([7_001_003, 7_500_000, 9_000_001]);
        assert_eq!(histogram.quantile_ns(0.0), Some(7_001_003.0));
        assert_eq!(histogram.quantile_ns(1.0), Some(9_000_001.0));
        assert_eq!(of([5_432_100]).quantile_ns(0.3), Some(5_432_100.0));
        assert_eq!(Histogram::default().quantile_ns(0.5), None);
    }

    #[test]
    fn it_is_the_same_whatever_the_order_of_its_values() {
        let values = [40_000_000, 35_000_000, 70_000_000, 38_000_000, 60_000_000];
        let (one, other) = (of(values), of(values.into_iter().rev()));
        assert_eq!(one, other);
        assert_eq!(one.counts.len(), 8 * BLOCK);
        let found: Vec<_> = one.bins().map(|bin| (bin.upper_ns / 1_000_000, bin.count)).collect();
        assert_eq!(found, [(35, 1), (38, 1), (40, 1), (60, 1), (70, 1)]);
        let wide = of([1, 10_000_000_000, 500]);
        assert_eq!((wide.count(), wide.quantile_ns(0.0)), (3, Some(1.0)));
    }

    #[test]
    fn values_of_zero_stay_zero() {
        let histogram = of([0, 0, 0, 500]);
        assert_eq!([0.5, 0.75].map(|q| histogram.quantile_ns(q)), [Some(0.0), Some(0.0)]);
        assert_eq!(histogram.quantile_ns(1.0), Some(500.0));
        assert_eq!((histogram.count(), histogram.mean_ns()), (4, Some(125.0)));
    }
}
