//! The part of a capture that is read, by time.

/// Which packets are read, and how many are not.
#[derive(Default)]
pub(super) struct Part {
    /// Nanoseconds since the first packet of the file; `None` is the whole file.
    pub(super) range: Option<(u64, u64)>,
    first_ns: Option<u64>,
    latest_ns: u64,
    pub(super) outside: u64,
}

impl Part {
    /// Whether a packet of this time is read. Counts those that are not.
    pub(super) fn contains(&mut self, t_ns: u64) -> bool {
        let Some((from_ns, until_ns)) = self.range else { return true };
        let first_ns = *self.first_ns.get_or_insert(t_ns);
        self.latest_ns = self.latest_ns.max(t_ns);
        let is_in = t_ns.checked_sub(first_ns).is_some_and(|t| (from_ns..=until_ns).contains(&t));
        self.outside += u64::from(!is_in);
        is_in
    }

    /// The time from the first packet of the file to its latest.
    pub(super) fn length_ns(&self) -> u64 {
        self.latest_ns - self.first_ns.unwrap_or(self.latest_ns)
    }
}
