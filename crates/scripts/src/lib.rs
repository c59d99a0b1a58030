//! TCP scripts in packetdrill's format, run against Sojourn's sender and receiver.
//!
//! [`read`] parses a text, `host` is a connection around the endpoint, and [`run`] steps it through
//! the script and compares. If a script needs something that the endpoint does not support, its
//! result is "not applicable", with the reason; it never passes.
//! [tcp-scripts](../../../docs/evidence/tcp-scripts.md) lists the scripts and their results.

#![warn(unreachable_pub)]

pub mod assertions;
mod compare;
mod host;
pub mod read;
mod run;
mod shell;

pub use run::{ScriptOutcome, run};
pub use shell::FileTexts;
