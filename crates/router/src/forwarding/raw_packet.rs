//! A packet in the router. In a queue, it has parsed headers; in flight, it has only its bytes.

use std::net::IpAddr;

use sojourn_aqm::{Cause, Ecn, Packet, Stage, TcpSegment, Time};
use sojourn_link::DelayLine;

use crate::header::{self, Header};
use crate::tcp_header;

/// A packet with its bytes.
pub struct RawPacket {
    bytes: Vec<u8>,
    /// The headers as they arrived.
    pub(super) header: Header,
    /// Its size as counted by the link.
    pub(super) link_bytes: u32,
    /// Its flow, in the host's numbering.
    pub(super) flow: u32,
    /// The stage and cause of its mark here, if any.
    pub(super) marked: Option<(Stage, Cause)>,
    /// The index of its record; `None` if no records are kept.
    pub(super) record: Option<usize>,
}

impl RawPacket {
    /// A packet in `bytes`, which start at the IP header.
    pub(super) fn new(bytes: Vec<u8>, header: Header, flow: u32, framing_bytes: u32) -> RawPacket {
        let link_bytes = u32::from(header.bytes) + framing_bytes;
        RawPacket { bytes, header, link_bytes, flow, marked: None, record: None }
    }

    /// The number that our traffic program wrote into a datagram.
    pub(super) fn datagram_number(&self) -> Option<u32> {
        header::datagram_number(&self.bytes)
    }

    /// The packet once its last bit is sent.
    pub(super) fn transmitted(self) -> InFlightPacket {
        InFlightPacket { bytes: self.bytes, flow: self.flow }
    }
}

/// A packet in flight and its flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InFlightPacket {
    /// Its bytes, starting at the IP header.
    pub bytes: Vec<u8>,
    /// Its flow, in the host's numbering.
    pub flow: u32,
}

impl InFlightPacket {
    /// The packet as it enters a delay line now.
    pub fn enter(self, now: Time, line: &mut DelayLine<InFlightPacket>) {
        let bytes = self.bytes.len() as u32;
        line.push(now, self, bytes);
    }
}

impl Packet for RawPacket {
    fn bytes(&self) -> u32 {
        self.link_bytes
    }

    fn ecn(&self) -> Ecn {
        header::ecn(header::traffic_class(&self.bytes))
    }

    fn set_ce(&mut self) {
        header::set_ce(&mut self.bytes);
    }

    fn flow(&self) -> u64 {
        let Header { ports, protocol, .. } = self.header;
        let hosts = self.src_host().rotate_left(32) ^ self.dst_host();
        let rest = u64::from(ports[0]) << 24 | u64::from(ports[1]) << 8 | u64::from(protocol);
        // Any mixing function suffices, as disciplines hash this number again with their own salt.
        hosts.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ rest.wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    fn src_host(&self) -> u64 {
        number(self.header.addresses[0])
    }

    fn dst_host(&self) -> u64 {
        number(self.header.addresses[1])
    }

    fn dscp(&self) -> u8 {
        self.header.dscp
    }

    fn clear_dscp(&mut self) {
        header::clear_dscp(&mut self.bytes);
        self.header.dscp = 0;
    }

    fn tcp(&self) -> Option<TcpSegment> {
        tcp_header::read(&self.bytes)
    }
}

/// A number for an address. Addresses of IPv6 that differ give different numbers with overwhelming
/// probability.
fn number(address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(address) => u64::from(u32::from(address)),
        IpAddr::V6(address) => {
            let bits = u128::from(address);
            ((bits >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ bits as u64
        }
    }
}
