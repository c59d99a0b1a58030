//! The network device as smoltcp sees it: packets arrive and leave one by one.

use std::collections::VecDeque;

use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;

/// Packets that leave, in order.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    packets: VecDeque<Vec<u8>>,
    /// Memory for the next one.
    spare: Vec<u8>,
}

impl Leaving {
    /// Takes the oldest packet, and leaves an empty buffer for another.
    pub(crate) fn take(&mut self, buffer: &mut Vec<u8>) -> bool {
        let Some(packet) = self.packets.pop_front() else { return false };
        self.spare = std::mem::replace(buffer, packet);
        true
    }
}

/// The device during one call.
pub(crate) struct Wire<'a> {
    /// The packet that arrives.
    pub(crate) arriving: Option<&'a [u8]>,
    pub(crate) leaving: &'a mut Leaving,
    /// The largest packet.
    pub(crate) mtu: u32,
}

impl Device for Wire<'_> {
    type RxToken<'a>
        = Arriving<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Sending<'a>
    where
        Self: 'a;

    fn receive(&mut self, _now: Instant) -> Option<(Arriving<'_>, Sending<'_>)> {
        let packet = self.arriving.take()?;
        Some((Arriving { packet }, Sending { leaving: self.leaving }))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Sending<'_>> {
        Some(Sending { leaving: self.leaving })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu as usize;
        capabilities
    }
}

/// A packet that arrives.
pub(crate) struct Arriving<'a> {
    packet: &'a [u8],
}

impl RxToken for Arriving<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(self.packet)
    }
}

/// Room for a packet that leaves.
pub(crate) struct Sending<'a> {
    leaving: &'a mut Leaving,
}

impl TxToken for Sending<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, bytes: usize, write: F) -> R {
        let mut packet = std::mem::take(&mut self.leaving.spare);
        packet.clear();
        packet.resize(bytes, 0);
        let written = write(&mut packet);
        self.leaving.packets.push_back(packet);
        written
    }
}
