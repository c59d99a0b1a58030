//! Results of Sojourn as tables. A new AQM never changes a table.
//!
//! [`rows`] are what an engine hands over. With feature `arrow`, [`tables`] turns them into Arrow
//! record batches and [`files`] writes them as Parquet with a [`manifest`].

#![warn(unreachable_pub)]

#[cfg(feature = "arrow")]
mod columns;
#[cfg(feature = "arrow")]
mod distributions;
pub mod histogram;
pub mod rows;

#[cfg(feature = "arrow")]
pub mod files;
#[cfg(feature = "arrow")]
pub mod manifest;
#[cfg(feature = "arrow")]
pub mod tables;

pub use histogram::{Bin, Histogram};
pub use rows::Run;
