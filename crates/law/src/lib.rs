//! AQM laws in libraries of their own.
//!
//! `include/sojourn_law.h` is the contract in C: a library exports a table of functions
//! ([`abi::RawLaw`]). A law in Rust implements [`sojourn_aqm::Law`] as those in the tree do and
//! exports it by one line, [`export_law!`]. With the feature `host` this crate loads such a library
//! as a [`sojourn_aqm::CustomLaw`].
//!
//! This crate has unsafe code, which the two sides of a table of functions cannot do without; the
//! law itself needs none.

pub mod abi;
#[cfg(feature = "host")]
mod declared;
#[cfg(feature = "host")]
mod elf;
pub mod export;
#[cfg(feature = "host")]
pub mod host;

/// The crate of the laws, for [`export_law!`].
pub use sojourn_aqm as aqm;
