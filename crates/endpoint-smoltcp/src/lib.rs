//! smoltcp, a TCP/IP stack in Rust, as an endpoint of the simulator: unmodified, with its own
//! congestion controls, loss recovery, timers and window. A second TCP next to the simulator's.
//!
//! # Decisions
//!
//! **It sends IP packets**: smoltcp writes the IPv4 and TCP headers of 40 bytes, checksums
//! included.
//!
//! **What repeats.** Everything: initial sequence numbers come from the host's seed.
//!
//! **Time** is in microseconds. The current time is rounded down and deadlines up, so a timer never
//! fires early.
//!
//! **What it lacks** (smoltcp 0.14.0): ECN, pacing, and recovery from several losses of one window
//! without a timeout, because it neither uses SACK blocks nor reacts to partial acknowledgements
//! (RFC 6582). It does not report its congestion window.
//!
//! **Other settings**: buffers of 1 MB, for which smoltcp has no default, and room for 32 gaps in
//! the received data instead of 4; a receiver discards segments that would open more gaps.

mod connection;
mod settings;
mod wire;

use sojourn_aqm::Time;
use sojourn_endpoint::{Carries, Endpoint, HostSettings, Stack};

pub use self::settings::{SmoltcpSettings, TcpControl};

/// The version of smoltcp, which is pinned.
pub const VERSION: &str = "0.14.0";
/// The version of this adapter; every change that moves a packet raises it.
const ADAPTER: u32 = 1;
/// The sizes of packets that smoltcp can send: every host takes 576 bytes (RFC 791 §3.1), and a
/// segment's size has 16 bits.
const PACKET_BYTES: std::ops::RangeInclusive<u32> = 576..=65_535;

/// The library with its settings.
#[derive(Clone, Debug, Default)]
pub struct Smoltcp {
    settings: SmoltcpSettings,
}

impl Smoltcp {
    /// The library with these settings.
    pub fn new(settings: SmoltcpSettings) -> Smoltcp {
        Smoltcp { settings }
    }
}

impl Stack for Smoltcp {
    fn describe(&self) -> String {
        format!("smoltcp {VERSION} assembler-32, adapter {ADAPTER}: {}", self.settings)
    }

    fn carries(&self) -> Carries {
        Carries::IpPackets
    }

    fn has_ecn(&self) -> bool {
        false
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        None
    }

    fn open(&self, host: HostSettings, _now: Time) -> Result<Box<dyn Endpoint>, String> {
        if !PACKET_BYTES.contains(&host.mtu) {
            let (least, most) = (PACKET_BYTES.start(), PACKET_BYTES.end());
            let mtu = host.mtu;
            return Err(format!("smoltcp sends packets of {least} to {most} bytes, not {mtu}"));
        }
        Ok(Box::new(connection::TcpConnection::new(host, &self.settings)))
    }
}
