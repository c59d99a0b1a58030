//! Network tests for transports, in `#[test]`: a bottleneck with any AQM, in virtual time. No root,
//! no clock, no sockets; the same seed gives the same packets on every machine.
//!
//! A [`Bottleneck`] describes a link: rate, delay, loss, and an AQM by its text, such as
//! `fq_codel:target=5ms`. Use it in one of two ways.
//!
//! [`Bottleneck::link`] is one direction of that link, for code with its own loop:
//! [`TestLink::send`] takes a datagram, [`TestLink::poll`] returns those that have arrived, and
//! [`TestLink::next`] says when to poll again.
//!
//! ```
//! use sojourn_testing::{Bottleneck, TestDatagram, Span, Time};
//!
//! // Sends 12 Mbit/s into 10 Mbit/s for two seconds.
//! let mut link = Bottleneck::new("10mbit").delay("20ms").queue("codel").link()?;
//! let mut received = 0;
//! for number in 0..2_000 {
//!     let now = Time::ZERO + Span::from_millis(number);
//!     while let Some(delivery) = link.poll(now) {
//!         assert!(delivery.at <= now);
//!         received += 1;
//!     }
//!     link.send(now, TestDatagram::ip(vec![0; 1500]));
//! }
//! let report = link.finish(Time::ZERO + Span::from_secs(2));
//! report.assert_above("utilisation", "99%");
//! report.assert_below("delay_p95", "250ms");
//! assert!(received > 1_600);
//! # Ok::<(), sojourn_testing::SetupError>(())
//! ```
//!
//! [`Bottleneck::download`] sends bulk data of a transport library through the link, if an adapter
//! implements [`Stack`] and [`Endpoint`](sojourn_endpoint::Endpoint); [`run`] does so for a whole
//! scenario, with other traffic.
//!
//! A [`Report`] has the metrics of Sojourn's table `summary`. Its assertions print all metrics when
//! they fail.

#![warn(unreachable_pub)]

mod bottleneck;
mod datagram;
mod error;
mod report;
mod scenario;
mod test_link;

pub use sojourn_aqm::{Ecn, Rate, Span, Time};
pub use sojourn_endpoint::Stack;

pub use self::bottleneck::Bottleneck;
pub use self::datagram::{Admission, Received, TestDatagram};
pub use self::error::SetupError;
pub use self::report::Report;
pub use self::scenario::run;
pub use self::test_link::TestLink;
