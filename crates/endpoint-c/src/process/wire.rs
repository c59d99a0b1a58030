//! Requests and answers as bytes: the host's side of the protocol of `process/sojourn_process.c`.

use std::collections::VecDeque;
use std::ffi::c_int;

use sojourn_aqm::Time;
use sojourn_endpoint::{HostSettings, Peer, Stats, StreamNumber};

use crate::abi::RawStats;
use crate::described::{DescribedTexts, stats_of};

/// The longest datagram whose content is sent.
const ROOM: u64 = 128 << 10;

/// A request of the host.
pub(super) enum Request<'a> {
    Describe(&'a [(String, String)]),
    Open(HostSettings, u32),
    Connect,
    Input { ecn: u32, bytes: &'a [u8] },
    Expire,
    Write { stream: StreamNumber, bytes: u64, finish: bool },
    Read { stream: StreamNumber },
    Close,
    GoOn,
    More,
    End,
}

/// A part of an answer.
pub(super) enum Item {
    /// Nothing more happens now.
    Quiet {
        deadline: u64,
        stats: Stats,
    },
    Datagram {
        earliest: u64,
        ecn: u32,
        length: u64,
        stats: Stats,
        bytes: Vec<u8>,
    },
    Event {
        kind: c_int,
        stream: StreamNumber,
        reason: String,
    },
    Failed(String),
    Value {
        first: u64,
        second: u64,
        stats: Stats,
    },
    Described {
        texts: DescribedTexts,
        carries: u32,
        flags: u32,
    },
    Refused(String),
    Opened,
    /// There are more datagrams.
    Pause,
}

/// A request as it is sent.
pub(super) fn message(now: Time, request: &Request<'_>) -> Vec<u8> {
    let mut to = vec![0; 4];
    let mut start = |kind: u32| {
        to.extend(kind.to_ne_bytes());
        to.extend(now.as_nanos().to_ne_bytes());
    };
    match *request {
        Request::Describe(settings) => {
            start(1);
            to.extend((settings.len() as u32).to_ne_bytes());
            for text in settings.iter().flat_map(|(name, value)| [name, value]) {
                to.extend((text.len() as u32).to_ne_bytes());
                to.extend(text.as_bytes());
            }
        }
        Request::Open(host, datagram_bytes) => {
            start(2);
            to.extend(host.seed);
            for word in [u32::from(host.role == Peer::Server), host.mtu, datagram_bytes] {
                to.extend(word.to_ne_bytes());
            }
        }
        Request::Connect => start(3),
        Request::Input { ecn, bytes } => {
            start(4);
            to.extend(ecn.to_ne_bytes());
            to.extend(bytes);
        }
        Request::Expire => start(5),
        Request::Write { stream, bytes, finish } => {
            start(6);
            to.extend(stream.to_ne_bytes());
            to.extend(bytes.to_ne_bytes());
            to.extend(u32::from(finish).to_ne_bytes());
        }
        Request::Read { stream } => {
            start(7);
            to.extend(stream.to_ne_bytes());
        }
        Request::Close => start(8),
        Request::GoOn => start(9),
        Request::More => start(10),
        Request::End => start(11),
    }
    let length = to.len() as u32 - 4;
    to[..4].copy_from_slice(&length.to_ne_bytes());
    to
}

/// The parts of an answer; `None` if it is not in this form.
pub(super) fn items(answer: &[u8]) -> Option<VecDeque<Item>> {
    let mut from = Reader(answer);
    let mut items = VecDeque::new();
    while !from.0.is_empty() {
        items.push_back(item(&mut from)?);
    }
    Some(items)
}

fn item(from: &mut Reader<'_>) -> Option<Item> {
    Some(match from.take(1)?[0] {
        1 => Item::Quiet { deadline: from.word()?, stats: from.stats()? },
        2 => {
            let (earliest, ecn, length) = (from.word()?, from.half()?, from.word()?);
            let stats = from.stats()?;
            let bytes = if length > ROOM { &[] } else { from.take(length as usize)? };
            Item::Datagram { earliest, ecn, length, stats, bytes: bytes.to_vec() }
        }
        3 => {
            let (kind, stream) = (from.half()?.cast_signed(), from.word()?);
            Item::Event { kind, stream, reason: from.text()? }
        }
        4 => Item::Failed(from.text()?),
        5 => Item::Value { first: from.word()?, second: from.word()?, stats: from.stats()? },
        6 => {
            let texts = DescribedTexts {
                name: Some(from.text()?),
                version: Some(from.text()?),
                settings: Some(from.text()?),
                unrepeatable: Some(from.text()?).filter(|why| !why.is_empty()),
            };
            Item::Described { texts, carries: from.half()?, flags: from.half()? }
        }
        7 => Item::Refused(from.text()?),
        8 => Item::Opened,
        9 => Item::Pause,
        _ => return None,
    })
}

/// The rest of an answer.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn half(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.take(4)?.try_into().ok()?))
    }

    fn word(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.half()? as usize;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn stats(&mut self) -> Option<Stats> {
        Some(stats_of(RawStats {
            cwnd_bytes: self.word()?,
            in_flight_bytes: self.word()?,
            smoothed_rtt_ns: self.word()?,
            pacing_bps: self.word()?,
            quantum_bytes: self.word()?,
            lost_bytes: self.word()?,
            estimate_bps: self.word()?,
        }))
    }
}
