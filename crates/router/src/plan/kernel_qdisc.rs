//! Kernel disciplines as represented in netlink.

use serde::{Deserialize, Serialize};

/// The handle of the discipline or scheduler below the shaper of the router's interface.
pub(crate) const HANDLE: u32 = 0x0010_0000;

/// A kernel discipline created by our netlink message instead of tc.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelQdisc {
    /// Its kind.
    pub kind: String,
    /// Its options.
    pub options: Vec<QdiscOption>,
}

/// An option of such a discipline.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QdiscOption {
    /// Its name, with its unit.
    pub name: String,
    /// The number of its attribute within `TCA_OPTIONS` (linux/pkt_sched.h); `None` if
    /// `TCA_OPTIONS` is the structure itself, as for SFQ.
    pub attribute: Option<u16>,
    /// The byte within that attribute at which its numbers begin.
    #[serde(default)]
    pub offset: u16,
    /// The width of each number.
    pub width: Width,
    /// Its numbers: one, or the members of a structure.
    pub values: Vec<u32>,
    /// The numbers that the kernel reports, some of them in its own units.
    pub shown: Vec<u32>,
}

/// The width of the numbers of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Width {
    /// One byte.
    U8,
    /// Four bytes.
    U32,
}
