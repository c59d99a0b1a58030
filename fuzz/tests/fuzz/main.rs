//! Every fuzz target. None knows the right result; each knows what must hold for any input.

mod c_bindings;
mod laws;
mod life;
mod parsers;
mod records;
mod storm;

mod tcp;

/// The reader of golden traces.
#[path = "../../../crates/aqm/tests/golden/file.rs"]
#[allow(dead_code)] // the traces are read here and not run
mod golden;

use std::sync::Mutex;
use std::time::Duration;

/// How long each target runs.
fn budget() -> Duration {
    let asked = std::env::var("SOJOURN_FUZZ_SECONDS");
    let seconds =
        asked.map_or(4, |text| text.parse().expect("SOJOURN_FUZZ_SECONDS is a whole number"));
    Duration::from_secs(seconds)
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
            bolero::check!().with_type::<$type>().with_test_time(crate::budget()).for_each(
                |$input: &$type| {
                    inputs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    $body
                },
            );
            crate::tally(inputs.into_inner());
        }
    )*};
}
use target;
