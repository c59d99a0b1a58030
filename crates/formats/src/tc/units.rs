//! Quantities as iproute2 reads and prints them (iproute2 6.1 lib/utils_math.c, lib/utils.c). Case
//! does not matter. Rates are in bits per second unless the unit ends in `bps`, which counts bytes.

/// A number and the unit after it, in lower case.
fn split(text: &str) -> Option<(f64, String)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    Some((number, unit.to_ascii_lowercase()))
}

/// The largest number that a double holds exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn whole(number: f64) -> Option<u64> {
    (0.0..EXACT).contains(&number).then_some(number as u64)
}

/// A rate in bit/s, rounded down to whole bytes per second as tc does (`get_rate64`).
pub(super) fn rate(text: &str) -> Result<u64, String> {
    let refuse = || format!("`{text}` is not a rate: write 10mbit, 500kbit or 1gbit");
    if text.ends_with('%') {
        return Err(format!(
            "`{text}` is a share of the device's own rate, which the text does not have: write the \
             rate, such as 50mbit"
        ));
    }
    let (number, unit) = split(text).ok_or_else(refuse)?;
    let (unit, bits) = match unit.strip_suffix("bps") {
        Some(prefix) => (prefix.to_owned(), 8.0),
        None if unit.is_empty() => (unit, 1.0),
        None => (unit.strip_suffix("bit").ok_or_else(refuse)?.to_owned(), 1.0),
    };
    let scale = match unit.as_str() {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        "ki" => 1024.0,
        "mi" => 1024.0 * 1024.0,
        "gi" => 1024.0 * 1024.0 * 1024.0,
        "ti" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(refuse()),
    };
    match whole(number * scale * bits / 8.0).ok_or_else(refuse)? {
        0 => Err(format!("`{text}` is less than a byte per second: write 10mbit or 500kbit")),
        bytes => Ok(bytes.saturating_mul(8)),
    }
}

/// A size in bytes (`get_size64`): `k`, `m` and `g` are powers of 1024, `kbit` an eighth.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let refuse = || format!("`{text}` is not a size: write 1514, 1514b or 32Mb");
    let (number, unit) = split(text).ok_or_else(refuse)?;
    const KIB: f64 = 1024.0;
    let scale = match unit.as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => KIB,
        "m" | "mb" => KIB * KIB,
        "g" | "gb" => KIB * KIB * KIB,
        "kbit" => KIB / 8.0,
        "mbit" => KIB * KIB / 8.0,
        "gbit" => KIB * KIB * KIB / 8.0,
        _ => return Err(refuse()),
    };
    whole(number * scale).ok_or_else(refuse)
}

/// A time in nanoseconds; a bare number is in units of `bare` nanoseconds (`get_time`:
/// microseconds).
pub(super) fn time(text: &str, bare: f64) -> Result<u64, String> {
    let refuse = || format!("`{text}` is not a time: write 5ms, 100us or 1s");
    let (number, unit) = split(text).ok_or_else(refuse)?;
    let scale = match unit.as_str() {
        "" => bare,
        "s" | "sec" | "secs" => 1e9,
        "ms" | "msec" | "msecs" => 1e6,
        "us" | "usec" | "usecs" => 1e3,
        "ns" | "nsec" | "nsecs" => 1.0,
        _ => return Err(refuse()),
    };
    whole((number * scale).round()).ok_or_else(|| format!("`{text}` is too long a time"))
}

/// A share from 0 to 1, written as a percentage; tc takes a bare number as a percentage too.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(format!("`{text}` is not a percentage from 0% to 100%")),
    }
}

/// An integer as in C (`strtoul` with base 0): `0x10` and `020` are 16.
pub(super) fn count(text: &str) -> Result<u64, String> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    let is_plain = digits.bytes().all(|it| it.is_ascii_hexdigit());
    let number = is_plain.then(|| u64::from_str_radix(digits, radix).ok()).flatten();
    number.ok_or_else(|| format!("`{text}` is not a whole number"))
}

/// Whether tc may have rounded a printed time: it prints three digits, or whole microseconds.
pub(super) fn is_rounded_time(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_digit).count() >= 3 && text.contains('.')
}

/// A time in a scenario, exact.
pub(super) fn show_time(nanos: u64) -> String {
    for (unit, scale) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
        if nanos.is_multiple_of(scale) && nanos > 0 {
            return format!("{}{unit}", nanos / scale);
        }
    }
    format!("{nanos}ns")
}

/// A rate in a scenario and for tc, exact.
pub(super) fn show_rate(bps: u64) -> String {
    for (unit, scale) in [("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000)] {
        if bps.is_multiple_of(scale) && bps > 0 {
            return format!("{}{unit}", bps / scale);
        }
    }
    format!("{bps}bit")
}

/// A rate for tc, which rounds to whole bytes per second (`get_rate64`).
pub(super) fn tc_rate(bps: u64) -> Result<String, String> {
    match bps % 8 {
        0 => Ok(show_rate(bps)),
        over => Err(format!(
            "a rate of {bps}bit: tc takes whole bytes per second, such as {}bit",
            bps + 8 - over
        )),
    }
}

/// A time for a sentence: three digits.
pub(super) fn time_in_words(nanos: u64) -> String {
    let (value, unit) = match nanos {
        1_000_000_000.. => (nanos as f64 / 1e9, "s"),
        1_000_000.. => (nanos as f64 / 1e6, "ms"),
        _ => (nanos as f64 / 1e3, "us"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A rate for a sentence: three digits.
pub(super) fn rate_in_words(bps: u64) -> String {
    let (value, unit) = match bps {
        1_000_000_000.. => (bps as f64 / 1e9, "Gbit/s"),
        1_000_000.. => (bps as f64 / 1e6, "Mbit/s"),
        _ => (bps as f64 / 1e3, "kbit/s"),
    };
    format!("{} {unit}", three_digits(value))
}

fn three_digits(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// iproute2 6.1 lib/utils_math.c, get_rate64.
    #[test]
    fn mbps_counts_bytes_and_mbit_bits_in_any_case() {
        for (text, bps) in [
            ("10mbit", 10_000_000),
            ("10Mbit", 10_000_000),
            ("1mbps", 8_000_000),
            ("1KBps", 8_000),
            ("8", 8),
            ("1.5mbit", 1_500_000),
            ("1mibit", 1_048_576),
            ("999bit", 992),
        ] {
            assert_eq!(rate(text), Ok(bps), "{text}");
        }
        for text in ["10m", "10mbit/s", "7", "", "mbit", "1e3mbit", "nan", "-1mbit", "1..5mbit"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes) in [("32Mb", 33_554_432), ("5k", 5120), ("1514b", 1514), ("8kbit", 1024)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        assert!(size("5kib").is_err());
    }

    #[test]
    fn whole_numbers_are_read_as_c_reads_them() {
        assert_eq!(
            [count("10"), count("0x10"), count("020"), count("0")].map(Result::unwrap),
            [10, 16, 16, 0]
        );
        for text in ["", "+5", "-1", "08", "1.0", "0x", "99999999999999999999"] {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bare_time_counts_microseconds() {
        assert_eq!(time("200", 1e3), Ok(200_000));
        assert_eq!(time("29.1ms", 1e3), Ok(29_100_000));
        assert_eq!(time("5msec", 1e3), Ok(5_000_000));
        assert!(time("5min", 1e3).is_err());
    }

    #[test]
    fn a_sentence_has_three_digits() {
        assert_eq!(time_in_words(12_112_000), "12.1 ms");
        assert_eq!(time_in_words(5_000_000), "5 ms");
        assert_eq!(time_in_words(100_000_000), "100 ms");
        assert_eq!(rate_in_words(1_250_000), "1.25 Mbit/s");
        assert_eq!(rate_in_words(950_000), "950 kbit/s");
    }

    #[test]
    fn what_is_shown_is_exact() {
        assert_eq!(show_time(29_100_000), "29100us");
        assert_eq!(show_time(5_000_000), "5ms");
        assert_eq!(show_rate(9_500_000), "9500kbit");
        assert_eq!(tc_rate(9_500_000).unwrap(), "9500kbit");
        assert!(tc_rate(9_999_999).unwrap_err().ends_with("such as 10000000bit"));
    }
}
