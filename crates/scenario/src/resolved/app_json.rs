//! The resolved applications as JSON.

use serde_json::{Value, json};
use sojourn_aqm::{Ecn, Span, units};

use super::{App, Carried, Chunks, Datagrams, Shape, Sizes, Tcp, Transfers, Web};
use crate::document::ip_fields::code_name;
use crate::document::quantities::{Offload, OffloadText};

pub(super) fn app(app: &App) -> Value {
    match app {
        App::Bulk { tcp, bytes } => bulk(tcp, *bytes),
        App::Endpoint { transport, carried, packet_bytes, ecn } => {
            over_library(transport, carried, (*packet_bytes, *ecn))
        }
        App::Files { tcp, sizes, think } => over_tcp(files(sizes, think), tcp),
        App::Transfers { tcp, plan } => over_tcp(transfers(plan), tcp),
        App::Web { tcp, web } => over_tcp(self::web(web), tcp),
        App::Chunks { tcp, chunks } => over_tcp(self::chunks(chunks), tcp),
        App::Echo { packet_bytes, ecn, interval } => json!({
            "kind": "echo",
            "interval": text(interval),
            "packet": size(*packet_bytes),
            "ecn": datagram_ecn(*ecn),
        }),
        App::Cbr { datagrams, arrivals, voice } => {
            at_rate("cbr", datagrams, json!({ "arrivals": arrivals, "voice": voice }))
        }
        App::OnOff { datagrams, on, off } => {
            at_rate("onoff", datagrams, json!({ "on": text(on), "off": text(off) }))
        }
        App::Bursts { datagrams, at, length } => {
            let at: Vec<String> = at.iter().map(text).collect();
            at_rate("bursts", datagrams, json!({ "at": at, "length": text(length) }))
        }
        App::Video { packet_bytes, ecn, frames, interval } => json!({
            "kind": "video",
            "frames": sizes(frames),
            "interval": text(interval),
            "packet": size(*packet_bytes),
            "ecn": datagram_ecn(*ecn),
        }),
        App::Replay { packet_bytes, ecn, recording } => json!({
            "kind": "replay",
            "file": recording.file,
            "sha256": recording.sha256,
            "lines": recording.amounts.len(),
            "packet": size(*packet_bytes),
            "ecn": datagram_ecn(*ecn),
        }),
    }
}

fn over_library(transport: &str, carried: &Carried, (packet_bytes, ecn): (u32, bool)) -> Value {
    let mut table = match carried {
        Carried::Bulk(bytes) => json!({ "kind": "bulk", "bytes": bytes.map(units::show_bytes) }),
        Carried::Files { sizes, think } => files(sizes, think),
        Carried::Transfers(plan) => transfers(plan),
        Carried::Web(web) => self::web(web),
        Carried::Chunks(chunks) => self::chunks(chunks),
        Carried::Voice { codec, frame_bytes } => json!({
            "kind": "voice", "codec": codec, "frame": size(*frame_bytes),
        }),
        Carried::Video { frames, interval } => json!({
            "kind": "video", "frames": sizes(frames), "interval": text(interval),
        }),
    };
    table["transport"] = json!(transport);
    table["packet"] = json!(size(packet_bytes));
    table["ecn"] = json!(ecn);
    table
}

fn bulk(tcp: &Tcp, bytes: Option<u64>) -> Value {
    json!({ "kind": "bulk", "bytes": bytes.map(units::show_bytes), "tcp": transport(tcp) })
}

fn over_tcp(mut app: Value, tcp: &Tcp) -> Value {
    app["tcp"] = transport(tcp);
    app
}

fn files(sizes: &Sizes, think: &Span) -> Value {
    json!({ "kind": "files", "sizes": self::sizes(sizes), "think": text(think) })
}

fn web(web: &Web) -> Value {
    json!({
        "kind": "web",
        "main": sizes(&web.main),
        "object": sizes(&web.object),
        "objects": web.objects,
        "parallel": web.parallel,
        "request": size(web.request_bytes),
        "reading": text(web.reading),
        "parsing": text(web.parsing),
    })
}

fn chunks(chunks: &Chunks) -> Value {
    json!({
        "kind": "chunks",
        "every": text(chunks.every),
        "rates": chunks.rates.iter().map(text).collect::<Vec<_>>(),
        "buffer": chunks.buffer.as_ref().map(text),
        "adaptation": chunks.adaptation,
    })
}

fn transfers(plan: &Transfers) -> Value {
    match plan {
        Transfers::Drawn { sizes, every, arrivals } => json!({
            "kind": "transfers",
            "sizes": self::sizes(sizes),
            "every": text(every),
            "arrivals": arrivals,
        }),
        Transfers::Recorded(recording) => json!({
            "kind": "transfers",
            "file": recording.file,
            "sha256": recording.sha256,
            "lines": recording.amounts.len(),
        }),
    }
}

/// Datagrams at a rate, with the other keys of their application.
fn at_rate(kind: &str, datagrams: &Datagrams, more: Value) -> Value {
    let mut app = json!({
        "kind": kind,
        "rate": text(datagrams.rate),
        "packet": size(datagrams.packet_bytes),
        "ecn": datagram_ecn(datagrams.ecn),
    });
    if let (Value::Object(app), Value::Object(more)) = (&mut app, more) {
        app.extend(more);
    }
    app
}

/// The key `ecn` in its shortest form.
fn datagram_ecn(ecn: Ecn) -> Value {
    match ecn {
        Ecn::NotEct => json!(false),
        Ecn::Ect0 => json!(true),
        other => json!(code_name(other)),
    }
}

fn sizes(sizes: &Sizes) -> Value {
    let (shape, min, max) = match sizes {
        Sizes::List(sizes) => {
            return sizes.iter().map(|&bytes| json!(units::show_bytes(bytes))).collect();
        }
        Sizes::Drawn { shape, min, max } => (shape, *min, *max),
    };
    let mut drawn = match *shape {
        Shape::Uniform => json!({ "kind": "uniform" }),
        Shape::Exponential(mean) => {
            json!({ "kind": "exponential", "mean": units::show_bytes(mean as u64) })
        }
        Shape::LogNormal(mean, deviation) => json!({
            "kind": "lognormal",
            "mean": units::show_bytes(mean as u64),
            "deviation": units::show_bytes(deviation as u64),
        }),
        Shape::Pareto(shape) => json!({ "kind": "pareto", "shape": shape }),
    };
    (drawn["min"], drawn["max"]) = (json!(units::show_bytes(min)), json!(units::show_bytes(max)));
    drawn
}

fn transport(tcp: &Tcp) -> Value {
    json!({
        "tcp": tcp.profile,
        "cc": tcp.cc,
        "ecn": tcp.ecn.is_some(),
        "accecn": tcp.ecn.is_some_and(|ecn| ecn.accecn),
        "receiver_ecn": tcp.ecn.map(|ecn| ecn.receiver),
        "accecn_option": tcp.ecn.map(|ecn| ecn.option),
        "ecn_fallback": tcp.ecn.and_then(|ecn| ecn.fallback),
        "packet": size(tcp.payload_bytes + tcp.header_bytes),
        "payload": size(tcp.payload_bytes),
        "header": size(tcp.header_bytes),
        "initial_window": tcp.initial_window,
        "ack_every": tcp.ack_every,
        "receive_window": tcp.receive_window.map(|window| units::show_bytes(window.bytes)),
        "autotuning": tcp.receive_window.is_some_and(|window| window.autotuned),
        "offload": offload(tcp).to_string(),
    })
}

fn offload(tcp: &Tcp) -> OffloadText {
    let kind = if tcp.super_packets { Offload::Gso } else { Offload::Tso };
    OffloadText(tcp.offload_bytes.map(kind))
}

pub(super) fn text(value: impl ToString) -> String {
    value.to_string()
}

pub(super) fn size(bytes: u32) -> String {
    units::show_bytes(u64::from(bytes))
}
