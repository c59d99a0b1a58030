//! How far out of order segments arrive, and how much patience that calls for: the duplicate threshold
//! that adapts (Linux `tcp_check_sack_reordering`), and RACK's reordering window (RFC 8985 §6.2 step 4,
//! Linux `tcp_rack_update_reo_wnd`).

/// Duplicates that stand for a loss where nothing has been reordered (Linux `tcp_reordering`).
pub const DUPLICATES: u32 = 3;
/// Recoveries for which a wider window is kept (RFC 8985 §6.2: 16).
const PERSIST: u8 = 16;

/// What a connection has seen of reordering.
#[derive(Clone, Copy, Debug)]
pub struct Reordering {
    metric: u32,
    max: u32,
    seen: bool,
    /// The metric has been raised at some time.
    raised: bool,
    /// RACK's window in quarters of the smallest round trip.
    steps: u8,
    persist: u8,
    /// A needless retransmission was told of and the window not yet widened.
    pending: bool,
    /// The window is widened once per round trip, which ends when this segment is acknowledged.
    round_end: u32,
}

impl Reordering {
    /// Nothing seen yet; the metric grows to `max` at most.
    pub fn new(max: u32) -> Reordering {
        Reordering {
            metric: DUPLICATES,
            max,
            seen: false,
            raised: false,
            steps: 1,
            persist: 0,
            pending: false,
            round_end: 0,
        }
    }

    /// A segment that was sent once arrived `distance` segments late.
    pub fn observe(&mut self, distance: u32) {
        self.seen = true;
        if distance.min(self.max) > self.metric {
            self.metric = distance.min(self.max);
            self.raised = true;
        }
    }

    /// A segment arrived twice, and not because of a tail loss probe.
    pub fn take_needless(&mut self) {
        self.pending = self.seen;
    }

    /// Once per acknowledgement: widens RACK's window, at most once per round trip.
    pub fn update(&mut self, una: u32, nxt: u32) {
        if std::mem::take(&mut self.pending) && una >= self.round_end {
            self.steps = self.steps.saturating_add(1);
            self.persist = PERSIST;
            self.round_end = nxt;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A recovery has ended without being withdrawn.
    pub fn end_recovery(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A timeout: Linux `tcp_enter_loss` no longer trusts a raised metric.
    pub fn time_out(&mut self) {
        self.metric = self.metric.min(DUPLICATES);
    }

    /// Distance that may still be reordering.
    #[inline]
    pub fn metric(&self) -> u32 {
        self.metric
    }

    /// Whether anything has ever been reordered.
    #[inline]
    pub fn seen(&self) -> bool {
        self.seen
    }

    /// Whether more was ever reordered than the threshold allowed: distance tells no loss any more.
    #[inline]
    pub fn raised(&self) -> bool {
        self.raised
    }

    /// RACK's window in quarters of the smallest round trip.
    #[inline]
    pub fn steps(&self) -> u64 {
        u64::from(self.steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metric_grows_to_its_limit_and_a_timeout_takes_it_back() {
        let mut reordering = Reordering::new(300);
        for distance in [2, 7, 5] {
            reordering.observe(distance);
        }
        assert_eq!((reordering.metric(), reordering.seen()), (7, true));
        reordering.observe(1_000);
        assert_eq!(reordering.metric(), 300);
        reordering.time_out();
        assert_eq!(reordering.metric(), 3);
    }

    #[test]
    fn needless_retransmissions_widen_the_window_once_per_round_trip_for_sixteen_recoveries() {
        let mut reordering = Reordering::new(300);
        reordering.take_needless();
        reordering.update(5, 10);
        assert_eq!(reordering.steps(), 1, "without reordering seen they tell nothing");
        reordering.observe(4);
        for una in [5, 6, 10] {
            reordering.take_needless();
            reordering.update(una, 10);
        }
        assert_eq!(reordering.steps(), 3);
        (0..16).for_each(|_| reordering.end_recovery());
        reordering.update(11, 20);
        assert_eq!(reordering.steps(), 1);
    }
}
