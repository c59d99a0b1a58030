//! Datagrams of the code under test.

use sojourn_aqm::{Cause, Ecn, Packet, Stage, Time};
use sojourn_endpoint::Carries;
use sojourn_measure::{Measured, PacketKind, PacketView};

/// A datagram: any content, with the fields that a queue reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestDatagram<T> {
    /// Its content.
    pub content: T,
    /// Size of the IP packet, headers included.
    pub bytes: u32,
    /// Its ECN field; on delivery [`Ecn::Ce`] if a queue marked it.
    pub ecn: Ecn,
    /// Its flow, for disciplines with flow queues.
    pub flow: u32,
}

impl<T> TestDatagram<T> {
    /// A datagram of `bytes`, Not-ECT, of flow 0.
    pub fn new(content: T, bytes: u32) -> TestDatagram<T> {
        TestDatagram { content, bytes, ecn: Ecn::NotEct, flow: 0 }
    }

    /// The same datagram with this ECN field.
    #[must_use]
    pub fn with_ecn(self, ecn: Ecn) -> TestDatagram<T> {
        TestDatagram { ecn, ..self }
    }

    /// The same datagram, belonging to another flow.
    #[must_use]
    pub fn with_flow(self, flow: u32) -> TestDatagram<T> {
        TestDatagram { flow, ..self }
    }
}

impl TestDatagram<Vec<u8>> {
    /// An IP packet. Its headers are not parsed: ECN field and flow are set separately.
    pub fn ip(packet: Vec<u8>) -> TestDatagram<Vec<u8>> {
        let bytes = size(&packet);
        TestDatagram::new(packet, bytes)
    }

    /// A UDP payload, sent with 28 bytes of IPv4 and UDP headers.
    pub fn udp(payload: Vec<u8>) -> TestDatagram<Vec<u8>> {
        let bytes = size(&payload) + Carries::UdpPayload.header_bytes();
        TestDatagram::new(payload, bytes)
    }
}

fn size(content: &[u8]) -> u32 {
    u32::try_from(content.len()).expect("a datagram is below 4 GB")
}

/// The fate of a datagram on its arrival at a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// The datagram is in the queue; a discipline may drop or mark it later.
    Queued,
    /// The datagram is in the queue and was marked.
    Marked,
    /// The datagram was dropped.
    Dropped,
}

/// A datagram that has arrived at the other end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received<T> {
    /// When it arrived.
    pub at: Time,
    /// The datagram.
    pub datagram: TestDatagram<T>,
}

/// A datagram in a link.
pub(crate) struct Queued<T> {
    pub(crate) datagram: TestDatagram<T>,
    /// Its number in the order of sending.
    pub(crate) number: u64,
    /// Bytes on the link.
    bytes: u32,
    ecn_in: Ecn,
    marked: Option<(Stage, Cause)>,
}

impl<T> Queued<T> {
    pub(crate) fn new(datagram: TestDatagram<T>, number: u64, bytes: u32) -> Queued<T> {
        let ecn_in = datagram.ecn;
        Queued { datagram, number, bytes, ecn_in, marked: None }
    }

    pub(crate) fn is_marked(&self) -> bool {
        self.marked.is_some()
    }
}

impl<T> Packet for Queued<T> {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn ecn(&self) -> Ecn {
        self.datagram.ecn
    }

    fn set_ce(&mut self) {
        self.datagram.ecn = Ecn::Ce;
    }

    fn flow(&self) -> u64 {
        u64::from(self.datagram.flow)
    }
}

impl<T> Measured for Queued<T> {
    fn view(&self) -> PacketView {
        PacketView {
            flow: self.datagram.flow,
            seq: self.number as u32,
            kind: PacketKind::Data,
            bytes: self.bytes(),
            ecn_in: self.ecn_in,
            dscp: 0,
            marked: self.marked,
            is_copy: false,
        }
    }

    fn note_mark(&mut self, stage: Stage, cause: Cause) {
        self.marked = Some((stage, cause));
    }
}
