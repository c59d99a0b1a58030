//! Turns captures (pcap and pcapng) into flows and bytes over time. Captures of any size are read
//! incrementally; memory grows only with the number of flows.

mod arrivals;
mod blocks;
mod echoes;
mod flows;
mod framing;
mod packet;
mod part;
mod repeats;
mod replays;
mod report;
mod reported;
mod tunnel;

use std::collections::{BTreeMap, BTreeSet};

use self::arrivals::Arrivals;
use self::echoes::Echoes;
use self::flows::{Flows, MOST_FLOWS};
use self::framing::{Framer, Stop};
use self::packet::{Packet, Unread};
use self::part::Part;
use self::repeats::Repeats;
use self::replays::Replays;
use crate::FormatError;

const TCP: u8 = 6;
const SECOND_NS: u64 = 1_000_000_000;

/// Which packets are recorded for a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayedPackets {
    /// All.
    All,
    /// Packets of protocols other than TCP, whose transfers are simulated instead.
    Datagrams,
}

/// Lines `time,bytes` of one recording: direction (0 from clients, 1 to them), DSCP, ECN field.
pub type Lines = (usize, u8, u8, String);

/// A reader of one capture.
pub struct CaptureReader {
    replayed: ReplayedPackets,
    framer: Framer,
    flows: Flows,
    arrivals: [Arrivals; 2],
    /// Payload in each direction when the capture shows its first acknowledgement.
    acknowledged: [Arrivals; 2],
    echoes: Echoes,
    replays: Replays,
    part: Part,
    unread: BTreeMap<Unread, u64>,
    repeats: Repeats,
    /// The interfaces of the packets read: the file's number, and Linux's.
    interfaces: BTreeSet<(usize, u64)>,
    frames: u64,
    packets: u64,
    fragments: u64,
    tunnelled: u64,
    /// Time of the first packet, of the latest, and of the one before.
    begin_ns: u64,
    latest_ns: u64,
    before_ns: u64,
    /// The greatest common divisor of a second and all times, a bound on the clock's resolution.
    resolution_ns: u64,
    /// Packets whose time is earlier than the previous packet's, and those earlier than the first
    /// packet's.
    backwards: u64,
    before_begin: u64,
    stop: Option<Stop>,
}

impl CaptureReader {
    /// A reader that has not seen any bytes.
    pub fn new(replayed: ReplayedPackets) -> CaptureReader {
        CaptureReader {
            replayed,
            framer: Framer::new(),
            flows: Flows::default(),
            arrivals: [Arrivals::new(), Arrivals::new()],
            acknowledged: [Arrivals::new(), Arrivals::new()],
            echoes: Echoes::default(),
            replays: Replays::default(),
            part: Part::default(),
            unread: BTreeMap::new(),
            repeats: Repeats::default(),
            interfaces: BTreeSet::new(),
            frames: 0,
            packets: 0,
            fragments: 0,
            tunnelled: 0,
            begin_ns: 0,
            latest_ns: 0,
            before_ns: 0,
            resolution_ns: SECOND_NS,
            backwards: 0,
            before_begin: 0,
            stop: None,
        }
    }

    /// Reads only packets between two times in nanoseconds since the file's first packet.
    pub fn within(mut self, from_ns: u64, until_ns: u64) -> CaptureReader {
        self.part.range = Some((from_ns, until_ns));
        self
    }

    /// Reads the next bytes of the file. Returns lines of recordings, and whether the rest of the
    /// file is needed.
    pub fn feed(&mut self, bytes: &[u8]) -> (Vec<Lines>, bool) {
        if self.stop.is_none() {
            self.framer.feed(bytes);
            self.read_on();
        }
        (self.lines(false), self.stop.is_none())
    }

    /// Ends the file: returns the remaining lines, and a report as JSON.
    ///
    /// # Errors
    /// No IP packet could be read; the message says why.
    pub fn finish(&mut self) -> Result<(Vec<Lines>, String), FormatError> {
        if self.stop.is_none() {
            self.stop = self.framer.end();
        }
        if self.packets == 0 {
            return Err(self.nothing_read());
        }
        Ok((self.lines(true), self.report().to_string()))
    }

    fn lines(&mut self, at_end: bool) -> Vec<Lines> {
        let taken = self.replays.take(at_end).into_iter();
        taken.map(|((way, dscp, ecn), text)| (way, dscp, ecn, text)).collect()
    }

    fn read_on(&mut self) {
        loop {
            let frame = match self.framer.next() {
                Ok(Some(frame)) => frame,
                Ok(None) => return,
                Err(stop) => {
                    self.stop = Some(stop);
                    return;
                }
            };
            self.frames += 1;
            if !self.part.contains(frame.t_ns) {
                continue;
            }
            let data = self.framer.bytes(&frame);
            match packet::read(frame.link, data, frame.original_bytes) {
                Ok(packet) => {
                    let at = packet::place(frame.link, data);
                    self.interfaces.insert((frame.interface, at >> 16));
                    let place = (frame.interface as u64) << 48 ^ at;
                    if !self.repeats.is_repeat(&packet, place) {
                        self.on_packet(frame.t_ns, &packet);
                    }
                }
                Err(why) => *self.unread.entry(why).or_insert(0) += 1,
            }
            if self.stop.is_some() {
                return;
            }
        }
    }

    fn on_packet(&mut self, t_ns: u64, packet: &Packet) {
        let Some((way, acknowledged)) = self.flows.on_packet(t_ns, packet) else {
            let why = format!("has more than {MOST_FLOWS} flows");
            self.stop = Some(Stop { offset: self.framer.offset(), why });
            return;
        };
        if self.packets == 0 {
            self.begin_ns = t_ns;
        }
        self.packets += 1;
        self.fragments += u64::from(packet.is_fragment);
        self.tunnelled += u64::from(packet.is_tunnelled);
        self.backwards += u64::from(t_ns < self.before_ns);
        self.before_ns = t_ns;
        if self.resolution_ns != 1 {
            self.resolution_ns = divisor(self.resolution_ns, t_ns);
        }
        self.echoes.on_packet(t_ns, packet);
        self.latest_ns = self.latest_ns.max(t_ns);
        let Some(since) = t_ns.checked_sub(self.begin_ns) else {
            self.before_begin += 1;
            return;
        };
        self.arrivals[way].add(since, packet.ip_bytes);
        if acknowledged > 0 {
            self.acknowledged[1 - way].add(since, acknowledged);
        }
        if self.replayed == ReplayedPackets::All || packet.protocol != TCP {
            self.replays.add(since, way, packet.dscp, packet.ecn, packet.ip_bytes);
        }
    }

    /// Why there is nothing to report.
    fn nothing_read(&self) -> FormatError {
        let remedy = match self.unread.keys().next() {
            None => "convert the capture with editcap -F pcap, which gives each packet a time",
            Some(Unread::Cut) if self.unread.len() == 1 => "capture 128 bytes of each (-s 128)",
            Some(_) => "capture Ethernet, PPP, raw IP, Linux cooked (SLL, SLL2) or loopback",
        };
        match &self.stop {
            Some(stop) => FormatError {
                place: format!("byte {}", stop.offset),
                message: format!("{}; no packet before it could be read", stop.why),
            },
            None if self.part.outside > 0 && self.unread.is_empty() => FormatError::whole(format!(
                "has no packets between --from and --to; its packets span {:.6} s",
                self.part.length_ns() as f64 / SECOND_NS as f64
            )),
            None if self.frames + self.framer.untimed == 0 => {
                FormatError::whole("is a capture without packets; capture while there is traffic")
            }
            None => FormatError::whole(format!(
                "has {} packets, and none could be read: {}; {remedy}",
                self.frames + self.framer.untimed - self.part.outside,
                self.unread().join(", ")
            )),
        }
    }

    /// The packets that could not be read, by reason.
    fn unread(&self) -> Vec<String> {
        let counted = self.unread.iter().map(|(why, count)| why.counted(*count));
        let untimed = self.framer.untimed;
        let untimed = (untimed > 0)
            .then(|| format!("{untimed} without a time (simple packet blocks of pcapng)"));
        counted.chain(untimed).collect()
    }
}

impl Unread {
    fn counted(self, count: u64) -> String {
        match self {
            Unread::NotIp => format!("{count} not of IP, such as ARP"),
            Unread::Cut => format!("{count} cut off before the ports"),
            Unread::Malformed => format!("{count} with contradictory lengths"),
            Unread::Link(link) => match link_name(link) {
                Some(name) => format!("{count} of link type {link} ({name})"),
                None => format!("{count} of link type {link}"),
            },
        }
    }
}

fn divisor(one: u64, other: u64) -> u64 {
    match one {
        0 => other,
        _ => divisor(other % one, one),
    }
}

/// Link types that are common and cannot be read.
fn link_name(link: u16) -> Option<&'static str> {
    Some(match link {
        105 | 119 | 127 | 163 | 192 => "802.11 frames, which are mostly encrypted",
        107 => "Frame Relay",
        187 | 201 | 251 | 272 => "Bluetooth",
        189 | 220 | 249 => "USB",
        195 | 215 | 230 | 283 => "802.15.4",
        117 => "OpenBSD packet filter log",
        197 => "Endace ERF",
        239 => "Linux netfilter log",
        253 => "Linux netlink",
        _ => return None,
    })
}
