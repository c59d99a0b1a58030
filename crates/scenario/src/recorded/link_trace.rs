//! Parses delivery opportunities of a link in Mahimahi's format: each line is the time of one
//! opportunity in milliseconds.

use super::sha256;
use crate::resolved::Trace;

/// Parses a trace. `file` is its name in the manifest.
///
/// # Errors
/// Returns an error message with the line number and the remedy.
pub(crate) fn parse(file: &str, text: &str, opportunity_bytes: u32) -> Result<Trace, String> {
    let mut opportunities_ms = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at = |what: String| format!("`{file}`, line {}: {what}", index + 1);
        let ms = millisecond(line.trim()).map_err(at)?;
        match opportunities_ms.last() {
            Some(&before) if ms < before => {
                return Err(at(format!(
                    "{ms} ms comes after {before} ms; times must not decrease"
                )));
            }
            _ => opportunities_ms.push(ms),
        }
    }
    match opportunities_ms.last() {
        None => Err(format!("`{file}` is empty; one line is the millisecond of one opportunity")),
        Some(0) => Err(format!(
            "`{file}` ends at 0 ms; its last line is the period after which it repeats, so it must \
             be positive"
        )),
        Some(_) => Ok(Trace {
            file: file.to_owned(),
            sha256: sha256(text.as_bytes()),
            opportunities_ms,
            opportunity_bytes,
        }),
    }
}

fn millisecond(line: &str) -> Result<u32, String> {
    line.parse().map_err(|_| {
        let hint = match line.trim().split([' ', '\t', ',']).count() {
            0 | 1 => "",
            _ => "; `sojourn import` reads files with columns",
        };
        format!("not a whole number of milliseconds from 0 to {}{hint}", u32::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::{Rate, Span};

    /// Fact scenario-5.
    #[test]
    fn one_opportunity_of_1500_bytes_per_millisecond_is_12_mbit() {
        let trace = parse("x.down", "1\n2\n3\n", 1500).unwrap();
        assert_eq!(trace.mean_rate(), Rate::from_bps(12_000_000));
        assert_eq!(trace.period(), Span::from_millis(3));
        assert_eq!(parse("x", "1\n", 1504).unwrap().mean_rate(), Rate::from_bps(12_032_000));
    }

    #[test]
    fn the_content_has_a_sha256() {
        let trace = parse("x.down", "0\n5\n", 1500).unwrap();
        // printf "0\n5\n" | sha256sum
        assert_eq!(
            trace.sha256,
            "d2a8c09af50702658a26c8de0e35154f08e23973b8d733f87afc26586646afdf"
        );
        assert_ne!(trace.sha256, parse("x.down", "0\n6\n", 1500).unwrap().sha256);
    }

    #[test]
    fn refuses_decreasing_empty_and_malformed_traces_with_the_line() {
        let error = |text| parse("x.down", text, 1500).unwrap_err();
        assert_eq!(
            error("5\n9\n7\n"),
            "`x.down`, line 3: 7 ms comes after 9 ms; times must not decrease"
        );
        assert!(error("").contains("is empty"));
        assert!(error("0\n0\n").contains("ends at 0 ms"));
        assert!(error("1\n2.5\n").contains("line 2: not a whole number"));
        assert!(error("1\n\n3\n").contains("line 2"));
        assert!(error("0.0 1.2\n").contains("`sojourn import`"), "seconds and Mbit/s");
    }
}
