//! Counters shared by all engines: the simulator, the user-space router, and the replay of kernel
//! recordings.
//!
//! An engine provides views of its packets through [`Measured`] and reports the events at each link
//! to the [`LinkProbe`] returned by [`Probe::at_link`]. At the end it fills an [`Outcome`], from
//! which [`summary`] builds the tables. Histograms are in `sojourn-record`, because they are also a
//! table.

#![warn(unreachable_pub)]

pub mod activity;
pub mod bins;
pub mod completion;
mod counters;
pub mod decisions;
mod delay_over_time;
mod digest;
pub mod ecn_share;
pub mod emodel;
pub mod exercise;
pub mod expectations;
mod fairness;
mod frames;
mod leaves;
mod link_probe;
mod losses;
pub mod metrics;
mod notes;
mod packet;
mod packet_pairs;
mod playback;
mod probe;
mod queue_rows;
mod round_trips;
pub mod summary;
mod transmissions;
mod utilisation;

pub use bins::Bins;
pub use counters::{
    ClassStats, Counters, Fates, FlowCount, Interval, LinkStats, LinkTotals, WAITED,
};
pub use delay_over_time::DelayOverTime;
pub use digest::Digest;
pub use ecn_share::EcnConnections;
pub use frames::{FrameCounts, Frames};
pub use leaves::{Leaf, Leaves};
pub use link_probe::LinkProbe;
pub use losses::DatagramLosses;
pub use notes::Notes;
pub use packet::{Measured, PacketKind, PacketView};
pub use packet_pairs::PacketPairs;
pub use probe::Probe;
pub use round_trips::RoundTrips;
pub use summary::{BUILTIN_VARS, Outcome, QueueSeen};
pub use transmissions::{Carried, PacketInService};
pub use utilisation::{LinkUse, Utilisation};
