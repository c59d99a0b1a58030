//! Output of `tc -j qdisc show`, which is exact where the text output is rounded. Rates are in
//! bytes per second, times in microseconds, netem's in seconds (iproute2 6.1 lib/json_print.c,
//! tc/q_*.c).

use serde_json::{Map, Value};

use super::json_text::{self, Element};
use super::options::{self, Form};
use super::shown::second_root;
use super::statement::{class_options, link_layer, parent, qdisc_options, slot};
use super::tree::{
    TcClass, TcCounters, TcNoteKind, TcOverhead, TcParent, TcQdisc, TcSetup, TcSource,
};
use super::words::{Token, Tokens};
use super::{json_class, json_netem, places};
use crate::FormatError;

/// Reads output of `tc -j`.
pub(super) fn read(text: &str) -> Result<TcSetup, FormatError> {
    let text = &*json_text::mended(text);
    if json_text::start(text).is_none() {
        return Err(FormatError::whole("tc -j prints an array; paste from `[` to `]`"));
    }
    let (elements, unread) = json_text::elements(text)?;
    let mut setup = TcSetup::new(TcSource::Json);
    for (index, Element { value, device }) in elements.iter().enumerate() {
        let number = index + 1;
        let read = if value.get("class").is_some() { class } else { qdisc };
        read(value, number, device, &mut setup)
            .map_err(|error| FormatError { place: format!("element {number}"), ..error })?;
    }
    places::complete(&mut setup);
    if let Some(line) = unread.first() {
        let text = format!("line {line} of the text is not output of `tc -j`, and is left out");
        setup.note(TcNoteKind::Unknown, 1, text);
    }
    match setup.qdiscs.is_empty() {
        true if !setup.classes.is_empty() => Err(FormatError::whole(
            "the text has classes alone: paste what `tc -j qdisc show` prints too",
        )),
        true => Err(FormatError::whole("the array is empty; run tc -j qdisc show")),
        false => Ok(setup),
    }
}

fn qdisc(
    element: &Value,
    number: usize,
    default_device: &str,
    setup: &mut TcSetup,
) -> Result<(), FormatError> {
    let text = |name: &str| element.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
    let kind = text("kind");
    if kind.is_empty() {
        return Err(FormatError::at(number, "has no `kind`; paste what `tc -j qdisc show` prints"));
    }
    let empty = Map::new();
    let given = element.get("options").and_then(Value::as_object).unwrap_or(&empty);
    let plain = given.get("").and_then(Value::as_str);
    let words = match (kind.as_str(), plain) {
        (_, Some(plain)) => plain.split_whitespace().map(str::to_owned).collect(),
        ("cake" | "cake_mq", _) => cake(given),
        ("netem", _) => json_netem::words(given),
        (name, _) => by_table(name, given),
    };
    let line = number;
    let tokens: Vec<Token<'_>> = words.iter().map(|text| Token { text, line }).collect();
    let mut tokens = Tokens::new(&tokens, false);
    let options = qdisc_options(Token { text: &kind, line }, &mut tokens, setup)?;
    let parent = match (kind.as_str(), element.get("parent").and_then(Value::as_str)) {
        ("ingress" | "clsact", _) => TcParent::Ingress,
        (_, Some(place)) => parent(place),
        (_, None) => TcParent::Root,
    };
    let counters = counters(element);
    let (mut device, handle) = (text("dev"), text("handle"));
    if device.is_empty() {
        default_device.clone_into(&mut device);
    }
    if kind == "tbf" && ["mtu", "minburst"].iter().any(|it| given.contains_key(*it)) {
        let text = "`tc -j` does not print the peakrate of tbf: it is left out";
        setup.note(TcNoteKind::Unknown, line, text);
    }
    let stab = element.get("stab").map(|it| size_table(it, number)).transpose()?;
    let new = TcQdisc { device, kind, handle, parent, stab, options, counters, line };
    second_root(setup, &new);
    setup.qdiscs.push(new);
    Ok(())
}

/// A class of htb or hfsc (iproute2 6.18 tc/tc_class.c; earlier versions print text).
fn class(
    element: &Value,
    number: usize,
    default_device: &str,
    setup: &mut TcSetup,
) -> Result<(), FormatError> {
    let text = |name: &str| element.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
    let (kind, id, mut device) = (text("class"), text("handle"), text("dev"));
    if device.is_empty() {
        default_device.clone_into(&mut device);
    }
    if !matches!(kind.as_str(), "htb" | "hfsc") {
        return Ok(());
    }
    let words = json_class::words(&kind, element);
    let tokens: Vec<Token<'_>> = words.iter().map(|text| Token { text, line: number }).collect();
    let mut tokens = Tokens::new(&tokens, false);
    let options = class_options(Token { text: &kind, line: number }, &mut tokens, setup)?;
    let place = element.get("parent").and_then(Value::as_str).map_or(TcParent::Root, parent);
    setup.classes.push(TcClass { device, kind, id, parent: place, options, line: number });
    Ok(())
}

/// The size table that `tc -d -j` prints (iproute2 6.1 tc/tc_stab.c, print_size_table).
fn size_table(table: &Value, element: usize) -> Result<TcOverhead, FormatError> {
    let number = |name: &str| table.get(name).and_then(Value::as_i64).unwrap_or(0);
    let text = table.get("linklayer").and_then(Value::as_str).unwrap_or("ethernet");
    let cells = link_layer(Token { text, line: element })?;
    let mpu = u64::try_from(number("mpu")).unwrap_or(0);
    let positive = |name: &str| u64::try_from(number(name)).unwrap_or(0);
    let slot = slot(positive("mtu"), positive("tsize"));
    Ok(TcOverhead { bytes: number("overhead"), mpu, cells, slot, from_ip: false })
}

fn counters(element: &Value) -> TcCounters {
    let number = |name: &str| element.get(name).and_then(Value::as_u64);
    let tins = element.get("tins").and_then(Value::as_array);
    let largest = |tin: &Value| tin.get("max_pkt_len").and_then(Value::as_u64);
    TcCounters {
        sent_bytes: number("bytes"),
        sent_packets: number("packets"),
        dropped: number("drops").or(number("dropped")),
        overlimits: number("overlimits"),
        backlog_packets: number("qlen"),
        largest: number("maxpacket").or(tins.and_then(|all| all.iter().filter_map(largest).max())),
    }
}

/// A value in the text form of its option.
fn shown(value: &Value, form: Form) -> Option<String> {
    let number = value.as_f64();
    Some(match (form, number, value) {
        (_, _, Value::String(text)) => text.clone(),
        (Form::Rate, Some(bytes), _) => format!("{}bit", bytes * 8.0),
        (Form::Time | Form::TimeOrPackets, Some(micros), _) => format!("{micros}us"),
        (Form::Millis, Some(millis), _) => format!("{millis}ms"),
        (Form::Nanos, Some(nanos), _) => format!("{nanos}ns"),
        (_, Some(number), _) => format!("{number}"),
        _ => return None,
    })
}

/// Options of a kind with a table. An unknown key is kept, and reported.
fn by_table(kind: &str, given: &Map<String, Value>) -> Vec<String> {
    let words = options::table(kind).map_or(&[][..], |table| table.words);
    let mut all = Vec::new();
    for (key, value) in given {
        let name = match (kind, key.trim()) {
            // dualpi2's keys have hyphens where its words have underscores.
            ("dualpi2", "step-thresh-us") => "step_thresh".to_owned(),
            ("dualpi2", "coupling") => "coupling_factor".to_owned(),
            ("dualpi2", "c-protection") => "classic_protection".to_owned(),
            ("dualpi2", other) => other.replace('-', "_"),
            (_, other) => options::canonical(other).to_owned(),
        };
        let form = words.iter().find(|it| it.word == name).map_or(Form::Text, |it| it.form);
        match (value, form) {
            (Value::Bool(false), _) if name == "pacing" => all.push("nopacing".to_owned()),
            (Value::Bool(false), _) => {}
            (Value::Bool(true) | Value::Null, _) => all.push(name),
            (Value::String(word), _) if kind == "dualpi2" && name == "ecn_mask" => {
                all.push(word.replace('-', "_"));
            }
            (Value::String(word), _) if kind == "dualpi2" && name.starts_with("drop_") => {
                all.push(match word.as_str() {
                    "drop" => "drop_on_overload".to_owned(),
                    other => other.replace('-', "_"),
                });
            }
            (Value::Array(numbers), _) => {
                all.push(name);
                all.extend(numbers.iter().map(Value::to_string));
            }
            _ => {
                if let Some(text) = shown(value, form) {
                    all.extend([name, text]);
                }
            }
        }
    }
    all
}

fn cake(given: &Map<String, Value>) -> Vec<String> {
    let mut all = Vec::new();
    for (key, value) in given {
        match (key.as_str(), value) {
            ("bandwidth", Value::Number(bytes)) => {
                let bits = bytes.as_f64().unwrap_or(0.0) * 8.0;
                all.extend(["bandwidth".to_owned(), format!("{bits}bit")]);
            }
            ("bandwidth", _) => all.push("unlimited".to_owned()),
            ("diffserv" | "flowmode" | "atm" | "autorate", Value::String(word)) => {
                all.push(word.clone());
            }
            ("ack-filter", Value::String(word)) => all.push(match word.as_str() {
                "aggressive" => "ack-filter-aggressive".to_owned(),
                "enabled" => "ack-filter".to_owned(),
                _ => "no-ack-filter".to_owned(),
            }),
            ("split_gso" | "split-gso", Value::Bool(false)) => all.push("no-split-gso".to_owned()),
            ("split_gso" | "split-gso", _) => all.push("split-gso".to_owned()),
            ("nat" | "wash", Value::Bool(false)) => all.push(format!("no{key}")),
            (_, Value::Bool(false)) => {}
            (_, Value::Bool(true) | Value::Null) => all.push(key.clone()),
            ("fwmark", Value::String(mark)) if mark == "0" => {}
            ("fwmark", Value::String(mark)) => all.extend(["fwmark".to_owned(), mark.clone()]),
            ("rtt", value) => all.extend(["rtt".to_owned(), format!("{value}us")]),
            (_, Value::Number(number)) => all.extend([key.clone(), number.to_string()]),
            (_, other) => all.push(other.as_str().unwrap_or(key).to_owned()),
        }
    }
    // `raw` comes first, as in the text: the following overhead is not a second one.
    all.sort_by_key(|word| word != "raw");
    all
}
