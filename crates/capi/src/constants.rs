//! The numbers of the interface: its version, ECN fields, and the places and causes of drops and
//! marks.

/// Version of this header: major.
pub const VERSION_MAJOR: u32 = 0;
/// Version of this header: minor.
pub const VERSION_MINOR: u32 = 1;
/// Version of this header: patch.
pub const VERSION_PATCH: u32 = 0;
/// Version of this header as one number: 1,000,000 * major + 1000 * minor + patch.
pub const VERSION: u32 = 1000;
/// An instant that never comes.
pub const NEVER: u64 = u64::MAX;
/// ECN field: the transport is not ECN-capable.
pub const NOT_ECT: u8 = 0;
/// ECN field: ECT(1), the identifier of L4S.
pub const ECT_1: u8 = 1;
/// ECN field: ECT(0).
pub const ECT_0: u8 = 2;
/// ECN field: congestion experienced.
pub const CE: u8 = 3;
/// Dropped or marked on arrival.
pub const STAGE_ENQUEUE: u8 = 0;
/// Evicted or marked while it waited.
pub const STAGE_QUEUED: u8 = 1;
/// Dropped or marked at the head.
pub const STAGE_DEQUEUE: u8 = 2;
/// A flow queue is in neither list, and is not served.
pub const LIST_INACTIVE: u8 = 0;
/// A flow queue is in the list of new queues, which are served first.
pub const LIST_NEW: u8 = 1;
/// A flow queue is in the list of old queues, which are served in rounds.
pub const LIST_OLD: u8 = 2;
/// There was no room.
pub const CAUSE_OVERFLOW: u8 = 0;
/// A random draw.
pub const CAUSE_RANDOM: u8 = 1;
/// A deterministic rule without a name below, such as a thinned probability.
pub const CAUSE_DETERMINISTIC: u8 = 2;
/// The schedule of CoDel or COBALT: sojourn times stay above the target.
pub const CAUSE_TARGET: u8 = 3;
/// The sojourn time or the backlog is above the threshold of immediate marks.
pub const CAUSE_CE_THRESHOLD: u8 = 4;
/// RED: the average is above its maximum threshold.
pub const CAUSE_FORCED: u8 = 5;
/// DualPI2 in overload.
pub const CAUSE_OVERLOAD: u8 = 6;
/// DualPI2 in overload, by a draw (Linux).
pub const CAUSE_RANDOM_OVERLOAD: u8 = 7;
/// MADPIE: the delay at an update was above the bound.
pub const CAUSE_DELAY_BOUND: u8 = 8;
/// SFB: the bins of the flow are too full.
pub const CAUSE_BIN_OVERFLOW: u8 = 9;
/// SFB: the rate limit of unresponsive flows.
pub const CAUSE_PENALTY: u8 = 10;
/// CHOKe: a queued packet drawn at random belonged to the same flow.
pub const CAUSE_MATCH: u8 = 11;
/// The policer of a link, in front of the queue; no discipline reports it.
pub const CAUSE_POLICED: u8 = 12;
/// fq: the flow holds its most packets.
pub const CAUSE_FLOW_LIMIT: u8 = 13;
/// fq: the departure time lies too far ahead.
pub const CAUSE_HORIZON: u8 = 14;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_crate() {
        let text = alloc::format!("{VERSION_MAJOR}.{VERSION_MINOR}.{VERSION_PATCH}");
        assert_eq!(text, env!("CARGO_PKG_VERSION"));
        let number = VERSION_MAJOR * 1_000_000 + VERSION_MINOR * 1000 + VERSION_PATCH;
        assert_eq!(number, VERSION);
        assert_eq!(crate::sojourn_version(), VERSION);
    }
}
