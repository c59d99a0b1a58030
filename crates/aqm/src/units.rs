//! Quantities as people write them: `15ms`, `10mbit`, `1000p`, `250kB`, `0.125hz`.
//!
//! The units are those of tc, without its ambiguities: `mbps` (bits or bytes?) and `kb` (tc reads
//! kilobytes) are refused with a message that names both readings. A number without a required unit
//! is refused too.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::time::{Rate, Span};

/// Limit of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// At most this many packets.
    Packets(u64),
    /// At most this many bytes.
    Bytes(u64),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Limit::Packets(n) => write!(f, "{n}p"),
            Limit::Bytes(n) => f.write_str(&show_bytes(n)),
        }
    }
}

/// A number of bytes as text that [`bytes`] reads back: `250kB`, `1514B`.
pub fn show_bytes(n: u64) -> String {
    match n {
        0 => "0B".to_string(),
        n if n % 1_000_000 == 0 => format!("{}MB", n / 1_000_000),
        n if n % 1_000 == 0 => format!("{}kB", n / 1_000),
        n => format!("{n}B"),
    }
}

/// Reads a span such as `15ms`, `1.5s`, `100us`, `20ns`.
///
/// # Errors
/// A sentence with the error and the remedy.
pub fn span(text: &str) -> Result<Span, String> {
    let (number, unit) = split(text);
    let scale = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "" => return Err(format!("a time needs a unit: `{number}ms` or `{number}s`")),
        _ => return Err(format!("`{unit}` is not a unit of time; write ns, us, ms or s")),
    };
    scaled(number, scale).map(Span::from_nanos).map_err(|e| e.describe(text, "a nanosecond"))
}

/// Reads a rate such as `10mbit`, `1.5gbit`, `64kbit`; zero is refused.
///
/// # Errors
/// A sentence with the error and the remedy.
pub fn rate(text: &str) -> Result<Rate, String> {
    rate_or_outage(text)?.ok_or_else(|| format!("`{}`: a rate must be positive", text.trim()))
}

/// Reads a rate such as `10mbit`, or `0bit`, which is an outage (`None`).
///
/// # Errors
/// A sentence with the error and the remedy.
pub fn rate_or_outage(text: &str) -> Result<Option<Rate>, String> {
    let (number, unit) = split(text);
    let scale = match unit {
        "bit" => 1,
        "kbit" => 1_000,
        "mbit" => 1_000_000,
        "gbit" => 1_000_000_000,
        "" => return Err(format!("a rate needs a unit: `{number}mbit` or `{number}bit`")),
        _ => return Err(rate_unit_advice(number, unit)),
    };
    match scaled(number, scale).map_err(|e| e.describe(text, "one bit per second"))? {
        0 => Ok(None),
        bps => Ok(Some(Rate::from_bps(bps))),
    }
}

/// A rate or an outage, as text that [`rate_or_outage`] reads back.
pub fn show_rate_or_outage(rate: Option<Rate>) -> String {
    rate.map_or_else(|| String::from("0bit"), |rate| rate.to_string())
}

fn rate_unit_advice(number: &str, unit: &str) -> String {
    let lower = unit.to_ascii_lowercase();
    match lower.strip_suffix("bps").or(lower.strip_suffix("b/s")) {
        Some(prefix) if matches!(prefix, "" | "k" | "m" | "g") => format!(
            "`{unit}` is ambiguous (people mean bits, tc reads bytes); write `{number}{prefix}bit` \
             for bits per second, or eight times the number in {prefix}bit for bytes per second"
        ),
        _ => format!("`{unit}` is not a unit of rate; write bit, kbit, mbit or gbit"),
    }
}

/// Reads a number of bytes such as `1514B`, `250kB`, `2MB`, `32MiB`.
///
/// # Errors
/// A sentence with the error and the remedy.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let scale = match unit {
        "B" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "" => return Err(format!("a size needs a unit: `{number}B` or `{number}kB`")),
        "b" | "kb" | "KB" | "Kb" | "mb" | "Mb" => {
            return Err(format!(
                "`{unit}` is ambiguous (bits or bytes?); write B, kB or MB for bytes"
            ));
        }
        _ => return Err(format!("`{unit}` is not a unit of size; write B, kB, MB, KiB or MiB")),
    };
    scaled(number, scale).map_err(|e| e.describe(text, "one byte"))
}

/// Reads a number of bytes that may be negative, such as `-4B`.
///
/// # Errors
/// A sentence with the error and the remedy.
pub fn signed_bytes(text: &str) -> Result<i64, String> {
    let large = |_| format!("`{text}` is too large");
    let Some(digits) = text.trim().strip_prefix('-') else {
        return i64::try_from(bytes(text)?).map_err(large);
    };
    let size = bytes(digits).map_err(|_| format!("`{text}` is not a size such as `-4B`"))?;
    i64::try_from(size).map(|size| -size).map_err(large)
}

/// A number of bytes that may be negative as text that [`signed_bytes`] reads back.
pub fn show_signed_bytes(n: i64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    format!("{sign}{}", show_bytes(n.unsigned_abs()))
}

/// Reads a queue limit: packets (`1000p`) or bytes (`250kB`).
///
/// # Errors
/// A sentence with the error and the remedy.
pub fn limit(text: &str) -> Result<Limit, String> {
    let (number, unit) = split(text);
    match unit {
        "p" => whole(number).map(Limit::Packets),
        "" => {
            Err(format!("a limit needs a unit: `{number}p` for packets or `{number}kB` for bytes"))
        }
        _ => bytes(text).map(Limit::Bytes),
    }
}

/// Reads a frequency such as `0.125hz`: the gain of a controller, per second.
///
/// # Errors
/// A sentence with the error and the remedy.
pub fn hertz(text: &str) -> Result<f64, String> {
    let (value, unit) = split(text);
    match unit.to_ascii_lowercase().as_str() {
        "hz" => number(value),
        "" => Err(format!(
            "a gain needs its unit: `{value}hz` (tc counts in sixteenths: its 2 is 0.125hz)"
        )),
        _ => Err(format!("`{unit}` is not a unit of gain; write hz")),
    }
}

/// Reads a plain number without a unit.
///
/// # Errors
/// A sentence with the error and the remedy.
pub fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(format!("`{text}` is not a number")),
    }
}

/// Reads a whole number without a unit.
///
/// # Errors
/// A sentence with the error and the remedy.
pub fn whole(text: &str) -> Result<u64, String> {
    text.trim().parse::<u64>().map_err(|_| format!("`{text}` is not a whole number"))
}

/// Splits `15ms` into `15` and `ms`.
pub fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_')))
        .unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

enum NotScaled {
    Malformed,
    Negative,
    TooFine,
    TooLarge,
}

impl NotScaled {
    fn describe(&self, text: &str, grain: &str) -> String {
        match self {
            NotScaled::Malformed => format!("`{text}` does not start with a decimal number"),
            NotScaled::Negative => format!("`{text}` is negative; it must be 0 or more"),
            NotScaled::TooFine => format!("`{text}` is finer than {grain}"),
            NotScaled::TooLarge => format!("`{text}` is too large"),
        }
    }
}

/// The exact product of a decimal number and a scale; nothing is rounded.
fn scaled(number: &str, scale: u64) -> Result<u64, NotScaled> {
    if number.starts_with('-') {
        return Err(NotScaled::Negative);
    }
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits_only = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits_only(whole) || !digits_only(fraction) {
        return Err(NotScaled::Malformed);
    }
    if fraction.len() > 18 || whole.len() > 20 {
        return Err(if whole.len() > 20 { NotScaled::TooLarge } else { NotScaled::TooFine });
    }
    let parse = |s: &str| if s.is_empty() { 0 } else { s.parse::<u128>().unwrap_or(u128::MAX) };
    let power = 10u128.pow(fraction.len() as u32);
    let total = (parse(whole) * power + parse(fraction)).checked_mul(u128::from(scale));
    let total = total.ok_or(NotScaled::TooLarge)?;
    if total % power != 0 {
        return Err(NotScaled::TooFine);
    }
    u64::try_from(total / power).map_err(|_| NotScaled::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_tc_users_write() {
        assert_eq!(span("15ms"), Ok(Span::from_millis(15)));
        assert_eq!(span("0.1 ms"), Ok(Span::from_micros(100)));
        assert_eq!(rate("10mbit"), Ok(Rate::from_bps(10_000_000)));
        assert_eq!(bytes("250kB"), Ok(250_000));
        assert_eq!(limit("1000p"), Ok(Limit::Packets(1000)));
        assert_eq!(limit("32MiB"), Ok(Limit::Bytes(32 << 20)));
        assert_eq!(hertz("0.125hz"), Ok(0.125));
    }

    #[test]
    fn refuses_mbps_and_shows_both_readings() {
        let error = rate("10mbps").unwrap_err();
        assert!(error.contains("ambiguous") && error.contains("10mbit"), "{error}");
    }

    #[test]
    fn refuses_bare_negative_and_too_fine_numbers() {
        assert!(span("15").unwrap_err().contains("15ms"));
        assert!(span("-1ms").unwrap_err().contains("negative"));
        assert!(rate("0mbit").unwrap_err().contains("positive"));
        assert!(span("0.1ns").unwrap_err().contains("finer"));
        assert!(bytes("10kb").unwrap_err().contains("ambiguous"));
        assert!(limit("1000").unwrap_err().contains("1000p"));
        assert!(hertz("2").unwrap_err().contains("0.125hz"));
    }

    #[test]
    fn text_is_read_back_exactly() {
        for nanos in [0, 1, 999, 1_500, 15_000_000, 123_456_789, 10_000_000_001, 300_000_000_000] {
            let span_in = Span::from_nanos(nanos);
            assert_eq!(span(&span_in.to_string()), Ok(span_in));
        }
    }

    #[test]
    fn every_unit_has_its_scale() {
        let nanos = ["1ns", "1us", "1ms", "1s"].map(|text| span(text).unwrap().as_nanos());
        assert_eq!(nanos, [1, 1_000, 1_000_000, 1_000_000_000]);
        let bps = ["1bit", "1kbit", "1mbit", "1gbit"].map(|text| rate(text).unwrap().as_bps());
        assert_eq!(bps, [1, 1_000, 1_000_000, 1_000_000_000]);
        let sizes = ["1B", "1kB", "1MB", "1GB", "1KiB", "1MiB", "1GiB"].map(bytes);
        let scales = [1, 1_000, 1_000_000, 1_000_000_000, 1 << 10, 1 << 20, 1 << 30];
        assert_eq!(sizes, scales.map(Ok));
    }

    #[test]
    fn the_largest_number_of_64_bits_is_read_and_the_next_is_too_large() {
        assert_eq!(bytes("18446744073709551615B"), Ok(u64::MAX));
        for text in ["18446744073709551616B", "100000000000000000000B", "999999999999999999999B"] {
            assert!(bytes(text).unwrap_err().contains("too large"), "{text}");
        }
        assert!(bytes("0.0000000000000000001GB").unwrap_err().contains("finer"));
        assert_eq!(bytes("1.500kB"), Ok(1500));
    }

    #[test]
    fn numbers_that_are_not_decimal_are_refused() {
        for text in ["ms", ".5ms", "1.5.5ms", "+1ms", "1_0ms"] {
            assert!(span(text).unwrap_err().contains("decimal number"), "{text}");
        }
        assert!(number("inf").is_err() && number("nan").is_err());
        assert_eq!(number(" -0.5 "), Ok(-0.5));
        assert!(whole("-1").is_err() && whole("1.0").is_err());
        assert_eq!(hertz("2 HZ"), Ok(2.0));
    }

    #[test]
    fn bytes_are_shown_in_the_largest_whole_unit() {
        let shown = [0, 999, 1_000, 1_500, 250_000, 1_000_000, 3_000_000].map(show_bytes);
        assert_eq!(shown, ["0B", "999B", "1kB", "1500B", "250kB", "1MB", "3MB"]);
        assert_eq!(Limit::Packets(7).to_string(), "7p");
    }

    #[test]
    fn a_signed_size_keeps_its_sign_and_its_unit() {
        for (text, right) in [("-4B", -4), ("18B", 18), ("-1kB", -1000), ("-0B", 0)] {
            assert_eq!(signed_bytes(text), Ok(right), "{text}");
            assert_eq!(signed_bytes(&show_signed_bytes(right)), Ok(right));
        }
        for text in ["-4", "--4B", "- ", "9223372036854775808B"] {
            assert!(signed_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn each_ambiguous_rate_is_answered_with_its_own_prefix() {
        for (text, right) in [("5bps", "`5bit`"), ("5kbps", "`5kbit`"), ("5Mb/s", "`5mbit`")] {
            assert!(rate(text).unwrap_err().contains(right), "{text}");
        }
        assert!(rate("5xbps").unwrap_err().contains("`xbps` is not a unit of rate"));
    }
}
