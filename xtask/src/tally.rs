//! The tests' coverage, as recorded while they ran, and the number of tests skipped for lack of a
//! guest kernel.

use std::fs;
use std::path::{Path, PathBuf};

use sojourn_aqm::registry::{self, PRESETS};

use crate::tidy::{self, Source};

/// Where tests/conftest.py writes how many tests were skipped without a guest kernel.
const SKIPPED: &str = ".pytest_cache/v/sojourn/skipped_without_kernel";
/// The command that enables them; the kernel stays in the user's cache.
const ARM: &str = "to run them: .venv/bin/sojourn kernel build && make test";

/// The lines of the report.
pub fn lines(root: &Path) -> Result<String, String> {
    let counts = counts(root)?;
    Ok(skipped(root)?.map_or(counts.clone(), |skipped| format!("{counts}\n{skipped}")))
}

fn counts(root: &Path) -> Result<String, String> {
    let sources = tidy::sources(root)?;
    let facts: usize = sources.iter().map(tidy::facts_on).sum();
    let is_trace = |source: &&Source| {
        source.path.starts_with("testdata/golden/") && source.path.ends_with(".toml")
    };
    let traces = sources.iter().filter(is_trace).count();
    let entries = registry::entries();
    let dialects: usize = entries.iter().map(|entry| entry.dialects.len()).sum();
    Ok(format!(
        "{} registry entries and {} presets in {dialects} dialects; {facts} numbered facts with a \
         test; {traces} golden traces ({} values through the Rust API, {} through the C bindings); \
         {} random operations, {}",
        entries.len(),
        PRESETS.len(),
        written("golden-rust")?,
        written("golden-c")?,
        written("operations")?,
        fuzzed()?,
    ))
}

/// Number of fuzzed inputs; fuzzing is part of `make test-nightly` only.
fn fuzzed() -> Result<String, String> {
    if !place("fuzz")?.exists() {
        return Ok("no fuzzed inputs (`make test-nightly` has them)".into());
    }
    Ok(format!("{} fuzzed inputs", written("fuzz")?))
}

/// Reads a number that the last run of a test recorded, in a folder next to this program's.
fn written(what: &str) -> Result<String, String> {
    let file = place(what)?;
    let text = fs::read_to_string(&file);
    let text = text.map_err(|error| format!("{}: {error}; run the tests first", file.display()))?;
    let number: u64 = text.parse().map_err(|_| format!("{}: not a number", file.display()))?;
    Ok(grouped(number))
}

fn place(what: &str) -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = this.ancestors().nth(2).expect("a program lies in a profile in the target folder");
    Ok(target.join("tmp").join(format!("tally-{what}")))
}

/// 1234567 becomes `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The closing line about tests skipped for lack of a guest kernel, if any.
fn skipped(root: &Path) -> Result<Option<String>, String> {
    let file = root.join(SKIPPED);
    let text = fs::read_to_string(&file);
    let text = text.map_err(|error| format!("{}: {error}; run pytest first", file.display()))?;
    let count: u64 =
        text.trim().parse().map_err(|_| format!("{}: not a number", file.display()))?;
    Ok((count > 0).then(|| format!("{count} tests were skipped for want of a guest kernel; {ARM}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_were_skipped_without_a_kernel_are_reported_with_the_command_that_runs_them() {
        let root = std::env::temp_dir().join(format!("sojourn-tally-{}", std::process::id()));
        let file = root.join(SKIPPED);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "59").unwrap();
        let line = skipped(&root).unwrap().unwrap();
        assert!(line.starts_with("59 tests were skipped for want of a guest kernel; "), "{line}");
        assert!(line.contains("sojourn kernel build"), "{line}");
        fs::write(&file, "0").unwrap();
        assert_eq!(skipped(&root), Ok(None));
        fs::remove_dir_all(&root).unwrap();
        assert!(skipped(&root).unwrap_err().ends_with("run pytest first"));
    }

    #[test]
    fn long_numbers_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
