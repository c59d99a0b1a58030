//! How a controller scales its steps by its output, as data.

/// A published table of factors on the steps of a controller, by the controller's output before the
/// step (RFC 8033 §4.2 calls it auto-tuning).
///
/// ```
/// use sojourn_aqm::registry;
///
/// let pie = registry::law("pie").expect("it is registered");
/// let rfc = pie.step_tables.iter().find(|table| table.word == "rfc8033").expect("declared");
/// assert_eq!(rfc.param, "tune");
/// assert_eq!((rfc.factor(0.0), rfc.factor(0.05), rfc.factor(0.5)), (1.0 / 2048.0, 0.5, 1.0));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StepTable {
    /// The parameter that chooses the table: `tune`.
    pub param: &'static str,
    /// The value of that parameter for this table: `rfc8033`.
    pub word: &'static str,
    /// Rows of (upper bound of the drop probability, factor on the step), ascending; the last bound
    /// is infinite.
    pub rows: &'static [(f64, f64)],
}

impl StepTable {
    /// The factor on a step taken when the output is `prob`.
    pub fn factor(&self, prob: f64) -> f64 {
        let row = self.rows.iter().find(|&&(below, _)| prob < below);
        row.or(self.rows.last()).expect("a table has rows").1
    }
}
