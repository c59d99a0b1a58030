//! Quantities as written: texts with a unit, which are parsed with the scenario.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sojourn_aqm::{Limit, Rate, Span, units};

/// A quantity written as a text with a unit.
trait Quantity: Sized {
    /// An example of a value, for error messages.
    const EXAMPLE: &'static str;
    /// Parses a value; the error is a sentence that says what a correct value looks like.
    fn parse(text: &str) -> Result<Self, String>;
}

/// Accepts a text. A bare number is refused with an error that names the missing unit.
struct TextVisitor<T>(PhantomData<T>);

impl<T: Quantity> de::Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text such as \"{}\"", T::EXAMPLE)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::parse(text).map_err(E::custom)
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

macro_rules! quantity {
    ($(#[doc = $doc:literal])+ $name:ident($value:ty) as $title:literal,
     $example:literal, $pattern:literal, $parse:expr;) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $name(
            /// The value.
            pub $value,
        );

        impl Quantity for $name {
            const EXAMPLE: &'static str = $example;
            fn parse(text: &str) -> Result<Self, String> {
                $parse(text).map($name)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TextVisitor(PhantomData))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed($title)
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let description = concat!($($doc),+).trim();
                json_schema!({
                    "type": "string",
                    "description": description,
                    "pattern": $pattern,
                    "examples": [$example],
                })
            }
        }
    };
}

quantity! {
    /// A time with its unit: `15ms`, `1.5s`, `100us`, `20ns`.
    SpanText(Span) as "Time", "15ms", r"^[0-9]+(\.[0-9]*)? *(ns|us|ms|s)$", units::span;
}
quantity! {
    /// A rate with its unit: `10mbit`, `1.5gbit`, `64kbit`.
    RateText(Rate) as "Rate", "10mbit", r"^[0-9]+(\.[0-9]*)? *(bit|kbit|mbit|gbit)$", units::rate;
}
quantity! {
    /// A rate with its unit, or `0bit` for an outage: `10mbit`, `64kbit`, `0bit`.
    StepRateText(Option<Rate>) as "StepRate", "10mbit",
    r"^[0-9]+(\.[0-9]*)? *(bit|kbit|mbit|gbit)$", units::rate_or_outage;
}
quantity! {
    /// A number of bytes with its unit: `1500B`, `250kB`, `2MB`, `32MiB`.
    SizeText(u64) as "Size", "1500B",
    r"^[0-9]+(\.[0-9]*)? *(B|kB|MB|GB|KiB|MiB|GiB)$", units::bytes;
}
quantity! {
    /// The size of a queue: bandwidth-delay products (`2bdp`), packets (`1000p`), bytes (`250kB`)
    /// or the time that it takes to drain (`250ms`).
    BufferText(Buffer) as "Buffer", "1bdp",
    r"^[0-9]+(\.[0-9]*)? *(bdp|us|ms|s|p|B|kB|MB|GB|KiB|MiB|GiB)$", buffer;
}
quantity! {
    /// When flows start: all at one time (`"0s"`), or each at a time drawn uniformly from a range
    /// (`"0s..1s"`).
    StartText(StartTimes) as "Start", "0s..1s",
    r"^[0-9]+(\.[0-9]*)? *(ns|us|ms|s)( *\.\. *[0-9]+(\.[0-9]*)? *(ns|us|ms|s))?$", start;
}

quantity! {
    /// A power ratio in decibels: `25dB`, `-3dB`.
    DecibelText(f64) as "Decibel", "25dB", r"^-?[0-9]+(\.[0-9]*)? *dB$", decibels;
}

quantity! {
    /// The rate of data frames on a wireless LAN: a constant rate of 6, 9, 12, 18, 24, 36, 48 or 54
    /// Mbit/s, or `minstrel`, which adapts the rate to the acknowledgements received.
    FrameRateText(FrameRate) as "FrameRate", "54mbit",
    r"^(minstrel|[0-9]+(\.[0-9]*)? *(bit|kbit|mbit|gbit))$", frame_rate;
}

quantity! {
    /// Segmentation offload: `off`, or how much TCP hands down at once, such as `tso:64kB` or
    /// `gso:64kB`.
    OffloadText(Option<Offload>) as "Offload", "tso:64kB",
    r"^(off|[tg]so: *[0-9]+(\.[0-9]*)? *(B|kB|KiB))$", offload;
}

/// How data that TCP hands down at once reaches the queues, with its most bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offload {
    /// As packets of one segment each.
    Tso(u32),
    /// As one packet.
    Gso(u32),
}

/// The most bytes that TCP hands down at once (Linux `GSO_LEGACY_MAX_SIZE`).
const MOST_OFFLOAD_BYTES: u64 = 65_536;

fn offload(text: &str) -> Result<Option<Offload>, String> {
    let text = text.trim();
    if text == "off" {
        return Ok(None);
    }
    let (kind, size): (fn(u32) -> Offload, _) = match text.split_once(':') {
        Some(("tso", size)) => (Offload::Tso, size),
        Some(("gso", _)) if cfg!(target_arch = "wasm32") => {
            return Err("the page has no super-packets; write `tso:` for `gso:`".to_owned());
        }
        Some(("gso", size)) => (Offload::Gso, size),
        _ => {
            let remedy = "write `off`, or a size as in `tso:64kB` or `gso:64kB`";
            return Err(format!("`{text}` is not an offload; {remedy}"));
        }
    };
    match units::bytes(size)? {
        bytes @ 1..=MOST_OFFLOAD_BYTES => Ok(Some(kind(bytes as u32))),
        _ => Err(format!("`{text}` is out of range; a host hands down 1 B to 64 KiB at once")),
    }
}

/// How the rate of data frames is chosen, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameRate {
    /// A constant rate.
    Constant(Rate),
    /// Minstrel.
    Minstrel,
}

fn frame_rate(text: &str) -> Result<FrameRate, String> {
    let rate = text.trim();
    if rate == "minstrel" {
        return Ok(FrameRate::Minstrel);
    }
    units::rate(rate).map(FrameRate::Constant).map_err(|_| {
        format!("`{rate}` is neither a rate of 802.11g, such as 54mbit, nor `minstrel`")
    })
}

fn decibels(text: &str) -> Result<f64, String> {
    match units::split(text) {
        (number, "dB") => match number.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(format!("`{number}` is not a number of decibels; write a text such as 25dB")),
        },
        (number, "") => Err(format!("a power ratio needs its unit: `{number}dB`")),
        (_, unit) => Err(format!("`{unit}` is not a unit of a power ratio; write dB")),
    }
}

/// The size of a queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Buffer {
    /// Bandwidth-delay products.
    Bdp(f64),
    /// The amount that drains in this time.
    Time(Span),
    /// Packets or bytes.
    Limit(Limit),
}

/// The range of times in which flows start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StartTimes {
    /// The earliest start.
    pub earliest: Span,
    /// The latest start, not before the earliest.
    pub latest: Span,
}

fn buffer(text: &str) -> Result<Buffer, String> {
    let read = match units::split(text) {
        (number, "bdp") => units::number(number).map(Buffer::Bdp),
        (_, "ns" | "us" | "ms" | "s") => units::span(text).map(Buffer::Time),
        (number, "") => Err(format!(
            "a buffer needs a unit: `{number}bdp`, `{number}p`, `{number}kB` or `{number}ms`"
        )),
        _ => units::limit(text).map(Buffer::Limit),
    }?;
    match read {
        Buffer::Bdp(factor) if factor <= 0.0 => Err(format!("`{text}` must be positive")),
        Buffer::Time(Span::ZERO) | Buffer::Limit(Limit::Bytes(0) | Limit::Packets(0)) => {
            Err(format!("`{text}` must be positive"))
        }
        positive => Ok(positive),
    }
}

fn start(text: &str) -> Result<StartTimes, String> {
    let (earliest, latest) = text.split_once("..").unwrap_or((text, text));
    let (earliest, latest) = (units::span(earliest)?, units::span(latest)?);
    if earliest > latest {
        return Err(format!("`{text}` ends before it begins; write `{latest}..{earliest}`"));
    }
    Ok(StartTimes { earliest, latest })
}

impl fmt::Display for SpanText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for RateText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for StepRateText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&units::show_rate_or_outage(self.0))
    }
}

impl fmt::Display for SizeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&units::show_bytes(self.0))
    }
}

impl fmt::Display for BufferText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Buffer::Bdp(factor) => write!(f, "{factor}bdp"),
            Buffer::Time(span) => span.fmt(f),
            Buffer::Limit(limit) => limit.fmt(f),
        }
    }
}

impl fmt::Display for FrameRateText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            FrameRate::Constant(rate) => rate.fmt(f),
            FrameRate::Minstrel => f.write_str("minstrel"),
        }
    }
}

impl fmt::Display for OffloadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, bytes) = match self.0 {
            None => return f.write_str("off"),
            Some(Offload::Tso(bytes)) => ("tso", bytes),
            Some(Offload::Gso(bytes)) => ("gso", bytes),
        };
        write!(f, "{kind}:{}", units::show_bytes(u64::from(bytes)))
    }
}

impl fmt::Display for DecibelText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}dB", self.0)
    }
}

impl fmt::Display for StartText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.earliest == self.0.latest {
            return self.0.earliest.fmt(f);
        }
        write!(f, "{}..{}", self.0.earliest, self.0.latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_buffers_in_bdp_packets_and_bytes() {
        assert_eq!(buffer("1.5bdp"), Ok(Buffer::Bdp(1.5)));
        assert_eq!(buffer("1000p"), Ok(Buffer::Limit(Limit::Packets(1000))));
        assert_eq!(buffer("250kB"), Ok(Buffer::Limit(Limit::Bytes(250_000))));
        assert_eq!(buffer("250ms"), Ok(Buffer::Time(Span::from_millis(250))));
    }

    #[test]
    fn refuses_buffers_without_a_unit_or_not_positive() {
        assert!(buffer("2").unwrap_err().contains("`2bdp`, `2p`, `2kB` or `2ms`"));
        assert!(buffer("0ms").unwrap_err().contains("positive"));
        assert!(buffer("0bdp").unwrap_err().contains("positive"));
        assert!(buffer("-1bdp").unwrap_err().contains("positive"));
        assert!(buffer("0p").unwrap_err().contains("positive"));
    }

    #[test]
    fn refuses_a_start_that_runs_backwards() {
        assert!(start("1s..0s").unwrap_err().contains("write `0s..1s`"));
        assert_eq!(start("0s .. 1s").unwrap().latest, Span::from_secs(1));
    }

    #[test]
    fn a_bare_number_is_refused_with_the_missing_unit() {
        let error = serde_json::from_str::<SpanText>("15").unwrap_err().to_string();
        assert!(error.contains("`15ms` or `15s`"), "{error}");
    }

    /// Parses a text and serialises the result.
    fn again<T: Serialize + for<'de> Deserialize<'de>>(text: &str) -> String {
        let parsed: T = serde_json::from_value(text.into()).unwrap();
        serde_json::to_value(&parsed).unwrap().as_str().unwrap().to_owned()
    }

    #[test]
    fn what_is_parsed_is_serialised_as_the_same_quantity() {
        assert_eq!(
            ["0s..1s", "250ms", "3s..3s"].map(again::<StartText>),
            ["0s..1s", "250ms", "3s"]
        );
        assert_eq!(["15ms", "1.5s", "7ns"].map(again::<SpanText>), ["15ms", "1500ms", "7ns"]);
        assert_eq!(["10mbit", "1.5gbit"].map(again::<RateText>), ["10mbit", "1.5gbit"]);
        assert_eq!(["1500B", "2000B", "2MB"].map(again::<SizeText>), ["1500B", "2kB", "2MB"]);
        let buffers = ["1.5bdp", "7p", "1500B", "250ms"];
        assert_eq!(buffers.map(again::<BufferText>), buffers);
    }

    #[test]
    fn a_start_is_one_time_or_two_in_order() {
        let times = |earliest, latest| StartTimes {
            earliest: Span::from_secs(earliest),
            latest: Span::from_secs(latest),
        };
        assert_eq!(start("3s"), Ok(times(3, 3)));
        assert_eq!(start("1s..3s"), Ok(times(1, 3)));
        assert_eq!(start("3s..3s"), Ok(times(3, 3)));
        assert!(start("..3s").is_err() && start("3s..").is_err());
    }

    #[test]
    fn a_value_that_is_not_a_text_is_refused_with_an_example() {
        let error = |json| serde_json::from_str::<RateText>(json).unwrap_err().to_string();
        assert!(error("true").contains("a text such as \"10mbit\""), "{}", error("true"));
        for number in ["10", "-10", "1.5"] {
            assert!(error(number).contains("mbit`"), "{}", error(number));
        }
    }
}
