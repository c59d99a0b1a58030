//! Sizes of segments by TCP profile (endpoints sheet §1.17, §1.20.2). The simulator's profiles have the
//! rules of each; sizes are here, because limits in packets and MTU follow from them.

/// A full segment at IP level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Its size, headers included.
    pub packet_bytes: u64,
    /// IP and TCP headers; the size of a pure ACK.
    pub header_bytes: u64,
}

/// With timestamps: 40 bytes of headers and 12 of options.
const LINUX: Segment = Segment { packet_bytes: 1500, header_bytes: 52 };
/// ns-2's `packetSize_` of 1000 bytes is payload.
const NS2: Segment = Segment { packet_bytes: 1040, header_bytes: 40 };

/// The segments of profiles that differ from Linux.
const SEGMENTS: [(&str, Segment); 5] = [
    ("newreno", NS2),
    ("sack", NS2),
    ("madpie", NS2),
    ("pie-ns2", NS2),
    // The example that ns-3's validations grew from: 1000 bytes at IP level, PPP on top.
    ("pi2-ns3", Segment { packet_bytes: 1000, header_bytes: 40 }),
];

/// The segments of a profile. A name that no engine knows is refused by the engine.
pub fn segment(profile: &str) -> Segment {
    let found = SEGMENTS.iter().find(|(name, _)| *name == profile);
    found.map_or(LINUX, |&(_, segment)| segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_the_papers() {
        let sizes = |profile| {
            let Segment { packet_bytes, header_bytes } = segment(profile);
            (packet_bytes, header_bytes)
        };
        assert_eq!(["codel-act", "kids-3.8", "linux"].map(sizes), [(1500, 52); 3]);
        assert_eq!(
            ["madpie", "pie-ns2", "pi2-ns3"].map(sizes),
            [(1040, 40), (1040, 40), (1000, 40)]
        );
    }
}
