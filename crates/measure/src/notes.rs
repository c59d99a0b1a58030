//! Rows recorded per packet.

use sojourn_aqm::Var;
use sojourn_record::rows::{PacketRow, SignalRow};

use crate::DatagramLosses;

/// Records per packet, if wanted.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Whether every packet is wanted.
    pub wants_packets: bool,
    /// Whether every drop and mark is wanted.
    pub wants_signals: bool,
    /// Rows of the table `packets`.
    pub packets: Vec<PacketRow>,
    /// Rows of the table `signals`.
    pub signals: Vec<SignalRow>,
    /// The state before each signal.
    pub evidence: Vec<f64>,
    /// The variables of the evidence, by link.
    pub evidence_vars: Vec<&'static [Var]>,
    /// Datagrams lost at links, by flow; empty if an engine detects losses in another way.
    pub losses: DatagramLosses,
}
