//! A scheduler of the scenario, and its form in TOML.

use sojourn_aqm::params::Quantity;
use sojourn_aqm::{Cells, Packing};

use super::tree::TcOverhead;

/// A scheduler with its classes.
#[derive(Clone, PartialEq, Debug)]
pub struct TcScheduler {
    /// `htb`, `hfsc`, `prio` or `ets`.
    pub kind: String,
    /// The class of packets that no filter names, if there is one.
    pub default: Option<String>,
    /// Bytes that the classes add to a packet's size in the queue.
    pub overhead: Option<TcOverhead>,
    /// The classes: those of htb and hfsc in the order of their numbers, bands from the first on.
    pub classes: Vec<TcSchedulerClass>,
    /// The highest ceiling in bit/s; `None` for bands; for hfsc, the limit of its default class.
    pub bps: Option<u64>,
}

/// A class of a scheduler.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TcSchedulerClass {
    /// Its name, such as `1-10` of class 1:10.
    pub name: String,
    /// Keys with their values in TOML, such as `rate` with `"1mbit"`.
    pub keys: Vec<(&'static str, String)>,
    /// Its DSCPs.
    pub dscp: Vec<u8>,
    /// The AQM of a leaf.
    pub aqm: Option<String>,
}

impl TcScheduler {
    /// The scheduler as tables of a link.
    pub(super) fn toml(&self, link: &str, queue: &str) -> String {
        let mut text = format!("\n[links.{link}.scheduler]\nkind = \"{}\"\n", self.kind);
        if let Some(default) = &self.default {
            text.push_str(&format!("default = \"{default}\"\n"));
        }
        if let Some(overhead) = &self.overhead {
            text.push_str(&format!("overhead = \"{}B\"\n", overhead.bytes));
            packing(overhead.packing()).for_each(|it| text.push_str(&format!("{it}\n")));
        }
        for class in &self.classes {
            text.push_str(&format!("\n[[links.{link}.scheduler.classes]]\n"));
            text.push_str(&format!("name = \"{}\"\n", class.name));
            for (key, value) in &class.keys {
                text.push_str(&format!("{key} = {value}\n"));
            }
            if !class.dscp.is_empty() {
                text.push_str(&format!("dscp = {:?}\n", class.dscp));
            }
            if let Some(aqm) = class.aqm.as_ref().filter(|it| *it != queue) {
                text.push_str(&format!("queue = \"{aqm}\"\n"));
            }
        }
        text
    }
}

/// The keys of least size and cells.
pub(super) fn packing(packing: Packing) -> impl Iterator<Item = String> {
    let Packing { mpu, cells } = packing;
    let mpu = (mpu > 0).then(|| format!("mpu = \"{mpu}B\""));
    let has_cells = cells != Cells::None;
    mpu.into_iter().chain(has_cells.then(|| format!("cells = \"{}\"", cells.show())))
}
