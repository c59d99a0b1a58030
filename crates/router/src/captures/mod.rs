//! Captures of real packets as the guest writes them: rows of fixed size, little-endian.

mod endpoint;
mod interface;
mod kind;
mod packet_record;

pub use endpoint::{ENDPOINT_CAPTURE_BYTES, EndpointCapture, EndpointEvent};
pub use interface::{INTERFACE_CAPTURE_BYTES, InterfaceCapture};
pub use kind::CapturedKind;
pub use packet_record::{PACKET_RECORD_BYTES, PacketRecord};
