//! Differences between dialects other than parameters.

/// A rule of behaviour, other than a parameter, in which dialects differ.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    /// The subject of the rule: `burst allowance falls`.
    pub name: &'static str,
    /// Each dialect's rule: (dialect, rule, source). The first row belongs to the default dialect,
    /// and to all dialects without a row.
    pub rows: &'static [(&'static str, &'static str, &'static str)],
}

impl Behaviour {
    /// The rule and the source for a dialect.
    pub fn of(&self, dialect: &str) -> (&'static str, &'static str) {
        let own = self.rows.iter().find(|(name, ..)| *name == dialect);
        let (_, rule, source) = own.unwrap_or(&self.rows[0]);
        (rule, source)
    }
}
