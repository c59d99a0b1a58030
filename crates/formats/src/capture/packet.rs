//! The headers of a captured packet, as far as they are in the capture.

use std::net::{IpAddr, SocketAddr};

use etherparse::{
    Ipv6ExtensionSlice, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TcpOptionsIterator,
};

use super::tunnel;

/// LINKTYPE values (draft-ietf-opsawg-pcaplinktype).
const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const PPP: [u16; 2] = [9, 50];
const RAW: [u16; 5] = [12, 14, 101, 228, 229];
const CISCO_HDLC: u16 = 104;
const LOOP: u16 = 108;
const SLL: u16 = 113;
/// Written by macOS's tcpdump for all interfaces: a custom header, then a frame of another link
/// type.
const PKTAP: u16 = 258;
const SLL2: u16 = 276;
/// EtherTypes.
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE: u16 = 0x8864;
const IP: [u16; 2] = [0x0800, 0x86dd];
/// Smaller numbers are the length of an IEEE 802.3 frame.
const FIRST_ETHERTYPE: u16 = 0x0600;
/// The header of LLC before an EtherType (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];
/// Protocol numbers of PPP: IPv4, IPv6 and MPLS.
const PPP_IP: [u16; 2] = [0x0021, 0x0057];
const PPP_MPLS: u16 = 0x0281;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP_V6: u8 = 58;
/// The bytes of a TCP header that are needed: up to the flags.
const TCP_NEEDED_BYTES: usize = 14;
const TCP_BYTES: usize = 20;
/// Tunnels within tunnels that are opened.
const MOST_TUNNELS: u32 = 4;
const FINGERPRINT_BYTES: usize = 64;

/// Why a packet could not be read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Unread {
    /// ARP, IEEE 802.3 and others.
    NotIp,
    /// The capture ends before the ports, flags or lengths.
    Cut,
    /// The lengths of its headers contradict each other.
    Malformed,
    /// A link type that is not known here.
    Link(u16),
}

/// An IP packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Packet {
    pub(super) source: SocketAddr,
    pub(super) destination: SocketAddr,
    pub(super) protocol: u8,
    /// The packet's size from the IP header on, as this header states it.
    pub(super) ip_bytes: u32,
    /// Bytes after the TCP or UDP header.
    pub(super) payload_bytes: u32,
    pub(super) dscp: u8,
    pub(super) ecn: u8,
    /// Whether it is a later fragment, which has no ports.
    pub(super) is_fragment: bool,
    pub(super) tcp: Option<Tcp>,
    pub(super) echo: Option<Echo>,
    /// Whether it came within another packet, whose size is `ip_bytes`.
    pub(super) is_tunnelled: bool,
    /// Equal for copies of one packet.
    pub(super) fingerprint: u64,
}

/// An echo request of ICMP, or its reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Echo {
    pub(super) is_reply: bool,
    /// Identifier and sequence number.
    pub(super) number: u32,
}

/// The fields of a TCP header.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Tcp {
    pub(super) seq: u32,
    /// The acknowledgement number, if ACK is set.
    pub(super) ack: Option<u32>,
    pub(super) syn: bool,
    pub(super) fin: bool,
    pub(super) rst: bool,
    /// AE, CWR and ECE as one number.
    pub(super) ecn_flags: u8,
    pub(super) mss: Option<u16>,
    /// Blocks that the receiver has (RFC 2018 §3); unused ones are empty.
    pub(super) sack: [(u32, u32); 4],
}

/// Reads a packet of link type `link` that took `original_bytes` on the wire; of a tunnel, the
/// packet within.
pub(super) fn read(link: u16, data: &[u8], original_bytes: u32) -> Result<Packet, Unread> {
    read_within(link, data, original_bytes, MOST_TUNNELS)
}

fn read_within(
    link: u16,
    data: &[u8],
    original_bytes: u32,
    tunnels: u32,
) -> Result<Packet, Unread> {
    let ip = network(link, data)?;
    let link_bytes = (data.len() - ip.len()) as u32;
    let sliced = LaxSlicedPacket::from_ip(ip).map_err(|_| match ip.first().map(|b| b >> 4) {
        Some(4 | 6) | None => Unread::Cut,
        Some(_) => Unread::NotIp,
    })?;
    let Some(net) = &sliced.net else { return Err(Unread::Cut) };
    let on_wire = original_bytes.saturating_sub(link_bytes);
    let (ends, dscp_and_ecn, stated) = match net {
        LaxNetSlice::Ipv4(v4) => {
            let header = v4.header();
            let ends = (header.source_addr().into(), header.destination_addr().into());
            (ends, header.slice()[1], u32::from(header.total_len()))
        }
        LaxNetSlice::Ipv6(v6) => {
            let header = v6.header();
            let ends = (header.source_addr().into(), header.destination_addr().into());
            let length = header.payload_length();
            (ends, header.traffic_class(), if length == 0 { 0 } else { u32::from(length) + 40 })
        }
        LaxNetSlice::Arp(_) => return Err(Unread::NotIp),
    };
    let payload = net.ip_payload_ref().ok_or(Unread::Cut)?;
    // With segmentation offload, packets above 64 KiB state a length of 0.
    let ip_bytes = if stated == 0 { on_wire } else { stated };
    let before = payload.payload.as_ptr() as usize - ip.as_ptr() as usize;
    let rest = ip_bytes.checked_sub(before as u32).ok_or(Unread::Malformed)?;
    let is_fragment = payload.fragmented && !begins(net);
    let (source, destination): (IpAddr, IpAddr) = ends;
    let mut packet = Packet {
        source: (source, 0).into(),
        destination: (destination, 0).into(),
        protocol: payload.ip_number.0,
        ip_bytes,
        payload_bytes: rest,
        dscp: dscp_and_ecn >> 2,
        ecn: dscp_and_ecn & 3,
        is_fragment,
        tcp: None,
        echo: None,
        is_tunnelled: false,
        fingerprint: fingerprint(ip, payload.ip_number.0, payload.payload),
    };
    if is_fragment {
        return Ok(packet);
    }
    transport(&mut packet, payload.payload, rest)?;
    let port = packet.destination.port();
    if tunnels > 0
        && let Some((kind, bytes)) = tunnel::within(packet.protocol, port, payload.payload)
        && let Ok(inner) = read_within(kind, bytes, bytes.len() as u32, tunnels - 1)
    {
        return Ok(Packet { ip_bytes, is_tunnelled: true, ..inner });
    }
    Ok(packet)
}

/// A number for what no router changes: IPv4's identification, and the first bytes after the IP
/// header but TCP's and UDP's checksum, which an interface may compute later.
fn fingerprint(ip: &[u8], protocol: u8, payload: &[u8]) -> u64 {
    let identification = if ip[0] >> 4 == 4 { number(ip, 4) } else { 0 };
    let checksum = match protocol {
        TCP => 16..18,
        UDP => 6..8,
        _ => 0..0,
    };
    let bytes = payload.iter().take(FINGERPRINT_BYTES).enumerate();
    // FNV-1a.
    bytes
        .filter(|(at, _)| !checksum.contains(at))
        .fold(0xcbf2_9ce4_8422_2325 ^ u64::from(identification), |hash, (_, &byte)| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })
}

/// Where on the capturing host a packet was seen: the interface and the packet type of Linux's
/// cooked captures, or 0.
pub(super) fn place(link: u16, data: &[u8]) -> u64 {
    match link {
        SLL if data.len() >= 16 => u64::from(number(data, 0)),
        SLL2 if data.len() >= 20 => {
            u64::from(number(data, 4)) << 32
                | u64::from(number(data, 6)) << 16
                | u64::from(data[10])
        }
        _ => 0,
    }
}

/// Whether a fragment is the first one, which has the transport header.
fn begins(net: &LaxNetSlice<'_>) -> bool {
    match net {
        LaxNetSlice::Ipv4(v4) => v4.header().fragments_offset().value() == 0,
        LaxNetSlice::Ipv6(v6) => v6.extensions().clone().into_iter().any(|extension| {
            matches!(extension, Ipv6ExtensionSlice::Fragment(header)
                if header.fragment_offset().value() == 0)
        }),
        LaxNetSlice::Arp(_) => false,
    }
}

/// Adds ports, flags and payload.
fn transport(packet: &mut Packet, header: &[u8], rest: u32) -> Result<(), Unread> {
    let needed = match packet.protocol {
        TCP => TCP_NEEDED_BYTES,
        UDP => 4,
        ICMP | ICMP_V6 => {
            packet.echo = echo(packet.protocol, header);
            return Ok(());
        }
        _ => return Ok(()),
    };
    if header.len() < needed {
        return Err(if (rest as usize) < needed { Unread::Malformed } else { Unread::Cut });
    }
    packet.source.set_port(number(header, 0));
    packet.destination.set_port(number(header, 2));
    if packet.protocol == UDP {
        packet.payload_bytes = rest.checked_sub(8).ok_or(Unread::Malformed)?;
        return Ok(());
    }
    let length = usize::from(header[12] >> 4) * 4;
    let payload_bytes = rest.checked_sub(length as u32).filter(|_| length >= TCP_BYTES);
    packet.payload_bytes = payload_bytes.ok_or(Unread::Malformed)?;
    let flags = header[13];
    let long = |at: usize| u32::from(number(header, at)) << 16 | u32::from(number(header, at + 2));
    let options = header.get(TCP_BYTES..length.min(header.len())).unwrap_or(&[]);
    packet.tcp = Some(Tcp {
        seq: long(4),
        ack: (flags & 0x10 != 0).then(|| long(8)),
        syn: flags & 2 != 0,
        fin: flags & 1 != 0,
        rst: flags & 4 != 0,
        ecn_flags: (header[12] & 1) << 2 | flags >> 6,
        mss: if flags & 2 == 0 { None } else { mss(options) },
        sack: sack(options),
    });
    Ok(())
}

/// RFC 792 and RFC 4443 §4.
fn echo(protocol: u8, header: &[u8]) -> Option<Echo> {
    let is_reply = match (protocol, *header.first()?) {
        (ICMP, 8) | (ICMP_V6, 128) => false,
        (ICMP, 0) | (ICMP_V6, 129) => true,
        _ => return None,
    };
    let number = u32::from_be_bytes(*header.get(4..8)?.first_chunk()?);
    Some(Echo { is_reply, number })
}

fn mss(options: &[u8]) -> Option<u16> {
    TcpOptionsIterator::from_slice(options).map_while(Result::ok).find_map(|option| match option {
        TcpOptionElement::MaximumSegmentSize(mss) => Some(mss),
        _ => None,
    })
}

fn sack(options: &[u8]) -> [(u32, u32); 4] {
    let mut options = TcpOptionsIterator::from_slice(options).map_while(Result::ok);
    let found = options.find_map(|option| match option {
        TcpOptionElement::SelectiveAcknowledgement(first, rest) => Some((first, rest)),
        _ => None,
    });
    let none = (0, 0);
    let Some((first, rest)) = found else { return [none; 4] };
    [first, rest[0].unwrap_or(none), rest[1].unwrap_or(none), rest[2].unwrap_or(none)]
}

/// The bytes from the IP header on.
fn network(link: u16, data: &[u8]) -> Result<&[u8], Unread> {
    let (header, ether_type) = match link {
        NULL | LOOP => return data.get(4..).ok_or(Unread::Cut),
        ETHERNET => (14, 12),
        CISCO_HDLC => (4, 2),
        SLL => (16, 14),
        SLL2 => (20, 0),
        PKTAP => return pktap(data),
        _ if RAW.contains(&link) => return Ok(data),
        _ if PPP.contains(&link) => return ppp(data.strip_prefix(&[0xff, 0x03]).unwrap_or(data)),
        _ => return Err(Unread::Link(link)),
    };
    if data.len() < header {
        return Err(Unread::Cut);
    }
    let (mut at, mut kind) = (header, number(data, ether_type));
    while VLAN.contains(&kind) {
        kind = data.get(at + 2..at + 4).map(|two| number(two, 0)).ok_or(Unread::Cut)?;
        at += 4;
    }
    if kind < FIRST_ETHERTYPE && data[at..].starts_with(&SNAP) && data.len() >= at + 8 {
        (kind, at) = (number(data, at + 6), at + 8);
    }
    match kind {
        PPPOE => ppp(data.get(at + 6..).ok_or(Unread::Cut)?),
        _ if MPLS.contains(&kind) => mpls(&data[at..]),
        _ if IP.contains(&kind) => Ok(&data[at..]),
        _ => Err(Unread::NotIp),
    }
}

/// The bytes after the protocol number, whose first byte is omitted if it is 0 (RFC 1661 §6.5).
fn ppp(data: &[u8]) -> Result<&[u8], Unread> {
    let first = *data.first().ok_or(Unread::Cut)?;
    let bytes = if first & 1 == 1 { 1 } else { 2 };
    let inner = data.get(bytes..).ok_or(Unread::Cut)?;
    let kind = if bytes == 1 { u16::from(first) } else { number(data, 0) };
    match kind {
        PPP_MPLS => mpls(inner),
        _ if PPP_IP.contains(&kind) => Ok(inner),
        _ => Err(Unread::NotIp),
    }
}

/// The bytes after the labels; the last label has the bottom bit (RFC 3032 §2.1).
fn mpls(data: &[u8]) -> Result<&[u8], Unread> {
    let labels = data.chunks_exact(4).position(|label| label[2] & 1 == 1).ok_or(Unread::Cut)?;
    let inner = &data[4 * (labels + 1)..];
    match inner.first().map(|byte| byte >> 4) {
        Some(4 | 6) => Ok(inner),
        Some(_) => Err(Unread::NotIp),
        None => Err(Unread::Cut),
    }
}

/// The bytes after a header that begins with its length and states the link type of the rest in
/// bytes 8 to 11.
fn pktap(data: &[u8]) -> Result<&[u8], Unread> {
    let word = |at: usize| {
        let four = data.get(at..at + 4)?;
        Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
    };
    let (length, link) = word(0).zip(word(8)).ok_or(Unread::Cut)?;
    let link = u16::try_from(link).ok().filter(|&link| link != PKTAP).ok_or(Unread::NotIp)?;
    network(link, data.get(length as usize..).ok_or(Unread::Cut)?)
}

fn number(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
