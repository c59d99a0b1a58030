//! The notebook of Sojourn: tables of results. A new AQM never changes a table.

pub mod histogram;
pub mod rows;

pub use histogram::Histogram;
pub use rows::Run;
