//! Numbers for the flows of the packets that pass the router.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use crate::header::Header;

/// Addresses, ports and protocol.
type FlowKey = ([IpAddr; 2], [u16; 2], u8);

/// Numbers flows if packets are recorded.
pub(super) struct FlowNumbers {
    wanted: bool,
    numbers: BTreeMap<FlowKey, u32>,
    names: Vec<String>,
}

impl FlowNumbers {
    /// The numbering before the first flow.
    pub(super) fn new(wanted: bool) -> FlowNumbers {
        FlowNumbers { wanted, numbers: BTreeMap::new(), names: Vec::new() }
    }

    /// The number of a packet's flow; `None` if it is not IP or stays on its link.
    pub(super) fn number(&mut self, packet: &[u8]) -> Option<u32> {
        if !self.wanted && packet.first()? >> 4 == 4 {
            return Some(0);
        }
        let header = Header::read_any(packet).filter(|header| !header.is_link_local())?;
        if !self.wanted {
            return Some(0);
        }
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
    let ends = [0, 1].map(|end| SocketAddr::new(header.addresses[end], header.ports[end]));
    format!("{}-{}/{}", ends[0], ends[1], header.protocol)
}
