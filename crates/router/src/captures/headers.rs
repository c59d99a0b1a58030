//! Packets captured with their headers, for files that Wireshark reads.

/// The place of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CapturePoint {
    /// The senders.
    Sender,
    /// The receivers.
    Receiver,
    /// Arriving at the queue of a link.
    Arrived,
    /// Sent by a link, up to its last bit.
    Sent,
}

/// A packet at a place, from its IP header on, without most of its payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedHeaders {
    /// The time on the scenario's clock in nanoseconds; negative before its start.
    pub at_ns: i64,
    /// Its flow; `u32::MAX` if it belongs to none.
    pub flow: u32,
    /// The index of the link, for places at a link.
    pub link: u16,
    /// The place.
    pub point: CapturePoint,
    /// The packet's first bytes.
    pub bytes: Vec<u8>,
}

/// Bytes of a row before those of the packet.
const ROW_BYTES: usize = 16;

impl CapturedHeaders {
    /// Appends it to a buffer.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.at_ns.to_le_bytes());
        out.extend(self.flow.to_le_bytes());
        out.extend(self.link.to_le_bytes());
        out.push(self.point as u8);
        out.push(u8::try_from(self.bytes.len()).expect("headers are shorter"));
        out.extend(&self.bytes);
    }

    /// Reads all rows of a file back; `None` if one is incomplete or unknown.
    pub fn read_all(mut file: &[u8]) -> Option<Vec<CapturedHeaders>> {
        let all = [
            CapturePoint::Sender,
            CapturePoint::Receiver,
            CapturePoint::Arrived,
            CapturePoint::Sent,
        ];
        let mut rows = Vec::new();
        while !file.is_empty() {
            let (row, rest) = file.split_at_checked(ROW_BYTES)?;
            let (bytes, rest) = rest.split_at_checked(usize::from(row[15]))?;
            rows.push(CapturedHeaders {
                at_ns: i64::from_le_bytes(row[..8].try_into().ok()?),
                flow: u32::from_le_bytes(row[8..12].try_into().ok()?),
                link: u16::from_le_bytes([row[12], row[13]]),
                point: *all.get(usize::from(row[14]))?,
                bytes: bytes.to_vec(),
            });
            file = rest;
        }
        Some(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written_and_a_cut_one_is_noticed() {
        let row = |point, length| CapturedHeaders {
            at_ns: -3,
            flow: 7,
            link: 2,
            point,
            bytes: vec![0x45; length],
        };
        let rows = [row(CapturePoint::Sender, 40), row(CapturePoint::Sent, 0)];
        let mut file = Vec::new();
        rows.iter().for_each(|row| row.write(&mut file));
        assert_eq!(CapturedHeaders::read_all(&file).as_deref(), Some(&rows[..]));
        assert_eq!(CapturedHeaders::read_all(&file[..file.len() - 1]), None);
    }
}
