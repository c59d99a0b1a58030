//! A wireless LAN of 802.11g: a [`medium`] for which an access point and stations contend, each of
//! which is a link whose server is `SharedMedium`.
//!
//! The medium stays in the simulator: it serves several links at once and needs an alarm of its
//! own, while a link knows only its own queue. What a link must know is generic: that its host
//! decides when its head packet is sent.
//!
//! The access point's queue holds the data of downloads and the acknowledgements of uploads, and
//! wins the medium no more often than any station (fact wlan-1).

pub(crate) mod airtime;
mod frame;
pub(crate) mod medium;
mod minstrel;
mod rate;
