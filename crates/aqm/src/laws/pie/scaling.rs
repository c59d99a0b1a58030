//! How a step of PIE's controller shrinks while the drop probability is small (RFC 8033 §4.2:
//! "auto- tuning"), by dialect. Every factor is a power of two, so scaling rounds nothing.

/// One published table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::laws) enum Scaling {
    /// RFC 8033 §4.2 (also Linux and ns-3).
    Rfc8033,
    /// The authors' ns-2 code: coarser below 0.1 %, and growing above 10 %.
    Ns2,
}

impl Scaling {
    /// The factor for a step taken at drop probability `p`.
    pub(in crate::laws) fn factor(self, p: f64) -> f64 {
        let divisor = match self {
            Scaling::Rfc8033 if p < 1e-6 => 2048.0,
            Scaling::Rfc8033 if p < 1e-5 => 512.0,
            Scaling::Rfc8033 if p < 1e-4 => 128.0,
            _ if p < 1e-3 => 32.0,
            _ if p < 0.01 => 8.0,
            _ if p < 0.1 => 2.0,
            Scaling::Rfc8033 => 1.0,
            Scaling::Ns2 if p < 1.0 => 0.5,
            Scaling::Ns2 if p < 10.0 => 0.125,
            Scaling::Ns2 => 1.0 / 32.0,
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

    /// Spec aqm.md §13.3: a row holds strictly below its probability.
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
            assert_eq!(Scaling::Rfc8033.factor(p), 1.0 / rfc8033, "at {p}");
            assert_eq!(Scaling::Ns2.factor(p), 1.0 / ns2, "at {p}");
        };
        for pair in rows.windows(2) {
            let bound = pair[0].0;
            check(bound * (1.0 - f64::EPSILON), pair[0]);
            check(bound, pair[1]);
        }
    }
}
