//! Fuzzing. The targets are tests, in `tests/fuzz`: `cargo test -p sojourn-fuzz` runs each on
//! the same few thousand inputs everywhere, `make fuzz SECONDS=600` on new ones for that long and
//! prints a failing one in its smallest form, with the seed that leads to it
//! (`BOLERO_RANDOM_SEED`).
//!
//! [`storm`] makes scenarios by number, runs them and judges the results; the program `storm` and
//! `make storm` use it (docs/evidence/storm.md).

pub mod settings;
pub mod storm;
pub mod words;
