//! Generates scenarios by number, runs them and checks the results:
//! `storm run KIND SEED FROM COUNT`, or `storm show KIND SEED NUMBER` for the text of one.
//! Kinds: `mutants`, `scenarios`, `long`.
//!
//! Prints one line for each bad input, and the number of inputs with each outcome. While it runs,
//! the file `STORM_PLACE` contains the number of the current input, so a supervisor knows at which
//! input it died or hangs.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;

use sojourn_fuzz::storm::{self, Fate, Kind};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match asked(&words) {
        Some(Asked::Run { kind, seed, from, count }) => run(kind, seed, from, count),
        Some(Asked::Show { kind, seed, number }) => print!("{}", kind.text(seed, number)),
        None => {
            eprintln!("storm run|show mutants|scenarios|long SEED NUMBER [COUNT]");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

enum Asked {
    Run { kind: Kind, seed: u64, from: u64, count: u64 },
    Show { kind: Kind, seed: u64, number: u64 },
}

fn asked(words: &[&str]) -> Option<Asked> {
    match *words {
        ["run", kind, seed, from, count] => Some(Asked::Run {
            kind: Kind::named(kind)?,
            seed: seed.parse().ok()?,
            from: from.parse().ok()?,
            count: count.parse().ok()?,
        }),
        ["show", kind, seed, number] => Some(Asked::Show {
            kind: Kind::named(kind)?,
            seed: seed.parse().ok()?,
            number: number.parse().ok()?,
        }),
        _ => None,
    }
}

fn run(kind: Kind, seed: u64, from: u64, count: u64) {
    let place = std::env::var_os("STORM_PLACE").map(|path| File::create(path).expect("a file"));
    std::panic::set_hook(Box::new(|_| ()));
    let mut fates = BTreeMap::new();
    for number in from..from + count {
        if let Some(place) = &place {
            let text = format!("{number:>20}\n");
            place.write_all_at(text.as_bytes(), 0).expect("the place is written");
        }
        let fate = storm::meet(kind, seed, number);
        if let Fate::Bad(why) = &fate {
            println!("bad {number} {}", why.replace('\n', " "));
        }
        *fates.entry(word(&fate)).or_insert(0u64) += 1;
    }
    for (fate, count) in fates {
        println!("{fate} {count}");
    }
}

fn word(fate: &Fate) -> &'static str {
    match fate {
        Fate::Refused => "refused",
        Fate::TooLarge => "large",
        Fate::Cut => "cut",
        Fate::Ran => "ran",
        Fate::Bad(_) => "all-bad",
    }
}
