//! Differences between dialects other than parameters.

/// A rule of behaviour that is not a parameter, in every dialect.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    /// What it is about: `burst allowance falls`.
    pub name: &'static str,
    /// What each dialect does, with source: (dialect, rule, source). The first row is the default
    /// dialect's; a dialect without a row takes that one.
    pub rows: &'static [(&'static str, &'static str, &'static str)],
}

impl Behaviour {
    /// Rule and source of a dialect.
    pub fn of(&self, dialect: &str) -> (&'static str, &'static str) {
        let own = self.rows.iter().find(|(name, ..)| *name == dialect);
        let (_, rule, source) = own.unwrap_or(&self.rows[0]);
        (rule, source)
    }
}
