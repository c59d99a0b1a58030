//! System calls: `setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0`.

use super::cursor::Cursor;
use super::limits::DEPTH;
use super::{Argument, Call, ReadError};

/// Parses the part of a call after its time.
pub(super) fn call(cursor: &mut Cursor<'_>, blocks: bool) -> Result<Call, ReadError> {
    let name = cursor.word().to_owned();
    if name.is_empty() {
        return Err(cursor.expected("a segment, a call, `commands` or %{ assertions }%"));
    }
    cursor.expect("(")?;
    let mut args = Vec::new();
    while !cursor.eat(")") {
        args.push(value(cursor, 0)?);
        cursor.eat(",");
    }
    cursor.expect("=")?;
    let result = result(cursor)?;
    let errno = match cursor.peek() {
        Some(c) if c.is_ascii_uppercase() => Some(cursor.word().to_owned()),
        _ => None,
    };
    if cursor.eat("(") {
        cursor.until(")")?; // the text of the error
    }
    Ok(Call { blocks, name, args, result, errno })
}

fn result(cursor: &mut Cursor<'_>) -> Result<Option<i64>, ReadError> {
    if cursor.eat("?") {
        return Ok(None);
    }
    match value(cursor, 0)? {
        Argument::Number(number) => Ok(Some(number)),
        _ => Err(cursor.expected("the result of the call, a number or `?`")),
    }
}

/// An argument inside this many brackets.
fn value(cursor: &mut Cursor<'_>, depth: usize) -> Result<Argument, ReadError> {
    if depth > DEPTH {
        return Err(cursor.error(format!("brackets are nested more than {DEPTH} deep")));
    }
    let first = match cursor.peek() {
        None => return Err(cursor.expected("an argument")),
        Some(first) => first,
    };
    Ok(match first {
        '.' => {
            cursor.expect("...")?;
            Argument::Any
        }
        '"' => {
            cursor.eat("\"");
            Argument::Text(cursor.until("\"")?.to_owned())
        }
        '[' => {
            cursor.eat("[");
            let mut values = Vec::new();
            while !cursor.eat("]") {
                values.push(value(cursor, depth + 1)?);
                cursor.eat(",");
            }
            Argument::List(values)
        }
        '{' => Argument::Opaque(nested(cursor)?),
        '-' | '0'..='9' => {
            let negative = cursor.eat("-");
            let magnitude = i64::from(cursor.number()?);
            Argument::Number(if negative { -magnitude } else { magnitude })
        }
        _ => name(cursor, depth)?,
    })
}

/// A name, several joined by `|`, or one with arguments.
fn name(cursor: &mut Cursor<'_>, depth: usize) -> Result<Argument, ReadError> {
    let mut names = vec![cursor.word()];
    if names[0].is_empty() {
        return Err(cursor.expected("an argument"));
    }
    if cursor.eat("(") {
        return Ok(Argument::Opaque(format!("{}({})", names[0], cursor.until(")")?)));
    }
    if cursor.eat("=") {
        return Ok(Argument::Opaque(format!("{}={:?}", names[0], value(cursor, depth + 1)?)));
    }
    while cursor.eat("|") {
        names.push(cursor.word());
    }
    Ok(Argument::Name(names.join("|")))
}

/// `{...}` with its contents.
fn nested(cursor: &mut Cursor<'_>) -> Result<String, ReadError> {
    let mut depth = 0;
    let mut text = String::new();
    loop {
        let part = cursor.run(|c| !"{}".contains(c));
        text.push_str(part);
        if cursor.eat("{") {
            depth += 1;
        } else if cursor.eat("}") {
            depth -= 1;
        } else {
            return Err(cursor.expected("`}`"));
        }
        if depth == 0 {
            return Ok(text.trim().to_owned());
        }
    }
}
