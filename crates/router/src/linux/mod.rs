//! What the host and the live router ask of the Linux kernel: network namespaces, TUN devices,
//! netlink, and the system calls that no crate wraps.

pub(crate) mod hosts;
pub(crate) mod netlink;
pub(crate) mod netns;
pub(crate) mod sys;
pub(crate) mod tun;

/// Why a run did not come to an end: a sentence.
pub(crate) type Failure = String;
