//! Fuzzing. The targets are tests, in `tests/fuzz`: `cargo test -p sojourn-fuzz` runs each on the
//! same few thousand inputs everywhere; `make fuzz SECONDS=600` runs new ones for this time and
//! prints a failing input in its smallest form, with its seed (`BOLERO_RANDOM_SEED`).
//!
//! [`storm`] generates scenarios by number, runs them and checks the results; the program `storm`
//! and `make storm` use it (docs/evidence/storm.md).

pub mod settings;
pub mod storm;
pub mod words;
