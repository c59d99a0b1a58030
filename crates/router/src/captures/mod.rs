//! Captures of real packets as the guest writes them: little-endian rows, of fixed size except for
//! [`CapturedHeaders`].

mod endpoint;
mod headers;
mod interface;
mod kind;
mod packet_record;

pub use endpoint::{ENDPOINT_CAPTURE_BYTES, EndpointCapture, EndpointEvent};
pub use headers::{CapturePoint, CapturedHeaders};
pub use interface::{INTERFACE_CAPTURE_BYTES, InterfaceCapture};
pub use kind::CapturedKind;
pub use packet_record::{PACKET_RECORD_BYTES, PacketRecord};
