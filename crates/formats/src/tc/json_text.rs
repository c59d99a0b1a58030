//! Output of `tc -j` in a text: the arrays, and the lines around them.

use std::borrow::Cow;

use serde_json::Value;

use super::commands::without_prompt;
use super::shown::{device_of, show_command};
use super::words::Token;
use crate::FormatError;

/// An element of an array, with the device of the command before it.
pub(super) struct Element {
    pub(super) value: Value,
    pub(super) device: String,
}

/// The text with the options that tc prints as plain text (`"options":{default 3 }`) in quotation
/// marks, under an empty name (iproute2 6.1 tc/q_hfsc.c, hfsc_print_opt).
pub(super) fn mended(text: &str) -> Cow<'_, str> {
    const OPTIONS: &str = "\"options\":{";
    let is_plain = |rest: &str| rest.trim_start().starts_with(|c: char| c.is_ascii_alphanumeric());
    if !text.split(OPTIONS).skip(1).any(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut all = String::with_capacity(text.len());
    for (index, part) in text.split(OPTIONS).enumerate() {
        all.push_str(if index > 0 { OPTIONS } else { "" });
        match part.split_once('}').filter(|(inside, _)| index > 0 && is_plain(inside)) {
            Some((inside, rest)) => {
                let inside = inside.replace(['"', '\\', '\n', '\r', '\t'], " ");
                all.push_str(&format!("\"\":\"{}\"}}{rest}", inside.trim()));
            }
            None => all.push_str(part),
        }
    }
    Cow::Owned(all)
}

/// The offset of the first array of objects that begins a line.
pub(super) fn start(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let inside = without_prompt(line);
        if inside.starts_with('[') {
            let begin = at + line.len() - line.trim_start().len();
            let begin = begin + text[begin..].find('[')?;
            let after = text[begin + 1..].trim_start();
            if after.starts_with(['{', ']']) {
                return Some(begin);
            }
        }
        at += line.len();
    }
    None
}

/// The elements of all arrays, and the lines that are not read.
pub(super) fn elements(text: &str) -> Result<(Vec<Element>, Vec<usize>), FormatError> {
    let (mut all, mut unread) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(begin) = start(&text[at..]) {
        let device = between(&text[at..at + begin], line_of(text, at), &mut unread);
        at += begin;
        let mut stream = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let value = match stream.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => {
                let what = if error.is_eof() { "the JSON is cut off" } else { "this is not JSON" };
                let message =
                    format!("{what} (column {}): paste all that `tc -j` prints", error.column());
                let line = line_of(text, at) + error.line().max(1) - 1;
                return Err(FormatError::at(line, message));
            }
            None => break,
        };
        at += stream.byte_offset();
        let elements = value.as_array().cloned().unwrap_or_default();
        all.extend(elements.into_iter().map(|value| Element { value, device: device.clone() }));
    }
    between(&text[at..], line_of(text, at), &mut unread);
    Ok((all, unread))
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The device that the last show command of some lines names; other lines are not read.
fn between(text: &str, first: usize, unread: &mut Vec<usize>) -> String {
    let mut device = String::new();
    for (index, line) in text.lines().enumerate() {
        let line = without_prompt(line);
        let words: Vec<Token<'_>> =
            line.split_whitespace().map(|text| Token { text, line: 1 }).collect();
        match show_command(&words) {
            Some(command) => device = device_of(command),
            None if line.is_empty() || line.starts_with("```") || line.contains('@') => {}
            None => unread.push(first + index),
        }
    }
    device
}
