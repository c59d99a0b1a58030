//! Converts between the bytes of a script and the whole segments counted by the endpoint.

use std::cmp::Ordering;

/// The data sent by the host: the end of each segment, in bytes from the first. A FIN counts as one
/// byte.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    mss: u32,
    ends: Vec<u32>,
    /// The segment that carries the FIN.
    fin: Option<u32>,
    /// Whether small segments are sent without waiting for others (`TCP_NODELAY`).
    pub(super) nodelay: bool,
}

impl Outgoing {
    pub(super) fn new(mss: u32) -> Outgoing {
        Outgoing { mss, ends: Vec::new(), fin: None, nodelay: false }
    }

    /// Bytes of data in a full segment.
    pub(super) fn mss(&self) -> u32 {
        self.mss
    }

    /// Segments written.
    fn count(&self) -> u32 {
        self.ends.len() as u32
    }

    /// The first byte of a segment.
    pub(super) fn start(&self, segment: u32) -> u32 {
        segment.checked_sub(1).map_or(0, |before| self.ends[before as usize])
    }

    /// Bytes of data in a segment, and whether it carries the FIN.
    pub(super) fn payload(&self, segment: u32) -> (u32, bool) {
        let fin = self.fin == Some(segment);
        (self.ends[segment as usize] - self.start(segment) - u32::from(fin), fin)
    }

    fn end(&self) -> u32 {
        self.start(self.count())
    }

    /// Appends written data. Segments from `unsent` on have not been sent; the last of these is
    /// filled first.
    pub(super) fn write(&mut self, bytes: u32, unsent: u32) {
        let end = self.end() + bytes;
        if self.count() > unsent {
            self.ends.pop();
        }
        while self.end() < end {
            self.ends.push(end.min(self.end() + self.mss));
        }
    }

    /// Closes the stream. The FIN is added to the last segment if that has not been sent.
    pub(super) fn close(&mut self, unsent: u32) {
        if self.fin.is_some() {
            return;
        }
        if self.count() == unsent {
            self.ends.push(self.end());
        }
        if let Some(last) = self.ends.last_mut() {
            *last += 1;
        }
        self.fin = Some(self.count() - 1);
    }

    /// Whether the application has closed.
    pub(super) fn closes(&self) -> bool {
        self.fin.is_some()
    }

    /// Whether the FIN has been sent and lies below `una`.
    pub(super) fn is_closed(&self, una: u32) -> bool {
        self.fin.is_some_and(|fin| fin < una)
    }

    /// Whether a segment is small and must wait while another small one is outstanding (RFC 896, in
    /// the variant of Linux `tcp_minshall_check`).
    fn is_small(&self, segment: u32) -> bool {
        let (payload, fin) = self.payload(segment);
        payload < self.mss && !fin
    }

    /// The end of the segments that may be sent when those from `una` to `nxt` are outstanding.
    pub(super) fn released(&self, una: u32, nxt: u32) -> u32 {
        let count = self.count();
        let held = count > nxt
            && !self.nodelay
            && self.is_small(count - 1)
            && (una..nxt).any(|segment| self.is_small(segment));
        count - u32::from(held)
    }

    /// The number of segments below a byte; `Err` if the byte is inside a segment.
    pub(super) fn below(&self, byte: u32) -> Result<u32, u32> {
        let count = self.ends.partition_point(|&end| end <= byte) as u32;
        match self.start(count).cmp(&byte) {
            Ordering::Equal => Ok(count),
            Ordering::Less | Ordering::Greater => Err(count),
        }
    }

    /// Segments up to the end of a window, including segments not yet written.
    pub(super) fn within(&self, byte: u32) -> u32 {
        let written = self.ends.partition_point(|&end| end <= byte) as u32;
        let more = if written < self.count() { 0 } else { (byte - self.end()) / self.mss };
        written + more
    }

    /// The segments that lie entirely in a range of bytes.
    pub(super) fn inside(&self, start: u32, end: u32) -> (u32, u32) {
        let first = match self.below(start) {
            Ok(first) => first,
            Err(first) => first + 1,
        };
        (first, self.ends.partition_point(|&segment| segment <= end) as u32)
    }
}

/// The data received by the host: every position in the script at which a segment begins or ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Incoming {
    edges: Vec<u32>,
}

impl Incoming {
    /// Built from the first byte and the end of every segment in the script.
    pub(super) fn new(segments: impl Iterator<Item = (u32, u32)>) -> Incoming {
        let ends = segments.flat_map(|(start, end)| [start, end]);
        let mut edges: Vec<u32> = std::iter::once(0).chain(ends).collect();
        edges.sort_unstable();
        edges.dedup();
        Incoming { edges }
    }

    /// The number of the segment that begins at a byte.
    pub(super) fn number(&self, byte: u32) -> u32 {
        self.edges.partition_point(|&edge| edge < byte) as u32
    }

    /// The first byte of a segment.
    pub(super) fn byte(&self, segment: u32) -> u32 {
        self.edges.get(segment as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_fill_segments_and_a_fin_travels_with_data_that_waits() {
        let mut data = Outgoing::new(1000);
        data.write(2500, 0);
        assert_eq!([0, 1, 2].map(|i| data.payload(i)), [1000, 1000, 500].map(|n| (n, false)));
        data.write(700, 0);
        assert_eq!([2, 3].map(|i| data.payload(i)), [(1000, false), (200, false)]);
        data.close(3);
        assert_eq!((data.payload(3), data.below(3201)), ((200, true), Ok(4)));
        let mut sent = Outgoing::new(1000);
        sent.write(1000, 0);
        sent.close(1);
        assert_eq!((sent.payload(1), sent.start(1)), ((0, true), 1000));
    }

    #[test]
    fn a_small_segment_waits_for_another_small_one_only() {
        let mut data = Outgoing::new(1000);
        data.write(500, 0);
        assert_eq!(data.released(0, 0), 1);
        data.write(500, 1);
        assert_eq!((data.released(0, 1), data.released(1, 1)), (1, 2));
        data.write(500, 1);
        assert_eq!(data.released(0, 1), 2, "a full one leaves");
    }

    #[test]
    fn bytes_become_whole_segments() {
        let mut data = Outgoing::new(1000);
        data.write(4000, 0);
        assert_eq!((data.below(2000), data.below(2500)), (Ok(2), Err(2)));
        assert_eq!((data.within(3999), data.within(9999)), (3, 9));
        assert_eq!((data.inside(1000, 3000), data.inside(3999, 4000)), ((1, 3), (4, 4)));
    }
}
