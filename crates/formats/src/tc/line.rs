//! The line of a device's disciplines: its shaper and overhead, its AQM, and netem's part.

use super::aqm::{self, AqmOfTc};
use super::classes;
use super::tree::{TcOption, TcOverhead, TcParent, TcQdisc, TcSetup, TcValue};
use crate::FormatError;

/// The Ethernet header, which is in the kernel's packet length but not in an IP packet.
pub(super) const ETHERNET_BYTES: i64 = 14;
/// Limit of nested disciplines, more than any device has.
pub(super) const DEEPEST: usize = 16;

/// A shaper above the queue.
#[derive(Clone, PartialEq, Debug)]
pub struct TcShaper {
    /// Such as `htb`.
    pub kind: String,
    /// bit/s.
    pub bps: u64,
    /// Burst in bytes, if known.
    pub burst: Option<u64>,
    /// The line of the text.
    pub line: usize,
}

/// The line of a device.
#[derive(Clone, PartialEq, Debug)]
pub struct ShapedLine {
    /// The device; empty if the text names none.
    pub device: String,
    /// The shapers, from the device towards the queue.
    pub shapers: Vec<TcShaper>,
    /// The shaper's overhead per packet, if the text has it.
    pub overhead: Option<TcOverhead>,
    /// The discipline that holds the queue.
    pub queue: Option<TcQdisc>,
    /// The discipline as our AQM.
    pub aqm: Option<AqmOfTc>,
    /// Why it has no counterpart, if so.
    pub refused: Option<FormatError>,
    /// netem, if there is one.
    pub netem: Option<TcQdisc>,
    /// Disciplines from the root to the queue.
    pub chain: Vec<String>,
    /// What could not be represented.
    pub missing: Vec<String>,
}

impl ShapedLine {
    /// The rate of the slowest shaper.
    pub fn bps(&self) -> Option<u64> {
        let netem = self.netem.as_ref().and_then(|it| it.rate("rate"));
        self.shapers.iter().map(|it| it.bps).chain(netem).min()
    }

    /// Bytes that the kernel counts in addition to the IP packet.
    pub fn header_bytes(&self) -> i64 {
        const WITHOUT: [&str; 5] = ["ppp", "tun", "wg", "pppoe", "wwan"];
        let is_without = WITHOUT.iter().any(|it| self.device.starts_with(it));
        if is_without { 0 } else { ETHERNET_BYTES }
    }
}

/// The lines of all devices that have a queue or a shaper.
pub fn lines(setup: &TcSetup) -> Vec<ShapedLine> {
    let devices = setup.devices().into_iter().map(str::to_owned).collect::<Vec<_>>();
    devices.iter().filter_map(|device| of_device(setup, device)).collect()
}

fn of_device(setup: &TcSetup, device: &str) -> Option<ShapedLine> {
    let root = setup.root(device)?;
    let mut line = ShapedLine {
        device: device.to_owned(),
        shapers: Vec::new(),
        overhead: root.stab.clone(),
        queue: None,
        aqm: None,
        refused: None,
        netem: None,
        chain: Vec::new(),
        missing: Vec::new(),
    };
    let mut next = Some(root);
    while let Some(qdisc) = next {
        line.chain.push(qdisc.kind.clone());
        line.overhead = line.overhead.or_else(|| qdisc.stab.clone());
        next = match line.chain.len() < DEEPEST {
            true => below(setup, qdisc, &mut line),
            false => None,
        };
    }
    if let Some(queue) = line.queue.clone() {
        if queue.kind == "cake" {
            let bps = queue.rate("bandwidth");
            let kind = queue.kind.clone();
            line.shapers.extend(bps.map(|bps| TcShaper {
                kind,
                bps,
                burst: None,
                line: queue.line,
            }));
        }
        match aqm::of_qdisc(&queue, setup.source) {
            Ok(aqm) => {
                line.missing.extend(aqm.missing.clone());
                line.overhead = line.overhead.or_else(|| aqm.overhead.clone());
                line.aqm = Some(aqm);
            }
            Err(error) => line.refused = Some(error),
        }
    }
    Some(line)
}

/// Adds a discipline to the line; returns the one below it.
fn below<'s>(setup: &'s TcSetup, qdisc: &'s TcQdisc, line: &mut ShapedLine) -> Option<&'s TcQdisc> {
    match qdisc.kind.as_str() {
        "netem" => {
            line.netem = Some(qdisc.clone());
            setup.children(qdisc).next()
        }
        "tbf" => {
            let burst = qdisc.bytes("burst").and_then(|it| u64::try_from(it).ok());
            let (kind, bps) = (qdisc.kind.clone(), qdisc.rate("rate"));
            line.shapers.extend(bps.map(|bps| TcShaper { kind, bps, burst, line: qdisc.line }));
            of_shaper(&qdisc.options, line);
            peak(qdisc, line);
            let child = setup.children(qdisc).next();
            if child.is_none() {
                line.queue = Some(queue_of_tbf(qdisc));
            }
            child
        }
        "htb" | "hfsc" => classes::default_leaf(setup, qdisc, line),
        "prio" => best_effort(setup, qdisc, line),
        "cake_mq" if setup.children(qdisc).next().is_none() => {
            line.missing.push(
                "cake_mq divides its rate between busy transmit queues: one cake with all of it \
                 is taken"
                    .to_owned(),
            );
            line.queue = Some(TcQdisc { kind: "cake".to_owned(), ..qdisc.clone() });
            None
        }
        "mq" | "mqprio" | "cake_mq" => {
            let count = setup.children(qdisc).count();
            if count > 1 {
                line.missing.push(format!(
                    "{} has {count} queues, each with its own AQM: one is taken",
                    qdisc.kind
                ));
            }
            setup.children(qdisc).next()
        }
        "noqueue" => None,
        _ => {
            line.queue = Some(qdisc.clone());
            None
        }
    }
}

/// The queue of a tbf without a discipline below it, a bfifo of its limit; `latency` gives the
/// limit as rate times latency plus burst (tc-tbf(8)).
fn queue_of_tbf(qdisc: &TcQdisc) -> TcQdisc {
    let burst = qdisc.bytes("burst").unwrap_or(0);
    let by_latency = qdisc
        .rate("rate")
        .zip(qdisc.nanos("lat"))
        .map(|(bps, nanos)| (bps as f64 / 8.0 * (nanos as f64 / 1e9)) as i64 + burst);
    let limit = qdisc.bytes("limit").or(by_latency);
    let option = limit.map(|bytes| TcOption {
        name: "limit",
        value: TcValue::Bytes(bytes),
        text: format!("limit {bytes}"),
        line: qdisc.line,
    });
    TcQdisc {
        kind: "bfifo".to_owned(),
        options: option.into_iter().collect(),
        stab: None,
        ..qdisc.clone()
    }
}

/// The second bucket of a tbf, which the model lacks; its size alone has no effect.
fn peak(qdisc: &TcQdisc, line: &mut ShapedLine) {
    let of_peak = |it: &&TcOption| matches!(it.name, "peakrate" | "mtu" | "minburst");
    if qdisc.option("peakrate").is_some() {
        let found = qdisc.options.iter().filter(of_peak);
        line.missing.extend(found.map(|it| lacking(&it.text, it.line)));
    }
}

/// A phrase for an option without a counterpart.
pub(super) fn lacking(text: &str, line: usize) -> String {
    format!("`{text}` (line {line}) has no counterpart here")
}

/// The band of prio that packets without a DSCP take, the second (iproute2 6.1 tc/q_prio.c).
fn best_effort<'s>(
    setup: &'s TcSetup,
    qdisc: &'s TcQdisc,
    line: &mut ShapedLine,
) -> Option<&'s TcQdisc> {
    let taken = "the bands of prio: that of best effort, the second, is taken";
    line.missing.push(taken.to_owned());
    let is_second = |it: &&TcQdisc| matches!(&it.parent, TcParent::Class(id) if id.ends_with(":2"));
    let band = setup.children(qdisc).find(is_second).or_else(|| setup.children(qdisc).next());
    if band.is_none() {
        line.queue = Some(pfifo(qdisc));
    }
    band
}

/// The queue of a class without a discipline (Linux 6.1 sch_htb.c, htb_change_class).
pub(super) fn pfifo(owner: &TcQdisc) -> TcQdisc {
    TcQdisc { kind: "pfifo".to_owned(), options: Vec::new(), stab: None, ..owner.clone() }
}

/// The overhead from a shaper's own options.
pub(super) fn of_shaper(options: &[TcOption], line: &mut ShapedLine) {
    let find = |name: &str| options.iter().rev().find(|it| it.name == name);
    let bytes = |name: &str| match find(name).map(|it| &it.value) {
        Some(TcValue::Bytes(bytes)) => Some(*bytes),
        _ => None,
    };
    let cells = match find("linklayer").map(|it| &it.value) {
        Some(TcValue::Text(text)) if text == "atm" || text == "adsl" => "atm",
        _ => "ethernet",
    };
    let mpu = bytes("mpu").unwrap_or(0).try_into().unwrap_or(0);
    if line.overhead.is_none() && (bytes("overhead").is_some() || cells == "atm" || mpu > 0) {
        let (bytes, cells) = (bytes("overhead").unwrap_or(0), cells.to_owned());
        line.overhead = Some(TcOverhead { bytes, mpu, cells, from_ip: false });
    }
}
