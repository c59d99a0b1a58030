//! The Linux interfaces that the host and the live router use: network namespaces, TUN devices,
//! netlink, and the system calls that no crate wraps.

pub(crate) mod hosts;
pub(crate) mod netlink;
pub(crate) mod netns;
pub(crate) mod sock_diag;
pub(crate) mod sys;
pub(crate) mod tun;

/// Why a run could not be completed, as a sentence.
pub(crate) type Failure = String;
