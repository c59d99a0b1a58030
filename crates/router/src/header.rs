//! Packet headers: IPv4 with TCP or UDP (RFC 791, RFC 9293, RFC 768), and the ECN mark (RFC 3168).

use sojourn_aqm::Ecn;

/// The most bytes of a packet that [`Header::read`] needs.
pub const HEADER_BYTES: usize = 60 + 20;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// The header fields that the router and the captures use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Bytes of the whole packet, starting at the IP header.
    pub bytes: u16,
    /// Identification (RFC 791); Linux increments it within a connection.
    pub ident: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// Differentiated services code point.
    pub dscp: u8,
    /// The protocol.
    pub protocol: u8,
    /// Addresses of sender and receiver.
    pub addresses: [[u8; 4]; 2],
    /// Ports of sender and receiver; zero if the protocol has no ports.
    pub ports: [u16; 2],
    /// TCP: the sequence number; otherwise zero.
    pub seq: u32,
    /// TCP: the acknowledgement number; otherwise zero.
    pub ack: u32,
    /// TCP: the SYN bit.
    pub syn: bool,
    /// TCP or UDP: bytes of payload.
    pub payload_bytes: u16,
}

impl Header {
    /// Reads the headers of a packet that starts with its IP header; `None` if it is not IPv4 or
    /// the headers are incomplete.
    pub fn read(packet: &[u8]) -> Option<Header> {
        let ihl = usize::from(packet.first()? & 0x0f) * 4;
        if packet[0] >> 4 != 4 || ihl < 20 || packet.len() < ihl {
            return None;
        }
        let word = |at: usize| Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]));
        let long = |at: usize| Some(u32::from(word(at)?) << 16 | u32::from(word(at + 2)?));
        let address = |at: usize| [packet[at], packet[at + 1], packet[at + 2], packet[at + 3]];
        let (bytes, protocol) = (word(2)?, packet[9]);
        let first_fragment = word(6)? & 0x1fff == 0;
        let has_ports = first_fragment && matches!(protocol, TCP | UDP);
        let tcp = first_fragment && protocol == TCP;
        let own_bytes = match (tcp, has_ports) {
            (true, _) => usize::from(*packet.get(ihl + 12)? >> 4) * 4,
            (false, true) => 8,
            (false, false) => 0,
        };
        Some(Header {
            bytes,
            ident: word(4)?,
            ecn: ecn(packet[1]),
            dscp: packet[1] >> 2,
            protocol,
            addresses: [address(12), address(16)],
            ports: if has_ports { [word(ihl)?, word(ihl + 2)?] } else { [0, 0] },
            seq: if tcp { long(ihl + 4)? } else { 0 },
            ack: if tcp { long(ihl + 8)? } else { 0 },
            syn: tcp && packet.get(ihl + 13)? & 0x02 != 0,
            payload_bytes: bytes.saturating_sub((ihl + own_bytes) as u16),
        })
    }
}

/// The number that our traffic program wrote into a datagram, in the first four bytes of its
/// payload. Unlike the IP identification, it does not repeat within a run.
///
/// `packet` begins with its IP header; `None` if it is not UDP or ends before the number.
pub fn datagram_number(packet: &[u8]) -> Option<u32> {
    const UDP_BYTES: usize = 8;
    let ihl = usize::from(packet.first()? & 0x0f) * 4;
    let number = packet.get(ihl + UDP_BYTES..ihl + UDP_BYTES + 4)?;
    (packet[9] == UDP).then(|| u32::from_le_bytes(number.try_into().expect("4 bytes")))
}

/// A hash of the captured bytes behind a packet's IP header (FNV-1a). It identifies datagrams of
/// programs whose IP identification is zero: those of unconnected sockets that may not be
/// fragmented (Linux 6.1 ip.h, `ip_select_ident_segs`).
pub fn payload_hash(packet: &[u8]) -> u32 {
    let ihl = packet.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
    let end = packet.len().min(HEADER_BYTES);
    let bytes = packet.get(ihl..end).unwrap_or_default();
    bytes.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl Header {
    /// Whether the packet carries TCP.
    pub fn is_tcp(&self) -> bool {
        self.protocol == TCP
    }
}

/// The ECN field of a traffic class.
pub fn ecn(traffic_class: u8) -> Ecn {
    match traffic_class & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Sets the ECN field of an IPv4 packet to CE and updates the header checksum incrementally
/// (RFC 1624 §3, equation 3). The checksums of TCP and UDP do not cover this field.
pub fn set_ce(packet: &mut [u8]) {
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let old = word(packet, 0);
    packet[1] |= 3;
    let new = word(packet, 0);
    let sum = u32::from(!word(packet, 10)) + u32::from(!old) + u32::from(new);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    packet[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A TCP SYN of 60 bytes from 10.1.0.1:40000 to 10.2.0.1:10003, ECT(0), with a valid IP
    /// checksum.
    fn packet() -> Vec<u8> {
        let mut p = vec![0u8; 60];
        p[0] = 0x45;
        p[1] = 0x02;
        p[2..4].copy_from_slice(&60u16.to_be_bytes());
        p[4..6].copy_from_slice(&0x1234u16.to_be_bytes());
        p[8] = 64;
        p[9] = TCP;
        p[12..16].copy_from_slice(&[10, 1, 0, 1]);
        p[16..20].copy_from_slice(&[10, 2, 0, 1]);
        p[20..22].copy_from_slice(&40_000u16.to_be_bytes());
        p[22..24].copy_from_slice(&10_003u16.to_be_bytes());
        p[24..28].copy_from_slice(&7u32.to_be_bytes());
        p[28..32].copy_from_slice(&9u32.to_be_bytes());
        p[32] = 0xa0;
        p[33] = 0x02;
        let sum = !sum(&p[..20]);
        p[10..12].copy_from_slice(&sum.to_be_bytes());
        p
    }

    /// The ones' complement sum of RFC 1071; all ones for a header with a valid checksum.
    fn sum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn headers_are_read_field_by_field() {
        let header = Header::read(&packet()).unwrap();
        assert_eq!((header.bytes, header.ident, header.ecn), (60, 0x1234, Ecn::Ect0));
        assert_eq!((header.ports, header.seq, header.syn), ([40_000, 10_003], 7, true));
        assert_eq!(header.ack, 9);
        assert_eq!(header.payload_bytes, 0);
    }

    #[test]
    fn a_packet_that_is_truncated_or_not_ipv4_is_refused() {
        let whole = packet();
        for length in 0..34 {
            assert_eq!(Header::read(&whole[..length]), None, "{length} bytes");
        }
        let mut other = packet();
        other[0] = 0x65;
        assert_eq!(Header::read(&other), None);
    }

    #[test]
    fn a_datagram_has_the_number_that_its_program_wrote() {
        let mut p = packet();
        p[9] = UDP;
        p[28..32].copy_from_slice(&70_000u32.to_le_bytes());
        assert_eq!(datagram_number(&p), Some(70_000));
        assert_eq!(datagram_number(&p[..31]), None);
        assert_eq!(datagram_number(&packet()), None, "TCP");
    }

    /// RFC 1624 §3.
    #[test]
    fn a_mark_leaves_the_ip_checksum_valid() {
        for ident in 0..=u16::MAX {
            let mut p = packet();
            p[4..6].copy_from_slice(&ident.to_be_bytes());
            p[10..12].copy_from_slice(&[0, 0]);
            let checksum = !sum(&p[..20]);
            p[10..12].copy_from_slice(&checksum.to_be_bytes());
            set_ce(&mut p);
            assert_eq!(p[1] & 3, 3);
            assert_eq!(sum(&p[..20]), 0xffff, "ident {ident}");
        }
    }
}
