//! Applications and their transport.

use std::collections::BTreeMap;
use std::sync::Arc;

use sojourn_aqm::{Rate, Span};

use super::checks::{self, packet_bytes};
use super::tcp::tcp;
use super::{Checked, ReadFile, refuse, sizes};
use crate::document::Document;
use crate::document::apps::{self, Adaptation, Arrivals};
use crate::document::flows::FlowGroup;
use crate::document::ip_fields::{EcnKey, code_name};
use crate::document::quantities::{RateText, SizeText, SpanText};
use crate::error::ScenarioError;
use crate::recorded::traffic;
use crate::resolved::{App, Carried, Chunks, Codec, Datagrams, Recording, Sizes, Transfers, Web};

/// The recordings that applications name, by the index of the group.
pub(crate) type Recordings = BTreeMap<usize, Arc<Recording>>;

/// Reads the recordings that applications name.
pub(super) fn recordings(document: &Document, read: &ReadFile<'_>) -> Checked<Recordings> {
    let mut recordings = Recordings::new();
    for (index, group) in document.flows.iter().enumerate() {
        let file = match &group.app {
            apps::App::Replay(replay) => &replay.file,
            apps::App::Transfers(apps::Transfers { file: Some(file), .. }) => file,
            _ => continue,
        };
        let place = format!("flows[{index}].app.file");
        if file.is_empty() {
            return refuse(&place, "no file is named; write its path");
        }
        let text =
            read(file).map_err(|error| ScenarioError::unreadable(place.clone(), file, &error))?;
        let recording =
            traffic::parse(file, &text).map_err(|message| ScenarioError::new(place, message))?;
        recordings.insert(index, Arc::new(recording));
    }
    Ok(recordings)
}

/// The application of a group.
pub(super) fn app(index: usize, written: &FlowGroup, recorded: &Recordings) -> Checked<App> {
    let place = format!("flows[{index}]");
    let place = place.as_str();
    if let Some(transport) = &written.transport {
        return over_library(place, written, transport, recorded.get(&index));
    }
    match &written.app {
        apps::App::Bulk(_) | apps::App::Files(_) | apps::App::Web(_) | apps::App::Chunks(_) => {
            over_tcp(place, written)
        }
        apps::App::Transfers(transfers) => {
            let (tcp, recorded) = (tcp(place, written)?, recorded.get(&index));
            Ok(App::Transfers { tcp, plan: self::transfers(place, written, transfers, recorded)? })
        }
        apps::App::Echo(echo) => {
            positive(place, &[("interval", echo.interval)], "it separates requests")?;
            let packet_bytes = datagram_bytes(place, written, echo.packet)?;
            let (ecn, interval) = (written.ecn.of_datagrams(), echo.interval.0);
            Ok(App::Echo { packet_bytes, ecn, interval })
        }
        apps::App::Cbr(cbr) => {
            let datagrams = datagrams(place, written, cbr.rate, cbr.packet)?;
            let voice = cbr.voice.then_some(Codec::G711);
            Ok(App::Cbr { datagrams, arrivals: cbr.arrivals, voice })
        }
        apps::App::Voice(voice) => call(place, written, voice.codec),
        apps::App::OnOff(onoff) => {
            let (on, off) = (onoff.on, onoff.off);
            positive(place, &[("on", on), ("off", off)], "kind `cbr` never pauses")?;
            let datagrams = datagrams(place, written, onoff.rate, onoff.packet)?;
            Ok(App::OnOff { datagrams, on: on.0, off: off.0 })
        }
        apps::App::Bursts(bursts) => self::bursts(place, written, bursts),
        apps::App::Video(video) => {
            let (frames, interval) = self::video(place, video)?;
            let packet_bytes = datagram_bytes(place, written, video.packet)?;
            Ok(App::Video { packet_bytes, ecn: written.ecn.of_datagrams(), frames, interval })
        }
        apps::App::Replay(replay) => Ok(App::Replay {
            packet_bytes: datagram_bytes(place, written, replay.packet)?,
            ecn: written.ecn.of_datagrams(),
            recording: Arc::clone(&recorded[&index]),
        }),
    }
}

/// Time between the packets of a call: 20 ms are the default of RFC 3551 §4.2 for these codecs.
const PACKETS_PER_SECOND: u64 = 50;
/// RTP 12 B, UDP 8 B, IPv4 20 B (RFC 3550 §5.1, RFC 768, RFC 791).
const VOICE_HEADER_BYTES: u64 = 40;

/// The codec of a call, and its bytes of voice per packet: 64 or 8 kbit/s for 20 ms.
fn codec(place: &str, codec: apps::CodecName) -> Checked<(Codec, u64)> {
    match codec {
        apps::CodecName::G711 => Ok((Codec::G711, 160)),
        apps::CodecName::G729 => Ok((Codec::G729, 20)),
        apps::CodecName::Opus => {
            let message = "calls are rated by the narrow-band E-model, and ITU-T G.113 Appendix I \
                           has no values for opus on its scale; write g711 or g729, or kind `cbr` \
                           for its packets without a rating";
            refuse(&format!("{place}.app.codec"), message)
        }
    }
}

fn call(place: &str, written: &FlowGroup, codec: apps::CodecName) -> Checked<App> {
    let (codec, voice_bytes) = self::codec(place, codec)?;
    let packet = voice_bytes + VOICE_HEADER_BYTES;
    let rate = RateText(Rate::from_bps(packet * 8 * PACKETS_PER_SECOND));
    let datagrams = datagrams(place, written, rate, SizeText(packet))?;
    Ok(App::Cbr { datagrams, arrivals: Arrivals::Constant, voice: Some(codec) })
}

fn over_tcp(place: &str, written: &FlowGroup) -> Checked<App> {
    let in_app = |key: &str| format!("{place}.app.{key}");
    let tcp = tcp(place, written)?;
    match &written.app {
        apps::App::Files(files) => {
            let sizes = sizes::of(&in_app("sizes"), &files.sizes)?;
            Ok(App::Files { tcp, sizes, think: files.think.0 })
        }
        apps::App::Web(web) => Ok(App::Web { tcp, web: self::web(place, web, CONNECTIONS)? }),
        apps::App::Chunks(chunks) => Ok(App::Chunks { tcp, chunks: self::chunks(place, chunks)? }),
        apps::App::Bulk(bulk) => Ok(App::Bulk { tcp, bytes: amount(place, bulk)? }),
        _ => unreachable!("the other kinds send datagrams"),
    }
}

fn chunks(place: &str, written: &apps::Chunks) -> Checked<Chunks> {
    positive(place, &[("every", written.every)], "a chunk plays for some time")?;
    let rates: Vec<Rate> = written.rates.iter().map(|rate| rate.0).collect();
    if rates.is_empty() {
        let message = "the list is empty; write for example [\"500kbit\", \"2mbit\"]";
        return refuse(&format!("{place}.app.rates"), message);
    }
    if let Some(at) = rates.windows(2).position(|pair| pair[1] <= pair[0]) {
        let message = format!("{} is not above {}; rates increase", rates[at + 1], rates[at]);
        return refuse(&format!("{place}.app.rates[{}]", at + 1), message);
    }
    let buffer = buffer_of(place, written)?;
    Ok(Chunks { every: written.every.0, rates, buffer, adaptation: written.adaptation })
}

/// The buffer of a player, which holds the chunk that it is playing and the one that it is
/// fetching.
fn buffer_of(place: &str, chunks: &apps::Chunks) -> Checked<Option<Span>> {
    let place = format!("{place}.app.buffer");
    match chunks.buffer {
        Some(buffer) if buffer.0 < chunks.every.0 + chunks.every.0 => {
            let message = format!("{buffer} holds less than two chunks of {}", chunks.every);
            refuse(&place, message + "; write a longer time")
        }
        None if chunks.adaptation == Adaptation::Buffer => {
            let message = "is missing, and `adaptation` follows its level; write for example 60s";
            refuse(&place, message)
        }
        buffer => Ok(buffer.map(|buffer| buffer.0)),
    }
}

/// The transfers of a group, drawn or recorded.
fn transfers(
    place: &str,
    written: &FlowGroup,
    transfers: &apps::Transfers,
    recorded: Option<&Arc<Recording>>,
) -> Checked<Transfers> {
    let in_app = |key: &str| format!("{place}.app.{key}");
    if written.start.0.earliest != written.start.0.latest {
        let message = "is a range, and the transfers have their own starts after one time; write \
                       for example \"0s\"";
        return refuse(&format!("{place}.start"), message);
    }
    let Some(recording) = recorded else {
        let (Some(sizes), Some(every)) = (&transfers.sizes, transfers.every) else {
            let key = if transfers.sizes.is_none() { "sizes" } else { "every" };
            let message = "is missing; write `sizes` and `every`, or `file` for recorded transfers";
            return refuse(&in_app(key), message);
        };
        positive(place, &[("every", every)], "it separates transfers")?;
        let sizes = sizes::of(&in_app("sizes"), sizes)?;
        let arrivals = transfers.arrivals.unwrap_or(Arrivals::Poisson);
        return Ok(Transfers::Drawn { sizes, every: every.0, arrivals });
    };
    let keys = [
        ("sizes", transfers.sizes.is_some()),
        ("every", transfers.every.is_some()),
        ("arrivals", transfers.arrivals.is_some()),
    ];
    if let Some((key, _)) = keys.iter().find(|(_, is_written)| *is_written) {
        return refuse(&in_app(key), "repeats what `file` sets; remove one of the two");
    }
    if written.count != 1 {
        let lines = recording.amounts.len();
        let message = format!("the file has {lines} transfers, each of them a flow; leave it out");
        return refuse(&format!("{place}.count"), message);
    }
    Ok(Transfers::Recorded(Arc::clone(recording)))
}

/// The largest packet of Ethernet, which a path carries unless the scenario says otherwise.
const ETHERNET_MTU: SizeText = SizeText(1500);
/// Every IPv6 link carries packets of this size (RFC 8200 §5), and QUIC needs 1,200 bytes of
/// payload (RFC 9000 §14).
const LEAST_MTU: u32 = 1280;

/// RTP (RFC 3550 §5.1); the library and the host add the other headers.
const RTP_HEADER_BYTES: u64 = 12;

/// What a library carries for an application, the place of its packet size, and that size.
fn carried(
    place: &str,
    written: &FlowGroup,
    recorded: Option<&Arc<Recording>>,
) -> Checked<(Carried, String, SizeText)> {
    let carried = match &written.app {
        apps::App::Bulk(bulk) => Carried::Bulk(amount(place, bulk)?),
        apps::App::Files(files) => Carried::Files {
            sizes: sizes::of(&format!("{place}.app.sizes"), &files.sizes)?,
            think: files.think.0,
        },
        apps::App::Transfers(plan) => {
            Carried::Transfers(transfers(place, written, plan, recorded)?)
        }
        apps::App::Web(web) => Carried::Web(self::web(place, web, STREAMS)?),
        apps::App::Chunks(chunks) => Carried::Chunks(self::chunks(place, chunks)?),
        apps::App::Voice(voice) => {
            let (codec, voice_bytes) = codec(place, voice.codec)?;
            Carried::Voice { codec, frame_bytes: (voice_bytes + RTP_HEADER_BYTES) as u32 }
        }
        apps::App::Video(video) => {
            if written.packet.is_some() {
                let message = "belongs to the other kinds; write it inside `app`";
                return refuse(&format!("{place}.packet"), message);
            }
            let (frames, interval) = self::video(place, video)?;
            let packet_place = format!("{place}.app.packet");
            return Ok((Carried::Video { frames, interval }, packet_place, video.packet));
        }
        app => {
            let kind = app.kind();
            let message = format!(
                "a library carries kinds `bulk`, `files`, `transfers`, `web`, `chunks`, `voice` \
                 and `video`, not `{kind}`; leave `transport` out"
            );
            return refuse(&format!("{place}.transport"), message);
        }
    };
    Ok((carried, format!("{place}.packet"), written.packet.unwrap_or(ETHERNET_MTU)))
}

/// An application over a library that the caller names.
fn over_library(
    place: &str,
    written: &FlowGroup,
    transport: &str,
    recorded: Option<&Arc<Recording>>,
) -> Checked<App> {
    checks::name(&format!("{place}.transport"), "a transport", transport)?;
    if let Some(key) = written.tcp_keys().find(|key| *key != "packet") {
        let message =
            format!("`{key}` belongs to the simulator's TCP, and `transport` replaces it");
        return refuse(&format!("{place}.{key}"), message + "; leave one of the two out");
    }
    let (carried, packet_place, packet) = carried(place, written, recorded)?;
    if let EcnKey::Code(code) = written.ecn {
        let message = format!("`{}` is for the library to choose", code_name(code));
        return refuse(&format!("{place}.ecn"), message + "; write `true` to let it");
    }
    let packet_bytes = packet_bytes(&packet_place, packet)?;
    if packet_bytes < LEAST_MTU {
        let message = format!("{packet} is less than the 1280B that every path carries");
        return refuse(&packet_place, message + "; write 1280B or more");
    }
    let (transport, ecn) = (transport.to_owned(), written.ecn == EcnKey::Yes);
    Ok(App::Endpoint { transport, carried, packet_bytes, ecn })
}

/// The sizes of frames, and the time between them.
fn video(place: &str, video: &apps::Video) -> Checked<(Sizes, Span)> {
    positive(place, &[("interval", video.interval)], "it separates frames")?;
    Ok((sizes::of(&format!("{place}.app.frames"), &video.frames)?, video.interval.0))
}

/// The amount of a bulk application.
fn amount(place: &str, bulk: &apps::Bulk) -> Checked<Option<u64>> {
    match bulk.bytes.map(|size| size.0) {
        Some(0) => {
            let message = "must be positive; leave it out for no limit";
            refuse(&format!("{place}.app.bytes"), message)
        }
        bytes => Ok(bytes),
    }
}

/// How many objects of a page are fetched at a time.
struct Parallel {
    of: &'static str,
    default: u32,
    most: u32,
}

/// The default is that of ns-3's 3GPP model; the maximum is our choice, more than browsers open.
const CONNECTIONS: Parallel = Parallel { of: "connections", default: 6, most: 32 };
/// The number that a peer should at least permit (RFC 9114 §6.1).
const STREAMS: Parallel = Parallel { of: "streams", default: 100, most: 100 };

fn web(place: &str, written: &apps::Web, limits: Parallel) -> Checked<Web> {
    let in_app = |key: &str| format!("{place}.app.{key}");
    let (parallel, Parallel { of, most, .. }) =
        (written.parallel.unwrap_or(limits.default), limits);
    if !(1..=most).contains(&parallel) {
        let message = format!("{parallel} is not a number of {of}; write 1 to {most}");
        return refuse(&in_app("parallel"), message);
    }
    Ok(Web {
        main: sizes::of(&in_app("main"), &written.main)?,
        object: sizes::of(&in_app("object"), &written.object)?,
        objects: written.objects,
        parallel,
        request_bytes: packet_bytes(&in_app("request"), written.request)?,
        reading: written.reading.0,
        parsing: written.parsing.0,
    })
}

fn bursts(place: &str, written: &FlowGroup, bursts: &apps::Bursts) -> Checked<App> {
    positive(place, &[("length", bursts.length)], "a burst lasts")?;
    let at: Vec<Span> = bursts.at.iter().map(|at| at.0).collect();
    let length = bursts.length.0;
    if at.is_empty() {
        let message = "the list is empty; write for example [\"1s\"]";
        return refuse(&format!("{place}.app.at"), message);
    }
    if let Some(before) = at.windows(2).position(|pair| pair[1] < pair[0] + length) {
        let (first, next) = (at[before], at[before + 1]);
        let message =
            format!("{next} is before the burst from {first} on is over, at {}", first + length);
        return refuse(
            &format!("{place}.app.at[{}]", before + 1),
            message + "; write a later time",
        );
    }
    let datagrams = datagrams(place, written, bursts.rate, bursts.packet)?;
    Ok(App::Bursts { datagrams, at, length })
}

fn positive(place: &str, spans: &[(&str, SpanText)], why: &str) -> Checked<()> {
    match spans.iter().find(|(_, span)| span.0 == Span::ZERO) {
        Some((key, _)) => refuse(&format!("{place}.app.{key}"), format!("must be positive; {why}")),
        None => Ok(()),
    }
}

fn datagrams(
    place: &str,
    written: &FlowGroup,
    rate: RateText,
    packet: SizeText,
) -> Checked<Datagrams> {
    let packet_bytes = datagram_bytes(place, written, packet)?;
    Ok(Datagrams { packet_bytes, rate: rate.0, ecn: written.ecn.of_datagrams() })
}

/// The size of datagrams. Refuses keys of TCP.
fn datagram_bytes(place: &str, written: &FlowGroup, packet: SizeText) -> Checked<u32> {
    if let Some(key) = written.tcp_keys().next() {
        let kind = written.app.kind();
        let remedy = match key {
            "packet" => "write it inside `app`",
            _ => "remove it",
        };
        let message = format!("`{key}` belongs to TCP, and kind `{kind}` sends datagrams");
        return refuse(&format!("{place}.{key}"), format!("{message}; {remedy}"));
    }
    packet_bytes(&format!("{place}.app.packet"), packet)
}
