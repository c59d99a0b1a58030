//! The states of a flow queue of CAKE.

use super::hosts::HostPair;

/// The state of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueState {
    pub(super) phase: Phase,
    /// The credits while the queue is new; later, those in its `Turn` apply.
    pub(super) credits: i64,
    pub(super) hosts: HostPair,
}

/// ```text
///   Idle -- packet --> Sparse -- credits used up --> Bulk (or SparseWait if empty just then)
///    ^                  |                             |        SparseWait -- packet --> Bulk
///    |                  +------- found empty ---------+
///    +-- at rest <-- Decaying <-- not at rest --------+        Decaying -- packet --> Sparse
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Idle,
    Sparse,
    SparseWait,
    Bulk,
    Decaying,
}
