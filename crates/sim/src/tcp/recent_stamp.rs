//! The timestamp that a receiver echoes, and how it detects old duplicates (RFC 7323 §4.3 and §5.3;
//! Linux 6.1 `tcp_replace_ts_recent`, `tcp_paws_discard`).

use sojourn_aqm::Time;

use super::rtt::stamp_ticks;

/// Ticks by which a segment may be older than earlier arrivals (Linux `TCP_PAWS_WINDOW`).
const WINDOW_TICKS: u64 = 1;

/// The timestamp to echo (RFC 7323 `TS.Recent`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecentStamp(Time);

impl RecentStamp {
    #[inline]
    pub(super) fn echo(self) -> Time {
        self.0
    }

    /// Whether a segment sent at that time is older than PAWS allows.
    #[inline]
    pub(super) fn overtakes(self, sent: Time) -> bool {
        // Nearly every segment was sent later; comparing times shows that without a division.
        self.0 > sent && stamp_ticks(self.0) > stamp_ticks(sent) + WINDOW_TICKS
    }

    /// Takes the timestamp of a segment that begins at or below the last acknowledgement sent,
    /// unless it is older.
    #[inline]
    pub(super) fn update(&mut self, sent: Time) {
        if sent >= self.0 || stamp_ticks(sent) == stamp_ticks(self.0) {
            self.0 = sent;
        }
    }
}
