//! The fields of TCP headers that an ACK filter reads.

use sojourn_aqm::TcpSegment;

const TCP: u8 = 6;
const FIXED_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;
/// The flags ECE and CWR.
const ECN_FLAGS: u8 = 0xc0;
const ACK: u8 = 0x10;
const SYN: u8 = 0x02;
/// Option kinds: end of list, no operation, SACK, timestamps, MD5 signature.
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const MD5: u8 = 19;

/// The TCP header of a packet; `None` unless a complete one directly follows the IP header.
pub(crate) fn read(packet: &[u8]) -> Option<TcpSegment> {
    let half = |at: usize| {
        packet.get(at..at + 2).map(|bytes| usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    };
    let first = *packet.first()?;
    let (start, total, protocol) = match first >> 4 {
        4 => (usize::from(first & 0x0f) * 4, half(2)?, *packet.get(9)?),
        6 => (IPV6_BYTES, IPV6_BYTES + half(4)?, *packet.get(6)?),
        _ => return None,
    };
    let header = packet.get(start..)?;
    let header_bytes = usize::from(header.get(12)? >> 4) * 4;
    if protocol != TCP || header_bytes < FIXED_BYTES {
        return None;
    }
    let options = header.get(FIXED_BYTES..header_bytes)?;
    let flags = header[13];
    let has_reserved = header[12] & 0x0f != 0;
    let mut segment = TcpSegment {
        ack: word(header.get(8..12)?),
        has_ack: flags & ACK != 0,
        has_syn: flags & SYN != 0,
        is_pure_ack: flags & !ECN_FLAGS == ACK && !has_reserved && total == start + header_bytes,
        ecn_echo: flags >> 6,
        ..TcpSegment::default()
    };
    read_options(options, &mut segment);
    Some(segment)
}

/// Linux 6.1 sch_cake.c, cake_tcph_may_drop: an ACK with an option that is unknown or has a wrong
/// length must not be dropped; options after a broken one are not read.
fn read_options(mut options: &[u8], segment: &mut TcpSegment) {
    while let [kind, rest @ ..] = options {
        let (kind, size) = match (*kind, rest.first()) {
            (END, _) => return,
            (NO_OPERATION, _) => {
                options = rest;
                continue;
            }
            (kind, Some(&size)) => (kind, usize::from(size)),
            (_, None) => return,
        };
        if size < 2 || size > options.len() {
            return;
        }
        let value = &options[2..size];
        match (kind, size) {
            (MD5, _) => {}
            (SACK, size) if size % 8 == 2 => {
                let blocks = value.chunks_exact(8).zip(&mut segment.sack);
                let blocks = blocks.map(|(block, to)| *to = [word(&block[..4]), word(&block[4..])]);
                segment.sack_count = blocks.count() as u8;
            }
            (TIMESTAMPS, 10) => segment.stamps = Some([word(&value[..4]), word(&value[4..])]),
            _ => segment.is_pure_ack = false,
        }
        options = &options[size..];
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 bytes of headers, options, payload.
    fn packet(flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
        let total = 40 + options.len() + payload;
        let mut packet = vec![0; total];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&(total as u16).to_be_bytes());
        packet[9] = TCP;
        packet[28..32].copy_from_slice(&7_u32.to_be_bytes());
        packet[32] = (((20 + options.len()) / 4) << 4) as u8;
        packet[33] = flags;
        packet[40..40 + options.len()].copy_from_slice(options);
        packet
    }

    const SACK_AND_STAMPS: [u8; 24] =
        [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 3, 1, 1, 5, 10, 0, 0, 0, 8, 0, 0, 0, 9];

    #[test]
    fn an_acknowledgement_with_sack_and_timestamps_is_pure() {
        let segment = read(&packet(ACK | 0x40, &SACK_AND_STAMPS, 0)).unwrap();
        assert!(segment.is_pure_ack && segment.has_ack && !segment.has_syn);
        assert_eq!((segment.ack, segment.ecn_echo, segment.stamps), (7, 1, Some([9, 3])));
        assert_eq!(segment.sack_blocks(), [[8, 9]]);
    }

    #[test]
    fn the_header_is_found_behind_that_of_ipv6() {
        let mut packet = packet(ACK, &SACK_AND_STAMPS, 0).split_off(20);
        let mut ip = vec![0; IPV6_BYTES];
        (ip[0], ip[5], ip[6]) = (0x60, packet.len() as u8, TCP);
        ip.append(&mut packet);
        let segment = read(&ip).unwrap();
        assert!(segment.is_pure_ack);
        assert_eq!((segment.ack, segment.sack_blocks()), (7, &[[8, 9]][..]));
    }

    #[test]
    fn payload_flags_and_unknown_options_are_not() {
        let is_pure = |packet: &[u8]| read(packet).unwrap().is_pure_ack;
        assert!(!is_pure(&packet(ACK, &[], 1)));
        assert!(!is_pure(&packet(ACK | 1, &[], 0)));
        assert!(!is_pure(&packet(ACK, &[172, 2, 1, 1], 0)));
        assert!(!is_pure(&packet(ACK, &[8, 4, 0, 0], 0)));
        let mut reserved = packet(ACK, &[], 0);
        reserved[32] |= 1;
        assert!(!is_pure(&reserved));
    }

    #[test]
    fn what_is_cut_or_not_tcp_has_no_header() {
        let whole = packet(ACK, &SACK_AND_STAMPS, 0);
        assert!((0..whole.len()).all(|end| read(&whole[..end]).is_none()));
        let mut datagram = whole;
        datagram[9] = 17;
        assert_eq!(read(&datagram), None);
    }
}
