//! Packets and their fates at a link.

use sojourn_aqm::{Cause, Ecn, Stage, Time};
use sojourn_record::rows::Fate;

use super::kind::CapturedKind;
use crate::header::ecn;
use crate::plan::Direction;

/// A packet and its fate at a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketRecord {
    /// Its flow.
    pub flow: u32,
    /// The direction in which it travelled.
    pub direction: Direction,
    /// TCP sequence number; in the reverse direction, the acknowledgement number.
    pub seq: u32,
    /// Bytes from the IP header on.
    pub bytes: u16,
    /// The kind of packet.
    pub kind: CapturedKind,
    /// Its ECN field on arrival.
    pub ecn_in: Ecn,
    /// Its DSCP on arrival, less than 64.
    pub dscp: u8,
    /// When it arrived.
    pub arrived: Time,
    /// When the packet left or was dropped.
    pub left: Option<Time>,
    /// Its fate.
    pub fate: Fate,
    /// Where and why it was marked.
    pub marked: Option<(Stage, Cause)>,
}

/// Bytes of a [`PacketRecord`] in a file.
pub const PACKET_RECORD_BYTES: usize = 32;
/// Stands for a missing stage and cause.
const NONE: u8 = 0xff;

impl PacketRecord {
    /// Appends it to a buffer.
    pub fn write(&self, out: &mut Vec<u8>) {
        let pair = |pair: Option<(Stage, Cause)>| {
            pair.map_or(NONE, |(stage, cause)| (stage as u8) << 4 | cause as u8)
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
        let direction = self.direction as u8 | self.dscp << 1;
        out.extend([fate, pair(dropped), pair(self.marked), direction]);
    }

    /// Reads a record back; `None` if the bytes are not a record.
    pub fn read(row: &[u8; PACKET_RECORD_BYTES]) -> Option<PacketRecord> {
        let long = |at: usize| u64::from_le_bytes(row[at..at + 8].try_into().expect("8 bytes"));
        let word = |at: usize| u32::from_le_bytes(row[at..at + 4].try_into().expect("4 bytes"));
        Some(PacketRecord {
            flow: word(0),
            direction: *[Direction::Forward, Direction::Reverse].get(usize::from(row[31] & 1))?,
            seq: word(4),
            arrived: Time::from_nanos(long(8)),
            left: Some(long(16)).filter(|&left| left != u64::MAX).map(Time::from_nanos),
            bytes: u16::from_le_bytes([row[24], row[25]]),
            kind: CapturedKind::from_number(row[26])?,
            ecn_in: ecn(row[27]),
            dscp: row[31] >> 1,
            fate: match row[28] {
                0 => Fate::Sent,
                1 => {
                    let (stage, cause) = pair(row[29])?;
                    Fate::Dropped(stage, cause)
                }
                2 => Fate::Waiting,
                _ => return None,
            },
            marked: if row[30] == NONE { None } else { Some(pair(row[30])?) },
        })
    }
}

fn pair(byte: u8) -> Option<(Stage, Cause)> {
    let stage = [Stage::Enqueue, Stage::Queued, Stage::Dequeue].get(usize::from(byte >> 4))?;
    let cause = Cause::ALL.get(usize::from(byte & 15))?;
    Some((*stage, *cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let record = PacketRecord {
            flow: 1,
            direction: Direction::Reverse,
            seq: 2,
            bytes: 52,
            kind: CapturedKind::Syn,
            ecn_in: Ecn::Ect0,
            dscp: 63,
            arrived: Time::from_nanos(10),
            left: None,
            fate: Fate::Dropped(Stage::Dequeue, Cause::Deterministic),
            marked: Some((Stage::Enqueue, Cause::Random)),
        };
        let mut row = Vec::new();
        record.write(&mut row);
        assert_eq!(PacketRecord::read(row[..].try_into().unwrap()), Some(record));
    }
}
