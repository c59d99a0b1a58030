//! How a step of PIE's controller shrinks while the drop probability is small (RFC 8033 §4.2:
//! "auto-tuning"), by dialect. Every factor is a power of two, so scaling is exact.

use crate::params::StepTable;
use crate::words;

words! {
    /// One published table.
    pub enum Tune {
        /// Pan et al. 2013 §III: three rows, for below 1 %, below 10 %, and above.
        Paper2013 = "paper2013",
        /// RFC 8033 §4.2: rows down to a millionth (also Linux and ns-3).
        Rfc8033 = "rfc8033",
        /// The authors' ns-2 `pie.cc`: coarser below 0.1 %; steps grow above 10 %.
        Ns2 = "ns2",
        /// RFC 8034: fine below 0.1 %; steps grow above 10 %.
        Docsis = "docsis",
    }
}

/// Rows up to 0.1 %, which only the fine tables have (RFC 8033 §4.2).
const FINE: [(f64, f64); 3] = [(1e-6, 1.0 / 2048.0), (1e-5, 1.0 / 512.0), (1e-4, 1.0 / 128.0)];
/// Rows from 0.01 % to 10 %, the same in all tables but the oldest.
const MIDDLE: [(f64, f64); 3] = [(1e-3, 1.0 / 32.0), (0.01, 1.0 / 8.0), (0.1, 1.0 / 2.0)];
/// Rows above 10 %, where steps grow in the ns-2 code and its derivatives.
const GROWING: [(f64, f64); 3] = [(1.0, 2.0), (10.0, 8.0), (f64::INFINITY, 32.0)];
/// Above 10 % steps are unscaled.
const WHOLE: (f64, f64) = (f64::INFINITY, 1.0);

const PAPER2013: &[(f64, f64)] = &[MIDDLE[1], MIDDLE[2], WHOLE];
const RFC8033: &[(f64, f64)] = &[FINE[0], FINE[1], FINE[2], MIDDLE[0], MIDDLE[1], MIDDLE[2], WHOLE];
const NS2: &[(f64, f64)] = &[MIDDLE[0], MIDDLE[1], MIDDLE[2], GROWING[0], GROWING[1], GROWING[2]];
const DOCSIS: &[(f64, f64)] = &[
    FINE[0], FINE[1], FINE[2], MIDDLE[0], MIDDLE[1], MIDDLE[2], GROWING[0], GROWING[1], GROWING[2],
];

const fn table(word: &'static str, rows: &'static [(f64, f64)]) -> StepTable {
    StepTable { param: "tune", word, rows }
}

/// The tables, in the order of [`Tune`].
pub(super) const TABLES: [StepTable; 4] = [
    table("paper2013", PAPER2013),
    table("rfc8033", RFC8033),
    table("ns2", NS2),
    table("docsis", DOCSIS),
];

impl Tune {
    /// The factor for a step taken at drop probability `p`.
    pub(in crate::laws) fn factor(self, p: f64) -> f64 {
        TABLES[self as usize].factor(p)
    }
}

/// RFC 8033 §5.5: from 10 % on the probability grows by at most 2 percentage points per update.
pub(in crate::laws) fn capped(p: f64, step: f64) -> f64 {
    if p >= 0.1 { step.min(0.02) } else { step }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Quantity;

    /// RFC 8033 §4.2; ns-2 `pie.cc`, `PIEQueue::calculate_p`: a row applies strictly below its
    /// bound.
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

    #[test]
    fn every_word_has_the_table_of_its_name() {
        for (word, table) in Tune::WORDS.iter().zip(&TABLES) {
            assert_eq!((table.param, table.word), ("tune", *word));
            let tune = Tune::parse(word).expect("its own word");
            assert_eq!(TABLES[tune as usize], *table);
        }
        assert_eq!(Tune::WORDS.len(), TABLES.len());
    }
}
