//! Disciplines of the kernel as netlink has them.

use serde::{Deserialize, Serialize};

/// A discipline of the kernel that is made by a netlink message of ours instead of tc.
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
    /// The number of its attribute within `TCA_OPTIONS` (linux/pkt_sched.h); none where that is
    /// this structure itself, as SFQ's is.
    pub attribute: Option<u16>,
    /// The byte within that attribute at which its numbers begin.
    #[serde(default)]
    pub offset: u16,
    /// The width of its numbers.
    pub width: Width,
    /// Its numbers: one, or the members of a structure.
    pub values: Vec<u32>,
    /// What the kernel shows of them, which keeps some in units of its own.
    pub shown: Vec<u32>,
}

/// How wide the numbers of an option are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Width {
    /// One byte.
    U8,
    /// Four bytes.
    U32,
}
