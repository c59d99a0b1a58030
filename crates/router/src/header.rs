//! Packet headers: IPv4 (RFC 791) or IPv6 (RFC 8200) with TCP or UDP (RFC 9293, RFC 768), and the
//! ECN mark (RFC 3168).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sojourn_aqm::Ecn;

/// The most bytes of a packet that [`Header::read`] needs.
pub const HEADER_BYTES: usize = 60 + 20;

const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6_HEADER_BYTES: usize = 40;

/// The header fields that the router and the captures use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Bytes of the whole packet, starting at the IP header.
    pub bytes: u16,
    /// Identification (RFC 791); Linux increments it within a connection. IPv6: zero.
    pub ident: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// Differentiated services code point.
    pub dscp: u8,
    /// The protocol.
    pub protocol: u8,
    /// Addresses of sender and receiver.
    pub addresses: [IpAddr; 2],
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
        let address = |at: usize| [packet[at], packet[at + 1], packet[at + 2], packet[at + 3]];
        let ip = IpHeader {
            end: ihl,
            bytes: word(packet, 2)?,
            ident: word(packet, 4)?,
            traffic_class: packet[1],
            protocol: packet[9],
            is_first_fragment: word(packet, 6)? & 0x1fff == 0,
            addresses: [address(12), address(16)].map(|octets| Ipv4Addr::from(octets).into()),
        };
        ip.with_transport(packet)
    }

    /// [`Header::read`] for whole packets of IPv4 or IPv6.
    pub fn read_any(packet: &[u8]) -> Option<Header> {
        if packet.first()? >> 4 != 6 {
            return Header::read(packet);
        }
        let bytes = usize::from(word(packet, 4)?) + IPV6_HEADER_BYTES;
        if packet.len() < bytes {
            return None;
        }
        let (protocol, end, is_first_fragment) = upper_layer(packet)?;
        let address = |at: usize| <[u8; 16]>::try_from(packet.get(at..at + 16)?).ok();
        let ip = IpHeader {
            end,
            bytes: u16::try_from(bytes).ok()?,
            ident: 0,
            traffic_class: traffic_class(packet),
            protocol,
            is_first_fragment,
            addresses: [address(8)?, address(24)?].map(|octets| Ipv6Addr::from(octets).into()),
        };
        ip.with_transport(packet)
    }
}

/// The fields of an IP header.
struct IpHeader {
    /// Where the header of the transport begins.
    end: usize,
    bytes: u16,
    ident: u16,
    traffic_class: u8,
    protocol: u8,
    is_first_fragment: bool,
    addresses: [IpAddr; 2],
}

impl IpHeader {
    /// Reads the TCP or UDP header behind this IP header.
    fn with_transport(self, packet: &[u8]) -> Option<Header> {
        let IpHeader { end, bytes, ident, traffic_class, protocol, .. } = self;
        let long =
            |at: usize| Some(u32::from(word(packet, at)?) << 16 | u32::from(word(packet, at + 2)?));
        let has_ports = self.is_first_fragment && matches!(protocol, TCP | UDP);
        let tcp = self.is_first_fragment && protocol == TCP;
        let own_bytes = match (tcp, has_ports) {
            (true, _) => usize::from(*packet.get(end + 12)? >> 4) * 4,
            (false, true) => 8,
            (false, false) => 0,
        };
        Some(Header {
            bytes,
            ident,
            ecn: ecn(traffic_class),
            dscp: traffic_class >> 2,
            protocol,
            addresses: self.addresses,
            ports: if has_ports { [word(packet, end)?, word(packet, end + 2)?] } else { [0, 0] },
            seq: if tcp { long(end + 4)? } else { 0 },
            ack: if tcp { long(end + 8)? } else { 0 },
            syn: tcp && packet.get(end + 13)? & 0x02 != 0,
            payload_bytes: bytes.saturating_sub((end + own_bytes) as u16),
        })
    }
}

fn word(packet: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]))
}

/// The transport protocol of an IPv6 packet, the offset of its header, and whether the packet is
/// whole or a first fragment (RFC 8200 §4: extension headers).
fn upper_layer(packet: &[u8]) -> Option<(u8, usize, bool)> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;
    let (mut next, mut at) = (*packet.get(6)?, IPV6_HEADER_BYTES);
    loop {
        match next {
            HOP_BY_HOP | ROUTING | DESTINATION => {
                let bytes = 8 * (usize::from(*packet.get(at + 1)?) + 1);
                (next, at) = (packet[at], at + bytes);
            }
            FRAGMENT => return Some((*packet.get(at)?, at + 8, word(packet, at + 2)? >> 3 == 0)),
            transport => return Some((transport, at, true)),
        }
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
/// programs whose IP identification is zero, which are unfragmentable datagrams of unconnected
/// sockets (Linux 6.1 ip.h, `ip_select_ident_segs`).
pub fn payload_hash(packet: &[u8]) -> u32 {
    let ihl = packet.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
    let end = packet.len().min(HEADER_BYTES);
    let bytes = packet.get(ihl..end).unwrap_or_default();
    bytes.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl Header {
    /// The addresses, if they are IPv4 addresses.
    pub fn ipv4(&self) -> Option<[[u8; 4]; 2]> {
        match self.addresses {
            [IpAddr::V4(from), IpAddr::V4(to)] => Some([from.octets(), to.octets()]),
            _ => None,
        }
    }

    /// Whether the packet stays on its link: a router forwards none from or to a link-local address
    /// (RFC 4291 §2.5.6) or to a group of one link or interface (RFC 4291 §2.7).
    pub fn is_link_local(&self) -> bool {
        self.addresses.iter().any(|address| match address {
            IpAddr::V4(_) => false,
            IpAddr::V6(address) => {
                let scope = address.octets()[1] & 0xf;
                address.is_unicast_link_local() || address.is_multicast() && scope <= 2
            }
        })
    }

    /// Whether the packet carries TCP.
    pub fn is_tcp(&self) -> bool {
        self.protocol == TCP
    }
}

/// The ECN field in a traffic class.
pub fn ecn(traffic_class: u8) -> Ecn {
    match traffic_class & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// The traffic class of a packet of either version (RFC 791 §3.1, RFC 8200 §3).
pub fn traffic_class(packet: &[u8]) -> u8 {
    match packet[0] >> 4 {
        6 => packet[0] << 4 | packet[1] >> 4,
        _ => packet[1],
    }
}

/// Sets the ECN field of a packet to CE.
pub fn set_ce(packet: &mut [u8]) {
    set_traffic_class(packet, traffic_class(packet) | 3);
}

/// Sets the DSCP of a packet to 0.
pub fn clear_dscp(packet: &mut [u8]) {
    set_traffic_class(packet, traffic_class(packet) & 3);
}

/// Sets the traffic class. In IPv4 the header checksum is updated incrementally (RFC 1624 §3,
/// equation 3); IPv6 has none. The checksums of TCP and UDP do not cover this field.
fn set_traffic_class(packet: &mut [u8], class: u8) {
    if packet[0] >> 4 == 6 {
        packet[0] = 6 << 4 | class >> 4;
        packet[1] = class << 4 | packet[1] & 0x0f;
        return;
    }
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let old = word(packet, 0);
    packet[1] = class;
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

    #[test]
    fn a_cleared_dscp_leaves_ecn_and_a_valid_checksum() {
        for (ident, ecn) in [(0_u16, 0), (0xffff, 1), (0x1234, 2), (0xfffe, 3)] {
            let mut p = packet();
            p[1] = 46 << 2 | ecn;
            p[4..6].copy_from_slice(&ident.to_be_bytes());
            p[10..12].copy_from_slice(&[0, 0]);
            let checksum = !sum(&p[..20]);
            p[10..12].copy_from_slice(&checksum.to_be_bytes());
            clear_dscp(&mut p);
            assert_eq!(p[1], ecn);
            assert_eq!(sum(&p[..20]), 0xffff, "ident {ident}");
        }
        let mut six = packet6(&[], 17);
        let flow_label = [six[1] & 0x0f, six[2], six[3]];
        clear_dscp(&mut six);
        assert_eq!((traffic_class(&six), six[0] >> 4), (2, 6));
        assert_eq!([six[1] & 0x0f, six[2], six[3]], flow_label);
    }

    /// A UDP datagram of IPv6 with 20 bytes of payload, ECT(0), DSCP 46.
    fn packet6(extensions: &[u8], first: u8) -> Vec<u8> {
        let mut p = vec![0u8; 40];
        (p[0], p[1]) = (0x6b, 0xa0); // traffic class 0b1011_1010
        p[4..6].copy_from_slice(&(28 + extensions.len() as u16).to_be_bytes());
        (p[6], p[7]) = (first, 64);
        p[8..24].copy_from_slice(&"fd00:6440::1".parse::<Ipv6Addr>().unwrap().octets());
        p[24..40].copy_from_slice(&"fd00:6440::2".parse::<Ipv6Addr>().unwrap().octets());
        p.extend(extensions);
        p.extend([0x9c, 0x40, 0x00, 0x09, 0, 28, 0, 0]);
        p.extend([0; 20]);
        p
    }

    #[test]
    fn an_ipv6_header_is_read_field_by_field() {
        let header = Header::read_any(&packet6(&[], UDP)).unwrap();
        assert_eq!((header.bytes, header.ecn, header.dscp), (68, Ecn::Ect0, 46));
        assert_eq!((header.protocol, header.ports), (UDP, [40_000, 9]));
        assert_eq!(header.addresses.map(|it| it.to_string()), ["fd00:6440::1", "fd00:6440::2"]);
        assert_eq!((header.payload_bytes, header.is_link_local()), (20, false));
        assert_eq!(Header::read(&packet6(&[], UDP)), None, "it is not IPv4");
        for length in 0..68 {
            assert_eq!(Header::read_any(&packet6(&[], UDP)[..length]), None, "{length} bytes");
        }
        assert_eq!(Header::read_any(&packet()), Header::read(&packet()));
    }

    #[test]
    fn ports_are_found_behind_extension_headers_and_in_the_first_fragment_only() {
        let options = [44, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let fragment = |offset: u8| [UDP, 0, 0, offset << 3, 0, 0, 0, 7];
        let ports = |offset| {
            let chain = [&options[..], &fragment(offset)].concat();
            Header::read_any(&packet6(&chain, 0)).map(|header| (header.protocol, header.ports))
        };
        assert_eq!(ports(0), Some((UDP, [40_000, 9])));
        assert_eq!(ports(5), Some((UDP, [0, 0])));
    }

    #[test]
    fn a_mark_in_ipv6_changes_the_two_bits_alone() {
        let (before, mut after) = (packet6(&[], UDP), packet6(&[], UDP));
        set_ce(&mut after);
        let header = Header::read_any(&after).unwrap();
        assert_eq!((header.ecn, header.dscp), (Ecn::Ce, 46));
        after[1] = before[1];
        assert_eq!(after, before);
    }

    #[test]
    fn what_stays_on_a_link_is_known() {
        let to = |address: &str| {
            let mut p = packet6(&[], 58);
            p[24..40].copy_from_slice(&address.parse::<Ipv6Addr>().unwrap().octets());
            Header::read_any(&p).unwrap().is_link_local()
        };
        assert_eq!(
            ["ff02::16", "fe80::1", "ff0e::1", "2001:db8::1"].map(to),
            [true, true, false, false]
        );
    }
}
