//! Conformance: assertions of packetdrill scripts about Linux, restated as facts in
//! `testdata/scripts` and replayed against the sender.

use sojourn_aqm::{Span, Time};

use super::*;
use crate::cc::configure;
use crate::packet::{Block, PacketKind};
use crate::tcp::profile::Idle;

/// The scripts negotiate no timestamps.
const LINUX: Profile =
    Profile { timestamps: false, timer_wheel: false, ..crate::tcp::profile::LINUX };

const FILES: [&str; 4] = [
    include_str!("../../../testdata/scripts/recovery.txt"),
    include_str!("../../../testdata/scripts/growth.txt"),
    include_str!("../../../testdata/scripts/cubic.txt"),
    include_str!("../../../testdata/scripts/window.txt"),
];

#[test]
fn every_script_holds() {
    let cases = FILES.iter().flat_map(|file| file.split("script: ").skip(1));
    let failures: Vec<String> = cases.filter_map(|case| run(case).err()).collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Runs one script; an error names the script and the line.
fn run(case: &str) -> Result<(), String> {
    let mut lines = case.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let name = lines.next().expect("a script has a name");
    let mut start = Start {
        profile: LINUX,
        cc: "cubic",
        count: 0,
        rtt_ms: 100,
        window: u32::MAX,
        ssthresh: u32::MAX,
    };
    let mut sender: Option<Sender> = None;
    for line in lines {
        let failed = |why: String| format!("{name}: {line}: {why}");
        if let Some((key, value)) = line.split_once(": ") {
            start.set(key, value).map_err(failed)?;
            continue;
        }
        let sender = sender.get_or_insert_with(|| start.established());
        step(sender, line).map_err(failed)?;
    }
    Ok(())
}

/// The header of a script, before its first step.
struct Start<'a> {
    profile: Profile,
    cc: &'a str,
    count: u32,
    rtt_ms: u32,
    window: u32,
    ssthresh: u32,
}

impl<'a> Start<'a> {
    fn set(&mut self, key: &str, value: &'a str) -> Result<(), String> {
        match key {
            "data" => self.count = number(value),
            "rtt" => self.rtt_ms = number(value),
            "window" => self.window = number(value),
            "ssthresh" => self.ssthresh = number(value),
            "cc" => self.cc = value,
            "pacing" => self.profile.pacing = value == "on",
            "sack" => self.profile.sack = value == "on",
            "probes" => self.profile.tail_probes = value == "on",
            "idle" if value == "keep" => self.profile.idle = Idle::Keep,
            _ => return Err(format!("unknown setting `{key}`")),
        }
        Ok(())
    }

    fn established(&self) -> Sender {
        let segments = Segments {
            flow: 0,
            connection: 1,
            payload_bytes: 1000,
            header_bytes: 52,
            ecn: true,
            accurate: false,
            count: self.count,
            last_payload_bytes: 1000,
            initial_window: 10,
        };
        let cc = (configure(self.cc).expect("the control is registered").factory)();
        let mut sender = Sender::new(segments, self.profile, cc);
        sender.on_established(Span::from_millis(u64::from(self.rtt_ms)));
        sender.set_receive_window(self.window, 0);
        sender.window.ssthresh = self.ssthresh;
        sender
    }
}

fn step(sender: &mut Sender, line: &str) -> Result<(), String> {
    let (stimulus, expected) = line.split_once(" => ").ok_or("`=>` is missing")?;
    let (sent, checks) = expected.split_once(" ; ").unwrap_or((expected, ""));
    let mut words = stimulus.split(' ');
    let mut word = || words.next().unwrap_or_default();
    let now = Time::ZERO + Span::from_millis(u64::from(number(word())));
    let found = {
        let mut found = Vec::new();
        let mut emit = |packet: Packet| match packet.kind {
            PacketKind::WindowProbe => found.push(0),
            _ => found.push(packet.seq + 1),
        };
        let kind = word();
        // As in Linux, the timer may expire after its reason is gone; then nothing is sent.
        while sender.next_timer() < now {
            let rings = sender.next_timer();
            let mut sent = false;
            sender.on_timer(rings, &mut |_| sent = true);
            if sent && sender.pacer.is_none() {
                return Err(format!("the timer sends at {} s", rings.as_secs()));
            }
        }
        if kind == "timer" && sender.next_timer() != now {
            return Err(format!("the timer rings at {} s", sender.next_timer().as_secs()));
        }
        match kind {
            "start" => sender.send(now, &mut emit),
            "timer" => sender.on_timer(now, &mut emit),
            "data" => {
                sender.append(number(word()));
                sender.send(now, &mut emit);
            }
            "ack" => {
                let mut ack = Packet::new(PacketKind::Ack, 0, 1, number(word()), 52, Time::ZERO);
                while let Some(more) = Some(word()).filter(|more| !more.is_empty()) {
                    match more {
                        "ece" => ack.signal = true,
                        "win" => ack.window = number(word()),
                        "sack" => take_blocks(&mut ack, word()),
                        _ => return Err(format!("`{more}` means nothing")),
                    }
                }
                sender.on_ack(now, &ack, &mut emit);
            }
            _ => return Err(format!("unknown stimulus `{kind}`")),
        }
        found
    };
    if sent.trim() != "*" && found != segments(sent) {
        return Err(format!("sent {found:?}"));
    }
    checks.split_whitespace().try_for_each(|check| verify(sender, now, check))
}

fn verify(sender: &Sender, now: Time, check: &str) -> Result<(), String> {
    let (key, expected) = check.split_once('=').ok_or("a check is `key=value`")?;
    let found = match key {
        "cwnd" => sender.window.cwnd.to_string(),
        "ssthresh" if sender.window.ssthresh == u32::MAX => "none".to_owned(),
        "ssthresh" => sender.window.ssthresh.to_string(),
        "sacked" => sender.board.sacked().to_string(),
        "reordering" => sender.reordering.metric().to_string(),
        "busy_ms" => (sender.times(now).busy.as_secs() * 1e3).to_string(),
        "rwnd_limited_ms" => (sender.times(now).rwnd_limited.as_secs() * 1e3).to_string(),
        "lost" => sender.board.lost().to_string(),
        "state" => format!("{:?}", sender.state()),
        _ => return Err(format!("unknown check `{key}`")),
    };
    if found == expected { Ok(()) } else { Err(format!("{key} is {found}")) }
}

fn take_blocks(ack: &mut Packet, text: &str) {
    for (block, range) in ack.sack.iter_mut().zip(text.split(',')) {
        let (from, to) = range.split_once('-').expect("a block is `A-B`");
        *block = Block { start: number(from) - 1, end: number(to) };
    }
}

/// Parses `1-3,7` as numbers; `-` means none.
fn segments(text: &str) -> Vec<u32> {
    let range = |part: &str| match part.split_once('-') {
        Some((from, to)) => number(from)..=number(to),
        None => number(part)..=number(part),
    };
    match text.trim() {
        "-" => Vec::new(),
        "probe" => vec![0],
        text => text.split(',').flat_map(range).collect(),
    }
}

fn number(text: &str) -> u32 {
    text.trim().parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}
