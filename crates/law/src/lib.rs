//! AQM laws in shared libraries.
//!
//! `include/sojourn_law.h` is the contract in C: a library exports a table of functions
//! ([`abi::RawLaw`]). A law in Rust implements [`sojourn_aqm::Law`], like the laws in the tree, and
//! exports it with one line, [`export_law!`]. With the feature `host`, this crate loads such a
//! library as a [`sojourn_aqm::CustomLaw`].
//!
//! This crate has unsafe code, which is unavoidable on both sides of a table of functions; the law
//! itself needs none.

pub mod abi;
#[cfg(feature = "host")]
mod declared;
#[cfg(feature = "host")]
pub mod elf;
#[cfg(all(
    feature = "host",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod exits;
pub mod export;
#[cfg(feature = "host")]
pub mod host;
#[cfg(feature = "host")]
mod marks;
#[cfg(feature = "host")]
pub mod signals;
#[cfg(all(feature = "host", unix))]
mod watchdog;

/// The AQM crate, re-exported for [`export_law!`].
pub use sojourn_aqm as aqm;
