//! Maintenance commands of the repository.
//!
//! `cargo xtask gen` writes the files that follow from declarations, `check-gen` reports those that
//! are out of date, `tidy` makes checks that the compiler does not, `phrases` lowers the budgets of
//! phrases to avoid, and `tally` counts the tests' coverage.

mod generate;
mod header;
mod metrics;
mod ns3;
mod ns3_names;
mod pages;
mod parameters;
mod python;
mod scenario_page;
mod tally;
mod templates;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask gen | check-gen | tidy | phrases | tally";

fn main() -> ExitCode {
    let chore = std::env::args().nth(1).unwrap_or_default();
    let complaints = match chore.as_str() {
        "gen" => generate::write(&root()),
        "check-gen" => generate::check(&root()),
        "tidy" => tidy::check(&root()),
        "phrases" => tidy::lower_phrases(&root()),
        "tally" => tally::lines(&root()),
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

/// Root of the repository.
fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the root").to_owned()
}
