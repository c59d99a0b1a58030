//! The contract between a host, such as the simulator, and a transport library without I/O
//! (sans-IO): QUIC, WebRTC, another TCP.
//!
//! A [`Stack`] is the library, an [`Endpoint`] one end of one connection. The host calls the
//! endpoint, which never calls back, blocks, reads a clock or draws randomness from the system.
//! After every [`Endpoint::connect`], [`Endpoint::input`], [`Endpoint::expire`],
//! [`Endpoint::write`], [`Endpoint::send_frame`] and [`Endpoint::close`] the host calls
//! [`Endpoint::event`] and [`Endpoint::output`] until both return `None`, then asks for the
//! [`Endpoint::deadline`].
//!
//! # Decisions
//!
//! **Time is an argument**, in nanoseconds since the start of the run. A library with a coarser
//! clock rounds deadlines up; otherwise its timer would be due again at the same instant.
//!
//! **One datagram at a time.** With segmentation offload a queue would see packets of 10 kB.
//!
//! **Pacing** is either in the deadline, as in quinn, or in [`Transmit::earliest`], as in quiche.
//! The host holds a datagram until that time, and later datagrams of the endpoint behind it.
//!
//! **Video and voice are frames, not a stream.** The host offers a frame of video with the size
//! that the best quality needs; the library returns the size that its congestion control allows.
//! The other end reports which frames are complete, in the order in which they are shown. A frame
//! of voice is sent whole or not at all, and reported when it arrives.
//!
//! **Randomness is judged, not trusted.** A library receives a seed. If it still draws from the
//! system and this may change the times or sizes of datagrams, [`Stack::unrepeatable`] says so, and
//! the result carries the sentence.
//!
//! # Example
//!
//! A library whose client sends one datagram and whose server then counts as connected.
//!
//! ```
//! use sojourn_aqm::{Ecn, Time};
//! use sojourn_endpoint::{
//!     Carries, ConnectionEvent, Datagram, Endpoint, HostSettings, Peer, Read, Stack, Stats,
//!     Transmit,
//! };
//!
//! #[derive(Debug)]
//! struct Hello;
//!
//! #[derive(Default)]
//! struct End {
//!     greeting: Option<&'static [u8]>,
//!     event: Option<ConnectionEvent>,
//! }
//!
//! impl Stack for Hello {
//!     fn describe(&self) -> String {
//!         "hello".into()
//!     }
//!     fn carries(&self) -> Carries {
//!         Carries::UdpPayload
//!     }
//!     fn has_ecn(&self) -> bool {
//!         false
//!     }
//!     fn unrepeatable(&self) -> Option<&'static str> {
//!         None
//!     }
//!     fn open(&self, _: HostSettings, _: Time) -> Result<Box<dyn Endpoint>, String> {
//!         Ok(Box::new(End::default()))
//!     }
//! }
//!
//! impl Endpoint for End {
//!     fn connect(&mut self, _: Time) {
//!         self.greeting = Some(b"hello");
//!     }
//!     fn input(&mut self, _: Time, datagram: Datagram<'_>) {
//!         assert_eq!(datagram.bytes, b"hello");
//!         self.event = Some(ConnectionEvent::Connected);
//!     }
//!     fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
//!         buffer.extend_from_slice(self.greeting.take()?);
//!         Some(Transmit { ecn: Ecn::NotEct, earliest: now })
//!     }
//!     fn deadline(&mut self) -> Time {
//!         Time::NEVER
//!     }
//!     fn event(&mut self) -> Option<ConnectionEvent> {
//!         self.event.take()
//!     }
//!     fn write(&mut self, _: Time, _: u64, _: u64, _: bool) -> u64 {
//!         0 // It has no streams.
//!     }
//!     fn read(&mut self, _: Time, _: u64) -> Read {
//!         Read::default()
//!     }
//!     fn expire(&mut self, _: Time) {}
//!     fn close(&mut self, _: Time) {}
//!     fn stats(&self) -> Stats {
//!         Stats::default()
//!     }
//! }
//!
//! let host = |role| HostSettings { role, seed: [0; 32], mtu: 1500 };
//! let mut client = Hello.open(host(Peer::Client), Time::ZERO)?;
//! let mut server = Hello.open(host(Peer::Server), Time::ZERO)?;
//! let mut bytes = Vec::new();
//! client.connect(Time::ZERO);
//! let sent = client.output(Time::ZERO, &mut bytes).expect("a datagram");
//! server.input(Time::ZERO, Datagram { ecn: sent.ecn, bytes: &bytes });
//! assert_eq!(server.event(), Some(ConnectionEvent::Connected));
//! # Ok::<(), String>(())
//! ```

#![warn(unreachable_pub)]

mod configured;

use std::fmt;
use std::sync::Arc;

use sojourn_aqm::{Ecn, Span, Time};

pub use self::configured::{ConfiguredStack, Stacks};

/// Which end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Peer {
    /// It opens the connection.
    Client,
    /// It accepts the connection.
    Server,
}

impl Peer {
    /// The other end.
    pub const fn other(self) -> Peer {
        match self {
            Peer::Client => Peer::Server,
            Peer::Server => Peer::Client,
        }
    }
}

/// The content of a library's datagrams, which determines the headers that the host adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carries {
    /// Payload of UDP: the host adds the headers of IPv4 and UDP, 28 bytes.
    UdpPayload,
    /// Whole IP packets: the host adds nothing.
    IpPackets,
}

impl Carries {
    /// Bytes of headers that the host adds (RFC 791, RFC 768).
    pub const fn header_bytes(self) -> u32 {
        match self {
            Carries::UdpPayload => 28,
            Carries::IpPackets => 0,
        }
    }
}

/// Settings of one end, from the host.
#[derive(Clone, Copy, Debug)]
pub struct HostSettings {
    /// Which end it is.
    pub role: Peer,
    /// The only randomness that may affect what it sends; the ends of a connection have different
    /// seeds.
    pub seed: [u8; 32],
    /// The path's MTU: the largest IP packet in bytes, headers included.
    pub mtu: u32,
}

/// A datagram that arrives.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its content; valid during the call.
    pub bytes: &'a [u8],
}

/// How to send a datagram.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// Its ECN field.
    pub ecn: Ecn,
    /// The earliest sending time; a past time means at once.
    pub earliest: Time,
}

/// Number of a stream, from zero in the order in which the client opens streams.
pub type StreamNumber = u64;

/// Number of a frame of video or voice, from zero in sending order.
pub type FrameNumber = u32;

/// A frame of video or voice that the server may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MediaFrame {
    /// Its number, if it is sent; otherwise the next frame gets this number.
    pub number: FrameNumber,
    /// Its size in bytes, for video at the best quality; positive.
    pub most_bytes: u64,
    /// Time until the next frame.
    pub interval: Span,
}

/// An event at an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConnectionEvent {
    /// The handshake is complete; data may be written.
    Connected,
    /// The stream has data to read, or its end.
    Readable(StreamNumber),
    /// The stream takes data again, after a [`Endpoint::write`] that took less than was offered.
    Writable(StreamNumber),
    /// At the client, the frame is complete. Video is shown now; earlier missing frames no longer
    /// will be.
    FrameComplete(FrameNumber),
    /// The connection is over, with the reason in words.
    Closed(String),
}

/// The result of reading a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Read {
    /// Bytes of payload, in order.
    pub bytes: u64,
    /// Whether the stream is complete.
    pub is_finished: bool,
}

/// An endpoint's view of its connection; `None` where the library reports nothing.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stats {
    /// Congestion window in bytes.
    pub cwnd_bytes: Option<u64>,
    /// Bytes in flight.
    pub in_flight_bytes: Option<u64>,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Option<Span>,
    /// Pacing rate in bit/s.
    pub pacing_bps: Option<f64>,
    /// The most bytes that it sends at one instant while it paces.
    pub quantum_bytes: Option<u64>,
    /// Bytes declared lost so far.
    pub lost_bytes: Option<u64>,
    /// Its bandwidth estimate in bit/s, which determines the quality of a video.
    pub estimate_bps: Option<f64>,
}

/// One end of one connection.
pub trait Endpoint: Send {
    /// Opens the connection. Called once, at the client.
    fn connect(&mut self, now: Time);

    /// A datagram arrives.
    fn input(&mut self, now: Time, datagram: Datagram<'_>);

    /// Writes the next datagram into `buffer`, which is empty; `None` if nothing is to be sent now.
    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit>;

    /// When [`Endpoint::expire`] is to be called, possibly a past time; [`Time::NEVER`] if not at
    /// all.
    fn deadline(&mut self) -> Time;

    /// The deadline has been reached.
    fn expire(&mut self, now: Time);

    /// The next event.
    fn event(&mut self) -> Option<ConnectionEvent>;

    /// Offers `bytes` zero bytes to a stream, which opens with its first write at the client.
    /// Returns how many were taken: enough to keep the connection busy, and no more than a few
    /// congestion windows ahead. With `finish`, the stream ends once all of them are taken.
    fn write(&mut self, now: Time, stream: StreamNumber, bytes: u64, finish: bool) -> u64;

    /// Offers a frame of video or voice to the server. Returns the size with which it is sent, at
    /// most that of the best quality; zero if it is not sent.
    fn send_frame(&mut self, _now: Time, _frame: MediaFrame) -> u64 {
        0
    }

    /// Reads and discards all that has arrived in order on a stream. For video, which has no
    /// streams: the number of payload bytes that have arrived.
    fn read(&mut self, now: Time, stream: StreamNumber) -> Read;

    /// Ends the connection at once.
    fn close(&mut self, now: Time);

    /// Its view of the connection.
    fn stats(&self) -> Stats;

    /// Why the endpoint cannot continue; the host asks after every call, and ends the run if so.
    fn failure(&mut self) -> Option<String> {
        None
    }
}

/// A transport library with its settings.
pub trait Stack: Send + Sync + fmt::Debug {
    /// Its name, version, features and settings, in full, with the version of the adapter. Part of
    /// a run's identity.
    fn describe(&self) -> String;

    /// The content of its datagrams.
    fn carries(&self) -> Carries;

    /// Whether it sends ECN-capable datagrams and reports marks.
    fn has_ecn(&self) -> bool;

    /// Whether it carries frames of video, and no streams.
    fn carries_video(&self) -> bool {
        false
    }

    /// Whether a connection carries several streams at a time.
    fn has_streams(&self) -> bool {
        false
    }

    /// Whether it carries frames of voice, as datagrams.
    fn carries_voice(&self) -> bool {
        false
    }

    /// Why two runs with one seed may differ; `None` if they cannot.
    fn unrepeatable(&self) -> Option<&'static str>;

    /// One end of a connection.
    ///
    /// # Errors
    /// A sentence, where the host's settings are out of its range.
    fn open(&self, host: HostSettings, now: Time) -> Result<Box<dyn Endpoint>, String>;
}

/// A loaded library is shared ([`ConfiguredStack`]).
impl<S: Stack + ?Sized> Stack for Arc<S> {
    fn describe(&self) -> String {
        (**self).describe()
    }

    fn carries(&self) -> Carries {
        (**self).carries()
    }

    fn has_ecn(&self) -> bool {
        (**self).has_ecn()
    }

    fn carries_video(&self) -> bool {
        (**self).carries_video()
    }

    fn has_streams(&self) -> bool {
        (**self).has_streams()
    }

    fn carries_voice(&self) -> bool {
        (**self).carries_voice()
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        (**self).unrepeatable()
    }

    fn open(&self, host: HostSettings, now: Time) -> Result<Box<dyn Endpoint>, String> {
        (**self).open(host, now)
    }
}
