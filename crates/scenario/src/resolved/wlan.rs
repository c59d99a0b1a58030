//! Wireless LANs, resolved.

use sojourn_aqm::{Rate, Span};

use crate::wlan_timing::{OfdmRate, WINDOW_MIN};

/// The packet that [`Wlan::lone_rate`] is stated for.
const LONE_PACKET_BYTES: u32 = 1500;

/// A wireless LAN: one medium that its transmitters share.
#[derive(Clone, PartialEq, Debug)]
pub struct Wlan {
    /// Its name.
    pub name: String,
    /// The rate of data frames.
    pub rate: OfdmRate,
    /// Probability that a frame is not received although no other was sent at the same time.
    pub error_rate: f64,
    /// Transmissions of one frame, at most.
    pub attempts: u32,
    /// A slot of the backoff.
    pub slot: Span,
    /// Idle time after a frame that was received, before slots are counted (DIFS).
    pub difs: Span,
    /// Idle time after a frame that was not received, before slots are counted (EIFS).
    pub eifs: Span,
}

impl Wlan {
    /// How long a frame with `packet_bytes` of IP, link framing included, is on the air.
    pub fn data_frame(&self, packet_bytes: u32) -> Span {
        self.rate.data_frame(packet_bytes)
    }

    /// What follows a data frame that was received: a SIFS and the acknowledgement.
    pub fn sifs_and_ack(&self) -> Span {
        self.rate.sifs_and_ack()
    }

    /// The IP rate of a lone transmitter that always has a packet of 1500 B, at the mean backoff.
    pub fn lone_rate(&self) -> Rate {
        let backoff = Span::from_nanos(self.slot.as_nanos() * u64::from(WINDOW_MIN) / 2);
        let cycle = self.difs + backoff + self.data_frame(LONE_PACKET_BYTES) + self.sifs_and_ack();
        let bits = u64::from(LONE_PACKET_BYTES) * 8;
        Rate::from_bps(bits * 1_000_000_000 / cycle.as_nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fact scenario-4.
    #[test]
    fn a_lone_transmitter_at_54_mbit_sends_a_packet_every_393_5_us() {
        let wlan = Wlan {
            name: "test".into(),
            rate: OfdmRate::new(Rate::from_bps(54_000_000)).unwrap(),
            error_rate: 0.0,
            attempts: 7,
            slot: Span::from_micros(9),
            difs: Span::from_micros(28),
            eifs: Span::from_micros(88),
        };
        // DIFS 28, mean backoff 67.5, data 254, SIFS 10, ACK 34 us.
        assert_eq!(wlan.data_frame(1500) + wlan.sifs_and_ack(), Span::from_micros(298));
        assert_eq!(wlan.lone_rate(), Rate::from_bps(12_000 * 10_000_000 / 3935));
    }
}
