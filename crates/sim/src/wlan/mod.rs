//! A wireless LAN of 802.11g: a [`medium`] for which an access point and stations contend, each of which is
//! a link whose server is a [`radio`].
//!
//! The access point's queue holds the data of downloads and the acknowledgements of uploads, and wins the
//! medium no more often than any station (endpoints sheet §6.3).

pub mod medium;
pub mod radio;
