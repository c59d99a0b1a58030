//! Packets from a wire and rows from a file of captures, with arbitrary bytes.

use sojourn_router::captures::{
    ENDPOINT_CAPTURE_BYTES, EndpointCapture, INTERFACE_CAPTURE_BYTES, InterfaceCapture,
    PACKET_RECORD_BYTES, PacketRecord,
};
use sojourn_router::header::Header;

use crate::target;

target! {
    /// A packet is refused, or its headers lie within it.
    fn packets_on_the_wire(packet: (u8, Vec<u8>)) {
        let (length, mut bytes) = packet.clone();
        if let Some(first) = bytes.first_mut() {
            *first = 0x40 | length & 0x0f; // otherwise few would be IPv4
        }
        if let Some(header) = Header::read(&bytes) {
            assert!(header.payload_bytes <= header.bytes);
        }
    }

    /// A row of a capture is refused, or round-trips.
    fn interface_captures(row: [u8; INTERFACE_CAPTURE_BYTES]) {
        let Some(capture) = InterfaceCapture::read(row) else { return };
        let mut once = Vec::new();
        capture.write(&mut once);
        let again = once[..].try_into().ok().and_then(InterfaceCapture::read);
        let again = again.expect("what was written is read");
        let mut twice = Vec::new();
        again.write(&mut twice);
        assert_eq!(once, twice);
    }

    /// The same for captures of an endpoint.
    fn endpoint_captures(row: [u8; ENDPOINT_CAPTURE_BYTES]) {
        let Some(capture) = EndpointCapture::read(row) else { return };
        let mut once = Vec::new();
        capture.write(&mut once);
        let again = once[..].try_into().ok().and_then(EndpointCapture::read);
        let again = again.expect("what was written is read");
        let mut twice = Vec::new();
        again.write(&mut twice);
        assert_eq!(once, twice);
    }

    /// The same for a packet record.
    fn packet_records(row: [u8; PACKET_RECORD_BYTES]) {
        let Some(record) = PacketRecord::read(row) else { return };
        let mut once = Vec::new();
        record.write(&mut once);
        let again = once[..].try_into().ok().and_then(PacketRecord::read);
        let again = again.expect("what was written is read");
        let mut twice = Vec::new();
        again.write(&mut twice);
        assert_eq!(once, twice);
    }
}
