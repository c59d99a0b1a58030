//! The house's own chores: generate what follows from the declarations, and keep the house tidy.
//!
//! `cargo run -p xtask -- gen` writes the generated files, `check-gen` says which have drifted, and
//! `tidy` checks what the compiler does not, `tally` says what the tests that ran have proven.

mod generate;
mod header;
mod pages;
mod python;
mod scenario_page;
mod tally;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p xtask -- gen | check-gen | tidy | tally";

fn main() -> ExitCode {
    let chore = std::env::args().nth(1).unwrap_or_default();
    let complaints = match chore.as_str() {
        "gen" => generate::write(&root()),
        "check-gen" => generate::check(&root()),
        "tidy" => tidy::check(&root()),
        "tally" => tally::line(&root()),
        _ => Err(USAGE.to_owned()),
    };
    match complaints {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(report) => {
            eprintln!("{report}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the root").to_owned()
}
