//! What resolved applications transfer, over TCP or over a transport library.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sojourn_aqm::{Rate, Span};

use super::as_numbers;
use crate::document::apps::{Adaptation, Arrivals};

/// What a transport library carries.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Carried {
    /// Data, unlimited or of a given amount.
    Bulk(Option<u64>),
    /// One file after the other, each a stream.
    Files {
        /// Their sizes in bytes.
        sizes: Sizes,
        /// Mean time between the end of one file and the start of the next.
        #[serde(with = "as_numbers::span")]
        think: Span,
    },
    /// One transfer per flow.
    Transfers(Transfers),
    /// Web pages, whose objects are streams.
    Web(Web),
    /// A player of video in chunks, each a stream.
    Chunks(Chunks),
    /// Frames of a voice call.
    Voice {
        /// The codec.
        codec: Codec,
        /// Bytes of a frame with its RTP header.
        frame_bytes: u32,
    },
    /// Frames of video.
    Video {
        /// Their sizes in bytes at the best quality.
        frames: Sizes,
        /// Time between frames.
        #[serde(with = "as_numbers::span")]
        interval: Span,
    },
}

impl Carried {
    /// The application's kind, as written in a scenario.
    pub fn kind(&self) -> &'static str {
        match self {
            Carried::Bulk(_) => "bulk",
            Carried::Files { .. } => "files",
            Carried::Transfers(_) => "transfers",
            Carried::Web(_) => "web",
            Carried::Chunks(_) => "chunks",
            Carried::Voice { .. } => "voice",
            Carried::Video { .. } => "video",
        }
    }
}

/// A player of video in chunks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Chunks {
    /// Playing time of a chunk.
    #[serde(with = "as_numbers::span")]
    pub every: Span,
    /// The ladder, increasing.
    #[serde(with = "as_numbers::rates")]
    pub rates: Vec<Rate>,
    /// Maximum playing time that the player buffers; without a maximum, a request follows `every`
    /// after the last.
    #[serde(with = "as_numbers::optional_span")]
    pub buffer: Option<Span>,
    /// How it picks rates.
    pub adaptation: Adaptation,
}

/// Transfers that begin whether or not earlier ones have ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Transfers {
    /// Starts and sizes are drawn.
    Drawn {
        /// Sizes in bytes.
        sizes: Sizes,
        /// Mean time between two starts.
        #[serde(with = "as_numbers::span")]
        every: Span,
        /// How the starts are spaced.
        arrivals: Arrivals,
    },
    /// Starts, counted from that of the group, and sizes are recorded; one for each flow.
    Recorded(#[serde(with = "as_numbers::shared")] Arc<Recording>),
}

/// A voice codec for which the narrow-band E-model (ITU-T G.107) has parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// ITU-T G.711, 64 kbit/s, with the packet-loss concealment of its Appendix I.
    G711,
    /// ITU-T G.729 Annex A, 8 kbit/s.
    G729,
}

/// How a user reads web pages.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Web {
    /// Sizes of main objects in bytes.
    pub main: Sizes,
    /// Sizes of embedded objects in bytes.
    pub object: Sizes,
    /// Number of embedded objects of a page, if it is fixed.
    pub objects: Option<u32>,
    /// Parallel connections; at least one.
    pub parallel: u32,
    /// Bytes of a request, headers included.
    pub request_bytes: u32,
    /// Mean time between a page and the next.
    #[serde(with = "as_numbers::span")]
    pub reading: Span,
    /// Mean time between the main object and the requests for the embedded objects.
    #[serde(with = "as_numbers::span")]
    pub parsing: Span,
}

/// Sizes in bytes, all positive. A draw outside `min..=max` is repeated.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Sizes {
    /// A list of sizes with equal probabilities.
    List(Vec<u64>),
    /// A distribution between limits.
    Drawn {
        /// Its shape.
        shape: Shape,
        /// The smallest size.
        min: u64,
        /// The largest size.
        max: u64,
    },
}

/// The shape of a distribution of sizes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Shape {
    /// Uniform between the limits.
    Uniform,
    /// Exponential with this mean in bytes.
    Exponential(f64),
    /// Log-normal with this mean and standard deviation in bytes.
    LogNormal(f64, f64),
    /// Pareto with this shape, above the smallest size.
    Pareto(f64),
}

impl Sizes {
    /// The smallest possible size.
    pub fn smallest(&self) -> u64 {
        match self {
            Sizes::List(sizes) => sizes.iter().copied().min().unwrap_or(1),
            Sizes::Drawn { min, .. } => *min,
        }
    }
}

/// Amounts of data at given times since the start of a flow, in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// The file as the scenario names it.
    pub file: String,
    /// SHA-256 of the file's content, in hexadecimal.
    pub sha256: String,
    /// Time and bytes; at least one.
    #[serde(with = "as_numbers::amounts")]
    pub amounts: Vec<(Span, u64)>,
}
