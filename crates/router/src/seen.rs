//! What was seen of real packets, as it is written down in the guest: rows of fixed size, little-endian.

use sojourn_aqm::{Cause, Ecn, Stage, Time};
use sojourn_record::rows::Fate;

use crate::header::{Header, ecn};
use crate::plan::Direction;

/// A packet that passed an interface of the router, from sender to receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// When, on the clock of the scenario; negative before its start.
    pub at_ns: i64,
    /// Its flow.
    pub flow: u32,
    /// TCP sequence number, or the datagram's number.
    pub seq: u32,
    /// Bytes from the IP header on.
    pub bytes: u16,
    /// Identification.
    pub ident: u16,
    /// Its ECN field there.
    pub ecn: Ecn,
    /// Whether it left the router; else it came in.
    pub leaves: bool,
    /// What it is.
    pub kind: Kind,
}

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// TCP with SYN.
    Syn,
    /// TCP without it.
    Data,
    /// A datagram.
    Datagram,
}

impl Kind {
    /// The kind of a packet with that header.
    pub fn of(header: &Header) -> Kind {
        match (header.is_tcp(), header.syn) {
            (true, true) => Kind::Syn,
            (true, false) => Kind::Data,
            (false, _) => Kind::Datagram,
        }
    }
}

/// Bytes of a [`Passage`] in a file.
pub const PASSAGE_BYTES: usize = 24;

impl Passage {
    /// Appends it to a buffer.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.at_ns.to_le_bytes());
        out.extend(self.flow.to_le_bytes());
        out.extend(self.seq.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend(self.ident.to_le_bytes());
        out.push(self.ecn as u8 | u8::from(self.leaves) << 2 | (self.kind as u8) << 3);
        out.extend([0; 3]);
    }

    /// Reads it back; nothing if the bits are not of a passage.
    pub fn read(row: &[u8; PASSAGE_BYTES]) -> Option<Passage> {
        let flags = row[20];
        Some(Passage {
            at_ns: i64::from_le_bytes(row[..8].try_into().ok()?),
            flow: u32::from_le_bytes(row[8..12].try_into().ok()?),
            seq: u32::from_le_bytes(row[12..16].try_into().ok()?),
            bytes: u16::from_le_bytes(row[16..18].try_into().ok()?),
            ident: u16::from_le_bytes(row[18..20].try_into().ok()?),
            ecn: ecn(flags),
            leaves: flags & 4 != 0,
            kind: match flags >> 3 {
                0 => Kind::Syn,
                1 => Kind::Data,
                2 => Kind::Datagram,
                _ => return None,
            },
        })
    }
}

/// What was seen of a packet of TCP at one of its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sighting {
    /// When, on the clock of the scenario; negative before its start.
    pub at_ns: i64,
    /// Its flow.
    pub flow: u32,
    /// The sender's port, which names the connection.
    pub port: u16,
    /// The number of its first byte, or the number that is acknowledged.
    pub number: u32,
    /// Bytes of payload.
    pub bytes: u16,
    /// Identification.
    pub ident: u16,
    /// What was seen.
    pub sight: Sight,
}

/// What can be seen of TCP at its ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Sight {
    /// The sender opens a connection.
    Opened,
    /// Data leaves the sender.
    Sent,
    /// Data comes to the receiver.
    Received,
    /// An acknowledgement comes to the sender.
    Acknowledged,
}

/// Bytes of a [`Sighting`] in a file.
pub const SIGHTING_BYTES: usize = 24;

impl Sighting {
    /// Appends it to a buffer.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.at_ns.to_le_bytes());
        out.extend(self.flow.to_le_bytes());
        out.extend(self.number.to_le_bytes());
        out.extend(self.port.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend(self.ident.to_le_bytes());
        out.extend([self.sight as u8, 0]);
    }

    /// Reads it back; nothing if the bits are not of a sighting.
    pub fn read(row: &[u8; SIGHTING_BYTES]) -> Option<Sighting> {
        let all = [Sight::Opened, Sight::Sent, Sight::Received, Sight::Acknowledged];
        let short = |at: usize| u16::from_le_bytes([row[at], row[at + 1]]);
        Some(Sighting {
            at_ns: i64::from_le_bytes(row[..8].try_into().ok()?),
            flow: u32::from_le_bytes(row[8..12].try_into().ok()?),
            number: u32::from_le_bytes(row[12..16].try_into().ok()?),
            port: short(16),
            bytes: short(18),
            ident: short(20),
            sight: *all.get(usize::from(row[22]))?,
        })
    }
}

/// A packet and what became of it at the bottleneck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Story {
    /// Its flow.
    pub flow: u32,
    /// Which way it went.
    pub way: Direction,
    /// TCP sequence number, on the way back the number that is acknowledged.
    pub seq: u32,
    /// Bytes from the IP header on.
    pub bytes: u16,
    /// What it is.
    pub kind: Kind,
    /// Its ECN field on arrival.
    pub ecn_in: Ecn,
    /// When it came.
    pub arrived: Time,
    /// When it left or was dropped.
    pub left: Option<Time>,
    /// What became of it.
    pub fate: Fate,
    /// Where and why it was marked.
    pub marked: Option<(Stage, Cause)>,
}

/// Bytes of a [`Story`] in a file.
pub const STORY_BYTES: usize = 32;
const NOTHING: u8 = 0xff;

impl Story {
    /// Appends it to a buffer.
    pub fn write(&self, out: &mut Vec<u8>) {
        let pair = |pair: Option<(Stage, Cause)>| {
            pair.map_or(NOTHING, |(stage, cause)| (stage as u8) << 4 | cause as u8)
        };
        let (fate, dropped) = match self.fate {
            Fate::Sent => (0, None),
            Fate::Dropped(stage, cause) => (1, Some((stage, cause))),
            Fate::Waiting => (2, None),
        };
        out.extend(self.flow.to_le_bytes());
        out.extend(self.seq.to_le_bytes());
        out.extend(self.arrived.as_nanos().to_le_bytes());
        out.extend(self.left.map_or(u64::MAX, Time::as_nanos).to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.push(self.kind as u8);
        out.push(self.ecn_in as u8);
        out.extend([fate, pair(dropped), pair(self.marked), self.way as u8]);
    }

    /// Reads it back; nothing if the bits are not of a story.
    pub fn read(row: &[u8; STORY_BYTES]) -> Option<Story> {
        let long = |at: usize| u64::from_le_bytes(row[at..at + 8].try_into().expect("8 bytes"));
        let word = |at: usize| u32::from_le_bytes(row[at..at + 4].try_into().expect("4 bytes"));
        Some(Story {
            flow: word(0),
            way: *[Direction::Forward, Direction::Back].get(usize::from(row[31]))?,
            seq: word(4),
            arrived: Time::from_nanos(long(8)),
            left: Some(long(16)).filter(|&left| left != u64::MAX).map(Time::from_nanos),
            bytes: u16::from_le_bytes([row[24], row[25]]),
            kind: [Kind::Syn, Kind::Data, Kind::Datagram].get(usize::from(row[26])).copied()?,
            ecn_in: ecn(row[27]),
            fate: match row[28] {
                0 => Fate::Sent,
                1 => {
                    let (stage, cause) = pair(row[29])?;
                    Fate::Dropped(stage, cause)
                }
                2 => Fate::Waiting,
                _ => return None,
            },
            marked: if row[30] == NOTHING { None } else { Some(pair(row[30])?) },
        })
    }
}

fn pair(byte: u8) -> Option<(Stage, Cause)> {
    let stage = [Stage::Enqueue, Stage::Queued, Stage::Dequeue].get(usize::from(byte >> 4))?;
    let cause =
        [Cause::Overflow, Cause::Random, Cause::Deterministic].get(usize::from(byte & 15))?;
    Some((*stage, *cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let passage = Passage {
            at_ns: -5,
            flow: 7,
            seq: 9,
            bytes: 1500,
            ident: 3,
            ecn: Ecn::Ce,
            leaves: true,
            kind: Kind::Datagram,
        };
        let mut row = Vec::new();
        passage.write(&mut row);
        assert_eq!(Passage::read(row[..].try_into().unwrap()), Some(passage));
        let sighting = Sighting {
            at_ns: -7,
            flow: 1,
            port: 40_000,
            number: 5,
            bytes: 1448,
            ident: 6,
            sight: Sight::Acknowledged,
        };
        let mut row = Vec::new();
        sighting.write(&mut row);
        assert_eq!(Sighting::read(row[..].try_into().unwrap()), Some(sighting));
        let story = Story {
            flow: 1,
            way: Direction::Back,
            seq: 2,
            bytes: 52,
            kind: Kind::Syn,
            ecn_in: Ecn::Ect0,
            arrived: Time::from_nanos(10),
            left: None,
            fate: Fate::Dropped(Stage::Dequeue, Cause::Deterministic),
            marked: Some((Stage::Enqueue, Cause::Random)),
        };
        let mut row = Vec::new();
        story.write(&mut row);
        assert_eq!(Story::read(row[..].try_into().unwrap()), Some(story));
    }
}
