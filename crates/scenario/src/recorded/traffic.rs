//! Parses recorded traffic: a CSV file whose lines are a time in seconds and a number of bytes.

use sojourn_aqm::{Span, units};

use super::sha256;
use crate::resolved::Recording;

/// First lines that name the columns.
const HEADERS: [&str; 2] = ["time,bytes", "time_s,bytes"];

/// Parses a recording. `file` is its name in the manifest.
///
/// # Errors
/// Returns an error message with the line number and the remedy.
pub(crate) fn parse(file: &str, text: &str) -> Result<Recording, String> {
    let mut amounts: Vec<(Span, u64)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if index == 0 && HEADERS.contains(&line) {
            continue;
        }
        let at = |what: String| format!("`{file}`, line {}: {what}", index + 1);
        let (time, bytes) = amount(line).map_err(at)?;
        match amounts.last() {
            Some(&(before, _)) if time < before => {
                return Err(at(format!("{time} comes after {before}; times must not decrease")));
            }
            _ => amounts.push((time, bytes)),
        }
    }
    match amounts.is_empty() {
        true => {
            Err(format!("`{file}` is empty; one line is a time in seconds and a number of bytes"))
        }
        false => Ok(Recording { file: file.to_owned(), sha256: sha256(text.as_bytes()), amounts }),
    }
}

fn amount(line: &str) -> Result<(Span, u64), String> {
    let (time, bytes) =
        line.split_once(',').ok_or_else(|| "not `time,bytes`, such as `0.25,1200`".to_owned())?;
    let (time, bytes) = (time.trim(), bytes.trim());
    let is_number = time.starts_with(|c: char| c.is_ascii_digit())
        && time.ends_with(|c: char| c.is_ascii_digit());
    let span = units::span(&format!("{time}s"))
        .ok()
        .filter(|_| is_number)
        .ok_or_else(|| "the time is not in seconds, such as `0.25`".to_owned())?;
    let bytes: u64 = bytes
        .parse()
        .ok()
        .filter(|bytes| (1..=1_000_000_000).contains(bytes))
        .ok_or_else(|| "the bytes are not a number from 1 to 1000000000".to_owned())?;
    Ok((span, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_column_names_is_optional() {
        let expected = vec![(Span::ZERO, 100), (Span::from_millis(250), 1200)];
        assert_eq!(parse("x.csv", "0,100\n0.25, 1200\n").unwrap().amounts, expected);
        assert_eq!(parse("x.csv", "time,bytes\n0.0,100\n0.250,1200").unwrap().amounts, expected);
    }

    #[test]
    fn refuses_decreasing_empty_and_malformed_recordings_with_the_line() {
        let error = |text| parse("x.csv", text).unwrap_err();
        assert_eq!(
            error("0,100\n0.5,100\n0.25,100\n"),
            "`x.csv`, line 3: 250ms comes after 500ms; times must not decrease"
        );
        assert!(error("").contains("is empty") && error("time,bytes\n").contains("is empty"));
        assert!(error("0,100\n1s,100\n").contains("line 2: the time is not in seconds"));
        assert!(error("-1,100").contains("line 1: the time is not in seconds"));
        assert!(error("1,0").contains("the bytes are not a number from 1"));
        assert!(error("1,many").contains("the bytes are not a number"));
        assert!(error("1").contains("line 1: not `time,bytes`"));
        assert!(error("1,2\n\n").contains("line 2"));
    }
}
