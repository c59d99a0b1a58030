//! TCP headers for recorded arrivals: streams of acknowledgements with every property that CAKE's
//! ACK filter tests.

use std::collections::BTreeMap;

use sojourn_aqm::{Rng, TcpSegment, Time};

/// A TCP header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestSegment {
    segment: TcpSegment,
    kept: Option<Kept>,
    ports: u32,
}

/// Why a segment may not be dropped.
#[derive(Clone, Copy, Debug)]
enum Kept {
    Payload,
    Push,
    Syn,
    ReservedFlag,
    UnknownOption,
    WrongTimestamp,
    NoAck,
}

const KEPT: [Kept; 7] = [
    Kept::Payload,
    Kept::Push,
    Kept::Syn,
    Kept::ReservedFlag,
    Kept::UnknownOption,
    Kept::WrongTimestamp,
    Kept::NoAck,
];

impl TestSegment {
    /// The header as our discipline reads it.
    pub(crate) fn read(&self) -> TcpSegment {
        TcpSegment {
            has_ack: !matches!(self.kept, Some(Kept::NoAck)),
            has_syn: matches!(self.kept, Some(Kept::Syn)),
            is_pure_ack: self.kept.is_none(),
            ..self.segment
        }
    }

    /// Bytes of payload.
    pub(crate) fn payload(&self) -> u32 {
        if matches!(self.kept, Some(Kept::Payload)) { 100 } else { 0 }
    }

    /// The header as it is on the wire.
    pub(crate) fn header(&self) -> [u8; 60] {
        let mut options = Vec::new();
        if let Some([value, echo]) = self.segment.stamps {
            options.extend([1, 1, 8, 10]);
            options.extend(value.to_be_bytes().into_iter().chain(echo.to_be_bytes()));
        }
        match self.kept {
            Some(Kept::UnknownOption) => options.extend([172, 2, 1, 1]),
            Some(Kept::WrongTimestamp) => options.extend([8, 4, 0, 0]),
            _ => {}
        }
        let blocks = self.segment.sack_blocks();
        if !blocks.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
            options.extend(blocks.iter().flatten().flat_map(|number| number.to_be_bytes()));
        }
        let mut header = [0; 60];
        header[..4].copy_from_slice(&self.ports.to_be_bytes());
        header[8..12].copy_from_slice(&self.segment.ack.to_be_bytes());
        header[12] = ((20 + options.len()) as u8 / 4) << 4;
        header[13] = self.segment.ecn_echo << 6 | 0x10;
        match self.kept {
            Some(Kept::ReservedFlag) => header[12] |= 1,
            Some(Kept::Push) => header[13] |= 8,
            Some(Kept::Syn) => header[13] |= 2,
            Some(Kept::NoAck) => header[13] &= !0x10,
            _ => {}
        }
        header[20..20 + options.len()].copy_from_slice(&options);
        header
    }
}

/// Headers for packets in the order of their arrival. Every flow is a connection whose
/// acknowledgements advance, sometimes repeat, sometimes arrive out of order, and have gaps that it
/// SACKs.
pub(crate) struct SegmentMaker {
    rng: Rng,
    /// By flow: the acknowledgement number, and the ECN echo.
    last: BTreeMap<u64, (u32, u32)>,
}

impl SegmentMaker {
    pub(crate) fn new() -> SegmentMaker {
        SegmentMaker { rng: Rng::stream(1, "segments", 0), last: BTreeMap::new() }
    }

    /// The header of a packet of a flow; `None` for one packet in ten.
    pub(crate) fn next(&mut self, at: Time, flow: u64, id: u32) -> Option<TestSegment> {
        let rng = &mut self.rng;
        let mut one_in = |n: u64| rng.next_u64() >> 32 < (1 << 32) / n;
        // The sequence numbers of half of the flows wrap soon.
        let start = if flow.is_multiple_of(2) { 1000 } else { u32::MAX - 200_000 };
        let (ack, echo) = self.last.entry(flow).or_insert((start, 0));
        let number = if one_in(20) { ack.wrapping_sub(3000) } else { *ack };
        if !one_in(4) {
            *ack = ack.wrapping_add(2896);
        }
        *echo = if one_in(50) { 1 - *echo } else { *echo };
        let clock = (at.as_nanos() / 1_000_000) as u32;
        let late = if one_in(30) { 5 } else { 0 };
        let has_stamps = !flow.is_multiple_of(3);
        let stamps = has_stamps.then(|| [clock.wrapping_sub(late), clock / 2]);
        let kept = one_in(12).then(|| KEPT[id as usize % KEPT.len()]);
        let wanted =
            if one_in(3) { 1 + usize::from(one_in(2)) + usize::from(one_in(3)) } else { 0 };
        // Timestamps and another option leave less room.
        let count = wanted.min(if kept.is_some() { 2 } else { 3 });
        let is_duplicate = one_in(15);
        let mut sack = [[0; 2]; 4];
        for (place, block) in sack.iter_mut().take(count).enumerate() {
            let start = number.wrapping_add(10_000 * (place as u32 + 1));
            let size = 1448 * (1 + u32::from(one_in(2)) + u32::from(one_in(2)));
            let start = if is_duplicate { number.wrapping_sub(2896) } else { start };
            *block = [start, start.wrapping_add(size)];
        }
        let segment = TcpSegment {
            ack: number,
            ecn_echo: *echo as u8 | u8::from(one_in(60)) << 1,
            stamps,
            sack,
            sack_count: count as u8,
            ..TcpSegment::default()
        };
        (!one_in(10)).then_some(TestSegment { segment, kept, ports: flow as u32 })
    }
}
