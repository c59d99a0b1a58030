//! Numbers for the flows of the packets that pass the router.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use crate::header::Header;

/// Addresses, ports and protocol.
type FlowKey = ([[u8; 4]; 2], [u16; 2], u8);

/// Numbers flows if packets are recorded.
pub(super) struct FlowNumbers {
    wanted: bool,
    numbers: BTreeMap<FlowKey, u32>,
    names: Vec<String>,
}

impl FlowNumbers {
    /// No flows yet.
    pub(super) fn new(wanted: bool) -> FlowNumbers {
        FlowNumbers { wanted, numbers: BTreeMap::new(), names: Vec::new() }
    }

    /// The number of a packet's flow; `None` if it is not IPv4.
    pub(super) fn number(&mut self, packet: &[u8]) -> Option<u32> {
        if !self.wanted {
            return (packet.first()? >> 4 == 4).then_some(0);
        }
        let header = Header::read(packet)?;
        let key = (header.addresses, header.ports, header.protocol);
        let names = &mut self.names;
        Some(*self.numbers.entry(key).or_insert_with(|| {
            names.push(name(&header));
            names.len() as u32 - 1
        }))
    }

    /// The names of the flows, by number.
    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }
}

fn name(header: &Header) -> String {
    let [from, to] = header.addresses.map(Ipv4Addr::from);
    let [from_port, to_port] = header.ports;
    format!("{from}:{from_port}-{to}:{to_port}/{}", header.protocol)
}
