//! Values to try for a parameter, by its kind.

use alloc::vec::Vec;

use crate::params::{ParamSpec, ValueKind};

/// Values that most parameters of a kind may have.
pub fn usual(param: &ParamSpec) -> Vec<&'static str> {
    let usual: &[&str] = match param.kind {
        ValueKind::Span => &["2ms", "60ms", "0s", "1us", "5s", "800ms"],
        ValueKind::Hertz => &["1hz", "0.0625hz", "20hz"],
        ValueKind::Number => &["0.5", "1", "0", "0.02", "0.001", "3"],
        ValueKind::Whole => &["3", "24", "128", "1"],
        ValueKind::Bytes => &["700B", "6kB", "20kB", "64B", "256B"],
        ValueKind::SignedBytes => &["-4B", "18B", "44B"],
        ValueKind::Limit => &["7p", "30p", "9kB"],
        ValueKind::Rate => &["3mbit"],
        ValueKind::Bool => &["true", "false"],
        ValueKind::Word => param.words,
    };
    usual.iter().copied().chain(param.absent).collect()
}

/// Edge values of each kind of parameter; the rules refuse some of them.
pub fn edges(kind: ValueKind) -> &'static [&'static str] {
    match kind {
        ValueKind::Span => &["0s", "50us", "1s", "18446744073s"],
        ValueKind::Hertz => &["0hz", "0.000000001hz", "99999999hz"],
        ValueKind::Number => &["0", "1e-300", "0.5", "1", "1e300"],
        ValueKind::Whole => &["0", "1", "64", "65536", "18446744073709551615"],
        ValueKind::Bytes => &["0B", "1B", "256B", "1MiB", "18446744073709551615B"],
        ValueKind::SignedBytes => &["0B", "-1B", "-64B", "256B", "9223372036854775807B"],
        ValueKind::Limit => &["0p", "1p", "7B", "1000000p", "18446744073709551615B"],
        ValueKind::Rate => &["1bit", "100gbit"],
        ValueKind::Bool => &["true", "false"],
        ValueKind::Word => &[],
    }
}
