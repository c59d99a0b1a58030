//! TCP scripts in packetdrill's form, run against Sojourn's own sender and receiver.
//!
//! [`read`] turns a text into data, `host` is a connection around the endpoint, [`run`] steps it
//! through the script and compares. What the endpoint has not got ends a script as not applicable,
//! with the reason; it never passes. [tcp-scripts](../../../docs/evidence/tcp-scripts.md) says
//! which scripts there are and what becomes of them.

#![warn(unreachable_pub)]

pub mod assertions;
mod compare;
mod host;
pub mod read;
mod run;
mod shell;

pub use run::{ScriptOutcome, run};
pub use shell::FileTexts;
