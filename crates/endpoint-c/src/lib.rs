//! Transport libraries in shared libraries.
//!
//! `include/sojourn_endpoint.h` is the contract in C: a library exports a table of functions
//! ([`abi::RawTable`]). A library in Rust implements [`sojourn_endpoint::Stack`] and exports it
//! with one line, [`export_stack!`]. With the feature `host`, this crate loads such a library as a
//! [`sojourn_endpoint::ConfiguredStack`].
//!
//! This crate has unsafe code, which is unavoidable on both sides of a table of functions.

pub mod abi;
#[cfg(feature = "host")]
mod connection;
#[cfg(feature = "host")]
mod described;
pub mod export;
#[cfg(feature = "host")]
pub mod host;
#[cfg(all(feature = "host", unix))]
pub mod process;
#[cfg(feature = "host")]
mod table;

/// The program in C that runs a library in a process.
#[cfg(feature = "host")]
pub const PROCESS: &str = include_str!("../process/sojourn_process.c");

/// The contract in Rust, re-exported for [`export_stack!`].
pub use sojourn_endpoint as endpoint;
