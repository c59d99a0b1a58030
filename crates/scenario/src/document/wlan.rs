//! Wireless LANs, as written in a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_aqm::Rate;

use super::quantities::{DecibelText, FrameRate, FrameRateText, SpanText};
use crate::wlan_timing;

/// One cell of 802.11g: a medium that an access point and its stations share. Each link with
/// `rate = { kind = "wireless", wlan = NAME }` is one transmitter; transmitters contend for the
/// medium frame by frame (DCF).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wlan {
    /// Rate of data frames: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s, or `minstrel`, the rate control
    /// of Linux.
    #[serde(default = "fastest")]
    pub rate: FrameRateText,
    /// Probability that a frame is lost although no other frame collided with it, at any rate.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub error_rate: f64,
    /// Signal-to-noise ratio at the receiver. The faster the rate, the more frames are lost to
    /// noise. Without it, there is no noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr: Option<DecibelText>,
    /// The most transmissions of a frame before it is given up. Minstrel's retry chain has its own
    /// limits.
    #[serde(default = "short_retry_limit")]
    #[schemars(range(min = 1))]
    pub attempts: u32,
    /// A slot of the backoff. Write `20us` if 802.11b stations are present.
    #[serde(default = "short_slot")]
    pub slot: SpanText,
    /// Time from the end of a frame that was not received until slots are counted again (EIFS).
    #[serde(default = "eifs")]
    pub eifs: SpanText,
}

/// One transmitter of a wireless LAN: the access point or a station.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wireless {
    /// The name of the wireless LAN.
    pub wlan: String,
    /// Rate of the data frames between this station and the access point, in both directions. The
    /// default is that of the wireless LAN. A packet goes to the station whose link lies on the
    /// reverse path of its flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<FrameRateText>,
    /// Probability that a frame to or from this station is lost, instead of the LAN's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub error_rate: Option<f64>,
    /// Signal-to-noise ratio of frames to and from this station, instead of the LAN's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr: Option<DecibelText>,
    /// At the access point: whether every station has its own queue, of this link's kind and size,
    /// and queues are served by the airtime that their stations have used (as in Linux's mac80211)
    /// instead of packet by packet.
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
