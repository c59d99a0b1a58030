//! quinn-proto, a QUIC library in Rust, as an endpoint of the simulator: unmodified, with its own
//! congestion controls, pacing, loss detection, MTU discovery and TLS 1.3 by rustls with ring.
//!
//! # Decisions
//!
//! **What repeats.** The random numbers of endpoints and connection IDs come from the host's seed.
//! TLS draws its keys from the system, but every message of this handshake has a fixed length:
//! X25519 key shares, an Ed25519 certificate (ECDSA signatures vary in length) and no session
//! tickets. So times and sizes of datagrams repeat, though not their content. The control `bbr`
//! draws from the system (quinn-proto 0.11.19, src/congestion/bbr/mod.rs), so the adapter reports
//! that its runs may differ.
//!
//! **Data written ahead.** The send window is kept at twice the congestion window, at least 256 kB
//! ahead, instead of quinn's fixed 10 MB, which would buffer all data at once on any path. The send
//! window does not limit bytes in flight.
//!
//! **All else is quinn's default**, such as the stream receive window of 1.25 MB, which limits one
//! stream to 100 Mbit/s at a round trip of 100 ms; `receive_window` changes it.

mod connection;
mod settings;
mod tls;

use std::sync::Arc;

use quinn_proto::{ClientConfig, ServerConfig};
use sojourn_aqm::Time;
use sojourn_endpoint::{Carries, Endpoint, HostSettings, Stack};

pub use self::settings::{Control, QuinnSettings};

/// The version of quinn-proto, which is pinned.
pub const VERSION: &str = "0.11.19";
/// The version of this adapter; every change that moves a packet raises it.
const ADAPTER: u32 = 1;

/// The library with its settings.
#[derive(Debug)]
pub struct Quinn {
    settings: QuinnSettings,
    client: ClientConfig,
    server: ServerConfig,
}

impl Quinn {
    /// The library with these settings.
    pub fn new(settings: QuinnSettings) -> Quinn {
        Quinn { client: tls::client(), server: tls::server(), settings }
    }
}

impl Stack for Quinn {
    fn describe(&self) -> String {
        format!("quinn-proto {VERSION} rustls-ring, adapter {ADAPTER}: {}", self.settings)
    }

    fn carries(&self) -> Carries {
        Carries::UdpPayload
    }

    fn has_ecn(&self) -> bool {
        true
    }

    fn has_streams(&self) -> bool {
        true
    }

    fn carries_voice(&self) -> bool {
        true
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        match self.settings.control {
            Control::Cubic | Control::NewReno => None,
            Control::Bbr => Some("quinn's bbr draws random numbers of the system"),
        }
    }

    fn open(&self, host: HostSettings, _now: Time) -> Result<Box<dyn Endpoint>, String> {
        let transport = Arc::new(self.settings.transport(host.mtu));
        let (mut client, mut server) = (self.client.clone(), self.server.clone());
        client.transport_config(Arc::clone(&transport));
        server.transport_config(transport);
        Ok(Box::new(connection::Connection::new(host, client, server)))
    }
}
