//! Rates and frame durations of 802.11g at 2.4 GHz (IEEE 802.11-2012, clauses 9, 18 and 19).

use sojourn_aqm::{Rate, Span};

use crate::wlan_errors;

/// A rate of ERP-OFDM (802.11g: IEEE 802.11-2012 clause 19 with the signals of clause 18).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfdmRate {
    /// Its index in [`RATES_MBIT`].
    index: u8,
}

/// The smallest contention window, in slots: the first backoff is drawn from 0 to this (aCWmin of
/// IEEE 802.11-2012 clause 19).
pub const WINDOW_MIN: u32 = 15;
/// The largest contention window, in slots (aCWmax), reached after several failures.
pub const WINDOW_MAX: u32 = 1023;

/// The rates in Mbit/s, the slowest first. A symbol of 4 us carries four times this number of bits.
const RATES_MBIT: [u64; OfdmRate::COUNT] = [6, 9, 12, 18, 24, 36, 48, 54];
/// The mandatory rates, 24, 12 and 6 Mbit/s, which every station can receive (IEEE 802.11-2012
/// clause 18).
const BASIC: [OfdmRate; 3] = [OfdmRate { index: 4 }, OfdmRate { index: 2 }, OfdmRate::SLOWEST];

const SYMBOL_US: u64 = 4;
/// Preamble of 16 us and SIGNAL field of 4 us (IEEE 802.11-2012 §18.4.3).
const PREAMBLE_US: u64 = 20;
/// Silence after every OFDM frame at 2.4 GHz (IEEE 802.11-2012 clause 19).
const SIGNAL_EXTENSION_US: u64 = 6;
/// SERVICE field and tail, in bits (IEEE 802.11-2012 §18.4.3).
const SERVICE_AND_TAIL_BITS: u64 = 16 + 6;
/// MAC header, frame check sequence, LLC and SNAP.
const DATA_OVERHEAD_BYTES: u32 = 24 + 4 + 8;
const ACK_BYTES: u32 = 14;
/// Short interframe space (SIFS).
const SIFS_US: u64 = 10;
const SLOTS_IN_DIFS: u64 = 2;

/// dot11ShortRetryLimit: data frames are shorter than the RTS threshold, because RTS is off.
pub(crate) const SHORT_RETRY_LIMIT: u32 = 7;
/// The slot of a network without 802.11b stations.
pub const SHORT_SLOT: Span = Span::from_micros(9);

impl OfdmRate {
    /// The number of rates.
    pub const COUNT: usize = 8;
    const SLOWEST: OfdmRate = OfdmRate { index: 0 };

    /// All rates, the slowest first.
    pub fn all() -> [OfdmRate; OfdmRate::COUNT] {
        std::array::from_fn(|index| OfdmRate { index: index as u8 })
    }

    /// The rate, if 802.11g has it.
    pub fn new(rate: Rate) -> Option<OfdmRate> {
        OfdmRate::all().into_iter().find(|known| known.rate() == rate)
    }

    /// Its index among all rates.
    pub fn index(self) -> usize {
        usize::from(self.index)
    }

    fn megabits(self) -> u64 {
        RATES_MBIT[self.index()]
    }

    /// The rate in bits per second.
    pub fn rate(self) -> Rate {
        Rate::from_bps(self.megabits() * 1_000_000)
    }

    /// Bits of a symbol of 4 us.
    pub fn symbol_bits(self) -> u64 {
        self.megabits() * SYMBOL_US
    }

    /// Logarithm of the probability that noise does not corrupt a given bit, at a signal-to-noise
    /// ratio (a power ratio).
    pub(crate) fn log_spared(self, ratio: f64) -> f64 {
        wlan_errors::log_spared(self.megabits(), ratio)
    }

    /// How long a frame with `packet_bytes` of IP, link framing included, is on the air.
    pub fn data_frame(self, packet_bytes: u32) -> Span {
        self.frame(packet_bytes + DATA_OVERHEAD_BYTES)
    }

    /// Duration of a SIFS and the acknowledgement, which follow a data frame that was received.
    pub fn sifs_and_ack(self) -> Span {
        Span::from_micros(SIFS_US) + self.of_ack().frame(ACK_BYTES)
    }

    /// The rate of the acknowledgement: the fastest basic rate that is not above the rate of the
    /// data (IEEE 802.11-2012 §9.7.6.5).
    fn of_ack(self) -> OfdmRate {
        let basic = BASIC.into_iter().find(|basic| basic.index <= self.index);
        basic.unwrap_or(OfdmRate::SLOWEST)
    }

    /// How long a frame is on the air. `mac_bytes` includes the header and frame check sequence.
    fn frame(self, mac_bytes: u32) -> Span {
        let bits = SERVICE_AND_TAIL_BITS + 8 * u64::from(mac_bytes);
        let symbols = bits.div_ceil(self.symbol_bits());
        Span::from_micros(PREAMBLE_US + SYMBOL_US * symbols + SIGNAL_EXTENSION_US)
    }
}

/// Probability that noise destroys a frame with `packet_bytes` of IP, from
/// [`OfdmRate::log_spared`].
pub(crate) fn noise_error(log_spared: f64, packet_bytes: u32) -> f64 {
    wlan_errors::frame_error(log_spared, packet_bytes + DATA_OVERHEAD_BYTES)
}

/// DIFS = SIFS + 2 slots (IEEE 802.11-2012 §9.3.7).
pub(crate) fn difs(slot: Span) -> Span {
    Span::from_micros(SIFS_US) + slot.times(SLOTS_IN_DIFS)
}

/// EIFS = SIFS + DIFS + an acknowledgement at the lowest rate (IEEE 802.11-2012 §9.3.7).
pub fn eifs(slot: Span) -> Span {
    OfdmRate::SLOWEST.sifs_and_ack() + difs(slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ofdm(megabits: u64) -> OfdmRate {
        OfdmRate::new(Rate::from_bps(megabits * 1_000_000)).unwrap()
    }

    /// IEEE 802.11-2012 §18.4.3 and clause 19: 20 us of preamble and SIGNAL, symbols of 4 us for 22
    /// bits and 1536 B, 6 us of signal extension.
    #[test]
    fn a_frame_of_1500_bytes_lasts_its_whole_symbols() {
        let micros = RATES_MBIT.map(|megabits| ofdm(megabits).data_frame(1500).as_nanos() / 1_000);
        assert_eq!(micros, [2078, 1394, 1054, 710, 542, 370, 286, 254]);
        assert_eq!(ofdm(54).data_frame(52), Span::from_micros(42));
    }

    /// The same for the 14 B of an acknowledgement.
    #[test]
    fn an_acknowledgement_at_a_basic_rate_lasts_34_to_50_us() {
        let acks = [6, 12, 24].map(|megabits| {
            ofdm(megabits).sifs_and_ack().as_nanos() / 1_000 - SIFS_US // sent at the same rate
        });
        assert_eq!(acks, [50, 38, 34]);
    }

    #[test]
    fn data_at_any_rate_is_acknowledged_at_a_basic_rate() {
        let acks = RATES_MBIT.map(|megabits| ofdm(megabits).of_ack().megabits());
        assert_eq!(acks, [6, 6, 12, 12, 24, 24, 24, 24]);
    }

    #[test]
    fn only_the_rates_of_802_11g_are_rates() {
        for megabits in RATES_MBIT {
            assert_eq!(ofdm(megabits).rate().as_bps(), megabits * 1_000_000);
        }
        assert_eq!(OfdmRate::new(Rate::from_bps(11_000_000)), None);
        assert_eq!(OfdmRate::new(Rate::from_bps(6_000_001)), None);
    }

    /// IEEE 802.11-2012 §9.3.7: SIFS 10 us, slots of 9 us, acknowledgement at 6 Mbit/s.
    #[test]
    fn with_short_slots_difs_is_28_us_and_eifs_88_us() {
        assert_eq!(difs(SHORT_SLOT), Span::from_micros(28));
        assert_eq!(eifs(SHORT_SLOT), Span::from_micros(88));
    }
}
