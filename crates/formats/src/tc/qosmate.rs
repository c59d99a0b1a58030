//! OpenWrt's `/etc/config/qosmate`, converted to the commands of qosmate (of 2026: qosmate.sh and
//! qosmate.d) for its roots `hfsc`, `hybrid` and `cake`.

use super::script;
use super::tree::{TcNoteKind, TcSetup, TcSource};
use super::uci_text::{Section, sections_of};
use crate::FormatError;

/// Sections with options of queues; sections of rules only mark packets.
const SECTIONS: [&str; 5] = ["global", "settings", "advanced", "hfsc", "cake"];
/// The DSCPs of each class, as the type-of-service byte.
const CLASSES: [(u8, &str); 10] = [
    (0xb8, "11"),
    (0xa0, "11"),
    (0xc0, "11"),
    (0xe0, "11"),
    (0x80, "12"),
    (0x88, "12"),
    (0x90, "12"),
    (0x40, "14"),
    (0x28, "14"),
    (0x20, "15"),
];
/// Bits of a frame of 1500 B; divided by kbit/s they give milliseconds.
const FRAME_BITS: i64 = 1500 * 8;

/// Reads the file, or `uci show qosmate`.
pub(super) fn read(text: &str) -> Result<TcSetup, FormatError> {
    let of_queues = |kind: &str| SECTIONS.contains(&kind);
    let mut all = Section { line: 1, ..Section::default() };
    for section in sections_of(text, of_queues)? {
        all.options.extend(section.options);
    }
    if all.options.is_empty() {
        let message = "no section of qosmate has an option: paste all of /etc/config/qosmate";
        return Err(FormatError::whole(message));
    }
    if !all.is_on("enabled", true) {
        return Err(FormatError::whole("qosmate is not enabled: set `option enabled '1'`"));
    }
    let config = Config { section: &all };
    let wan = config.text("WAN", "eth1");
    let (down, up) = config.rates()?;
    let mut script = config.direction(&wan, up, down, false)?;
    if down > 0 {
        script += &format!(
            "tc qdisc add dev {wan} handle ffff: ingress\n\
             tc filter add dev {wan} parent ffff: matchall action mirred egress redirect dev \
             ifb-{wan}\n"
        );
        script += &config.direction(&format!("ifb-{wan}"), down, up, true)?;
    }
    let mut setup = script::read(&script).map_err(|error| {
        let message = format!("the options give a command that tc refuses: {}", error.message);
        FormatError::whole(message)
    })?;
    setup.source = TcSource::Uci;
    setup.notes.retain(|it| it.kind != TcNoteKind::Contradiction);
    setup.notes.iter_mut().for_each(|it| it.line = 1);
    let text = "qosmate marks packets by rules; here a flow's `dscp` decides its class";
    setup.note(TcNoteKind::Unknown, 1, text);
    Ok(setup)
}

struct Config<'a> {
    section: &'a Section,
}

impl Config<'_> {
    /// An option; an empty one gets its default.
    fn text(&self, name: &str, default: &str) -> String {
        let given = self.section.text(name);
        if given.is_empty() { default.to_owned() } else { given.to_owned() }
    }

    fn number(&self, name: &str, default: i64) -> Result<i64, FormatError> {
        match self.section.number(name, default)? {
            negative @ ..0 => {
                Err(FormatError::whole(format!("{name}: {negative} is negative; write 0 or more")))
            }
            number => Ok(number),
        }
    }

    fn is_on(&self, name: &str, default: bool) -> bool {
        self.section.is_on(name, default)
    }

    /// kbit/s down and up: the former is bounded by a multiple of the latter.
    fn rates(&self) -> Result<(i64, i64), FormatError> {
        let (down, up) = (self.number("DOWNRATE", 90_000)?, self.number("UPRATE", 45_000)?);
        if up == 0 {
            return Err(FormatError::whole("UPRATE is 0, so nothing is shaped: set it in kbit/s"));
        }
        let ratio = self.number("BWMAXRATIO", 20)?;
        Ok((down.min(up.saturating_mul(ratio)), up))
    }

    fn direction(
        &self,
        device: &str,
        rate: i64,
        other: i64,
        is_down: bool,
    ) -> Result<String, FormatError> {
        match self.text("ROOT_QDISC", "hfsc").as_str() {
            "hfsc" => self.tree(device, rate, is_down, false),
            "hybrid" => self.tree(device, rate, is_down, true),
            "cake" => {
                let options = self.cake(rate, other, is_down)?;
                Ok(format!("tc qdisc add dev {device} root handle 1: cake {options}\n"))
            }
            other => Err(FormatError::whole(format!(
                "qosmate's ROOT_QDISC `{other}` is not read (hfsc, hybrid and cake are): paste \
                 what `tc -d qdisc show` and `tc class show` print there"
            ))),
        }
    }

    /// qosmate-lib-hfsc-hybrid.sh.
    fn tree(
        &self,
        device: &str,
        rate: i64,
        is_down: bool,
        is_hybrid: bool,
    ) -> Result<String, FormatError> {
        let dur = (5 * FRAME_BITS / rate).max(25);
        let name = if is_down { "GAMEDOWN" } else { "GAMEUP" };
        let game = self.number(name, rate * 15 / 100 + 400)?.max(1);
        let burst = (game * 10).min(rate * 97 / 100).max(1);
        let class = |parent: &str, minor: &str, curves: &str| {
            format!("tc class add dev {device} parent 1:{parent} classid 1:{minor} hfsc {curves}\n")
        };
        let queue = |minor: &str, words: &str| {
            format!("tc qdisc add dev {device} parent 1:{minor} {words}\n")
        };
        let share = |minor: &str, first: i64, later: i64| {
            let of = |percent: i64| (rate * percent / 100).max(1);
            let curves = format!("ls m1 {}kbit d {dur}ms m2 {}kbit", of(first), of(later));
            class("1", minor, &curves)
        };
        let mut text = format!(
            "tc qdisc add dev {device} root handle 1: {} hfsc default 13\n",
            self.size_table()
        );
        text += &class("", "1", &format!("ls m2 {rate}kbit ul m2 {rate}kbit"));
        let real_time = format!("rt m1 {burst}kbit d {dur}ms m2 {game}kbit");
        text += &class("1", "11", &real_time);
        text += &queue("11", &self.game_queue(rate, game)?);
        if is_hybrid {
            let rest = (rate - game).max(1);
            text += &class("1", "13", &format!("ls m1 {rest}kbit d {dur}ms m2 {rest}kbit"));
            text += &queue("13", &format!("cake {}", self.cake_of_hybrid(is_down)));
            text += &share("15", 3, 10);
            text += &queue("15", &fq_codel(rate));
        } else {
            for (minor, first, later) in
                [("12", 70, 30), ("13", 20, 45), ("14", 7, 15), ("15", 3, 10)]
            {
                text += &share(minor, first, later);
                text += &queue(minor, &self.other_queue(rate));
            }
        }
        for (byte, minor) in CLASSES {
            if !is_hybrid || matches!(minor, "11" | "15") {
                text += &format!(
                    "tc filter add dev {device} parent 1: protocol ip prio 10 u32 match ip dsfield \
                     {byte:#x} 0xfc classid 1:{minor}\n"
                );
            }
        }
        Ok(text)
    }

    /// get_tc_overhead_params.
    fn size_table(&self) -> String {
        let or = |usual: &str| self.text("OVERHEAD", usual);
        match self.text("COMMON_LINK_PRESETS", "ethernet").as_str() {
            preset if is_atm(preset) => {
                format!("stab mtu 2047 tsize 512 mpu 68 overhead {} linklayer atm", or("44"))
            }
            "docsis" => format!("stab overhead {} linklayer ethernet", or("25")),
            "cake-ethernet" => format!("stab overhead {} linklayer ethernet", or("38")),
            "raw" => format!("stab overhead {} linklayer ethernet", or("0")),
            _ => format!("stab overhead {} linklayer ethernet", or("40")),
        }
    }

    /// get_cake_link_params.
    fn cake_layer(&self) -> String {
        let overhead = |usual: &str| format!("overhead {}", self.text("OVERHEAD", usual));
        let preset = self.text("COMMON_LINK_PRESETS", "ethernet");
        let layer = match preset.as_str() {
            "docsis" => format!("docsis {}", overhead("25")),
            "cake-ethernet" => "ethernet".to_owned(),
            "raw" => format!("raw {}", overhead("0")),
            preset if is_atm(preset) => format!("{preset} {}", overhead("44")),
            _ => format!("ethernet {}", overhead("40")),
        };
        let mpu = self.text("MPU", "");
        let mpu = if mpu.is_empty() { mpu } else { format!(" mpu {mpu}") };
        format!("{layer}{mpu} {}", self.text("ETHER_VLAN_KEYWORD", ""))
    }

    /// qosmate-lib-cake.sh.
    fn cake(&self, rate: i64, other: i64, is_down: bool) -> Result<String, FormatError> {
        let filter = match self.text("ACK_FILTER_EGRESS", "auto").as_str() {
            "auto" => other / rate >= 15,
            _ => self.number("ACK_FILTER_EGRESS", 0)? > 0,
        };
        let tins = if is_down { "PRIORITY_QUEUE_INGRESS" } else { "PRIORITY_QUEUE_EGRESS" };
        let autorate = is_down && self.is_on("AUTORATE_INGRESS", false);
        Ok(format!(
            "bandwidth {rate}kbit {} {} {} {} {} {}",
            if autorate { "autorate-ingress" } else { "" },
            self.text(tins, "diffserv4"),
            if is_down { "ingress" } else { "" },
            self.cake_layer(),
            self.cake_shared(is_down),
            if filter && !is_down { "ack-filter" } else { "" },
        ))
    }

    fn cake_of_hybrid(&self, is_down: bool) -> String {
        let ingress = if is_down { "ingress" } else { "" };
        format!("besteffort {ingress} raw {}", self.cake_shared(is_down))
    }

    /// The options that cake has both at the root and below hfsc.
    fn cake_shared(&self, is_down: bool) -> String {
        let (hosts, nat, wash, extra) = match is_down {
            true => ("dual-dsthost", "NAT_INGRESS", "WASHDSCPDOWN", "EXTRA_PARAMETERS_INGRESS"),
            false => ("dual-srchost", "NAT_EGRESS", "WASHDSCPUP", "EXTRA_PARAMETERS_EGRESS"),
        };
        let rtt = self.text("RTT", "");
        [
            if self.is_on("HOST_ISOLATION", true) { hosts.to_owned() } else { String::new() },
            if rtt.is_empty() { rtt } else { format!("rtt {rtt}ms") },
            self.text("LINK_COMPENSATION", ""),
            self.text(extra, ""),
            if self.is_on(nat, true) { "nat".to_owned() } else { String::new() },
            if self.is_on(wash, true) { "wash".to_owned() } else { String::new() },
        ]
        .join(" ")
    }

    /// setup_game_qdisc.
    fn game_queue(&self, rate: i64, game: i64) -> Result<String, FormatError> {
        let longest = self.number("MAXDEL", 24)?;
        Ok(match self.text("gameqdisc", "pfifo").as_str() {
            "pfifo" => {
                let packet = self.number("PACKETSIZE", 450)?.max(1);
                let least = self.number("PFIFOMIN", 5)?;
                format!("pfifo limit {}", least + longest * rate / 8 / packet)
            }
            "bfifo" => format!("bfifo limit {}", longest * game / 8),
            "fq_codel" => fq_codel(rate),
            "red" => {
                let (min, max) = (game * longest / 3 / 8, game * longest / 8);
                let burst = ((2 * min + max) / (3 * 500)).max(2);
                format!(
                    "red limit 150000 min {min} max {max} avpkt 500 bandwidth {rate}kbit burst \
                     {burst} probability 1.0"
                )
            }
            other => {
                return Err(FormatError::whole(format!(
                    "qosmate's gameqdisc `{other}` is not read: choose pfifo, bfifo, red or \
                     fq_codel"
                )));
            }
        })
    }

    fn other_queue(&self, rate: i64) -> String {
        match self.text("nongameqdisc", "fq_codel").as_str() {
            "cake" => format!("cake {}", self.text("nongameqdiscoptions", "besteffort ack-filter")),
            _ => fq_codel(rate),
        }
    }
}

fn fq_codel(rate: i64) -> String {
    let (interval, target) = (100 + 2 * FRAME_BITS / rate, 540 * 8 / rate + 4);
    let memory = rate * 200 / 8;
    format!("fq_codel memory_limit {memory} interval {interval}ms target {target}ms quantum 3000")
}

/// Whether a preset is for ATM.
fn is_atm(preset: &str) -> bool {
    const PARTS: [&str; 6] = ["atm", "adsl", "pppoa", "pppoe", "bridged", "ipoa"];
    preset == "conservative" || PARTS.iter().any(|part| preset.contains(part))
}
