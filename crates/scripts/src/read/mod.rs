//! The parser: turns the text of a script into a [`Script`]. The parser knows the syntax, not the
//! meaning.
//!
//! Source: packetdrill's description of its format (`gtests/net/packetdrill/README`, and the rules
//! in `parser.y` and `lexer.l`, of May 2026).

mod call;
mod cursor;
mod limits;
mod script;
mod segment;

use std::fmt;

use sojourn_aqm::Span;

use self::cursor::Cursor;
pub use self::script::{
    Action, Argument, Call, Counter, Event, Field, Script, Segment, SegmentDirection, Shell,
    TcpFlags, TcpOption, When,
};

/// Why a text is not a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// Its line.
    pub line: u32,
    /// The problem, and the remedy.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Parses a script.
///
/// # Errors
/// [`ReadError`] at the first syntax error, or at the first value beyond the limits of a script.
pub fn read(text: &str) -> Result<Script, ReadError> {
    limits::check_length(text)?;
    let mut cursor = Cursor::new(text);
    let mut script = Script::default();
    while cursor.eat("--") {
        let (name, value) = option(cursor.rest_of_line());
        script.options.push((name, value));
    }
    while cursor.peek() == Some('`') {
        let line = cursor.line();
        script.setup.push(Shell { line, text: shell(&mut cursor)? });
    }
    while !cursor.is_at_end() {
        if cursor.peek() == Some('`') {
            shell(&mut cursor)?; // commands that clean up after the last event
            continue;
        }
        let line = cursor.line();
        let (when, blocks) = when(&mut cursor)?;
        let action = action(&mut cursor, blocks)?;
        script.events.push(Event { line, when, action });
    }
    limits::check(&script)?;
    Ok(script)
}

fn option(text: &str) -> (String, String) {
    let text = text.split("//").next().unwrap_or_default().trim();
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (name.to_owned(), value.trim_matches('"').to_owned())
}

fn shell(cursor: &mut Cursor<'_>) -> Result<String, ReadError> {
    cursor.expect("`")?;
    Ok(cursor.until("`")?.to_owned())
}

/// The time of an event, and whether it is a call that blocks until another time.
fn when(cursor: &mut Cursor<'_>) -> Result<(When, bool), ReadError> {
    if cursor.eat("*") {
        return Ok((When::Any, false));
    }
    let relative = cursor.eat("+");
    let from = seconds(cursor)?;
    let ranges = cursor.eat("~");
    let blocks = !ranges && cursor.eat("...");
    let to = if ranges || blocks {
        cursor.eat("+");
        seconds(cursor)?
    } else {
        from
    };
    if to < from {
        return Err(cursor.error("the range of times ends before it begins".to_owned()));
    }
    let to = if blocks { from } else { to };
    Ok((if relative { When::After(from, to) } else { When::At(from, to) }, blocks))
}

/// Seconds with a fraction, parsed exactly.
fn seconds(cursor: &mut Cursor<'_>) -> Result<Span, ReadError> {
    let whole = cursor.run(|c| c.is_ascii_digit());
    let fraction = if cursor.eat_fraction() { cursor.run(|c| c.is_ascii_digit()) } else { "" };
    if whole.is_empty() && fraction.is_empty() {
        return Err(cursor.expected("a time in seconds"));
    }
    let digits = format!("{}{fraction:0<9}", if whole.is_empty() { "0" } else { whole });
    match digits.parse() {
        Ok(nanos) if fraction.len() <= 9 => Ok(Span::from_nanos(nanos)),
        _ => Err(cursor.error("a time has at most nine decimals".to_owned())),
    }
}

fn action(cursor: &mut Cursor<'_>, blocks: bool) -> Result<Action, ReadError> {
    match cursor.peek() {
        Some('<' | '>') => segment::segment(cursor),
        Some('`') => Ok(Action::Shell(shell(cursor)?)),
        Some('%') => {
            cursor.expect("%{")?;
            Ok(Action::Code(cursor.until("}%")?.to_owned()))
        }
        _ => Ok(Action::Call(call::call(cursor, blocks)?)),
    }
}
