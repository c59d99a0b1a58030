//! The content of a text: the disciplines and classes of each device, and the unknown parts.

use sojourn_aqm::{Cells, Packing};

use super::values::{TcCurve, TcPolicer};

/// The source of a text, which decides how strictly it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcSource {
    /// Commands, as a user types them.
    Commands,
    /// Output of `tc qdisc show`.
    Shown,
    /// Output of `tc -j qdisc show`.
    Json,
    /// OpenWrt's `/etc/config/sqm`.
    Uci,
}

impl TcSource {
    /// Whether the text is a state, where a missing option is off, rather than a command, where it
    /// has the kernel's default.
    pub(super) fn is_state(self) -> bool {
        matches!(self, TcSource::Shown | TcSource::Json)
    }
}

/// The value of an option.
#[derive(Clone, PartialEq, Debug)]
pub enum TcValue {
    /// A word without a value.
    Flag,
    /// An integer: packets, flows, a limit.
    Count(u64),
    /// Bytes; an overhead may be negative.
    Bytes(i64),
    /// Nanoseconds.
    Nanos(u64),
    /// Bits per second.
    Bps(u64),
    /// A service curve of hfsc.
    Curve(TcCurve),
    /// A share or a plain number.
    Real(f64),
    /// A word.
    Text(String),
}

/// An option as given.
#[derive(Clone, PartialEq, Debug)]
pub struct TcOption {
    /// Its name in the table of its kind.
    pub name: &'static str,
    /// Its value.
    pub value: TcValue,
    /// The words of the text.
    pub text: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// The parent of a discipline or class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TcParent {
    /// The root of its device.
    Root,
    /// The ingress or clsact hook.
    Ingress,
    /// A class, such as `1:10`.
    Class(String),
}

/// Overhead and cells of the line below.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TcOverhead {
    /// Bytes added to each packet.
    pub bytes: i64,
    /// The minimum size.
    pub mpu: u64,
    /// `ethernet`, `atm`, `ptm` or empty.
    pub cells: String,
    /// The multiple of bytes to which a size table rounds sizes up before it counts cells; 0
    /// without a table.
    pub slot: u64,
    /// Whether `bytes` is relative to the IP packet, as in cake, or to the frame, which has 14 B
    /// more.
    pub from_ip: bool,
}

impl TcOverhead {
    /// Minimum size and cells.
    pub(super) fn packing(&self) -> Packing {
        let cells = match self.cells.as_str() {
            "atm" => Cells::Atm,
            "ptm" => Cells::Ptm,
            _ => Cells::None,
        };
        Packing { mpu: self.mpu, cells }
    }
}

/// Counters of `tc -s`, as far as the check reads them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcCounters {
    /// Bytes sent.
    pub sent_bytes: Option<u64>,
    /// Packets sent.
    pub sent_packets: Option<u64>,
    /// Packets dropped.
    pub dropped: Option<u64>,
    /// The number of times that a shaper delayed packets, among other events.
    pub overlimits: Option<u64>,
    /// Packets in the queue.
    pub backlog_packets: Option<u64>,
    /// The largest packet seen.
    pub largest: Option<u64>,
}

/// A queueing discipline.
#[derive(Clone, PartialEq, Debug)]
pub struct TcQdisc {
    /// The device; empty if the text names none.
    pub device: String,
    /// Its kind, such as `fq_codel`.
    pub kind: String,
    /// Its handle, such as `1:`; empty if the text names none.
    pub handle: String,
    /// Its parent.
    pub parent: TcParent,
    /// The size table, which only `tc -d` shows.
    pub stab: Option<TcOverhead>,
    /// Its options in the order of the text.
    pub options: Vec<TcOption>,
    /// Its counters.
    pub counters: TcCounters,
    /// The line, counted from 1.
    pub line: usize,
}

/// A class of a classful discipline.
#[derive(Clone, PartialEq, Debug)]
pub struct TcClass {
    /// The device.
    pub device: String,
    /// The kind of the discipline, such as `htb`.
    pub kind: String,
    /// Its identifier, such as `1:10`.
    pub id: String,
    /// Its parent.
    pub parent: TcParent,
    /// Its options.
    pub options: Vec<TcOption>,
    /// The line, counted from 1.
    pub line: usize,
}

/// A redirection of a device's ingress to an ifb.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcRedirect {
    /// The device on which packets arrive.
    pub from: String,
    /// The ifb.
    pub to: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// A filter that leads packets of some DSCPs to a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcFilter {
    /// The device.
    pub device: String,
    /// The major number of the discipline that it belongs to, such as `1`.
    pub major: String,
    /// Filters with a lower number are tried first.
    pub priority: u32,
    /// The DSCPs, one bit each.
    pub dscp: u64,
    /// The class, such as `1:10`.
    pub class: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// The kind of a note.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TcNoteKind {
    /// A word, a line or a kind that was not understood.
    Unknown,
    /// Two statements that contradict each other.
    Contradiction,
    /// A value that tc printed rounded.
    Rounded,
    /// An option that has no effect.
    Ineffective,
    /// A command that the kernel would refuse.
    Refused,
}

/// A note for the reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcNote {
    /// Its kind.
    pub kind: TcNoteKind,
    /// The line, counted from 1.
    pub line: usize,
    /// One sentence.
    pub text: String,
}

/// The whole content of a text.
#[derive(Clone, PartialEq, Debug)]
pub struct TcSetup {
    /// Its source.
    pub source: TcSource,
    /// The disciplines, in the order of the text.
    pub qdiscs: Vec<TcQdisc>,
    /// The classes.
    pub classes: Vec<TcClass>,
    /// The filters that choose a class by the DSCP.
    pub filters: Vec<TcFilter>,
    /// The redirections to ifbs.
    pub redirects: Vec<TcRedirect>,
    /// The policers.
    pub policers: Vec<TcPolicer>,
    /// Notes for the reader.
    pub notes: Vec<TcNote>,
}

impl TcSetup {
    pub(super) fn new(source: TcSource) -> TcSetup {
        TcSetup {
            source,
            qdiscs: Vec::new(),
            classes: Vec::new(),
            filters: Vec::new(),
            redirects: Vec::new(),
            policers: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, kind: TcNoteKind, line: usize, text: impl Into<String>) {
        let note = TcNote { kind, line, text: text.into() };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The devices in the order in which they appear.
    pub fn devices(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for qdisc in &self.qdiscs {
            if !names.contains(&qdisc.device.as_str()) {
                names.push(&qdisc.device);
            }
        }
        names
    }

    /// The root discipline of a device.
    pub fn root(&self, device: &str) -> Option<&TcQdisc> {
        self.qdiscs.iter().find(|it| it.device == device && it.parent == TcParent::Root)
    }

    /// The children of a discipline or of its classes.
    pub fn children<'a>(&'a self, of: &'a TcQdisc) -> impl Iterator<Item = &'a TcQdisc> + Clone {
        let major = of.handle.trim_end_matches(':');
        self.qdiscs.iter().filter(move |it| {
            let TcParent::Class(parent) = &it.parent else { return false };
            let owner = parent.split(':').next().unwrap_or("");
            it.device == of.device && same_number(owner, major) && !std::ptr::eq(*it, of)
        })
    }

    /// The classes of a discipline.
    pub fn classes_of<'a>(&'a self, of: &'a TcQdisc) -> impl Iterator<Item = &'a TcClass> {
        let major = of.handle.trim_end_matches(':');
        self.classes.iter().filter(move |it| {
            it.device == of.device && same_number(it.id.split(':').next().unwrap_or(""), major)
        })
    }

    /// The classes of a discipline that have no child class.
    pub fn leaves_of<'a>(&'a self, of: &'a TcQdisc) -> impl Iterator<Item = &'a TcClass> {
        self.classes_of(of).filter(move |it| {
            let is_parent = |id: &str| is_class(id, &it.id);
            !self
                .classes_of(of)
                .any(|other| matches!(&other.parent, TcParent::Class(id) if is_parent(id)))
        })
    }
}

/// The number of a class after the colon.
pub(super) fn minor(id: &str) -> Option<u64> {
    u64::from_str_radix(id.split(':').nth(1).unwrap_or(""), 16).ok()
}

/// Whether two identifiers name one class.
pub(super) fn is_class(one: &str, two: &str) -> bool {
    match (one.split_once(':'), two.split_once(':')) {
        (Some((major, minor)), Some((of, other))) => {
            same_number(major, of) && same_number(minor, other)
        }
        _ => false,
    }
}

/// Whether two hexadecimal parts of a handle are equal. An empty part is zero.
pub(super) fn same_number(one: &str, two: &str) -> bool {
    let number = |text: &str| match text {
        "" => Some(0),
        _ => u32::from_str_radix(text, 16).ok(),
    };
    number(one).is_some() && number(one) == number(two)
}

impl TcQdisc {
    /// The last option with a name, which is the one that tc uses.
    pub fn option(&self, name: &str) -> Option<&TcOption> {
        self.options.iter().rev().find(|it| it.name == name)
    }

    /// A rate among its options.
    pub fn rate(&self, name: &str) -> Option<u64> {
        rate_of(&self.options, name)
    }

    /// Bytes among its options.
    pub fn bytes(&self, name: &str) -> Option<i64> {
        bytes_of(&self.options, name)
    }

    /// A time among its options, in nanoseconds.
    pub fn nanos(&self, name: &str) -> Option<u64> {
        match self.option(name)?.value {
            TcValue::Nanos(nanos) => Some(nanos),
            _ => None,
        }
    }

    /// An integer among its options.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.option(name)?.value {
            TcValue::Count(count) => Some(count),
            _ => None,
        }
    }

    /// The words of its options, each once, even if several values come from the same words.
    pub(super) fn words(&self) -> String {
        // The words of cake's overhead include those of its cells.
        let is_in_overhead = |it: &TcOption| {
            it.name == "cells" && self.kind.starts_with("cake") && self.option("overhead").is_some()
        };
        let options = self.options.iter().filter(|it| !is_in_overhead(it));
        let mut texts: Vec<&str> = options.map(|it| it.text.as_str()).collect();
        texts.dedup();
        texts.join(" ")
    }

    /// Its name in messages: `fq_codel on eth0`.
    pub fn called(&self) -> String {
        match self.device.as_str() {
            "" => self.kind.clone(),
            device => format!("{} on {device}", self.kind),
        }
    }
}

impl TcClass {
    /// A rate among its options.
    pub fn rate(&self, name: &str) -> Option<u64> {
        rate_of(&self.options, name)
    }

    /// Bytes among its options.
    pub fn bytes(&self, name: &str) -> Option<i64> {
        bytes_of(&self.options, name)
    }
}

fn rate_of(options: &[TcOption], name: &str) -> Option<u64> {
    match options.iter().rev().find(|it| it.name == name)?.value {
        TcValue::Bps(bps) => Some(bps),
        _ => None,
    }
}

fn bytes_of(options: &[TcOption], name: &str) -> Option<i64> {
    match options.iter().rev().find(|it| it.name == name)?.value {
        TcValue::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}
