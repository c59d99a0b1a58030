//! str0m, a WebRTC library, as an endpoint of the simulator: unmodified, with its own bandwidth
//! estimation (transport-wide feedback, delay gradient, loss, probes), pacer, NACK and
//! retransmissions. A video call from the server to the client.
//!
//! # Decisions
//!
//! **Signalling is in memory**: both ends know addresses, ICE credentials and streams from the
//! start. ICE checks cross the network.
//!
//! **No DTLS, no encryption.** Keys come with the signalling, and packets are plain but as large as
//! with AES-GCM. A cryptography library would be most of the compiled code, and its signatures vary
//! in length, which shifts all later packets.
//!
//! **What repeats.** Everything: the values that str0m draws from the system, such as STUN
//! transaction IDs, have a fixed length and affect no time.
//!
//! **The application.** A frame takes a share of the estimate, at most the size at the best
//! quality, and is written at once; str0m paces it. There are neither key frames nor an encoder
//! that lags. The client shows frames in order; a complete frame waits a limited time for earlier
//! ones.
//!
//! **What it lacks** (str0m 0.25.0): ECN. It does not report its pacing rate.

mod call;
mod jitter_buffer;
mod payload;
mod plain;
mod settings;

use sojourn_aqm::Time;
use sojourn_endpoint::{Carries, Endpoint, HostSettings, Stack};

pub use self::settings::Str0mSettings;

/// The version of str0m, which is pinned.
pub const VERSION: &str = "0.25.0";
/// The version of this adapter; every change that moves a packet raises it.
const ADAPTER: u32 = 1;
/// The smallest path: str0m warns of larger datagrams (`DATAGRAM_MTU_WARN`).
const LEAST_MTU: u32 = 1280;

/// The library with its settings.
#[derive(Clone, Debug, Default)]
pub struct Str0m {
    settings: Str0mSettings,
}

impl Str0m {
    /// The library with these settings.
    pub fn new(settings: Str0mSettings) -> Str0m {
        Str0m { settings }
    }
}

impl Stack for Str0m {
    fn describe(&self) -> String {
        format!("str0m {VERSION} unencrypted, adapter {ADAPTER}: {}", self.settings)
    }

    fn carries(&self) -> Carries {
        Carries::UdpPayload
    }

    fn has_ecn(&self) -> bool {
        false
    }

    fn carries_video(&self) -> bool {
        true
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        None
    }

    fn open(&self, host: HostSettings, _now: Time) -> Result<Box<dyn Endpoint>, String> {
        if host.mtu < LEAST_MTU {
            let mtu = host.mtu;
            return Err(format!("str0m needs a path for packets of {LEAST_MTU} bytes, not {mtu}"));
        }
        Ok(Box::new(call::RtcEnd::new(host.role, &self.settings)))
    }
}
