//! The headers of a packet at one place.

use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use sojourn_aqm::Ecn;
use sojourn_sim::capture::Sighting;
use sojourn_sim::packet::{Packet, PacketKind};

use crate::conversations::{Conversation, Conversations};

const IP_BYTES: u32 = 20;
const TCP_BYTES: u32 = 20;
const UDP_BYTES: u32 = 8;
/// The space for TCP options.
const MOST_OPTION_BYTES: usize = 40;
const TIME_TO_LIVE: u8 = 64;
/// Initial sequence numbers of sender and receiver. They may be the same for all connections.
const INITIAL: (u32, u32) = (1_000_000, 2_000_000);
/// Tick of the clock of timestamps.
const TICK_NS: u64 = 1_000_000;
/// Window announced by the end that receives no data; it has no effect.
const UNUSED_WINDOW: u16 = 65_535;
/// The kind of the option whose first counter is that of ECT(1).
const ACCECN_1: u8 = 174;
/// The flags AE, CWR and ECE when no mark has been seen (RFC 9768 §3.2.2.1).
const NO_MARK_SEEN: u8 = 5;

static ZEROS: [u8; 65_535] = [0; 65_535];

/// IP and transport headers, with checksums over a payload of zeros.
pub(crate) fn of(sighting: &Sighting, conversations: &Conversations) -> Vec<u8> {
    let packet = &sighting.packet;
    let conversation = conversations.get(packet);
    match packet.kind {
        // A request belongs to no connection: the server opens one to answer it.
        PacketKind::Datagram | PacketKind::Request | PacketKind::Echo => {
            datagram(packet, conversation)
        }
        _ => segment(packet, conversation),
    }
}

fn ip(packet: &Packet, conversation: &Conversation, protocol: IpNumber) -> Ipv4Header {
    let ends = (conversation.sender.0, conversation.receiver.0);
    let (source, destination) = if packet.is_reverse() { (ends.1, ends.0) } else { ends };
    let length = (packet.ip_bytes - IP_BYTES) as u16;
    let header = Ipv4Header::new(length, TIME_TO_LIVE, protocol, source, destination);
    let mut header = header.expect("a packet has less than 64 KiB");
    header.identification = identification(packet);
    header.dscp = IpDscp::try_new(packet.labels.dscp()).expect("it has six bits");
    header.ecn = match packet.ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    };
    header.header_checksum = header.calc_header_checksum();
    header
}

/// The same at all places, and another one when the data is sent again: tcptrace takes equal ones
/// for duplicates of the capturing hardware.
fn identification(packet: &Packet) -> u16 {
    let times = packet.sent.as_nanos() ^ u64::from(packet.stamp) << 32;
    let first = u64::from(packet.sack[0].start) ^ u64::from(packet.sack[0].end) << 32;
    // Fibonacci hashing: the highest bits depend on all others.
    let number = u64::from(packet.seq) ^ u64::from(packet.ip_bytes) << 32;
    let mixed = [number, times, first].into_iter().fold(0_u64, |mixed, part| {
        (mixed.rotate_left(29) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    (mixed >> 48) as u16
}

fn datagram(packet: &Packet, conversation: &Conversation) -> Vec<u8> {
    let ip = ip(packet, conversation, IpNumber::UDP);
    let payload = &ZEROS[..(packet.ip_bytes - IP_BYTES - UDP_BYTES) as usize];
    let ends = (conversation.sender.1, conversation.receiver.1);
    let (source, destination) = if packet.is_reverse() { (ends.1, ends.0) } else { ends };
    let udp = UdpHeader::with_ipv4_checksum(source, destination, &ip, payload);
    let udp = udp.expect("a datagram has less than 64 KiB");
    [ip.to_bytes().as_slice(), &udp.to_bytes()].concat()
}

fn segment(packet: &Packet, conversation: &Conversation) -> Vec<u8> {
    let ip = ip(packet, conversation, IpNumber::TCP);
    let payload = match packet.kind {
        PacketKind::Data => packet.ip_bytes - conversation.header_bytes,
        _ => 0,
    };
    let mut tcp = numbered(packet, conversation);
    let room = packet.ip_bytes - IP_BYTES - TCP_BYTES - payload;
    let options = options(packet, conversation, (room as usize).min(MOST_OPTION_BYTES));
    tcp.set_options_raw(&options).expect("options fill their room, which is at most 40 bytes");
    let payload = &ZEROS[..payload as usize];
    let checksum = tcp.calc_checksum_ipv4_raw(ip.source, ip.destination, payload);
    tcp.checksum = checksum.expect("a segment has less than 64 KiB");
    [ip.to_bytes().as_slice(), &tcp.to_bytes()].concat()
}

/// Ports, numbers, flags and window.
fn numbered(packet: &Packet, conversation: &Conversation) -> TcpHeader {
    let (sender, receiver) = (conversation.sender.1, conversation.receiver.1);
    let (from_sender, from_receiver) = INITIAL;
    let kind = packet.kind;
    let mut tcp = if packet.is_reverse() {
        let (seq, acknowledged) = match kind {
            PacketKind::SynAck => (0, 1),
            _ => (1, conversation.end(packet.seq)),
        };
        let mut tcp = TcpHeader::new(receiver, sender, from_receiver.wrapping_add(seq), 0);
        tcp.acknowledgment_number = from_sender.wrapping_add(acknowledged);
        tcp
    } else {
        let seq = match kind {
            PacketKind::Syn => 0,
            PacketKind::WindowProbe => conversation.start(packet.seq + 1).wrapping_sub(1),
            PacketKind::HandshakeAck => 1,
            _ => conversation.start(packet.seq),
        };
        let mut tcp = TcpHeader::new(sender, receiver, from_sender.wrapping_add(seq), 0);
        tcp.acknowledgment_number = if kind == PacketKind::Syn { 0 } else { from_receiver + 1 };
        tcp
    };
    tcp.syn = matches!(kind, PacketKind::Syn | PacketKind::SynAck);
    tcp.ack = kind != PacketKind::Syn;
    tcp.psh = packet.labels.push();
    tcp.fin = kind == PacketKind::Data && conversation.is_last(packet.seq);
    tcp.window_size = window(packet, conversation);
    set_ecn_flags(&mut tcp, packet, conversation);
    tcp
}

fn window(packet: &Packet, conversation: &Conversation) -> u16 {
    match packet.kind {
        PacketKind::Ack => (conversation.window(packet) >> conversation.scale).min(65_535) as u16,
        // The window of a SYN is not scaled (RFC 7323 §2.2).
        PacketKind::SynAck => conversation.window(packet).min(65_535) as u16,
        _ => UNUSED_WINDOW,
    }
}

/// AE, CWR and ECE.
fn set_ecn_flags(tcp: &mut TcpHeader, packet: &Packet, conversation: &Conversation) {
    let is_opening = matches!(packet.kind, PacketKind::Syn | PacketKind::SynAck);
    let flags = match packet.kind {
        _ if is_opening => packet.ace,
        _ if !conversation.is_accurate => 0,
        PacketKind::Ack => packet.ace,
        PacketKind::HandshakeAck => conversation.syn_ack_ecn,
        _ => NO_MARK_SEEN,
    };
    // On data the classic signal is CWR, on acknowledgements ECE.
    let (cwr, ece) = (packet.kind == PacketKind::Data, packet.kind == PacketKind::Ack);
    tcp.ns = flags & 4 != 0;
    tcp.cwr = flags & 2 != 0 || (cwr && packet.signal && !conversation.is_accurate);
    tcp.ece = flags & 1 != 0 || (ece && packet.signal && !conversation.is_accurate);
}

/// The options that a stack would send, as far as they fit, padded with zeros.
fn options(packet: &Packet, conversation: &Conversation, room: usize) -> Vec<u8> {
    let mut found = Vec::with_capacity(MOST_OPTION_BYTES);
    let is_opening = matches!(packet.kind, PacketKind::Syn | PacketKind::SynAck);
    if is_opening && room >= 20 {
        let most = (conversation.payload_bytes + conversation.header_bytes - IP_BYTES - TCP_BYTES)
            .min(65_495) as u16;
        found.extend([2, 4]);
        found.extend(most.to_be_bytes());
        found.extend([4, 2]);
        found.extend(timestamps(packet));
        found.extend([1, 3, 3, conversation.scale]);
    } else if !is_opening && room >= 12 {
        found.extend([1, 1]);
        found.extend(timestamps(packet));
    }
    let counters = conversation.counters(packet);
    let blocks = packet.sack.iter().filter(|block| !block.is_empty()).count();
    let blocks = blocks.min(room.saturating_sub(found.len() + 4) / 8);
    if packet.kind == PacketKind::Ack && blocks > 0 {
        // The AccECN option replaces the padding.
        found.extend([1, 1].iter().filter(|_| counters.is_none()));
        found.extend([5, 2 + 8 * blocks as u8]);
        for block in packet.sack.iter().filter(|block| !block.is_empty()).take(blocks) {
            found.extend(INITIAL.0.wrapping_add(conversation.start(block.start)).to_be_bytes());
            found.extend(INITIAL.0.wrapping_add(conversation.end(block.end)).to_be_bytes());
        }
    }
    if let Some(counters) = counters {
        found.extend(accurate_feedback(counters, room.saturating_sub(found.len())));
    }
    // The end of the option list, followed by zeros (RFC 9293 §3.1).
    found.resize(room, 0);
    found
}

/// The option AccECN1 of RFC 9768 §3.2.3 with the counters that fit.
fn accurate_feedback(counters: [u32; 3], room: usize) -> Vec<u8> {
    let fields = (room.saturating_sub(2) / 3).min(counters.len());
    if fields == 0 {
        return Vec::new();
    }
    let values = counters[..fields].iter().flat_map(|value| value.to_be_bytes()[1..].to_vec());
    [ACCECN_1, 2 + 3 * fields as u8].into_iter().chain(values).collect()
}

/// The option of RFC 7323 §3: own timestamp, and echo of the peer's.
fn timestamps(packet: &Packet) -> [u8; 10] {
    let sent = (packet.sent.as_nanos() / TICK_NS) as u32;
    let (own, echo) = match packet.kind {
        PacketKind::Ack | PacketKind::SynAck => (packet.stamp, sent),
        PacketKind::Syn => (sent, 0),
        _ => (sent, packet.stamp),
    };
    let mut option = [8, 10, 0, 0, 0, 0, 0, 0, 0, 0];
    option[2..6].copy_from_slice(&own.to_be_bytes());
    option[6..].copy_from_slice(&echo.to_be_bytes());
    option
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::Time;

    use super::*;

    #[test]
    fn data_that_is_sent_again_has_another_identification() {
        let sent = |nanos| {
            let at = Time::from_nanos(nanos);
            identification(&Packet::new(PacketKind::Data, 0, 0, 7, 1500, at))
        };
        assert_eq!(sent(1_000), sent(1_000));
        assert_ne!(sent(1_000), sent(60_000_000));
    }
}
