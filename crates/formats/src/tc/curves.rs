//! The service curves of a class of hfsc (tc-hfsc(7); iproute2 6.1 tc/q_hfsc.c).

use super::abbreviations;
use super::tree::{TcClass, TcOption, TcValue};
use super::units::{self, show_rate, show_time};
use super::values::TcCurve;
use super::words::{Token, Tokens};
use crate::FormatError;

/// The curves as options `rt`, `ls` and `ul`, and the long-term rates of the link share, the upper
/// limit and the real-time curve.
pub(super) fn read(tokens: &mut Tokens<'_>) -> Result<Vec<TcOption>, FormatError> {
    let mut options = Vec::new();
    while let Some(token) = tokens.next() {
        let names: &[(&'static str, &'static str)] =
            match abbreviations::whole(&abbreviations::CURVES, token.text) {
                "rt" => &[("rt", "real_time")],
                "ls" => &[("ls", "rate")],
                "sc" => &[("rt", "real_time"), ("ls", "rate")],
                "ul" => &[("ul", "ceil")],
                other => {
                    let message =
                        format!("hfsc has no curve `{other}`; rt, ls, sc and ul each take m1 d m2");
                    return Err(FormatError::at(token.line, message));
                }
            };
        let start = tokens.position() - 1;
        let curve = curve(token, tokens)?;
        let option =
            |name, value| TcOption { name, value, text: tokens.since(start), line: token.line };
        for (name, rate) in names.iter().filter(|_| curve != TcCurve::default()) {
            options.push(option(name, TcValue::Curve(curve)));
            options.extend((curve.m2 > 0).then(|| option(rate, TcValue::Bps(curve.m2))));
        }
    }
    Ok(options)
}

/// `[m1 RATE d TIME] m2 RATE`, or `[umax BYTES dmax TIME] rate RATE`.
fn curve(of: Token<'_>, tokens: &mut Tokens<'_>) -> Result<TcCurve, FormatError> {
    let (mut curve, mut umax, mut dmax) = (TcCurve::default(), 0, 0);
    let is_part = |it: &Token<'_>| matches!(it.text, "m1" | "d" | "m2" | "rate" | "umax" | "dmax");
    let mut ends = false;
    while let Some(token) = tokens.peek().filter(|it| is_part(it) && !ends) {
        tokens.next();
        let given = tokens.value_of(token)?;
        let wrong = |why| FormatError::at(given.line, format!("{}: {why}", token.text));
        match token.text {
            "m1" => curve.m1 = rate(given.text).map_err(wrong)?,
            "d" => curve.d = units::time(given.text, 1e3).map_err(wrong)?,
            "umax" => umax = units::size(given.text).map_err(wrong)?,
            "dmax" => dmax = units::time(given.text, 1e3).map_err(wrong)?,
            _ => (curve.m2, ends) = (rate(given.text).map_err(wrong)?, true),
        }
    }
    if !ends {
        let message = format!("`{}` has no rate: write m2 or rate behind it", of.text);
        return Err(FormatError::at(of.line, message));
    }
    Ok(if umax > 0 { by_largest(umax, dmax, curve.m2) } else { curve })
}

/// A rate, which may be zero.
fn rate(text: &str) -> Result<u64, String> {
    match text {
        "0" | "0bit" => Ok(0),
        other => units::rate(other),
    }
}

/// The curve that sends `umax` bytes within `dmax` nanoseconds (hfsc_get_sc2). tc computes in bytes
/// per second and microseconds.
fn by_largest(umax: u64, dmax: u64, m2: u64) -> TcCurve {
    let (bytes, micros, rate) = (umax as f64, dmax as f64 / 1e3, (m2 / 8) as f64);
    let first = (bytes * 1e6 / micros).ceil();
    if micros > 0.0 && first > rate {
        return TcCurve { m1: first as u64 * 8, d: dmax, m2 };
    }
    let d = (micros - bytes * 1e6 / rate).ceil().max(0.0);
    TcCurve { m1: 0, d: d as u64 * 1000, m2 }
}

/// A curve of a class.
pub(super) fn of(class: &TcClass, name: &str) -> Option<TcCurve> {
    class.options.iter().rev().find(|it| it.name == name).and_then(|it| match it.value {
        TcValue::Curve(curve) => Some(curve),
        _ => None,
    })
}

/// The curves of a class as keys of a scenario.
pub(super) fn keys(class: &TcClass) -> impl Iterator<Item = (&'static str, String)> {
    ["rt", "ls", "ul"].into_iter().filter_map(|name| Some((name, toml(of(class, name)?))))
}

fn toml(TcCurve { m1, d, m2 }: TcCurve) -> String {
    let mut parts = Vec::new();
    if m1 > 0 {
        parts.push(format!("m1 = \"{}\"", show_rate(m1)));
    }
    if d > 0 {
        parts.push(format!("d = \"{}\"", show_time(d)));
    }
    if m2 > 0 {
        parts.push(format!("m2 = \"{}\"", show_rate(m2)));
    }
    format!("{{ {} }}", parts.join(", "))
}
