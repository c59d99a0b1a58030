//! How a step of PIE's controller shrinks while the drop probability is small (RFC 8033 §4.2:
//! "auto-tuning"), by dialect. Every factor is a power of two, so scaling rounds nothing.

use crate::words;

words! {
    /// One published table.
    pub enum Tune {
        /// Pan et al. 2013 §III: three rows, below 1 %, below 10 %, above.
        Paper2013 = "paper2013",
        /// RFC 8033 §4.2: rows down to a millionth (also Linux and ns-3).
        Rfc8033 = "rfc8033",
        /// The authors' ns-2 `pie.cc`: coarser below 0.1 %, and growing above 10 %.
        Ns2 = "ns2",
        /// RFC 8034: fine below 0.1 %, growing above 10 %.
        Docsis = "docsis",
    }
}

impl Tune {
    /// The factor for a step taken at drop probability `p`.
    pub(in crate::laws) fn factor(self, p: f64) -> f64 {
        let fine = matches!(self, Tune::Rfc8033 | Tune::Docsis);
        let divisor = match self {
            _ if fine && p < 1e-6 => 2048.0,
            _ if fine && p < 1e-5 => 512.0,
            _ if fine && p < 1e-4 => 128.0,
            Tune::Rfc8033 | Tune::Ns2 | Tune::Docsis if p < 1e-3 => 32.0,
            _ if p < 0.01 => 8.0,
            _ if p < 0.1 => 2.0,
            Tune::Paper2013 | Tune::Rfc8033 => 1.0,
            Tune::Ns2 | Tune::Docsis if p < 1.0 => 0.5,
            Tune::Ns2 | Tune::Docsis if p < 10.0 => 0.125,
            Tune::Ns2 | Tune::Docsis => 1.0 / 32.0,
        };
        1.0 / divisor
    }
}

/// RFC 8033 §5.5: from 10 % on the probability grows by at most 2 percentage points per update.
pub(in crate::laws) fn capped(p: f64, step: f64) -> f64 {
    if p >= 0.1 { step.min(0.02) } else { step }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8033 §4.2; ns-2 `pie.cc`, `PIEQueue::calculate_p`: a row holds strictly below its bound.
    #[test]
    fn each_row_of_a_table_ends_before_its_bound() {
        let rows = [
            (1e-6, 2048.0, 32.0),
            (1e-5, 512.0, 32.0),
            (1e-4, 128.0, 32.0),
            (1e-3, 32.0, 32.0),
            (0.01, 8.0, 8.0),
            (0.1, 2.0, 2.0),
            (1.0, 1.0, 0.5),
            (10.0, 1.0, 0.125),
            (100.0, 1.0, 1.0 / 32.0),
        ];
        let check = |p, (_, rfc8033, ns2): (f64, f64, f64)| {
            assert_eq!(Tune::Rfc8033.factor(p), 1.0 / rfc8033, "at {p}");
            assert_eq!(Tune::Ns2.factor(p), 1.0 / ns2, "at {p}");
        };
        for pair in rows.windows(2) {
            let bound = pair[0].0;
            check(bound * (1.0 - f64::EPSILON), pair[0]);
            check(bound, pair[1]);
        }
    }

    /// Pan et al. 2013 §III; RFC 8033 §4.2; ns-2 `pie.cc`, `PIEQueue::calculate_p`, with and
    /// without DOCSIS.
    #[test]
    fn divisors_are_those_of_the_published_tables() {
        let probs = [0.0, 2e-6, 2e-5, 2e-4, 2e-3, 0.02, 0.2, 2.0, 20.0];
        let divisors = |tune: Tune| probs.map(|p| 1.0 / tune.factor(p));
        assert_eq!(divisors(Tune::Paper2013), [8., 8., 8., 8., 8., 2., 1., 1., 1.]);
        assert_eq!(divisors(Tune::Rfc8033), [2048., 512., 128., 32., 8., 2., 1., 1., 1.]);
        assert_eq!(divisors(Tune::Ns2), [32., 32., 32., 32., 8., 2., 0.5, 0.125, 1.0 / 32.]);
        let docsis = [2048., 512., 128., 32., 8., 2., 0.5, 0.125, 1.0 / 32.];
        assert_eq!(divisors(Tune::Docsis), docsis);
    }
}
