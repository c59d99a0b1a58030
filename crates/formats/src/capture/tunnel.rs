//! The packets within packets: IP in IP, GRE, VXLAN, Geneve and GTP-U.

/// Protocol numbers.
const IPV4: u8 = 4;
const IPV6: u8 = 41;
const GRE: u8 = 47;
/// Ports of UDP; Linux's VXLAN used 8472 before IANA assigned a port.
const VXLAN: [u16; 2] = [4789, 8472];
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;
/// EtherTypes; the first one is that of Ethernet frames in GRE and Geneve.
const ETHERNET: u16 = 0x6558;
const IP: [u16; 2] = [0x0800, 0x86dd];
const PPP: u16 = 0x880b;

/// LINKTYPE values of what is within.
const LINK_ETHERNET: u16 = 1;
const LINK_PPP: u16 = 9;
const LINK_RAW: u16 = 101;
const UDP_BYTES: usize = 8;

/// The link type and bytes of the packet within `payload`, which follows an IP header.
pub(super) fn within(protocol: u8, port: u16, payload: &[u8]) -> Option<(u16, &[u8])> {
    match protocol {
        IPV4 | IPV6 => Some((LINK_RAW, payload)),
        GRE => gre(payload),
        17 => {
            let body = payload.get(UDP_BYTES..)?;
            match port {
                GENEVE => geneve(body),
                GTP_U => Some((LINK_RAW, gtp(body)?)),
                // RFC 7348 §5: the flag I says that there is a network identifier.
                _ if VXLAN.contains(&port) && body.first()? & 0x08 != 0 => {
                    Some((LINK_ETHERNET, body.get(8..)?))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// RFC 2784, RFC 2890; version 1 is that of PPTP (RFC 2637 §4.1).
fn gre(header: &[u8]) -> Option<(u16, &[u8])> {
    let (flags, kind) = (number(header, 0)?, number(header, 2)?);
    let words: u32 = [0xc000, 0x2000, 0x1000, if flags & 7 == 1 { 0x0080 } else { 0 }]
        .iter()
        .map(|&flag| u32::from(flags & flag != 0))
        .sum();
    let inner = header.get(4 + 4 * words as usize..)?;
    Some((link_of(kind)?, inner))
}

fn link_of(kind: u16) -> Option<u16> {
    match kind {
        ETHERNET => Some(LINK_ETHERNET),
        PPP => Some(LINK_PPP),
        _ if IP.contains(&kind) => Some(LINK_RAW),
        _ => None,
    }
}

/// RFC 8926 §3.4.
fn geneve(header: &[u8]) -> Option<(u16, &[u8])> {
    let options = usize::from(header.first()? & 0x3f) * 4;
    Some((link_of(number(header, 2)?)?, header.get(8 + options..)?))
}

/// 3GPP TS 29.281 §5.1 and §5.2: message type 255 carries a user's packet.
fn gtp(header: &[u8]) -> Option<&[u8]> {
    let (flags, message) = (*header.first()?, *header.get(1)?);
    if flags & 0xf0 != 0x30 || message != 255 {
        return None;
    }
    if flags & 7 == 0 {
        return header.get(8..);
    }
    let (mut at, mut next) = (12, *header.get(11)?);
    while next != 0 {
        let bytes = usize::from(*header.get(at)?) * 4;
        next = *header.get((at + bytes).checked_sub(1).filter(|_| bytes > 0)?)?;
        at += bytes;
    }
    header.get(at..)
}
