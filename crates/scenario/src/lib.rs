//! The words of Sojourn: the typed scenario. Pure data; no file is opened here.

pub mod resolved;

pub use resolved::Resolved;
