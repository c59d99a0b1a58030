//! The resolved scenario as JSON for people and manifests: keys in a fixed order, quantities as
//! texts with units.

use serde_json::{Value, json};
use sojourn_aqm::{Ecn, Rate, Span, Time, units};

use super::scheduler_json::{self, add_packing, queue};
use super::wire_json::{self, text};
use super::{
    App, Capacity, Carried, Datagrams, FlowGroup, Link, Radio, RateControl, Resolved, Shape, Sizes,
    Tcp, Trace, Transfers, Wlan,
};
use crate::document::ip_fields::code_name;
use crate::document::quantities::OffloadText;

impl Resolved {
    /// The scenario as JSON. Traces and recordings appear by file and SHA-256, not by content.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "seed": self.seed,
            "duration": text(self.duration),
            "warmup": text(self.warmup),
            "record": {
                "packets": self.record.packets,
                "signals": self.record.signals,
                "flows": self.record.flows,
                "states": self.record.states,
                "sample": text(self.record.sample),
                "bins": self.record.bins.map(text),
                "latency": self.record.latency,
            },
            "links": self.links.iter().map(|l| link(l, &self.wlans)).collect::<Vec<_>>(),
            "wlans": self.wlans.iter().map(wlan).collect::<Vec<_>>(),
            "flows": self.flows.iter().map(|f| flow(f, &self.links)).collect::<Vec<_>>(),
            "engine": { "linux": self.linux, "ns3": self.ns3 },
            "warnings": self.warnings,
        })
    }
}

fn link(link: &Link, wlans: &[Wlan]) -> Value {
    let mut value = json!({
        "name": link.name,
        "rate": capacity(&link.capacity, wlans),
        "delay": wire_json::delay(link),
        "framing": size(link.framing_bytes),
        "limit": text(link.limit),
        "mtu": size(link.mtu_bytes),
        "queue": queue(&link.queue),
        "device": link.device.map(|device| json!({
            "limit": text(device.limit),
            "overhead": size(device.overhead_bytes),
        })),
        "jitter": link.jitter.as_ref().map(wire_json::jitter),
        "loss": link.loss.as_ref().map(wire_json::loss),
        "ecn_bleaching": link.ecn_bleaching,
    });
    add_packing(&mut value, link.packing);
    if let Some(duplicate) = &link.duplicate {
        value["duplicate"] = json!(duplicate);
    }
    if let Some(reorder) = &link.reorder {
        value["reorder"] = json!(reorder);
    }
    if let Some(corrupt) = &link.corrupt {
        value["corrupt"] = json!(corrupt);
    }
    if let Some(policer) = &link.policer {
        let burst = units::show_bytes(policer.burst_bytes);
        value["policer"] = json!({ "rate": text(policer.rate), "burst": burst });
    }
    if let Some(scheduler) = &link.scheduler {
        value["scheduler"] = scheduler_json::scheduler(link, scheduler);
    }
    value
}

fn wlan(wlan: &Wlan) -> Value {
    json!({
        "name": wlan.name,
        "radio": radio(&wlan.radio),
        "attempts": wlan.attempts,
        "slot": text(wlan.slot),
        "difs": text(wlan.difs),
        "eifs": text(wlan.eifs),
    })
}

/// How frames are sent and lost, with the signal-to-noise ratio in dB.
fn radio(radio: &Radio) -> Value {
    json!({
        "rate": match radio.rate {
            RateControl::Constant(rate) => text(rate.rate()),
            RateControl::Minstrel => "minstrel".to_owned(),
        },
        "error_rate": radio.error_rate,
        "snr": radio.snr.map(|ratio| format!("{}dB", 10.0 * libm::log10(ratio))),
    })
}

fn capacity(capacity: &Capacity, wlans: &[Wlan]) -> Value {
    match capacity {
        Capacity::Constant(rate) => json!(text(rate)),
        Capacity::Schedule(schedule) => {
            let step = |&(at, rate): &(Time, Option<Rate>)| {
                [text(at.since(Time::ZERO)), units::show_rate_or_outage(rate)]
            };
            let steps = schedule.steps().iter().map(step).collect::<Vec<_>>();
            let in_service = schedule.in_service.word();
            json!({ "kind": "schedule", "steps": steps, "in_service": in_service })
        }
        Capacity::Bucket(bucket) => {
            let mut value = json!({
                "kind": "bucket",
                "rate": text(bucket.rate),
                "burst": units::show_bytes(bucket.burst_bytes),
                "line": text(bucket.line),
                "overdraft": bucket.overdraft,
            });
            if bucket.framing.overhead != 0 {
                value["overhead"] = json!(format!("{}B", bucket.framing.overhead));
            }
            add_packing(&mut value, bucket.framing.packing);
            value
        }
        Capacity::Trace(recorded) => trace(recorded),
        Capacity::Wireless { wlan, radio: own, alone, airtime_fairness } => json!({
            "kind": "wireless",
            "wlan": wlans[*wlan].name,
            "radio": own.as_ref().map(radio),
            "alone": text(alone),
            "airtime_fairness": airtime_fairness,
        }),
    }
}

fn trace(trace: &Trace) -> Value {
    json!({
        "kind": "trace",
        "file": trace.file,
        "sha256": trace.sha256,
        "opportunity": size(trace.opportunity_bytes),
        "opportunities": trace.opportunities_ms.len(),
        "period": text(trace.period()),
        "mean_rate": text(trace.mean_rate()),
    })
}

/// Kind, dialect and every parameter of the queue at time zero, and the code of an unregistered
/// law.
fn flow(flow: &FlowGroup, links: &[Link]) -> Value {
    let route = |route: &[usize]| route.iter().map(|&l| links[l].name.as_str()).collect::<Vec<_>>();
    let mut table = json!({
        "name": flow.name,
        "class": flow.class,
        "count": flow.count,
        "path": route(&flow.path),
        "reverse": route(&flow.reverse),
        "rtt": text(flow.rtt),
        "access_rate": text(flow.access_rate),
        "sender_downlink": flow.sender_downlink.map(text),
        "receiver_rate": flow.receiver_rate.map(text),
        "access_delay": text(flow.access_delay),
        "egress_delay": text(flow.egress_delay),
        "return_delay": text(flow.return_delay),
        "return_egress_delay": text(flow.return_egress_delay),
        "start": [text(flow.start.0), text(flow.start.1)],
        "stop": flow.stop.map(|stop: Span| text(stop)),
        "app": app(&flow.app),
    });
    if let Some(hosts) = flow.hosts {
        table["hosts"] = json!(hosts);
    }
    if flow.dscp != 0 {
        table["dscp"] = json!(flow.dscp);
    }
    table
}

fn app(app: &App) -> Value {
    match app {
        App::Bulk { tcp, bytes } => bulk(tcp, *bytes),
        App::Endpoint { transport, carried, packet_bytes, ecn } => {
            over_library(transport, carried, (*packet_bytes, *ecn))
        }
        App::Files { tcp, sizes, think } => json!({
            "kind": "files",
            "sizes": self::sizes(sizes),
            "think": text(think),
            "tcp": transport(tcp),
        }),
        App::Transfers { tcp, plan } => transfers(tcp, plan),
        App::Web { tcp, web } => json!({
            "kind": "web",
            "main": sizes(&web.main),
            "object": sizes(&web.object),
            "objects": web.objects,
            "parallel": web.parallel,
            "request": size(web.request_bytes),
            "reading": text(web.reading),
            "parsing": text(web.parsing),
            "tcp": transport(tcp),
        }),
        App::Chunks { tcp, chunks } => json!({
            "kind": "chunks",
            "every": text(chunks.every),
            "rates": chunks.rates.iter().map(text).collect::<Vec<_>>(),
            "buffer": chunks.buffer.as_ref().map(text),
            "adaptation": chunks.adaptation,
            "tcp": transport(tcp),
        }),
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

fn transfers(tcp: &Tcp, plan: &Transfers) -> Value {
    match plan {
        Transfers::Drawn { sizes, every, arrivals } => json!({
            "kind": "transfers",
            "sizes": self::sizes(sizes),
            "every": text(every),
            "arrivals": arrivals,
            "tcp": transport(tcp),
        }),
        Transfers::Recorded(recording) => json!({
            "kind": "transfers",
            "file": recording.file,
            "sha256": recording.sha256,
            "lines": recording.amounts.len(),
            "tcp": transport(tcp),
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
        "offload": OffloadText(tcp.offload_bytes).to_string(),
    })
}

fn size(bytes: u32) -> String {
    units::show_bytes(u64::from(bytes))
}
