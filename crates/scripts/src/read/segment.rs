//! Segments: `< [ce] P. 1:1001(1000) ack 1 win 257 <nop,nop,sack 1:2>`.

use super::cursor::Cursor;
use super::{Action, Counter, Field, ReadError, Segment, SegmentDirection, TcpFlags, TcpOption};

/// Parses a segment, or something other than TCP, after the time.
pub(super) fn segment(cursor: &mut Cursor<'_>) -> Result<Action, ReadError> {
    let direction = if cursor.eat("<") {
        SegmentDirection::Inbound
    } else {
        cursor.expect(">")?;
        SegmentDirection::Outbound
    };
    let (field, ip) = bracket(cursor)?;
    let mut ahead = cursor.clone();
    if matches!(ahead.word(), "icmp" | "udp" | "gre" | "mpls" | "ipv4" | "ipv6" | "psp" | "raw") {
        return Ok(Action::Foreign(cursor.rest_of_line().to_owned()));
    }
    let mut ahead = cursor.clone();
    let ports = (!ahead.word().is_empty() && ahead.eat(">")).then(|| {
        let from = cursor.word();
        cursor.eat(">");
        format!("{from} > {}", cursor.word())
    });
    let flags = flags(cursor)?;
    let (seq, payload) = sequence(cursor)?;
    let ack = cursor.eat_word("ack").then(|| cursor.number()).transpose()?;
    let window = cursor.eat_word("win").then(|| cursor.number()).transpose()?;
    if cursor.eat_word("urg") {
        cursor.number()?;
    }
    let options = options(cursor, direction)?;
    let segment =
        Segment { direction, field, ip, ports, flags, seq, payload, ack, window, options };
    Ok(Action::Segment(segment))
}

/// `[ect0]`, or other properties of the IP header.
fn bracket(cursor: &mut Cursor<'_>) -> Result<(Field, Option<String>), ReadError> {
    let (mut field, mut ip) = (Field::Unsaid, None);
    while cursor.eat("[") {
        for part in cursor.until("]")?.split(',').map(str::trim) {
            match part {
                "noecn" => field = Field::NotEct,
                "ect0" => field = Field::Ect0,
                "ect1" => field = Field::Ect1,
                "ect01" => field = Field::Ect,
                "ce" => field = Field::Ce,
                other => ip = Some(other.to_owned()),
            }
        }
    }
    Ok((field, ip))
}

/// The letters, `.` for ACK, `-` for none. `A` is AE, `W` CWR, `E` ECE.
fn flags(cursor: &mut Cursor<'_>) -> Result<TcpFlags, ReadError> {
    let letters = cursor.run(|c| "FSRPUEWAC.-0123456789".contains(c));
    if letters.is_empty() {
        return Err(cursor.expected("flags (of S F R P U E W A and `.`)"));
    }
    let mut flags = TcpFlags::default();
    for letter in letters.chars() {
        match letter {
            'S' => flags.syn = true,
            'F' => flags.fin = true,
            'R' => flags.rst = true,
            'P' => flags.psh = true,
            'U' => flags.urg = true,
            '.' => flags.ack = true,
            'A' => flags.ace |= 0b100,
            'W' | 'C' => flags.ace |= 0b010,
            'E' => flags.ace |= 0b001,
            '0'..='7' => flags.ace = letter as u8 - b'0',
            _ => {}
        }
    }
    Ok(flags)
}

/// `1:1001(1000)`, or without the end `1(1000)`.
fn sequence(cursor: &mut Cursor<'_>) -> Result<(u32, u32), ReadError> {
    let seq = cursor.number()?;
    let end = cursor.eat(":").then(|| cursor.number()).transpose()?;
    cursor.expect("(")?;
    let payload = cursor.number()?;
    cursor.expect(")")?;
    match end {
        Some(end) if end != seq.wrapping_add(payload) => {
            Err(cursor.error(format!("{seq}:{end} is not {payload} bytes")))
        }
        _ => Ok((seq, payload)),
    }
}

fn options(
    cursor: &mut Cursor<'_>,
    direction: SegmentDirection,
) -> Result<Option<Vec<TcpOption>>, ReadError> {
    let mut found = Vec::new();
    // Options may be absent.
    if !cursor.eat("<") {
        return Ok(Some(found));
    }
    if cursor.eat("...") {
        cursor.expect(">")?;
        return match direction {
            SegmentDirection::Outbound => Ok(None),
            SegmentDirection::Inbound => {
                Err(cursor.error("`<...>` says nothing of a segment that arrives".to_owned()))
            }
        };
    }
    while !cursor.eat(">") {
        found.push(option(cursor)?);
        cursor.eat(",");
    }
    Ok(Some(found))
}

fn option(cursor: &mut Cursor<'_>) -> Result<TcpOption, ReadError> {
    let word = cursor.word();
    Ok(match word {
        "nop" | "eol" => TcpOption::Padding,
        "mss" => TcpOption::Mss(cursor.number()?),
        "wscale" => TcpOption::WindowScale(cursor.number()?),
        "sackOK" => TcpOption::SackPermitted,
        "sack" => TcpOption::Sack(blocks(cursor)?),
        "TS" => {
            let value = labelled(cursor, "val")?;
            TcpOption::Stamps { value, echo: labelled(cursor, "ecr")? }
        }
        "ECN" | "exp" if matches!(cursor.peek(), Some('e' | 'c')) => {
            TcpOption::AccEcn(counters(cursor)?)
        }
        "" => return Err(cursor.expected("a TCP option")),
        other => {
            let rest = cursor.run(|c| !",>".contains(c) && c != '\n').trim();
            TcpOption::Other(format!("{other} {rest}").trim().to_owned())
        }
    })
}

fn labelled(cursor: &mut Cursor<'_>, label: &str) -> Result<u32, ReadError> {
    if !cursor.eat_word(label) {
        return Err(cursor.expected(&format!("`{label}`")));
    }
    cursor.number()
}

fn blocks(cursor: &mut Cursor<'_>) -> Result<Vec<(u32, u32)>, ReadError> {
    let mut blocks = Vec::new();
    while cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        let start = cursor.number()?;
        cursor.expect(":")?;
        blocks.push((start, cursor.number()?));
    }
    Ok(blocks)
}

fn counters(cursor: &mut Cursor<'_>) -> Result<Vec<(Counter, u32)>, ReadError> {
    let mut counters = Vec::new();
    loop {
        let counter = match cursor.clone().word() {
            "e0b" => Counter::Ect0,
            "e1b" => Counter::Ect1,
            "ceb" => Counter::Ce,
            _ => return Ok(counters),
        };
        cursor.word();
        counters.push((counter, cursor.number()?));
    }
}
