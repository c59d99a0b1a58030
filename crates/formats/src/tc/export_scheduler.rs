//! A link's scheduler as commands: htb, hfsc, prio or ets, its classes, their queues, and the
//! filters that choose a class by DSCP.

use serde_json::Value;
use sojourn_aqm::units;

use super::export::{TcLink, TcWords, link_layer, words_of};
use super::units::tc_rate;
use crate::FormatError;

/// The minimum and maximum number of bands of prio (Linux 6.1 pkt_sched.h, TCQ_PRIO_BANDS).
const BANDS: std::ops::RangeInclusive<usize> = 2..=16;
/// The number of the first class that has no number in its name.
const FIRST_CLASS: usize = 0x10;

/// A scheduler with its defaults filled in, as JSON of the resolved scenario.
pub(super) struct Exported<'a> {
    link: &'a TcLink,
    kernel: Option<(u32, u32)>,
    value: Value,
    /// The discipline's handle and parent on its device.
    handle: &'a str,
    words: TcWords,
}

impl<'a> Exported<'a> {
    pub(super) fn new(
        link: &'a TcLink,
        kernel: Option<(u32, u32)>,
        json: &str,
        handle: &'a str,
    ) -> Result<Exported<'a>, FormatError> {
        let value = serde_json::from_str(json)
            .map_err(|error| FormatError::whole(format!("the scheduler: {error}")))?;
        let words = TcWords { words: Vec::new(), warnings: Vec::new() };
        Ok(Exported { link, kernel, value, handle, words })
    }

    /// Whether its classes limit the rate: those of htb, or of hfsc if the default one is limited.
    pub(super) fn shapes(&self) -> bool {
        let classes = self.classes();
        let mut at = self.value["default"].clone();
        for _ in 0..classes.len() {
            let Some(class) = classes.iter().find(|it| it["name"] == at) else { break };
            if class["ul"].is_object() {
                return true;
            }
            at = class["parent"].clone();
        }
        self.value["kind"] == "htb"
    }

    /// Whether it has classes of tc.
    fn is_tree(&self) -> bool {
        !matches!(self.value["kind"].as_str(), Some("prio" | "ets"))
    }

    fn classes(&self) -> Vec<Value> {
        self.value["classes"].as_array().cloned().unwrap_or_default()
    }

    /// The minor numbers of the classes: those in their names, such as `1-10`, if these are in
    /// order; bands count from 1.
    fn minors(&self) -> Vec<usize> {
        let classes = self.classes();
        if !self.is_tree() {
            return (1..=classes.len()).collect();
        }
        let number = |class: &Value| {
            let (_, minor) = class["name"].as_str()?.split_once('-')?;
            usize::from_str_radix(minor, 16).ok().filter(|it| (1..=0xffff).contains(it))
        };
        let named: Option<Vec<usize>> = classes.iter().map(number).collect();
        named
            .filter(|all| all.windows(2).all(|pair| pair[0] < pair[1]))
            .unwrap_or_else(|| (0..classes.len()).map(|at| FIRST_CLASS + at).collect())
    }

    fn minor_of(&self, name: &Value) -> Option<usize> {
        let at = self.classes().iter().position(|it| it["name"] == *name)?;
        Some(self.minors()[at])
    }

    /// The commands: `place` is `root` or the parent, with the size table.
    pub(super) fn commands(mut self, device: &str, place: &str) -> Result<TcWords, FormatError> {
        let major = self.handle.trim_end_matches(':').to_owned();
        let kind = self.value["kind"].as_str().unwrap_or_default().to_owned();
        let head = match self.is_tree() {
            true => {
                let default = self.minor_of(&self.value["default"]);
                format!("{kind}{}", default.map_or(String::new(), |it| format!(" default {it:x}")))
            }
            false => self.prio()?,
        };
        let (place, stab) = place.split_once(" stab").unwrap_or((place, ""));
        let stab = if stab.is_empty() { String::new() } else { format!("stab{stab} ") };
        let handle = self.handle;
        self.push(format!("tc qdisc replace dev {device} {place} handle {handle} {stab}{head}"));
        let (classes, minors) = (self.classes(), self.minors());
        let shaped = if self.is_tree() { classes.len() } else { 0 };
        for (class, minor) in classes.iter().zip(&minors).take(shaped) {
            let parent = self.minor_of(&class["parent"]);
            let parent = parent.map_or(String::new(), |it| format!("{it:x}"));
            let options = match kind.as_str() {
                "hfsc" => hfsc_options(class)?,
                _ => self.htb_options(class)?,
            };
            self.push(format!(
                "tc class replace dev {device} parent {major}:{parent} classid {major}:{minor:x} \
                 {kind} {options}"
            ));
        }
        for (class, minor) in classes.iter().zip(&minors) {
            let Some(aqm) = class["aqm"].as_str() else { continue };
            let leaf = TcLink { aqm: aqm.to_owned(), scheduler: None, ..self.link.clone() };
            let TcWords { words, warnings } = words_of(&leaf, self.kernel)?;
            self.words.warnings.extend(warnings);
            self.push(format!(
                "tc qdisc replace dev {device} parent {major}:{minor:x} {}",
                words.join(" ")
            ));
        }
        for (class, minor) in classes.iter().zip(&minors) {
            for dscp in class["dscp"].as_array().into_iter().flatten().filter_map(Value::as_u64) {
                self.filters(device, &format!("{major}:"), dscp, &format!("{major}:{minor:x}"));
            }
        }
        self.words.warnings.dedup();
        Ok(self.words)
    }

    fn push(&mut self, command: String) {
        self.words.words.push(command);
    }

    /// IPv4 and IPv6 filters that send a DSCP to a class.
    fn filters(&mut self, device: &str, parent: &str, dscp: u64, class: &str) {
        let byte = dscp << 2;
        for (protocol, priority, field) in [("ip", 1, "ip dsfield"), ("ipv6", 2, "ip6 priority")] {
            self.push(format!(
                "tc filter add dev {device} parent {parent} protocol {protocol} prio {priority} \
                 u32 match {field} {byte:#04x} 0xfc flowid {class}"
            ));
        }
    }

    fn prio(&self) -> Result<String, FormatError> {
        let classes = self.classes();
        let (kind, count) = (self.value["kind"].as_str().unwrap_or_default(), classes.len());
        let least = if kind == "prio" { *BANDS.start() } else { 1 };
        if !(least..=*BANDS.end()).contains(&count) {
            return Err(FormatError::whole(format!(
                "{kind} has {least} to {} bands in the kernel, not {count}",
                BANDS.end()
            )));
        }
        let default = self.minor_of(&self.value["default"]).unwrap_or(1) - 1;
        let map = vec![default.to_string(); 16].join(" ");
        let quanta = classes.iter().filter_map(|it| it["quantum"].as_str());
        let bytes = |size: &str| units::bytes(size).map_err(FormatError::whole);
        let quanta = quanta.map(bytes).collect::<Result<Vec<u64>, FormatError>>()?;
        let mut turns = String::new();
        if kind == "ets" && quanta.len() < count {
            turns.push_str(&format!(" strict {}", count - quanta.len()));
        }
        if !quanta.is_empty() {
            let list: Vec<String> = quanta.iter().map(u64::to_string).collect();
            turns.push_str(&format!(" quanta {}", list.join(" ")));
        }
        Ok(format!("{kind} bands {count}{turns} priomap {map}"))
    }

    fn htb_options(&self, class: &Value) -> Result<String, FormatError> {
        let of = |key: &str| class[key].as_str().unwrap_or_default();
        let rate = |key: &str| {
            let rate = units::rate(of(key)).map_err(FormatError::whole)?;
            tc_rate(rate.as_bps()).map_err(FormatError::whole)
        };
        let bytes = |key: &str| units::bytes(of(key)).map_err(FormatError::whole);
        let mut text = format!(
            "rate {} ceil {} burst {}b cburst {}b quantum {}",
            rate("rate")?,
            rate("ceil")?,
            bytes("burst")?,
            bytes("cburst")?,
            bytes("quantum")?
        );
        let priority = class["prio"].as_u64().unwrap_or(0);
        if priority > 0 {
            text.push_str(&format!(" prio {priority}"));
        }
        let own = |key: &str| self.value[key].as_str();
        for (key, word) in [("overhead", "overhead"), ("mpu", "mpu")] {
            if let Some(size) = own(key) {
                let bytes = units::bytes(size).map_err(FormatError::whole)?;
                text.push_str(&format!(" {word} {bytes}"));
            }
        }
        match own("cells") {
            Some("atm") => text.push_str(" linklayer atm"),
            Some("ptm") => return Err(FormatError::whole("tc's classes have no PTM cells")),
            _ => {}
        }
        link_layer(self.link)?;
        Ok(text)
    }
}

/// The curves of a class.
fn hfsc_options(class: &Value) -> Result<String, FormatError> {
    let mut parts = Vec::new();
    for name in ["rt", "ls", "ul"] {
        let curve = &class[name];
        if curve.is_null() {
            continue;
        }
        let of = |key: &str| curve[key].as_str().unwrap_or_default();
        let rate = |key: &str| {
            let rate = units::rate_or_outage(of(key)).map_err(FormatError::whole)?;
            tc_rate(rate.map_or(0, |it| it.as_bps())).map_err(FormatError::whole)
        };
        let micros = units::span(of("d")).map_err(FormatError::whole)?.as_nanos() / 1000;
        let first = match micros {
            0 => String::new(),
            _ => format!("m1 {} d {micros}us ", rate("m1")?),
        };
        parts.push(format!("{name} {first}m2 {}", rate("m2")?));
    }
    Ok(parts.join(" "))
}
