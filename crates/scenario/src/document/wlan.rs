//! Wireless LANs, as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_aqm::Rate;

use super::quantities::{DecibelText, FrameRate, FrameRateText, SpanText};
use crate::wlan_timing;

/// One cell of 802.11g: a medium that an access point and its stations share. Each link with `rate
/// = { kind = "wireless", wlan = NAME }` is one transmitter; they contend for the medium frame by
/// frame (DCF).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wlan {
    /// Rate of data frames: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s, or `minstrel`, the rate control
    /// of Linux.
    #[serde(default = "fastest")]
    pub rate: FrameRateText,
    /// Probability that a frame is not received although no other was sent at the same time,
    /// whatever its rate.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub error_rate: f64,
    /// Signal-to-noise ratio at the receiver: the faster the rate, the more frames noise destroys.
    /// Without it there is no noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr: Option<DecibelText>,
    /// How often a frame is sent at most before it is given up; Minstrel's retry chain has its own
    /// limits.
    #[serde(default = "short_retry_limit")]
    #[schemars(range(min = 1))]
    pub attempts: u32,
    /// A slot of the backoff; `20us` if stations of 802.11b are present.
    #[serde(default = "short_slot")]
    pub slot: SpanText,
    /// From the end of a frame that was not received until slots are counted again (EIFS).
    #[serde(default = "eifs")]
    pub eifs: SpanText,
}

/// One transmitter of a wireless LAN: the access point or a station.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wireless {
    /// The name of the wireless LAN.
    pub wlan: String,
    /// Rate of the data frames that this station sends and of those that the access point sends to
    /// it; that of the wireless LAN if it is left out. A packet goes to the station whose link the
    /// other direction of its flow crosses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<FrameRateText>,
    /// Probability that a frame from or to this station is not received, instead of the LAN's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub error_rate: Option<f64>,
    /// Signal-to-noise ratio of frames from and to this station, instead of the LAN's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr: Option<DecibelText>,
    /// At the access point: whether every station has a queue of its own, of this link's kind and
    /// size, and is served by the airtime that it has used (Linux's mac80211), not packet by
    /// packet.
    #[serde(default)]
    pub airtime_fairness: bool,
}

fn fastest() -> FrameRateText {
    FrameRateText(FrameRate::Constant(Rate::from_bps(54_000_000)))
}

fn short_retry_limit() -> u32 {
    wlan_timing::SHORT_RETRY_LIMIT
}

fn short_slot() -> SpanText {
    SpanText(wlan_timing::SHORT_SLOT)
}

fn eifs() -> SpanText {
    SpanText(wlan_timing::eifs(wlan_timing::SHORT_SLOT))
}
