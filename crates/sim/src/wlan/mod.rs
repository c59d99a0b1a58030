//! A wireless LAN of 802.11g: an access point and stations contend for a [`medium`]; each of them
//! is a link whose server is `SharedMedium`.
//!
//! The medium is in the simulator because it serves several links at once and needs a separate
//! alarm, while a link knows only its own queue. The link's host decides when the link's head
//! packet is sent.
//!
//! The access point's queue holds the data of downloads and the acknowledgements of uploads, but
//! the access point gets the medium no more often than any station (fact wlan-1).

pub(crate) mod airtime;
mod frame;
pub(crate) mod medium;
mod minstrel;
mod rate;
