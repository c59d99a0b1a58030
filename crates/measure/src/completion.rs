//! Quantiles of completion times when some transfers are unfinished at the end of the run.
//!
//! An unfinished transfer has taken at least as long as it was observed: it is right-censored.
//! Leaving it out would make a network that finishes fewer transfers look faster. The estimator of
//! Kaplan and Meier 1958 counts it as at risk until its observation ends.

use sojourn_record::{Bin, Histogram};

/// A quantile or its bound, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Quantile {
    /// Its value.
    At(f64),
    /// Too few transfers finished to compute the quantile; it is above the longest observed time.
    Above(u64),
}

/// Tolerance for rounding in a product of fractions, which could move a quantile to the next value.
const ROUNDING: f64 = 1e-12;

/// The quantile `q`, above 0 and below 1, of the completion times of all transfers; `None` without
/// transfers.
///
/// It is the first time at which the share of transfers that take longer, according to Kaplan and
/// Meier, is at most `1 - q`, interpolated within its bin. If one transfer ends when another is
/// censored, the end counts as earlier.
pub fn quantile(finished: &Histogram, unfinished: &Histogram, q: f64) -> Option<Quantile> {
    assert!(q > 0.0 && q < 1.0, "a quantile is a fraction");
    if unfinished.count() == 0 {
        return finished.quantile_ns(q).map(Quantile::At);
    }
    let mut at_risk = finished.count() + unfinished.count();
    let mut censored = unfinished.bins().peekable();
    let mut longer = 1.0;
    for Bin { lower_ns, upper_ns, count } in finished.bins() {
        while let Some(gone) = censored.next_if(|bin| bin.upper_ns < upper_ns) {
            at_risk -= gone.count;
        }
        let before = longer;
        longer *= 1.0 - count as f64 / at_risk as f64;
        if longer <= 1.0 - q + ROUNDING {
            let into_bin = ((before - (1.0 - q)) / (before - longer)).min(1.0);
            let ns = lower_ns as f64 + (upper_ns - lower_ns) as f64 * into_bin;
            return Some(Quantile::At(ns));
        }
        at_risk -= count;
    }
    finished.max_ns().max(unfinished.max_ns()).map(Quantile::Above)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(seconds: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        seconds.iter().for_each(|&s| histogram.add(s * 1_000_000_000));
        histogram
    }

    /// Quantile in whole seconds, rounded to the bin.
    fn found(finished: &[u64], unfinished: &[u64], q: f64) -> Option<Result<u64, u64>> {
        let round = |ns: f64| (ns / 1e9).round() as u64;
        quantile(&of(finished), &of(unfinished), q).map(|quantile| match quantile {
            Quantile::At(ns) => Ok(round(ns)),
            Quantile::Above(ns) => Err(round(ns as f64)),
        })
    }

    #[test]
    fn a_worked_example_of_kaplan_and_meier() {
        // The 6-MP group of Freireich et al. 1963, in weeks: a standard example of survival
        // analysis. The shares longer than each time: 6: 18/21 = 0.857; 7: 0.807; 10: 0.753; 13:
        // 0.690; 16: 0.627; 22: 0.538; 23: 0.448.
        let finished = [6, 6, 6, 7, 10, 13, 16, 22, 23];
        let unfinished = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35];
        let at = |q| found(&finished, &unfinished, q).unwrap();
        assert_eq!([at(0.14), at(0.15), at(0.19)], [Ok(6), Ok(7), Ok(7)]);
        assert_eq!([at(0.20), at(0.24), at(0.25)], [Ok(10), Ok(10), Ok(13)]);
        assert_eq!([at(0.37), at(0.46), at(0.50), at(0.55)], [Ok(16), Ok(22), Ok(23), Ok(23)]);
        assert_eq!([at(0.56), at(0.95)], [Err(35), Err(35)]);
    }

    #[test]
    fn without_censoring_it_is_the_quantile_of_the_histogram() {
        let finished = of(&(1..=20).collect::<Vec<_>>());
        let none = Histogram::default();
        for q in [0.05, 0.5, 0.95, 0.99] {
            let expected = finished.quantile_ns(q).map(Quantile::At);
            assert_eq!(quantile(&finished, &none, q), expected, "{q}");
        }
        assert_eq!(quantile(&none, &none, 0.5), None);
    }

    #[test]
    fn censoring_before_anything_ended_changes_nothing_and_after_it_raises_quantiles() {
        let ended: Vec<u64> = (11..=30).collect();
        assert_eq!(found(&ended, &[1, 2, 3], 0.95), Some(Ok(29)));
        assert_eq!(found(&ended, &[60], 0.95), Some(Ok(30)));
        assert_eq!(found(&ended, &[60, 60], 0.95), Some(Err(60)));
    }

    /// Ten transfers end in one bin, and an eleventh never ends: the share that takes longer falls
    /// linearly from 1 to 1/11 within the bin, so 40 % have ended after 0.4 / (10/11) of its width.
    #[test]
    fn a_quantile_lies_within_its_bin_where_the_share_says() {
        let (finished, unfinished) = (of(&[5; 10]), of(&[60]));
        let Bin { lower_ns, upper_ns, .. } = finished.bins().next().unwrap();
        let expected = lower_ns as f64 + (upper_ns - lower_ns) as f64 * 0.44;
        let Some(Quantile::At(ns)) = quantile(&finished, &unfinished, 0.4) else {
            panic!("it is known")
        };
        assert!((ns - expected).abs() < 1.0, "{ns} is not {expected}");
    }

    #[test]
    fn of_transfers_that_never_end_only_a_bound_is_known() {
        assert_eq!(found(&[], &[4, 9], 0.5), Some(Err(9)));
    }
}
