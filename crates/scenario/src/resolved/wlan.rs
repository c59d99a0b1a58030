//! Wireless LANs, resolved.

use sojourn_aqm::{Rate, Span};

use crate::wlan_timing::{OfdmRate, WINDOW_MIN, noise_error};

/// The packet size for which [`Wlan::lone_rate`] is stated.
const LONE_PACKET_BYTES: u32 = 1500;

/// A wireless LAN: one medium that its transmitters share.
#[derive(Clone, PartialEq, Debug)]
pub struct Wlan {
    /// Its name.
    pub name: String,
    /// The radio settings of stations without their own.
    pub radio: Radio,
    /// The most transmissions of one frame at a constant rate.
    pub attempts: u32,
    /// A slot of the backoff.
    pub slot: Span,
    /// Idle time after a frame that was received, before slots are counted (DIFS).
    pub difs: Span,
    /// Idle time after a frame that was not received, before slots are counted (EIFS).
    pub eifs: Span,
}

/// How frames are sent between two stations, and how they are lost without a collision.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Radio {
    /// How the rate of data frames is chosen.
    pub rate: RateControl,
    /// Probability that a frame is lost, at any rate and size.
    pub error_rate: f64,
    /// Signal-to-noise ratio as a power ratio; `None` without noise.
    pub snr: Option<f64>,
}

/// How the rate of data frames is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateControl {
    /// A constant rate.
    Constant(OfdmRate),
    /// Linux's Minstrel.
    Minstrel,
}

/// The loss of frames of a radio. Values that depend only on the rate are computed once.
#[derive(Clone, Debug)]
pub struct FrameErrors {
    error_rate: f64,
    /// Per rate: logarithm of the probability that noise does not corrupt a given bit; `None`
    /// without noise.
    log_spared: Option<[f64; OfdmRate::COUNT]>,
}

impl FrameErrors {
    /// The loss of frames of this radio.
    pub fn new(radio: &Radio) -> FrameErrors {
        let log_spared = |ratio| OfdmRate::all().map(|rate| rate.log_spared(ratio));
        FrameErrors { error_rate: radio.error_rate, log_spared: radio.snr.map(log_spared) }
    }

    /// Probability that a frame with `packet_bytes` of IP is lost at a rate when no other collides
    /// with it.
    pub fn at(&self, rate: OfdmRate, packet_bytes: u32) -> f64 {
        let spared = self.log_spared.as_ref();
        let noise = spared.map_or(0.0, |spared| noise_error(spared[rate.index()], packet_bytes));
        self.error_rate + noise * (1.0 - self.error_rate)
    }
}

impl Radio {
    /// The rate with the highest throughput: the constant one, or the best that Minstrel can find
    /// for packets of 1500 B.
    fn best_rate(&self) -> OfdmRate {
        let errors = FrameErrors::new(self);
        let carries = |rate: &OfdmRate| {
            let airtime = rate.data_frame(LONE_PACKET_BYTES) + rate.sifs_and_ack();
            (1.0 - errors.at(*rate, LONE_PACKET_BYTES)) / airtime.as_secs()
        };
        let best = || OfdmRate::all().into_iter().max_by(|a, b| carries(a).total_cmp(&carries(b)));
        match self.rate {
            RateControl::Constant(rate) => rate,
            RateControl::Minstrel => best().expect("there are eight rates"),
        }
    }
}

impl Wlan {
    /// The IP rate of a lone transmitter that always has a packet of 1500 B, at the mean backoff
    /// and the best rate of its radio.
    pub fn lone_rate(&self, radio: &Radio) -> Rate {
        let backoff = Span::from_nanos(self.slot.as_nanos() * u64::from(WINDOW_MIN) / 2);
        let rate = radio.best_rate();
        let cycle = self.difs + backoff + rate.data_frame(LONE_PACKET_BYTES) + rate.sifs_and_ack();
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
        let rate = OfdmRate::new(Rate::from_bps(54_000_000)).unwrap();
        let radio = Radio { rate: RateControl::Constant(rate), error_rate: 0.0, snr: None };
        let wlan = Wlan {
            name: "test".into(),
            radio,
            attempts: 7,
            slot: Span::from_micros(9),
            difs: Span::from_micros(28),
            eifs: Span::from_micros(88),
        };
        // DIFS 28, mean backoff 67.5, data 254, SIFS 10, ACK 34 us.
        assert_eq!(rate.data_frame(1500) + rate.sifs_and_ack(), Span::from_micros(298));
        assert_eq!(wlan.lone_rate(&radio), Rate::from_bps(12_000 * 10_000_000 / 3935));
    }
}
