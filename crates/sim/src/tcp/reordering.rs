//! Adaptation to reordering: the duplicate threshold (Linux `tcp_check_sack_reordering`), and
//! RACK's reordering window (RFC 8985 §6.2 step 4, Linux `tcp_rack_update_reo_wnd`).

/// Duplicates that mean a loss until reordering is seen (RFC 5681 §3.2, Linux `tcp_reordering`).
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;
/// Recoveries for which a wider window is kept (RFC 8985 §6.2 step 4).
const PERSIST: u8 = 16;

/// The reordering seen by a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reordering {
    metric: u32,
    max: u32,
    seen: bool,
    /// Whether the metric was ever raised.
    raised: bool,
    /// `RACK.reo_wnd_mult`: the window in quarters of the minimum round-trip time.
    window_mult: u8,
    /// `RACK.reo_wnd_persist`.
    window_persist: u8,
    /// Whether a D-SACK was received and the window not yet widened (Linux `rack.dsack_seen`).
    dsack_seen: bool,
    /// `RACK.dsack_round`: the window is widened once per round trip, and the round trip ends when
    /// this segment is acknowledged.
    dsack_round: u32,
}

impl Reordering {
    /// No reordering seen; the metric never exceeds `max`.
    pub(crate) fn new(max: u32) -> Reordering {
        Reordering {
            metric: DUPLICATE_THRESHOLD,
            max,
            seen: false,
            raised: false,
            window_mult: 1,
            window_persist: 0,
            dsack_seen: false,
            dsack_round: 0,
        }
    }

    /// Records that a segment sent only once arrived `distance` segments late.
    pub(crate) fn observe(&mut self, distance: u32) {
        self.seen = true;
        if distance.min(self.max) > self.metric {
            self.metric = distance.min(self.max);
            self.raised = true;
        }
    }

    /// Records a D-SACK, not caused by a tail loss probe.
    pub(crate) fn on_dsack(&mut self) {
        self.dsack_seen = self.seen;
    }

    /// Called for every acknowledgement: widens RACK's window, at most once per round trip.
    pub(crate) fn update(&mut self, una: u32, nxt: u32) {
        if std::mem::take(&mut self.dsack_seen) && una >= self.dsack_round {
            self.window_mult = self.window_mult.saturating_add(1);
            self.window_persist = PERSIST;
            self.dsack_round = nxt;
        } else if self.window_persist == 0 {
            self.window_mult = 1;
        }
    }

    /// Records that a recovery has ended without an undo.
    pub(crate) fn end_recovery(&mut self) {
        self.window_persist = self.window_persist.saturating_sub(1);
    }

    /// After a timeout, a raised metric is no longer trusted (Linux `tcp_enter_loss`).
    pub(crate) fn on_timeout(&mut self) {
        self.metric = self.metric.min(DUPLICATE_THRESHOLD);
    }

    /// The distance up to which a gap may be reordering (Linux `tp->reordering`).
    #[inline]
    pub(crate) fn metric(&self) -> u32 {
        self.metric
    }

    /// Whether anything has ever been reordered.
    #[inline]
    pub(crate) fn seen(&self) -> bool {
        self.seen
    }

    /// Whether the metric was ever raised; if so, distance no longer means loss (Linux 2.6
    /// `tcp_disable_fack`).
    #[inline]
    pub(crate) fn raised(&self) -> bool {
        self.raised
    }

    /// RACK's window in quarters of the minimum round-trip time (`RACK.reo_wnd_mult`).
    #[inline]
    pub(crate) fn window_mult(&self) -> u64 {
        u64::from(self.window_mult)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metric_grows_to_its_limit_and_a_timeout_resets_it() {
        let mut reordering = Reordering::new(300);
        for distance in [2, 7, 5] {
            reordering.observe(distance);
        }
        assert_eq!((reordering.metric(), reordering.seen()), (7, true));
        reordering.observe(1_000);
        assert_eq!(reordering.metric(), 300);
        reordering.on_timeout();
        assert_eq!(reordering.metric(), 3);
    }

    #[test]
    fn dsacks_widen_the_window_once_per_round_trip_for_sixteen_recoveries() {
        let mut reordering = Reordering::new(300);
        reordering.on_dsack();
        reordering.update(5, 10);
        assert_eq!(reordering.window_mult(), 1, "without reordering a D-SACK does not widen it");
        reordering.observe(4);
        for una in [5, 6, 10] {
            reordering.on_dsack();
            reordering.update(una, 10);
        }
        assert_eq!(reordering.window_mult(), 3);
        (0..15).for_each(|_| reordering.end_recovery());
        reordering.update(11, 20);
        assert_eq!(reordering.window_mult(), 3, "fifteen recoveries later");
        reordering.end_recovery();
        reordering.update(11, 20);
        assert_eq!(reordering.window_mult(), 1);
    }
}
