//! Every fuzz target. No target knows the right result; each checks invariants of any input.

mod c_bindings;
mod laws;
mod life;
mod parsers;
mod records;
mod scripts;
mod storm;

mod tcp;

/// The reader of golden traces.
#[path = "../../../crates/aqm/tests/golden/file.rs"]
#[allow(dead_code)] // here traces are only parsed
mod golden;

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::time::Duration;

use bolero::TypeGenerator;

/// Inputs of each target in `cargo test`, the same ones on every machine.
const FIRST: u64 = 3_000;

/// How long each target runs with new inputs (`make fuzz`); by default the first inputs of seed 1
/// are used.
fn budget() -> Option<Duration> {
    let asked = std::env::var("SOJOURN_FUZZ_SECONDS").ok()?;
    Some(Duration::from_secs(asked.parse().expect("SOJOURN_FUZZ_SECONDS is a whole number")))
}

/// Runs a target on its first inputs; prints a failing one with its number.
fn first_inputs<T: TypeGenerator + Debug>(target: &str, check: impl Fn(&T)) {
    for number in 0..FIRST {
        let Some(input) = sojourn_fuzz::storm::generated::<T>(target, 1, number) else { continue };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&input))) {
            eprintln!("{target}, input {number} of seed 1: {input:#?}");
            resume_unwind(panic);
        }
    }
}

/// Adds the inputs of a target to a file, for the summary line of `make test`.
fn tally(inputs: u64) {
    static DONE: Mutex<u64> = Mutex::new(0);
    let mut done = DONE.lock().expect("no other test failed while it counted");
    *done += inputs;
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/tally-fuzz");
    std::fs::write(file, done.to_string()).expect("the target folder is writable");
}

/// Runs a target: a test whose input is of that type.
macro_rules! target {
    ($($(#[$doc:meta])* fn $name:ident($input:ident: $type:ty) $body:block)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            let inputs = std::sync::atomic::AtomicU64::new(0);
            let check = |$input: &$type| {
                inputs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                $body
            };
            match crate::budget() {
                None => crate::first_inputs(stringify!($name), check),
                Some(time) => {
                    bolero::check!().with_type::<$type>().with_test_time(time).for_each(check);
                }
            }
            crate::tally(inputs.into_inner());
        }
    )*};
}
use target;
