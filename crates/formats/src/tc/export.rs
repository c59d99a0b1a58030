//! A discipline and a link of ours as commands of tc, or as a section of OpenWrt's SQM.

use sojourn_aqm::{Cells, Limit, Packing, QdiscSpec, registry, units};

use super::demands;
use super::export_cake;
use super::fq;
use super::options::{self, Form, KindTable, OptionWord, Ours};
use super::units::tc_rate;
use crate::FormatError;

/// The part of a scenario's link that commands can express.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcLink {
    /// The device.
    pub device: String,
    /// Whether the link is the device's ingress, which requires an ifb.
    pub is_arrivals: bool,
    /// bit/s.
    pub bps: u64,
    /// The token bucket, if the rate has one.
    pub bucket: Option<TcBucket>,
    /// Bytes that the link adds to a packet.
    pub framing_bytes: u64,
    /// How the link packs packet and framing into cells.
    pub packing: Packing,
    /// The policer: bit/s, and the depth of its bucket in bytes.
    pub policer: Option<(u64, u64)>,
    /// The AQM in its text form.
    pub aqm: String,
    /// The scheduler of its classes, as JSON of the resolved scenario.
    pub scheduler: Option<String>,
}

/// A token bucket of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcBucket {
    /// Depth.
    pub bytes: u64,
    /// Whether a packet may put the bucket into debt, as in a class of htb, or not, as in tbf.
    pub is_overdraft: bool,
}

/// A discipline in tc's syntax.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcWords {
    /// The kind, and its options.
    pub words: Vec<String>,
    /// Differences of the kernel's behaviour, one sentence each.
    pub warnings: Vec<String>,
}

/// Linux releases that introduced a kind.
const SINCE: [(&str, (u32, u32)); 10] = [
    ("choke", (2, 6)),
    ("sfb", (2, 6)),
    ("fq", (3, 12)),
    ("codel", (3, 5)),
    ("fq_codel", (3, 5)),
    ("pie", (3, 14)),
    ("cake", (4, 19)),
    ("fq_pie", (5, 6)),
    ("dualpi2", (6, 17)),
    ("pfifo_head_drop", (2, 6)),
];

const PERCENT: f64 = 100.0;

/// An AQM as the words after `tc qdisc add dev eth0 root`.
///
/// # Errors
/// Names the parameter for which tc has no option, or the discipline that the kernel lacks.
pub fn words_of(link: &TcLink, kernel: Option<(u32, u32)>) -> Result<TcWords, FormatError> {
    words_with(link, kernel, false)
}

/// The words, optionally including the kernel's defaults.
pub(super) fn words_with(
    link: &TcLink,
    kernel: Option<(u32, u32)>,
    is_complete: bool,
) -> Result<TcWords, FormatError> {
    let spec = QdiscSpec::parse(&link.aqm).map_err(|error| FormatError::whole(error.message))?;
    of_spec(&spec, link, kernel, is_complete)
        .map_err(|message| FormatError { place: link.aqm.clone(), message })
}

fn of_spec(
    spec: &QdiscSpec,
    link: &TcLink,
    kernel: Option<(u32, u32)>,
    is_complete: bool,
) -> Result<TcWords, String> {
    let table = table_of(spec)?;
    if let Some((_, since)) = SINCE.iter().find(|it| it.0 == table.kind)
        && let Some(kernel) = kernel
        && kernel < *since
    {
        let ((major, minor), (of, other)) = (since, kernel);
        return Err(format!(
            "Linux {of}.{other} has no {}; it came with {major}.{minor}",
            table.kind
        ));
    }
    let mut warnings = Vec::new();
    let (base, settings) = in_linux(spec, &mut warnings)?;
    if let Some((major, minor)) = kernel {
        let unlike = registry::unlike(spec, (major, minor));
        warnings.extend(unlike.into_iter().map(|registry::Change { value, what, .. }| {
            format!(
                "{} of Linux {major}.{minor} has {what} of {value}, unlike `{spec}`",
                spec.kind()
            )
        }));
    }
    let words = match table.kind {
        "cake" => {
            unlike_kernel(&base, &settings)?;
            export_cake::words(&settings, link.framing_bytes)?
        }
        _ => {
            let mut words = by_table(table, spec, &base, &settings, is_complete)?;
            if spec.kind() == "sfq_red" && !words.iter().any(|it| it == "redflowlimit") {
                words.extend(["redflowlimit".to_owned(), red_flow_limit(&settings)?]);
            }
            if table.kind == "fq" {
                words.extend(fq::words(&base, &settings, kernel)?);
            }
            // tc has no word for the link's rate, and requires a number for choke.
            if table.kind == "choke" || settings.contains(&("bandwidth", "auto".to_owned())) {
                words.extend(["bandwidth".to_owned(), tc_rate(link.bps)?]);
            }
            words
        }
    };
    Ok(TcWords { words, warnings })
}

/// Refuses code of another kernel, which tc cannot choose.
fn unlike_kernel(base: &Settings, settings: &Settings) -> Result<(), String> {
    let other = settings.iter().find(|it| it.0 == "inverse_roots" && !base.contains(it));
    other.map_or(Ok(()), |(name, value)| Err(not_in_tc(name, value)))
}

fn not_in_tc(name: &str, value: &str) -> String {
    format!("tc cannot set `{name}` to {value}; leave it out")
}

/// The queue size from which the default thresholds of sfq_red follow; tc requires it.
fn red_flow_limit(settings: &Settings) -> Result<String, String> {
    const FRAME_BYTES: u64 = 1514;
    let depth = settings.iter().find(|it| it.0 == "depth").map_or("127", |it| it.1.as_str());
    Ok((units::whole(depth)? * FRAME_BYTES).to_string())
}

/// The kind of our AQM.
fn table_of(spec: &QdiscSpec) -> Result<&'static KindTable, String> {
    let ours = spec.kind();
    let settings = registry::settings(spec).map_err(|error| error.message)?;
    let of =
        |name: &str| settings.iter().find(|(it, _)| *it == name).map(|(_, text)| text.as_str());
    let kind = match ours.as_str() {
        "ared" => "red",
        "sfq_red" => "sfq",
        "taildrop" if of("overflow") == Some("head") => "pfifo_head_drop",
        "taildrop" => match of("limit").map(units::limit) {
            Some(Ok(Limit::Bytes(_))) => "bfifo",
            _ => "pfifo",
        },
        other => other,
    };
    options::table(kind).filter(|it| !it.aqm.is_empty()).ok_or_else(|| {
        format!(
            "the kernel has no `{ours}`; it has taildrop, codel, fq_codel, pie, fq_pie, red, ared, \
             choke, sfq, sfb, fq, cake and dualpi2"
        )
    })
}

type Settings = fq::Settings;

/// The kernel's defaults, overridden by the settings of an AQM.
fn in_linux(spec: &QdiscSpec, warnings: &mut Vec<String>) -> Result<(Settings, Settings), String> {
    let kind = spec.kind();
    let linux = QdiscSpec::parse(&format!("{kind}@linux")).is_ok();
    let head = match (linux, kind.as_str()) {
        (true, _) => format!("{kind}@linux"),
        (false, "taildrop") => match &spec.dialect {
            Some(dialect) => format!("taildrop@{dialect}"),
            None => kind.clone(),
        },
        (false, _) => kind.clone(),
    };
    if linux && kind != "cake" && registry::dialect_of(spec) != "linux" {
        let own = spec.dialect.as_deref().unwrap_or("the default");
        warnings.push(format!("the kernel runs its own {kind}; the simulator's dialect is {own}"));
    }
    let pairs: Vec<String> =
        spec.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let text = if pairs.is_empty() { head.clone() } else { format!("{head}:{}", pairs.join(",")) };
    let resolved = |text: &str| {
        let spec = QdiscSpec::parse(text).map_err(|error| error.message)?;
        registry::settings(&spec).map_err(|error| error.message)
    };
    Ok((resolved(&head)?, resolved(&text)?))
}

/// Words that tc always requires, by kind.
const ALWAYS: [(&str, &[&str]); 7] = [
    ("pfifo", &["limit"]),
    ("bfifo", &["limit"]),
    ("pfifo_head_drop", &["limit"]),
    ("red", &["limit", "avpkt"]),
    ("choke", &["limit"]),
    // tc sends its own steps, and derives one bound from the other.
    ("sfb", &["increment", "decrement", "max", "target"]),
    ("fq_codel", &[]),
];

fn by_table(
    table: &KindTable,
    spec: &QdiscSpec,
    base: &Settings,
    settings: &Settings,
    is_complete: bool,
) -> Result<Vec<String>, String> {
    let always = ALWAYS.iter().find(|it| it.0 == table.kind).map_or(&[][..], |it| it.1);
    let mut words = vec![table.kind.to_owned()];
    for (name, value) in settings {
        let default = base.iter().find(|it| it.0 == *name).map(|it| it.1.as_str());
        let is_default = default == Some(value.as_str());
        let is_read = |it: &&OptionWord| demands::is_read(table.kind, it.word);
        let mut known = table.words.iter().filter(is_read).filter(|it| stands_for(it, name));
        let Some(word) = known.clone().find(|it| is_value(it, value)) else {
            let needs_none = is_default
                || known.next().is_some_and(|it| is_off(it, value) && !always.contains(&it.word));
            if needs_none || is_by_kind(table.kind, name) {
                continue;
            }
            return Err(not_in_tc(name, value));
        };
        if is_default && !is_complete && !always.contains(&word.word) {
            continue;
        }
        words.push(word.word.to_owned());
        words.extend(of_value(word, name, value)?);
    }
    if spec.kind() == "ared" {
        words.push("adaptive".to_owned());
    }
    Ok(words)
}

/// Whether the kind implies a parameter's value, or a list contains the parameter.
fn is_by_kind(kind: &str, name: &str) -> bool {
    kind == "pfifo_head_drop" && name == "overflow" || kind == "fq" && fq::OF_BANDS.contains(&name)
}

fn stands_for(word: &OptionWord, name: &str) -> bool {
    match word.ours {
        Ours::Is(ours) | Ours::Hertz(ours, _) | Ours::Sets(ours, _) => ours == name,
        Ours::Same | Ours::Missing => false,
    }
}

/// Whether a word can express a value: a flag expresses one value, other words everything but `off`
/// and `auto`.
fn is_value(word: &OptionWord, value: &str) -> bool {
    match word.ours {
        Ours::Sets(_, only) => only == value,
        _ => !matches!(value, "off" | "auto"),
    }
}

/// Whether leaving out the word gives this value: a flag or a part that is off.
fn is_off(word: &OptionWord, value: &str) -> bool {
    match word.ours {
        Ours::Sets(_, only) => only == "true" && value == "false",
        _ => {
            value == "auto"
                || value == "off" && matches!(word.word, "ce_threshold" | "perturb" | "maxrate")
        }
    }
}

/// A value in tc's unit; `None` for a flag.
fn of_value(word: &OptionWord, name: &str, value: &str) -> Result<Option<String>, String> {
    let refuse = |what: &str| format!("`{name}` of {value}: tc takes {what}");
    let divided = |nanos: u64, unit: u64, what: &str| match nanos.is_multiple_of(unit) {
        true => Ok(nanos / unit),
        false => Err(refuse(what)),
    };
    let span = || Ok::<u64, String>(units::span(value)?.as_nanos());
    let text = match (word.form, word.ours) {
        (_, Ours::Sets(..)) => return Ok(None),
        (_, Ours::Hertz(_, scale)) => {
            let scaled = units::hertz(value)? * scale;
            let is_whole = matches!(word.form, Form::Count | Form::Packets);
            if is_whole && scaled.fract() != 0.0 {
                return Err(refuse(if scale == 1.0 {
                    "whole numbers"
                } else {
                    "whole sixteenths"
                }));
            }
            // iproute2 6.1 tc/q_pie.c and q_fq_pie.c: 0 is not sent.
            if is_whole && scaled == 0.0 && scale != 1.0 {
                return Err(refuse("at least a sixteenth"));
            }
            scaled.to_string()
        }
        (Form::Packets | Form::SizedPackets, _) if name == "limit" => match units::limit(value)? {
            Limit::Packets(packets) => packets.to_string(),
            Limit::Bytes(_) => return Err(refuse("packets here, such as 1000p")),
        },
        (Form::Size, _) if matches!(name, "limit" | "min_th" | "max_th") => {
            match units::limit(value)? {
                Limit::Bytes(bytes) => bytes.to_string(),
                Limit::Packets(_) => return Err(refuse("bytes here, such as 400kB")),
            }
        }
        (Form::Size | Form::Bytes, _) => units::bytes(value)?.to_string(),
        (Form::Count | Form::Packets | Form::SizedPackets | Form::Text, _) => {
            units::whole(value)?.to_string()
        }
        (Form::Rate, _) => tc_rate(units::rate(value)?.as_bps())?,
        (Form::Time | Form::TimeOrPackets, _) => {
            format!("{}us", divided(span()?, 1000, "whole microseconds")?)
        }
        (Form::Nanos, _) => format!("{}ns", span()?),
        (Form::Millis, _) => divided(span()?, 1_000_000, "whole milliseconds")?.to_string(),
        (Form::Seconds, _) => divided(span()?, 1_000_000_000, "whole seconds")?.to_string(),
        (Form::Percent | Form::WholePercent, _) => {
            let percent = units::number(value)? * PERCENT;
            if (percent - percent.round()).abs() > 1e-9 {
                return Err(refuse("whole percent"));
            }
            if word.form == Form::WholePercent && percent >= PERCENT {
                return Err(refuse("a share below 1"));
            }
            // iproute2 6.1 tc/q_fq_pie.c: 0 is not sent.
            if word.form == Form::WholePercent && percent < 1.0 {
                return Err(refuse("at least a percent"));
            }
            percent.round().to_string()
        }
        // iproute2 6.1 tc/q_red.c: 1 becomes 2^32, which is 0 in 32 bits.
        _ if word.word == "probability" && units::number(value)? >= 1.0 => {
            return Err(refuse("a probability below 1, such as 0.9999999999"));
        }
        _ => units::number(value)?.to_string(),
    };
    Ok(Some(text))
}

/// tc's word for the link layer.
///
/// # Errors
/// Fails if tc has no word for it; cake has its own words.
pub(super) fn link_layer(link: &TcLink) -> Result<&'static str, FormatError> {
    if link.aqm.starts_with("cake") && !link.packing.is_none() {
        return Err(FormatError::whole(
            "cake has `mpu` and `cells` itself; move those of the link to its queue",
        ));
    }
    match link.packing.cells {
        Cells::None => Ok("ethernet"),
        Cells::Atm => Ok("atm"),
        Cells::Ptm => Err(FormatError::whole(
            "tc's size tables have no PTM cells; a rate of 64/65 without them is close, and cake \
             has them",
        )),
    }
}
