//! The resolved applications. They can be sent to another process, with quantities as numbers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sojourn_aqm::{Ecn, Rate, Span};

use super::as_numbers;
use super::carried::{Carried, Chunks, Codec, Recording, Sizes, Transfers, Web};
use super::tcp::Tcp;
use crate::document::apps::Arrivals;

/// The application of a flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum App {
    /// Data over TCP, unlimited or of a given amount.
    Bulk {
        /// The transport.
        tcp: Tcp,
        /// The amount, if limited.
        bytes: Option<u64>,
    },
    /// Data or video over a transport library.
    Endpoint {
        /// The scenario's name for the transport; the caller says which library implements it.
        transport: String,
        /// What it carries.
        carried: Carried,
        /// Bytes of the largest IP packet that the path carries.
        packet_bytes: u32,
        /// Whether the hosts pass the ECN field between the library and the network.
        ecn: bool,
    },
    /// A user who fetches files one after the other, each over a new connection, with exponential
    /// think time in between.
    Files {
        /// The transport.
        tcp: Tcp,
        /// Sizes in bytes.
        sizes: Sizes,
        /// Mean of the think time.
        #[serde(with = "as_numbers::span")]
        think: Span,
    },
    /// One transfer for each flow of the group.
    Transfers {
        /// The transport.
        tcp: Tcp,
        /// When they begin, and how large they are.
        plan: Transfers,
    },
    /// A user who reads web pages.
    Web {
        /// The transport.
        tcp: Tcp,
        /// The pages.
        web: Web,
    },
    /// A video player that fetches chunks, each over a new connection, at a rate from a ladder.
    Chunks {
        /// The transport.
        tcp: Tcp,
        /// The player.
        chunks: Chunks,
    },
    /// Requests at even intervals, which the receiver sends back.
    Echo {
        /// Bytes of a request with its headers.
        packet_bytes: u32,
        /// The ECN field of requests.
        #[serde(with = "as_numbers::ecn")]
        ecn: Ecn,
        /// Time between requests.
        #[serde(with = "as_numbers::span")]
        interval: Span,
    },
    /// Datagrams at a constant mean rate.
    Cbr {
        /// The datagrams.
        datagrams: Datagrams,
        /// How they are spaced.
        arrivals: Arrivals,
        /// The codec, if the datagrams are voice calls.
        voice: Option<Codec>,
    },
    /// Datagrams at a constant rate during exponential on periods, with silence in between.
    OnOff {
        /// The datagrams during on periods.
        datagrams: Datagrams,
        /// Mean length of on periods.
        #[serde(with = "as_numbers::span")]
        on: Span,
        /// Mean length of off periods.
        #[serde(with = "as_numbers::span")]
        off: Span,
    },
    /// Bursts of datagrams.
    Bursts {
        /// The datagrams during bursts.
        datagrams: Datagrams,
        /// When they begin, since the start of the flow. Each burst ends before the next begins.
        #[serde(with = "as_numbers::spans")]
        at: Vec<Span>,
        /// Duration of each burst.
        #[serde(with = "as_numbers::span")]
        length: Span,
    },
    /// Frames of video in datagrams.
    Video {
        /// Bytes of the largest datagram with its headers.
        packet_bytes: u32,
        /// The ECN field of datagrams.
        #[serde(with = "as_numbers::ecn")]
        ecn: Ecn,
        /// Sizes of frames in bytes.
        frames: Sizes,
        /// Time between frames.
        #[serde(with = "as_numbers::span")]
        interval: Span,
    },
    /// Recorded amounts of data in datagrams.
    Replay {
        /// Bytes of the largest datagram with its headers.
        packet_bytes: u32,
        /// The ECN field of datagrams.
        #[serde(with = "as_numbers::ecn")]
        ecn: Ecn,
        /// What was recorded.
        #[serde(with = "as_numbers::shared")]
        recording: Arc<Recording>,
    },
}

impl App {
    /// The transport, if the application uses TCP.
    pub fn tcp(&self) -> Option<&Tcp> {
        match self {
            App::Bulk { tcp, .. }
            | App::Files { tcp, .. }
            | App::Transfers { tcp, .. }
            | App::Web { tcp, .. }
            | App::Chunks { tcp, .. } => Some(tcp),
            _ => None,
        }
    }

    /// The recording, if the application replays one.
    pub fn recording(&self) -> Option<&Arc<Recording>> {
        match (self, self.transfers()) {
            (App::Replay { recording, .. }, _) | (_, Some(Transfers::Recorded(recording))) => {
                Some(recording)
            }
            _ => None,
        }
    }

    /// The transfers, if each flow is one.
    pub fn transfers(&self) -> Option<&Transfers> {
        match self {
            App::Transfers { plan, .. }
            | App::Endpoint { carried: Carried::Transfers(plan), .. } => Some(plan),
            _ => None,
        }
    }

    /// The chunks, if the application is a player.
    pub fn chunks(&self) -> Option<&Chunks> {
        match self {
            App::Chunks { chunks, .. } | App::Endpoint { carried: Carried::Chunks(chunks), .. } => {
                Some(chunks)
            }
            _ => None,
        }
    }

    /// The amount of data of a bulk application, `None` inside if it is unlimited.
    pub fn bulk(&self) -> Option<Option<u64>> {
        match self {
            App::Bulk { bytes, .. } | App::Endpoint { carried: Carried::Bulk(bytes), .. } => {
                Some(*bytes)
            }
            _ => None,
        }
    }

    /// The scenario's name for the transport, if a library provides it.
    pub fn transport(&self) -> Option<&str> {
        match self {
            App::Endpoint { transport, .. } => Some(transport),
            _ => None,
        }
    }

    /// The codec, if the application is a voice call.
    pub fn voice(&self) -> Option<Codec> {
        match self {
            App::Cbr { voice, .. } => *voice,
            App::Endpoint { carried: Carried::Voice { codec, .. }, .. } => Some(*codec),
            _ => None,
        }
    }

    /// The ECN field of datagrams, and the only one that a transport library may set besides
    /// Not-ECT. Not ECN-capable for TCP, whose ECN is in [`Tcp`].
    pub fn datagrams_ecn(&self) -> Ecn {
        match self {
            App::Cbr { datagrams, .. }
            | App::OnOff { datagrams, .. }
            | App::Bursts { datagrams, .. } => datagrams.ecn,
            App::Echo { ecn, .. } | App::Video { ecn, .. } | App::Replay { ecn, .. } => *ecn,
            App::Endpoint { ecn: true, .. } => Ecn::Ect0,
            App::Endpoint { ecn: false, .. } => Ecn::NotEct,
            App::Bulk { .. }
            | App::Files { .. }
            | App::Transfers { .. }
            | App::Web { .. }
            | App::Chunks { .. } => Ecn::NotEct,
        }
    }

    /// The application of one flow of its group.
    pub fn of_member(&self, member: u32) -> App {
        match self {
            App::Transfers { tcp, plan: Transfers::Recorded(recording) } => {
                let bytes = Some(recording.amounts[member as usize].1);
                App::Bulk { tcp: tcp.clone(), bytes }
            }
            App::Endpoint {
                carried: Carried::Transfers(Transfers::Recorded(recording)),
                transport,
                packet_bytes,
                ecn,
            } => App::Endpoint {
                carried: Carried::Bulk(Some(recording.amounts[member as usize].1)),
                transport: transport.clone(),
                packet_bytes: *packet_bytes,
                ecn: *ecn,
            },
            other => other.clone(),
        }
    }

    /// Bytes of a full data packet, headers included.
    pub fn packet_bytes(&self) -> u32 {
        match self {
            App::Bulk { tcp, .. }
            | App::Files { tcp, .. }
            | App::Transfers { tcp, .. }
            | App::Web { tcp, .. }
            | App::Chunks { tcp, .. } => tcp.payload_bytes + tcp.header_bytes,
            App::Cbr { datagrams, .. }
            | App::OnOff { datagrams, .. }
            | App::Bursts { datagrams, .. } => datagrams.packet_bytes,
            App::Echo { packet_bytes, .. }
            | App::Video { packet_bytes, .. }
            | App::Replay { packet_bytes, .. }
            | App::Endpoint { packet_bytes, .. } => *packet_bytes,
        }
    }
}

/// Datagrams of one size at one rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Datagrams {
    /// Bytes of a datagram with its headers.
    pub packet_bytes: u32,
    /// Rate, headers included.
    #[serde(with = "as_numbers::rate")]
    pub rate: Rate,
    /// Their ECN field.
    #[serde(with = "as_numbers::ecn")]
    pub ecn: Ecn,
}
