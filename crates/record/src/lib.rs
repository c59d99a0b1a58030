//! Results of Sojourn as tables. Their columns do not depend on the AQM.
//!
//! Engines produce [`rows`]. With the feature `arrow`, [`tables`] turns them into Arrow record
//! batches, [`files`] writes them as Parquet with a [`manifest`], and [`stored`] reads them back.

#![warn(unreachable_pub)]

#[cfg(feature = "arrow")]
mod columns;
#[cfg(feature = "arrow")]
mod distributions;
pub mod histogram;
#[cfg(feature = "arrow")]
mod programs;
pub mod rows;

#[cfg(feature = "arrow")]
pub mod files;
#[cfg(feature = "arrow")]
pub mod manifest;
#[cfg(feature = "arrow")]
pub mod stored;
#[cfg(feature = "arrow")]
pub mod tables;

pub use histogram::{Bin, Histogram};
pub use rows::Run;
