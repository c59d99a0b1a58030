//! Segment sizes of the TCP profiles. The engines define the rules of each profile. The sizes are
//! here because they determine a link's MTU, which the checks of buffers use.

/// A full segment at IP level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    /// Its size, headers included.
    pub(super) packet_bytes: u64,
    /// Bytes of IP and TCP headers, which is the size of a pure ACK.
    pub(super) header_bytes: u64,
}

/// IPv4 and TCP headers of 40 B and the timestamp option, padded to 12 B (RFC 7323 appendix A).
const LINUX: Segment = Segment { packet_bytes: 1500, header_bytes: 52 };
/// ns-2.35 tcl/lib/ns-default.tcl: `packetSize_` 1000 is payload, `tcpip_base_hdr_size_` adds 40 B.
const NS2: Segment = Segment { packet_bytes: 1040, header_bytes: 40 };

/// The profiles whose segments differ from Linux's (fact scenario-6).
const SEGMENTS: [(&str, Segment); 7] = [
    ("newreno", NS2),
    ("sack", NS2),
    ("reno", NS2),
    ("tahoe", NS2),
    ("madpie", NS2),
    ("pie-ns2", NS2),
    // ns-3's examples of PI2: 1000 B at IP level, PPP framing on top.
    ("pi2-ns3", Segment { packet_bytes: 1000, header_bytes: 40 }),
];

/// The segment sizes of a profile. The engine refuses unknown names.
pub(super) fn of(profile: &str) -> Segment {
    let found = SEGMENTS.iter().find(|(name, _)| *name == profile);
    found.map_or(LINUX, |&(_, segment)| segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fact scenario-6.
    #[test]
    fn profiles_of_papers_have_the_segments_of_their_simulator() {
        let sizes = |profile| {
            let Segment { packet_bytes, header_bytes } = of(profile);
            (packet_bytes, header_bytes)
        };
        assert_eq!(["codel-act", "kids-3.8", "linux"].map(sizes), [(1500, 52); 3]);
        assert_eq!(
            ["madpie", "pie-ns2", "pi2-ns3"].map(sizes),
            [(1040, 40), (1040, 40), (1000, 40)]
        );
    }
}
