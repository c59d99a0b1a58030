//! The payload of an RTP packet: the numbers of its frame and of its part, then zeros.

use std::sync::Arc;

use sojourn_endpoint::FrameNumber;

/// The largest payload. With the headers of RTP, SRTP, UDP and IPv4, packets have about 1,220
/// bytes; browsers send packets of about this size.
const MOST_BYTES: u64 = 1_150;
const HEADER_BYTES: usize = 8;

/// A packet's place in its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) frame: FrameNumber,
    /// Its number among the packets of the frame.
    pub(crate) number: u16,
    /// How many packets the frame has.
    pub(crate) of: u16,
}

impl Part {
    /// The part that a payload is; `None` if it is too short for one.
    pub(crate) fn read(payload: &[u8]) -> Option<Part> {
        let [f0, f1, f2, f3, n0, n1, o0, o1] = *payload.first_chunk::<HEADER_BYTES>()?;
        let frame = FrameNumber::from_be_bytes([f0, f1, f2, f3]);
        let (number, of) = (u16::from_be_bytes([n0, n1]), u16::from_be_bytes([o0, o1]));
        (number < of).then_some(Part { frame, number, of })
    }

    fn write(self, payload: &mut [u8]) {
        payload[..4].copy_from_slice(&self.frame.to_be_bytes());
        payload[4..6].copy_from_slice(&self.number.to_be_bytes());
        payload[6..HEADER_BYTES].copy_from_slice(&self.of.to_be_bytes());
    }

    /// Whether it is the last of its frame.
    pub(crate) fn is_last(self) -> bool {
        self.number + 1 == self.of
    }
}

/// The largest frame.
pub(crate) const LARGEST_FRAME: u64 = MOST_BYTES * u16::MAX as u64;

/// A frame of `bytes` in packets of equal size, give or take a byte. Each has room for its header.
pub(crate) fn split(frame: FrameNumber, bytes: u64) -> impl Iterator<Item = (Part, Arc<[u8]>)> {
    assert!((1..=LARGEST_FRAME).contains(&bytes));
    let of = bytes.div_ceil(MOST_BYTES);
    (0..of).map(move |number| {
        let size = (bytes / of + u64::from(number < bytes % of)) as usize;
        let part = Part { frame, number: number as u16, of: of as u16 };
        let mut payload = vec![0; size.max(HEADER_BYTES)];
        part.write(&mut payload);
        (part, payload.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_split_into_equal_parts_that_say_where_they_belong() {
        let parts: Vec<(Part, Arc<[u8]>)> = split(7, 2_301).collect();
        let sizes: Vec<usize> = parts.iter().map(|(_, payload)| payload.len()).collect();
        assert_eq!(sizes, [767, 767, 767]);
        for (place, (part, payload)) in (0..).zip(&parts) {
            assert_eq!(*part, Part { frame: 7, number: place, of: 3 });
            assert_eq!((Part::read(payload), part.is_last()), (Some(*part), place == 2));
        }
        let sizes: Vec<usize> = split(0, 1_151).map(|(_, payload)| payload.len()).collect();
        assert_eq!(sizes, [576, 575]);
        assert_eq!(split(0, LARGEST_FRAME).count(), 65_535);
    }

    #[test]
    fn a_payload_that_is_no_part_is_none() {
        assert_eq!(Part::read(&[0; 7]), None);
        assert_eq!(Part::read(&[0; 8]), None);
    }
}
