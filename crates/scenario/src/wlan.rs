//! A wireless LAN of 802.11g: what may be written of it, and how long its frames take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_aqm::{Rate, Span};

use crate::text::{RateText, SpanText};

/// One cell of 802.11g: a medium that an access point and its stations share. Each link with
/// `rate = { kind = "wireless", wlan = NAME }` is one transmitter; they contend for the medium frame
/// by frame (DCF).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wlan {
    /// Rate of data frames: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s.
    #[serde(default = "fastest")]
    pub rate: RateText,
    /// Probability that a frame is not received although no other was sent at the same time.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub error_rate: f64,
    /// How often a frame is sent at most before it is given up.
    #[serde(default = "seven")]
    #[schemars(range(min = 1))]
    pub attempts: u32,
    /// A slot of the backoff; `20us` where stations of 802.11b are about.
    #[serde(default = "short_slot")]
    pub slot: SpanText,
    /// From the end of a frame that was not received until slots are counted again (EIFS).
    #[serde(default = "extended_space")]
    pub eifs: SpanText,
}

/// One transmitter of a wireless LAN: the access point or a station.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wireless {
    /// The name of the wireless LAN.
    pub wlan: String,
}

/// A wireless LAN in full.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// Of data frames.
    pub rate: OfdmRate,
    /// Probability of a transmission error.
    pub error_rate: f64,
    /// Transmissions of one frame, at most.
    pub attempts: u32,
    /// A slot of the backoff.
    pub slot: Span,
    /// Idle time after a frame that was received, before slots count.
    pub difs: Span,
    /// The same after a frame that was not.
    pub eifs: Span,
}

/// A rate of ERP-OFDM (802.11g, that is 802.11-2012 clause 19 on the signals of clause 18).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfdmRate {
    megabits: u64,
}

/// The rates, in Mbit/s. A symbol of 4 us carries four times as many bits.
const RATES_MBIT: [u64; 8] = [6, 9, 12, 18, 24, 36, 48, 54];
/// The rates that every station can receive.
const BASIC_MBIT: [u64; 3] = [24, 12, 6];

const SYMBOL_US: u64 = 4;
/// Preamble and SIGNAL field, and the 6 us of silence behind every OFDM frame at 2.4 GHz.
const PREAMBLE_US: u64 = 20;
const SIGNAL_EXTENSION_US: u64 = 6;
/// SERVICE field and tail, in bits.
const SERVICE_AND_TAIL: u64 = 16 + 6;
/// MAC header, frame check sequence, LLC and SNAP.
const MAC_BYTES: u32 = 24 + 4 + 8;
const ACK_BYTES: u32 = 14;
/// Short interframe space, and the slots beyond it in a DIFS.
const SIFS_US: u64 = 10;
const SLOTS_IN_DIFS: u64 = 2;
/// Backoffs are drawn from 0 to this at first, and to `WINDOW_MAX` after several failures.
pub const WINDOW_MIN: u32 = 15;
/// See [`WINDOW_MIN`].
pub const WINDOW_MAX: u32 = 1023;
/// The packet that a lone transmitter's rate is told for.
const USUAL_PACKET_BYTES: u32 = 1500;

impl OfdmRate {
    /// The rate, if 802.11g has it.
    pub fn new(rate: Rate) -> Option<OfdmRate> {
        let known = |megabits: &u64| megabits * 1_000_000 == rate.as_bps();
        RATES_MBIT.into_iter().find(known).map(|megabits| OfdmRate { megabits })
    }

    /// As a number.
    pub fn rate(self) -> Rate {
        Rate::from_bps(self.megabits * 1_000_000)
    }

    /// Acknowledgements are sent at the fastest basic rate that is not faster than the data.
    fn of_ack(self) -> OfdmRate {
        let basic = BASIC_MBIT.into_iter().find(|&megabits| megabits <= self.megabits);
        OfdmRate { megabits: basic.expect("6 Mbit/s is the slowest") }
    }

    /// How long a frame of so many bytes takes, its header and checksum among them.
    fn frame(self, mac_bytes: u32) -> Span {
        let bits = SERVICE_AND_TAIL + 8 * u64::from(mac_bytes);
        let symbols = bits.div_ceil(self.megabits * SYMBOL_US);
        Span::from_micros(PREAMBLE_US + SYMBOL_US * symbols + SIGNAL_EXTENSION_US)
    }
}

impl Cell {
    /// How long a packet is on the air, framing of its link included.
    pub fn data_frame(&self, packet_bytes: u32) -> Span {
        self.rate.frame(packet_bytes + MAC_BYTES)
    }

    /// What follows a frame that was received: a short space and its acknowledgement.
    pub fn answer(&self) -> Span {
        Span::from_micros(SIFS_US) + self.rate.of_ack().frame(ACK_BYTES)
    }

    /// What a lone transmitter carries, packets of 1500 B one after the other, at the mean backoff.
    pub fn lone_rate(&self) -> Rate {
        let backoff = Span::from_nanos(self.slot.as_nanos() * u64::from(WINDOW_MIN) / 2);
        let cycle = self.difs + backoff + self.data_frame(USUAL_PACKET_BYTES) + self.answer();
        let bits = u64::from(USUAL_PACKET_BYTES) * 8;
        Rate::from_bps(bits * 1_000_000_000 / cycle.as_nanos())
    }
}

/// A DIFS, given a slot (802.11-2012 §9.3.7).
pub(crate) fn difs(slot: Span) -> Span {
    Span::from_micros(SIFS_US) + slot.times(SLOTS_IN_DIFS)
}

fn fastest() -> RateText {
    RateText(Rate::from_bps(54_000_000))
}

/// dot11ShortRetryLimit: data frames are shorter than the threshold for RTS, which is off.
fn seven() -> u32 {
    7
}

fn short_slot() -> SpanText {
    SpanText(Span::from_micros(9))
}

/// A SIFS, an acknowledgement at 6 Mbit/s and a DIFS (802.11-2012 §9.3.7).
fn extended_space() -> SpanText {
    SpanText(Span::from_micros(SIFS_US + 50 + 28))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(megabits: u64) -> Cell {
        let slot = short_slot().0;
        Cell {
            name: "test".into(),
            rate: OfdmRate::new(Rate::from_bps(megabits * 1_000_000)).unwrap(),
            error_rate: 0.0,
            attempts: 7,
            slot,
            difs: difs(slot),
            eifs: extended_space().0,
        }
    }

    #[test]
    fn frames_of_1500_bytes_take_their_symbols_fact_t66() {
        let micros = RATES_MBIT.map(|megabits| cell(megabits).data_frame(1500).as_nanos() / 1_000);
        assert_eq!(micros, [2078, 1394, 1054, 710, 542, 370, 286, 254]);
    }

    #[test]
    fn acknowledgements_and_cycles_fact_t67() {
        let acks = [6, 12, 24].map(|megabits| {
            cell(megabits).answer().as_nanos() / 1_000 - SIFS_US // basic rates answer at their own
        });
        assert_eq!(acks, [50, 38, 34]);
        let fast = cell(54);
        assert_eq!(fast.data_frame(52), Span::from_micros(42));
        // DIFS 28, mean backoff 67.5, data 254, SIFS 10, ACK 34: 393.5 us for 12 000 bits.
        assert_eq!(fast.lone_rate(), Rate::from_bps(12_000 * 10_000_000 / 3935));
    }

    #[test]
    fn every_rate_is_answered_at_a_basic_one() {
        let acks = RATES_MBIT.map(|megabits| cell(megabits).rate.of_ack().megabits);
        assert_eq!(acks, [6, 6, 12, 12, 24, 24, 24, 24]);
        assert_eq!(OfdmRate::new(Rate::from_bps(11_000_000)), None);
    }

    #[test]
    fn the_extended_space_is_that_of_the_slowest_acknowledgement() {
        let slowest = cell(6);
        assert_eq!(extended_space().0, slowest.answer() + slowest.difs);
    }
}
