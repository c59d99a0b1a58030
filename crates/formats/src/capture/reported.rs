//! Bytes of one direction that the receiver has reported: acknowledged, or in SACK blocks. Each
//! arriving segment is in the first block of the next acknowledgement (RFC 2018 §4), so the count
//! grows as data arrive, also behind a hole.

/// Most blocks kept beyond the acknowledged bytes; the bytes of others count once acknowledged.
const MOST_BLOCKS: usize = 4_096;

/// The reported bytes, by unwrapped sequence number.
#[derive(Default)]
pub(super) struct Reported {
    /// The end of what has been acknowledged.
    acknowledged: u64,
    /// Disjoint blocks beyond it, in order.
    blocks: Vec<(u64, u64)>,
}

impl Reported {
    /// Nothing before a connection's first byte counts.
    pub(super) fn from(first: u64) -> Reported {
        Reported { acknowledged: first, blocks: Vec::new() }
    }

    /// Everything before `ack` has arrived: returns the bytes not reported before.
    pub(super) fn acknowledge(&mut self, ack: u64) -> u64 {
        let Some(mut new) = ack.checked_sub(self.acknowledged) else { return 0 };
        for (start, end) in &mut self.blocks {
            let covered = ack.min(*end).saturating_sub(*start);
            new -= covered;
            *start += covered;
        }
        self.blocks.retain(|(start, end)| start < end);
        self.acknowledged = ack;
        new
    }

    /// A block has arrived: returns the bytes not reported before.
    pub(super) fn add(&mut self, start: u64, end: u64) -> u64 {
        let start = start.max(self.acknowledged);
        if start >= end || self.blocks.len() >= MOST_BLOCKS {
            return 0;
        }
        let first = self.blocks.partition_point(|block| block.1 < start);
        let after = self.blocks.partition_point(|block| block.0 <= end);
        let touched = &self.blocks[first..after];
        let known: u64 =
            touched.iter().map(|it| it.1.min(end).saturating_sub(it.0.max(start))).sum();
        let joined = (
            touched.first().map_or(start, |it| it.0.min(start)),
            touched.last().map_or(end, |it| it.1.max(end)),
        );
        self.blocks.splice(first..after, [joined]);
        end - start - known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts_once_in_whatever_order_it_is_reported() {
        let mut reported = Reported::from(100);
        assert_eq!(reported.acknowledge(200), 100);
        assert_eq!(reported.add(300, 400), 100);
        assert_eq!(reported.add(500, 600), 100);
        assert_eq!(reported.add(350, 550), 100);
        assert_eq!(reported.add(150, 200), 0); // a DSACK (RFC 2883 §4)
        assert_eq!(reported.acknowledge(350), 100);
        assert_eq!(reported.acknowledge(700), 100);
        assert_eq!((reported.acknowledge(700), reported.acknowledge(90)), (0, 0));
    }
}
